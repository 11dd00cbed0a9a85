// The CUDA backend against the host, bit by bit, on every golden model: captured and eager, fused
// and node by node, first and later replays. Skipped without a GPU.
#include <map>

#include "optimized/device/device.h"
#include "optimized/optimized.h"
#include "optimized/runtime/cuda/cuda_device.h"
#include "spec/plan.h"
#include "tools/golden_models_test.h"

namespace graphgate {
namespace {

constexpr std::size_t kRepeats = 3;

struct Way {
  const char* name;
  bool captures;
  const char* compiler;
};
constexpr Way kWays[] = {{"captured", true, "fused"},
                         {"captured, node by node", true, "eager"},
                         {"eager", false, "fused"}};

class OnGpu : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto device = optimized::cuda::make_cuda_device();
    if (!device.ok()) GTEST_SKIP() << device.error().message;
    device_ = std::move(device).value();
  }
  std::shared_ptr<optimized::Device> device_;
};

TEST_P(OnGpu, HasTheBitsOfTheHost) {
  const Model model = read_model(GetParam());
  const auto expected = run_calls(*optimized::make_executor(), model, kRepeats);
  for (const Way& way : kWays) {
    optimized::Options options;
    options.device = device_;
    options.compile.partition.capture = way.captures;
    options.compile.compiler.name = way.compiler;
    const auto actual = run_calls(*optimized::make_executor(options), model, kRepeats);
    ASSERT_EQ(actual.size(), expected.size()) << way.name;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(first_difference(actual[i], expected[i]), "") << way.name << ", call " << i;
    }
  }
}

// How much of a model runs there, for people who read the log.
TEST_P(OnGpu, CapturesPartOfEveryModel) {
  const Model model = read_model(GetParam());
  optimized::Options options;
  options.device = device_;
  auto loaded = optimized::make_executor(options)->load(model.program);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  ASSERT_TRUE(loaded.value()->call(model.calls.front().inputs).ok());
  const spec::Plan* plan = loaded.value()->plan();
  std::size_t captured = 0;
  std::map<std::string, std::size_t> reasons;
  for (const spec::PlanBlock& block : plan->blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      captured += partition.captured ? 1 : 0;
      if (!partition.captured) ++reasons[partition.reason];
    }
  }
  EXPECT_GT(captured, 0U);
  std::string text = std::to_string(captured) + " captured";
  for (const auto& [reason, count] : reasons) {
    text += "; " + std::to_string(count) + " " + reason;
  }
  std::printf("%s: %s\n", model.program.name.c_str(), text.c_str());
}

INSTANTIATE_TEST_SUITE_P(Models, OnGpu, testing::ValuesIn(model_paths()), model_name);

}  // namespace
}  // namespace graphgate
