// What the CUDA backend captures of golden models and drawn cases, on machines without a GPU: over
// a driver of the tests' own. No capture leaves two kernels free that have to stay in order, every
// kernel tells what it touches, and two captures are the same but for where arenas lie.
#include "base/result_test.h"
#include "conformance/run/runs.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/judge_case.h"
#include "optimized/optimized.h"
#include "optimized/runtime/cuda/fake_device_test.h"
#include "optimized/runtime/device/call_order.h"
#include "tools/executors/executor_sources.h"
#include "tools/executors/optimized_options.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

using optimized::cuda::FakeCuda;

struct Way {
  const char* compiler;
  std::uint32_t streams;
  optimized::Arithmetic arithmetic = optimized::Arithmetic::kStrict;
  bool is_guarded = false;  // a look at canaries comes behind all streams
};
constexpr Way kWays[] = {{"fused", 1},
                         {"fused", 1, optimized::Arithmetic::kFast},
                         {"fused", 2},
                         {"eager", 4},
                         {"eager", 4, optimized::Arithmetic::kStrict, true},
                         {"fused", 4, optimized::Arithmetic::kFast}};

std::unique_ptr<spec::LoadedProgram> load(const Model& model, const Way& way,
                                          std::shared_ptr<FakeCuda> device) {
  optimized::Options options;
  options.device = std::move(device);
  options.compile.streams.count = way.streams;
  options.compile.compiler.name = way.compiler;
  options.compile.arithmetic = way.arithmetic;
  return must(optimized::make_executor(options)->load(model.program));
}

bool is_look(const optimized::DeviceCall& call) { return call.what == "canaries"; }

class DeviceGraphs : public testing::TestWithParam<std::string> {};

TEST_P(DeviceGraphs, OrderWhatMeetsAndAreTheSameOverOtherArenas) {
  const Model model = read_model(GetParam());
  for (const Way& way : kWays) {
    const std::string how = std::string(way.compiler) + ", " + std::to_string(way.streams);
    std::vector<std::shared_ptr<FakeCuda>> devices;
    std::vector<std::unique_ptr<spec::LoadedProgram>> programs;  // which keep their arenas
    for (const bool reverses_edges : {false, true}) {
      devices.push_back(std::make_shared<FakeCuda>(reverses_edges, way.is_guarded));
      programs.push_back(load(model, way, devices.back()));
      EXPECT_FALSE(run_calls(*programs.back(), model).empty());
    }
    const auto& kept = devices[0]->kept();
    ASSERT_EQ(kept.size(), devices[1]->kept().size());
    ASSERT_FALSE(kept.empty());
    std::size_t looks = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const FakeCuda::Kept& other = devices[1]->kept()[i];
      EXPECT_EQ(optimized::first_difference({kept[i].capture, kept[i].arenas},
                                            {other.capture, other.arenas}),
                "")
          << how;
      const bool overlap = way.arithmetic == optimized::Arithmetic::kFast;
      EXPECT_TRUE(kept[i].capture.edges == edges_of(optimized::places_of(kept[i].calls), overlap));
      for (const optimized::DeviceCall& call : kept[i].calls) {
        EXPECT_TRUE(optimized::tells_all(call) || is_look(call)) << how << ": " << call.what;
      }
      looks += kept[i].calls.empty() || !is_look(kept[i].calls.back()) ? 0 : 1;
    }
    EXPECT_EQ(looks > 0, way.is_guarded) << how;
  }
}

// That captures on several streams hold says something only if there are some.
TEST(DeviceGraphsOnStreams, HaveBranches) {
  const Model model = read_model(GRAPHGATE_GOLDEN_DIR "/models/mixtral_eager.core.pt2");
  std::size_t branches = 0;
  std::size_t launches[2] = {};
  for (const std::uint32_t streams : {1U, 4U}) {
    const auto device = std::make_shared<FakeCuda>();
    const auto program = load(model, {"fused", streams}, device);
    ASSERT_FALSE(run_calls(*program, model).empty());
    for (const FakeCuda::Kept& kept : device->kept()) {
      launches[streams / 4] += kept.calls.size();
      std::vector<std::size_t> behind(kept.calls.size());
      for (const auto& edge : kept.capture.edges) ++behind[edge.from];
      for (const std::size_t count : behind) branches += count > 1 ? 1 : 0;
      EXPECT_TRUE(streams > 1 || branches == 0);
    }
  }
  EXPECT_GT(branches, 5U);
  RecordProperty("kernels on one stream", static_cast<int>(launches[0]));
  RecordProperty("kernels on four", static_cast<int>(launches[1]));
}

// The optimized executor on several streams, before devices that capture; every other one in fast
// arithmetic.
class StreamedSource final : public conformance::ExecutorSource {
 public:
  [[nodiscard]] std::string_view name() const override { return "optimized"; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const conformance::Configuration& configuration, const spec::OpTable& ops) const override {
    conformance::Configuration streamed = configuration;
    streamed["streams"] = "3";
    if (devices_.size() % 2 == 1) streamed["arithmetic"] = "fast";
    GRAPHGATE_TRY(optimized::Options chosen, tools::options_of(streamed, ops));
    devices_.push_back(std::make_shared<FakeCuda>());
    chosen.device = devices_.back();
    return optimized::make_executor(std::move(chosen));
  }
  // Captured graphs so far that have side streams.
  [[nodiscard]] std::size_t streamed() const {
    std::size_t count = 0;
    for (const auto& device : devices_) {
      for (const FakeCuda::Kept& kept : device->kept()) {
        count += std::any_of(kept.calls.begin(), kept.calls.end(),
                             [](const auto& call) { return call.stream != 0; })
                     ? 1
                     : 0;
      }
    }
    return count;
  }

 private:
  mutable std::vector<std::shared_ptr<FakeCuda>> devices_;
};

// No plan that is right is refused.
TEST(DeviceGraphsOnStreams, AreInOrderForDrawnCases) {
  constexpr std::uint64_t kSeed = 23;
  constexpr std::uint64_t kCases = 200;
  const StreamedSource subject;
  const auto oracle = tools::reference_source(false);
  const fuzz::Alphabet alphabet;
  for (std::uint64_t index = 0; index < kCases; ++index) {
    SCOPED_TRACE("g3:" + std::to_string(kSeed) + ":" + std::to_string(index));
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(kSeed, index), alphabet);
    const auto script = must(conformance::script_of(the_case, fuzz::no_files()));
    conformance::Runs runs(script, subject, *oracle);
    const auto trace = runs.subject();
    if (!trace.ok()) {
      EXPECT_NE(trace.error().kind, ErrorKind::kInfrastructure) << trace.error().message;
      continue;
    }
    const auto& error = trace.value()->error;
    EXPECT_TRUE(!error || error->kind != ErrorKind::kInfrastructure) << error->message;
  }
  EXPECT_GT(subject.streamed(), 40U);
}

INSTANTIATE_TEST_SUITE_P(Models, DeviceGraphs, testing::ValuesIn(model_paths()), model_name);

}  // namespace
}  // namespace graphgate
