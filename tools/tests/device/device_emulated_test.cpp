// Generated device kernels against the host, bit by bit, on machines without a GPU: run by the
// emulator, thread by thread.
#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "optimized/optimized.h"
#include "optimized/runtime/device/device.h"
#include "optimized/runtime/emulated/emulated_device.h"
#include "tools/bench/decode_program.h"
#include "tools/executors/executor_sources.h"
#include "tools/executors/optimized_options.h"
#include "tools/store/check_input.h"
#include "tools/tests/cross/golden_models_test.h"
#include "tools/tests/cross/stray_writes_test.h"
#include "tools/tests/device/captures_test.h"
#include "tools/tests/device/device_drawn_test.h"
#include "tools/tests/device/device_ops_test.h"

namespace graphgate {
namespace {

constexpr std::size_t kRepeats = 2;

class Emulated : public testing::TestWithParam<std::string> {};

TEST_P(Emulated, HasTheBitsOfTheHost) {
  const Model model = read_model(GetParam());
  const auto expected = run_calls(*optimized::make_executor(), model, kRepeats);
  std::vector<std::shared_ptr<CaptureKeeper>> keepers;
  std::vector<std::unique_ptr<spec::LoadedProgram>> programs;  // which keep their arenas
  for (const auto mode :
       {optimized::DeviceMemoryMode::kPlain, optimized::DeviceMemoryMode::kGuarded,
        optimized::DeviceMemoryMode::kGuarded, optimized::DeviceMemoryMode::kGuardedFront}) {
    keepers.push_back(
        std::make_shared<CaptureKeeper>(optimized::emulated::make_emulated_device(mode).value()));
    optimized::Options options;
    options.device = keepers.back();
    auto loaded = must(optimized::make_executor(options)->load(model.program));
    programs.push_back(std::move(loaded));
    const auto actual = run_calls(*programs.back(), model, kRepeats);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(first_difference(actual[i], expected[i]), "")
          << "memory " << static_cast<int>(mode) << ", call " << i;
    }
  }
  expect_same_captures(*keepers[1], *keepers[2], "guarded");
}

// Every launch of a graph takes another order of what its streams leave free. The two forms of a
// model take one way each: most of the time goes into compiling their texts.
TEST_P(Emulated, HasTheBitsOfTheHostOnSeveralStreams) {
  const Model model = read_model(GetParam());
  const auto expected = run_calls(*optimized::make_executor(), model, kRepeats);
  const bool is_core = contains(GetParam(), ".core.");
  optimized::Options options;
  options.device =
      optimized::emulated::make_emulated_device(is_core ? optimized::DeviceMemoryMode::kPlain
                                                        : optimized::DeviceMemoryMode::kGuarded)
          .value();
  options.compile.streams.count = is_core ? 4 : 2;
  options.compile.compiler.name = is_core ? "eager" : "fused";
  const auto actual = run_calls(*optimized::make_executor(options), model, kRepeats);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(first_difference(actual[i], expected[i]), "") << "call " << i;
  }
}

// Weights are mapped read-only where no step writes any state of their pool.
TEST(EmulatedGuarded, ProtectsStateThatNoStepWrites) {
  const auto read_only = [](const std::string& name) {
    const Model model = read_model(GRAPHGATE_GOLDEN_DIR "/models/" + name);
    optimized::Options options;
    options.device =
        optimized::emulated::make_emulated_device(optimized::DeviceMemoryMode::kGuarded).value();
    const auto program = optimized::make_executor(options)->load(model.program);
    EXPECT_FALSE(run_calls(*program.value(), model).empty());
    const auto arenas = options.device->arenas();
    return std::count_if(arenas.begin(), arenas.end(),
                         [](const auto& arena) { return arena.is_read_only; });
  };
  EXPECT_EQ(read_only("llama_bf16.pt2"), 1);
  EXPECT_EQ(read_only("mutations.pt2"), 0);
}

TEST(EmulatedGuarded, TellsWritesWhereNoBufferLies) {
  expect_strays_are_told(
      [](auto mode) { return optimized::emulated::make_emulated_device(mode).value(); });
}

// A sample; device_slow_test.cpp has them all.
TEST(EmulatedOps, HaveTheBitsOfTheHost) {
  compare_op_cases(optimized::emulated::make_emulated_device().value(), 7, 97);
}

TEST(EmulatedDrawn, HaveTheBitsOfTheHost) {
  const auto seen = compare_drawn("emulated", 11, 0, 16);
  EXPECT_GT(seen.plans, 8U);
}

// Between pages that nobody may touch: fast kernels read 16 bytes at a time.
std::shared_ptr<optimized::Device> guarded_device() {
  return optimized::emulated::make_emulated_device(optimized::DeviceMemoryMode::kGuarded).value();
}

// An emulated device that keeps the text it was given.
class WatchedDevice final : public optimized::Device {
 public:
  [[nodiscard]] std::string description() const override { return device_->description(); }
  [[nodiscard]] optimized::DeviceMemory& memory() override { return device_->memory(); }
  std::vector<std::unique_ptr<optimized::DeviceRun>> load(const optimized::DeviceProgramText& text,
                                                          std::span<const Job> jobs) override {
    source_ += text.source();
    return device_->load(text, jobs);
  }
  void finish() override { device_->finish(); }
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  std::shared_ptr<optimized::Device> device_ = guarded_device();
  std::string source_;
};

// Fast arithmetic, before an emulated device.
class FastSource final : public conformance::ExecutorSource {
 public:
  FastSource(std::shared_ptr<optimized::Device> device, std::string streams)
      : device_(std::move(device)), streams_(std::move(streams)) {}
  [[nodiscard]] std::string_view name() const override { return "optimized"; }
  [[nodiscard]] conformance::Promises promises(
      const conformance::Configuration& options) const override {
    return tools::optimized_source()->promises(with_choices(options));
  }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const conformance::Configuration& configuration, const spec::OpTable& ops) const override {
    GRAPHGATE_TRY(optimized::Options chosen, tools::options_of(with_choices(configuration), ops));
    chosen.device = device_;
    return optimized::make_executor(std::move(chosen));
  }

 private:
  [[nodiscard]] conformance::Configuration with_choices(conformance::Configuration options) const {
    options["arithmetic"] = "fast";
    options["streams"] = streams_;
    return options;
  }
  std::shared_ptr<optimized::Device> device_;
  std::string streams_;
};

conformance::CaseReport judge_fast(const conformance::Script& script,
                                   std::shared_ptr<optimized::Device> device = guarded_device(),
                                   const std::string& streams = "1") {
  const FastSource subject(std::move(device), streams);
  const auto oracle = tools::reference_source(false);
  conformance::Runs runs(script, subject, *oracle);
  return must(conformance::judge_script(
      runs, conformance::parse_judges("bounds,verifier,state").value(), {}));
}

// One report for a program and its recorded calls, or a drawn one.
conformance::CaseReport judge_fast(spec::Program program,
                                   std::span<const conformance::ExpectedCall> calls,
                                   const std::string& streams = "1") {
  const auto ops = std::make_shared<const spec::OpTable>(spec::builtin_op_table());
  const auto script = must(conformance::script_of(
      std::make_shared<const spec::Program>(std::move(program)), calls, 1, 1, ops));
  return judge_fast(script, guarded_device(), streams);
}

std::string lines_of(const conformance::CaseReport& report) {
  std::string text = report.reason;
  for (const std::string& line : report.localization) text += "\n  " + line;
  return text;
}

// Models with 16-bit products or norms: the others have no other kernels than in strict arithmetic.
class EmulatedFast : public testing::TestWithParam<std::string> {};

TEST_P(EmulatedFast, KeepsToTheBoundsOfTensorCores) {
  const Model model = read_model(GRAPHGATE_GOLDEN_DIR "/models/" + GetParam());
  const auto report = judge_fast(model.program, model.calls);
  EXPECT_EQ(report.outcome, spec::Outcome::kPass) << lines_of(report);
}

TEST_P(EmulatedFast, KeepsToThemOnSeveralStreams) {
  const Model model = read_model(GRAPHGATE_GOLDEN_DIR "/models/" + GetParam());
  const auto report = judge_fast(model.program, model.calls, "3");
  EXPECT_EQ(report.outcome, spec::Outcome::kPass) << lines_of(report);
}

// Shapes that golden models lack: one query row, heads that share keys, several chunks of them.
TEST(EmulatedDecoder, KeepsToTheBoundsOfTensorCores) {
  tools::DecodeShape shape{.layers = 1,
                           .width = 128,
                           .heads = 8,
                           .kv_heads = 2,
                           .head_size = 64,
                           .hidden = 264,
                           .vocabulary = 333,
                           .context = 200,
                           .batch = 1};
  for (const std::int64_t batch : {1, 3, 19}) {
    shape.batch = batch;
    auto program = must(tools::make_decode_program(shape));
    const auto report = judge_fast(std::move(program), {});
    EXPECT_EQ(report.outcome, spec::Outcome::kPass) << batch << ": " << lines_of(report);
  }
}

// One query row per head, `heads` of them for each of `groups` that have keys of their own.
struct AttentionShape {
  std::string dtype;
  std::int64_t batch, groups, heads, depth, keys;
  std::string mask;  // its dtype, or ""
  bool has_masks_of_heads = false;
};

std::string case_of(const AttentionShape& s) {
  const auto tensor = [](const std::string& dtype, std::initializer_list<std::int64_t> sizes) {
    std::string text = dtype + "[";
    for (const std::int64_t size : sizes) {
      text += (text.back() == '[' ? "" : ", ") + std::to_string(size);
    }
    return text + "]";
  };
  const std::int64_t heads = s.groups * s.heads;
  const std::string query = tensor(s.dtype, {s.batch, heads, 1, s.depth});
  const std::string keys = tensor(s.dtype, {s.batch, s.groups, s.keys, s.depth});
  std::string text =
      "graphgate-case 1\nname \"attention\"\nseed 5\nprogram \"p\" {\n  input %q : " + query +
      "\n  input %k : " + keys + "\n  input %v : " + keys + "\n";
  if (!s.mask.empty()) {
    text +=
        "  input %m : " + tensor(s.mask, {s.batch, s.has_masks_of_heads ? heads : 1, 1, s.keys}) +
        "\n";
  }
  return text + "  %a : " + query + " = aten.scaled_dot_product_attention.default(%q, %k, %v, " +
         (s.mask.empty() ? "" : "%m, ") +
         "enable_gqa=True)\n  output %a\n}\nscenario {\n  call p\n  call p\n}\nexpect PASS\n";
}

std::string attention_name(const testing::TestParamInfo<AttentionShape>& info) {
  const AttentionShape& s = info.param;
  return s.dtype + "_" + std::to_string(s.batch) + "x" + std::to_string(s.groups) + "x" +
         std::to_string(s.heads) + "_depth" + std::to_string(s.depth) + "_keys" +
         std::to_string(s.keys) + (s.mask.empty() ? "" : "_" + s.mask) +
         (s.has_masks_of_heads ? "_of_heads" : "");
}

class EmulatedAttentionOf : public testing::TestWithParam<AttentionShape> {};

TEST_P(EmulatedAttentionOf, KeepsToTheBoundsOfTensorCores) {
  const auto script = must(tools::read_case(case_of(GetParam()), "attention.case"));
  const auto device = std::make_shared<WatchedDevice>();
  const auto report = judge_fast(script, device);
  EXPECT_EQ(report.outcome, spec::Outcome::kPass) << lines_of(report);
  EXPECT_TRUE(contains(device->source(), "attend_chunk"));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, EmulatedAttentionOf,
    testing::Values(
        // One key, and around the 16 of a tile.
        AttentionShape{"bf16", 1, 1, 1, 64, 1, ""}, AttentionShape{"f16", 2, 3, 4, 64, 1, "bool"},
        AttentionShape{"bf16", 1, 2, 2, 16, 15, "f32", true},
        AttentionShape{"f16", 3, 1, 8, 128, 16, "f16"},
        AttentionShape{"bf16", 1, 2, 4, 64, 17, "bool", true},
        // Depths, also those that are padded to whole tiles.
        AttentionShape{"bf16", 2, 1, 3, 8, 40, "bool"}, AttentionShape{"f16", 1, 1, 8, 8, 17, ""},
        AttentionShape{"bf16", 1, 2, 5, 24, 33, "bf16"},
        AttentionShape{"f16", 1, 1, 4, 80, 63, "bool"}, AttentionShape{"bf16", 1, 1, 7, 96, 64, ""},
        AttentionShape{"bf16", 1, 2, 2, 256, 65, "f32"},
        AttentionShape{"f16", 1, 1, 8, 256, 70, "bool", true},
        // Several chunks: the last one with few keys, with one, with all.
        AttentionShape{"bf16", 1, 2, 4, 64, 200, "bool"},
        AttentionShape{"f16", 2, 2, 4, 64, 257, "f16", true},
        AttentionShape{"bf16", 1, 1, 8, 128, 193, ""},
        AttentionShape{"f16", 3, 2, 1, 16, 256, "bool", true},
        AttentionShape{"bf16", 1, 1, 4, 64, 1000, "bool"},
        AttentionShape{"f16", 1, 1, 4, 32, 1100, ""},
        // Several tiles for a warp, and several rounds of them.
        AttentionShape{"bf16", 1, 1, 2, 16, 9000, "bool"},
        AttentionShape{"f16", 1, 1, 4, 8, 20000, ""},
        AttentionShape{"bf16", 12, 8, 2, 16, 500, "f32"},
        // Batches that make one chunk of all keys.
        AttentionShape{"bf16", 33, 8, 2, 16, 300, "bool"},
        AttentionShape{"f16", 22, 12, 1, 8, 560, ""}),
    attention_name);

// A query that sees nothing weighs all keys with 0, one that sees a value of NaN becomes it, and so
// does one that does not see it: 0 times NaN.
TEST(EmulatedAttention, KeepsWhatMasksHideAndWhatIsNoNumber) {
  std::string ones = "1.0";
  for (int i = 1; i < 3 * 8; ++i) ones += i == 9 ? ", nan" : ", 0.5";
  const auto script = must(tools::read_case(
      "graphgate-case 1\nname \"masks\"\nseed 1\nprogram \"p\" {\n"
      "  input %q : f16[1, 3, 1, 8]\n  input %k : f16[1, 1, 3, 8]\n  input %v : f16[1, 1, 3, 8]\n"
      "  input %m : bool[1, 3, 1, 3]\n"
      "  %a : f16[1, 3, 1, 8] = aten.scaled_dot_product_attention.default(%q, %k, %v, %m, "
      "enable_gqa=True)\n  output %a\n}\n"
      "inputs \"hidden\" of \"p\" {\n  v : f16[1, 1, 3, 8] = [" +
          ones +
          "]\n  m : bool[1, 3, 1, 3] = [False, False, False, True, False, True, True, True, "
          "False]\n}\nscenario {\n  call p inputs=hidden\n  call p\n}\nexpect PASS\n",
      "masks.case"));
  const auto report = judge_fast(script);
  EXPECT_EQ(report.outcome, spec::Outcome::kPass) << lines_of(report);
}

// They may lie anywhere, in memory that no device knows.
TEST(EmulatedEmpty, SumsAndProductsOfNothingAreZero) {
  const auto script = must(tools::read_case(
      "graphgate-case 1\nname \"empty\"\nseed 1\nprogram \"p\" {\n  symbol s0 in [0, 8]\n"
      "  input %x : f32[s0, 2]\n  %s : f32[2] = aten.sum.dim_IntList(%x, [0])\n"
      "  %t : f32[2, s0] = aten.permute.default(%x, [1, 0])\n"
      "  %p : f32[2, 2] = aten.mm.default(%t, %x)\n  output %s\n  output %p\n}\n"
      "scenario {\n  call p s0=0\n  call p s0=3\n  call p s0=0\n}\nexpect PASS\n",
      "empty.case"));
  const auto report = judge_fast(script);
  EXPECT_EQ(report.outcome, spec::Outcome::kPass) << lines_of(report);
}

INSTANTIATE_TEST_SUITE_P(Models, Emulated, testing::ValuesIn(model_paths()), model_name);
INSTANTIATE_TEST_SUITE_P(Models, EmulatedFast,
                         testing::Values("llama_bf16.pt2", "llama_bf16.core.pt2",
                                         "vllm_like_bf16.core.pt2", "vllm_like.core.pt2",
                                         "mamba_slow.pt2", "quant_mixed.pt2"),
                         model_name);

}  // namespace
}  // namespace graphgate
