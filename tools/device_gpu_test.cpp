// The CUDA backend against the host, bit by bit, on every golden model: captured and eager, fused
// and node by node, first and later replays, and in guarded memory. Skipped without a GPU.
#include <cstdio>
#include <cstdlib>
#include <map>

#include "optimized/device/device.h"
#include "optimized/optimized.h"
#include "optimized/runtime/cuda/cuda_device.h"
#include "spec/plan.h"
#include "tools/captures_test.h"
#include "tools/golden_models_test.h"
#include "tools/stray_writes_test.h"

namespace graphgate {
namespace {

using optimized::DeviceMemoryMode;

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

TEST_P(OnGpu, HasTheBitsOfTheHostInGuardedMemory) {
  const Model model = read_model(GetParam());
  const auto expected = run_calls(*optimized::make_executor(), model, kRepeats);
  for (const auto mode : {DeviceMemoryMode::kGuarded, DeviceMemoryMode::kGuardedFront}) {
    optimized::Options options;
    auto device = optimized::cuda::make_cuda_device(mode);
    ASSERT_TRUE(device.ok()) << device.error().message;
    options.device = std::move(device).value();
    const std::string where = options.device->description();
    const auto actual = run_calls(*optimized::make_executor(options), model, kRepeats);
    ASSERT_EQ(actual.size(), expected.size()) << where;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(first_difference(actual[i], expected[i]), "") << where << ", call " << i;
    }
  }
}

// The same plans over two sets of arenas, both of them there at once: an address that is no
// arena's, or a stale one, shows as a parameter that is not where the other graph's is.
TEST_P(OnGpu, CapturesTheSameOverOtherArenas) {
  const Model model = read_model(GetParam());
  for (const auto mode : {DeviceMemoryMode::kPlain, DeviceMemoryMode::kGuarded}) {
    for (const auto arithmetic : {optimized::Arithmetic::kStrict, optimized::Arithmetic::kFast}) {
      for (const char* compiler : {"fused", "eager"}) {
        std::vector<std::shared_ptr<CaptureKeeper>> keepers;
        std::vector<std::unique_ptr<spec::LoadedProgram>> programs;  // which keep their arenas
        for (int i = 0; i < 2; ++i) {
          auto device = optimized::cuda::make_cuda_device(mode);
          ASSERT_TRUE(device.ok()) << device.error().message;
          keepers.push_back(std::make_shared<CaptureKeeper>(std::move(device).value()));
          optimized::Options options;
          options.device = keepers.back();
          options.compile.arithmetic = arithmetic;
          options.compile.compiler.name = compiler;
          auto loaded = optimized::make_executor(options)->load(model.program);
          ASSERT_TRUE(loaded.ok()) << loaded.error().message;
          programs.push_back(std::move(loaded).value());
          (void)run_calls(*programs.back(), model);
        }
        const bool is_fast = arithmetic == optimized::Arithmetic::kFast;
        expect_same_captures(
            *keepers[0], *keepers[1],
            keepers[0]->description() + (is_fast ? ", fast, " : ", strict, ") + compiler);
      }
    }
  }
}

TEST(GuardedGpu, TellsWritesWhereNoBufferLies) {
  const auto device = optimized::cuda::make_cuda_device(DeviceMemoryMode::kGuarded);
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  expect_strays_are_told([](auto mode) { return optimized::cuda::make_cuda_device(mode).value(); });
}

// A kernel over 32 bytes, in guarded memory. In a process of its own, which is begun anew: a fault
// takes the GPU from its process, and CUDA does not go through a fork. What came of it is said on
// standard error.
[[noreturn]] void run_and_say(DeviceMemoryMode mode, const std::string& statement,
                              bool is_read_only = false) {
  std::string said = "nothing";
  try {
    const auto device = optimized::cuda::make_cuda_device(mode).value();
    std::vector<std::int64_t> numbers(4);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(numbers));
    device->memory().know(bytes, nullptr);
    device->memory().set_read_only(bytes.data(), is_read_only);
    optimized::TextWork work;
    work.statements = "  if (thread == 0) { " + statement + " }\n";
    work.threads = 1;
    work.pointers = {bytes.data()};
    optimized::DeviceProgramText text;
    const std::vector<optimized::Device::Job> jobs = {{text.add({work}), true, "the job"}};
    const auto runs = device->load(text, jobs);
    device->memory().bring_to_device(bytes);
    runs.front()->launch();
    device->finish();
  } catch (const std::exception& error) {
    said = error.what();
  }
  std::fprintf(stderr, "said: %s\n", said.c_str());
  std::_Exit(0);
}

constexpr const char* kFault =
    "said: the job: a kernel touched memory that is not there, or wrote what is read-only: "
    "CUDA_ERROR_ILLEGAL_ADDRESS";

class GuardedGpuDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    auto device = optimized::cuda::make_cuda_device(kEnd);
    if (!device.ok()) GTEST_SKIP() << device.error().message;
    description_ = device.value()->description();
  }
  static constexpr auto kEnd = DeviceMemoryMode::kGuarded;
  static constexpr auto kFront = DeviceMemoryMode::kGuardedFront;
  std::string description_;
};

TEST_F(GuardedGpuDeathTest, FaultsOutsideOfArenas) {
  const auto exits = testing::ExitedWithCode(0);
  for (const auto mode : {kEnd, kFront}) {
    EXPECT_EXIT(run_and_say(mode, "p0[0] = p0[31]; p0[31] = 1;"), exits, "said: nothing");
  }
  EXPECT_EXIT(run_and_say(kEnd, "p0[32] = 1;"), exits, kFault);
  EXPECT_EXIT(run_and_say(kEnd, "p0[0] = p0[32];"), exits, kFault);
  EXPECT_EXIT(run_and_say(kFront, "p0[-1] = 1;"), exits, kFault);
  EXPECT_EXIT(run_and_say(kFront, "p0[0] = p0[-1];"), exits, kFault);
}

TEST_F(GuardedGpuDeathTest, FaultsAtWritesToWeights) {
  if (description_.find("weights are writable") != std::string::npos) {
    GTEST_SKIP() << description_;
  }
  const auto exits = testing::ExitedWithCode(0);
  for (const auto mode : {kEnd, kFront}) {
    EXPECT_EXIT(run_and_say(mode, "p0[0] = 1;", true), exits, kFault);
    EXPECT_EXIT(run_and_say(mode, "if (p0[3] == 77) p0[0] = 1;", true), exits, "said: nothing");
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
