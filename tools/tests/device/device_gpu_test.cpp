// The CUDA backend against the host, bit by bit, on every golden model: captured and eager, fused
// and node by node, on one stream and on several, first and later replays, and in guarded memory.
// Skipped without a GPU.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "optimized/codegen/spelling.h"
#include "optimized/codegen/touched.h"
#include "optimized/optimized.h"
#include "optimized/runtime/cuda/cuda_device.h"
#include "optimized/runtime/device/call_order.h"
#include "optimized/runtime/device/device.h"
#include "optimized/schedule/streams_test.h"
#include "spec/plan.h"
#include "tools/tests/cross/golden_models_test.h"
#include "tools/tests/cross/stray_writes_test.h"
#include "tools/tests/device/captures_test.h"

namespace graphgate {
namespace {

using optimized::DeviceMemoryMode;

constexpr std::size_t kRepeats = 3;

struct Way {
  const char* name;
  const char* compiler;
  std::uint32_t streams = 1;
  bool captures = true;
};
constexpr Way kWays[] = {{"captured", "fused"},
                         {"captured, node by node", "eager"},
                         {"eager", "fused", 1, false},
                         {"captured on two streams", "fused", 2},
                         {"captured on four streams, node by node", "eager", 4}};

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
    options.compile.streams.count = way.streams;
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
    auto device = must(optimized::cuda::make_cuda_device(mode));
    options.device = std::move(device);
    if (mode == DeviceMemoryMode::kGuardedFront) options.compile.streams.count = 3;
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
  constexpr Way kCaptures[] = {{"fused", "fused"},
                               {"node by node", "eager"},
                               {"two streams", "fused", 2},
                               {"four streams, node by node", "eager", 4}};
  for (const auto mode : {DeviceMemoryMode::kPlain, DeviceMemoryMode::kGuarded}) {
    for (const auto arithmetic : {optimized::Arithmetic::kStrict, optimized::Arithmetic::kFast}) {
      for (const Way& way : kCaptures) {
        std::vector<std::shared_ptr<CaptureKeeper>> keepers;
        std::vector<std::unique_ptr<spec::LoadedProgram>> programs;  // which keep their arenas
        for (int i = 0; i < 2; ++i) {
          auto device = must(optimized::cuda::make_cuda_device(mode));
          keepers.push_back(std::make_shared<CaptureKeeper>(std::move(device)));
          optimized::Options options;
          options.device = keepers.back();
          options.compile.arithmetic = arithmetic;
          options.compile.compiler.name = way.compiler;
          options.compile.streams.count = way.streams;
          auto loaded = must(optimized::make_executor(options)->load(model.program));
          programs.push_back(std::move(loaded));
          (void)run_calls(*programs.back(), model);
        }
        const bool is_fast = arithmetic == optimized::Arithmetic::kFast;
        expect_same_captures(
            *keepers[0], *keepers[1],
            keepers[0]->description() + (is_fast ? ", fast, " : ", strict, ") + way.name);
      }
    }
  }
}

// --- Streams ------------------------------------------------------------------------------------

// Numbers x[0], x[1]... before a GPU, and jobs of kernels of one thread over them.
class Numbers {
 public:
  explicit Numbers(bool is_fast) : text_(is_fast) {}
  // p0, p1...: the numbers that it writes, then those that it reads, as `long long*`.
  void add(const std::string& statements, std::vector<std::size_t> writes,
           const std::vector<std::size_t>& reads, std::uint32_t stream,
           std::vector<spec::EventId> waits = {}, std::vector<spec::EventId> records = {},
           bool waits_itself = false) {
    optimized::TextWork work{.threads = 1, .waits_itself = waits_itself};
    const std::size_t written = writes.size();
    writes.insert(writes.end(), reads.begin(), reads.end());
    for (std::size_t i = 0; i < writes.size(); ++i) {
      const auto tensor = optimized::tensor_of_bytes(bytes().data() + 8 * writes[i], 8);
      const std::string n = std::to_string(i);
      work.statements += optimized::joined(
          {"  auto* const x", n, " = reinterpret_cast<volatile long long*>(p", n, ");\n"});
      work.pointers.push_back(tensor.data());
      work.accesses.push_back({tensor, i < written, waits_itself && i >= written});
    }
    work.statements += "  if (thread == 0) { " + statements + " }\n";
    optimized::DeviceCall& call = calls_.emplace_back(text_.add({work}).front());
    call.stream = stream;
    call.waits = std::move(waits);
    call.records = std::move(records);
  }
  [[nodiscard]] const std::vector<optimized::DeviceCall>& calls() const { return calls_; }

  // What each of many launches leaves of zeros; and what was captured.
  std::set<std::vector<std::int64_t>> run(optimized::Device& device, bool is_captured,
                                          optimized::DeviceCapture& capture) {
    constexpr int kLaunches = 50;
    device.memory().know(bytes(), nullptr);
    const std::vector<optimized::Device::Job> jobs = {{calls_, is_captured, "the job"}};
    const auto runs = device.load(text_, jobs);
    capture = runs.front()->captured();
    std::set<std::vector<std::int64_t>> out;
    for (int launch = 0; launch < kLaunches; ++launch) {
      std::fill(numbers_.begin(), numbers_.end(), 0);
      device.memory().host_wrote(bytes());
      device.memory().bring_to_device(bytes());
      runs.front()->launch();
      device.memory().device_wrote(bytes());
      device.finish();
      device.memory().bring_to_host(bytes());
      out.insert(numbers_);
    }
    device.memory().forget(bytes().data());
    return out;
  }

 private:
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(numbers_)); }
  optimized::DeviceProgramText text_;
  std::vector<std::int64_t> numbers_ = std::vector<std::int64_t>(5);
  std::vector<optimized::DeviceCall> calls_;
};

// The writers take their time: who does not wait for them reads zeros. In fast arithmetic the
// reader on the side stream reads before it waits for launches, and still finds what is there.
void add_branches(Numbers& numbers, bool is_fast) {
  const std::string slow =
      "const long long begin = clock64(); while (clock64() - begin < 300000) {} ";
  const std::string begin = is_fast ? "device::let_next_launch_begin(); " : "";
  const std::string wait = is_fast ? " device::wait_for_launches_before();" : "";
  numbers.add(slow + "x0[0] = 7;", {0}, {}, 0, {}, {{0}});
  numbers.add(begin + "const long long early = x1[0];" + wait + " " + slow + "x0[0] = early;", {1},
              {0}, 1, {{0}}, {{1}}, is_fast);
  numbers.add("x0[0] = x1[0] + 1;", {2}, {0}, 0);
  numbers.add("x0[0] = x1[0] + x2[0];", {3}, {1, 2}, 0, {{1}});
  numbers.add("x0[0] = x1[0] * 2;", {4}, {1}, 1);
}

TEST(StreamedGpu, WaitsForEventsCapturedAndLaunched) {
  for (const bool is_fast : {false, true}) {
    for (const bool is_captured : {true, false}) {
      const auto device = optimized::cuda::make_cuda_device();
      if (!device.ok()) GTEST_SKIP() << device.error().message;
      Numbers numbers(is_fast);
      add_branches(numbers, is_fast);
      optimized::DeviceCapture capture;
      const auto left = numbers.run(*device.value(), is_captured, capture);
      EXPECT_EQ(left, (std::set<std::vector<std::int64_t>>{{7, 7, 8, 15, 14}}))
          << (is_fast ? "fast, " : "strict, ") << (is_captured ? "captured" : "launched");
      if (!is_captured) continue;
      const auto places = optimized::places_of(numbers.calls());
      EXPECT_TRUE(capture.edges == edges_of(places, is_fast));
    }
  }
}

TEST(StreamedGpu, RefusesACaptureThatLacksAnEvent) {
  const auto device = optimized::cuda::make_cuda_device();
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  const auto refusal = [&](const char* text, const optimized::CompileOptions& compile) {
    optimized::Options options;
    options.device = device.value();
    options.compile = compile;
    const spec::Program program = optimized::program_of(text);
    const auto loaded = must(optimized::make_executor(options)->load(program));
    return message_of(loaded->call(optimized::eight()));
  };
  using namespace optimized;  // NOLINT: programs and options of streams_test.h
  EXPECT_EQ(refusal(programs::kSharedInput, on_streams(2)), "");
  EXPECT_EQ(refusal(programs::kSideStream, side_streams()), "");
  EXPECT_TRUE(contains(
      refusal(programs::kSharedInput, with(on_streams(2), spec::Deviation::kForksWithoutAliasTest)),
      "the captured graph does not order steps 0 'h' to 2 'experts' of stream 0 before"));
  EXPECT_TRUE(contains(
      refusal(programs::kSideStream, with(side_streams(), spec::Deviation::kFreesOnMainStream)),
      "the captured graph does not order steps 1 't' to 2 'u' of stream 1 before"));
}

// That models have the host's bits on several streams says something only if graphs have branches.
TEST(StreamedGpu, HasBranches) {
  auto device = optimized::cuda::make_cuda_device();
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  const auto keeper = std::make_shared<CaptureKeeper>(std::move(device).value());
  optimized::Options options;
  options.device = keeper;
  options.compile.streams.count = 4;
  const Model model = read_model(GRAPHGATE_GOLDEN_DIR "/models/mixtral_eager.core.pt2");
  EXPECT_FALSE(run_calls(*optimized::make_executor(options), model).empty());
  std::size_t branches = 0;
  for (const CaptureKeeper::Kept& kept : keeper->kept()) {
    std::vector<std::size_t> behind(kept.capture.kernels.size());
    for (const auto& edge : kept.capture.edges) ++behind[edge.from];
    for (const std::size_t count : behind) branches += count > 1 ? 1 : 0;
  }
  EXPECT_GT(branches, 5U);
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
    optimized::TextWork work{.statements = "  if (thread == 0) { " + statement + " }\n",
                             .pointers = {bytes.data()},
                             .threads = 1};
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
  auto loaded = must(optimized::make_executor(options)->load(model.program));
  ASSERT_TRUE(loaded->call(model.calls.front().inputs).ok());
  const auto plan = loaded->plan();
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
