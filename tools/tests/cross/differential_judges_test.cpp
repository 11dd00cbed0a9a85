// The judges that compare runs with runs, over the built-in executors: that they find nothing where
// nothing is wrong, find what is planted, and say where it begins.
#include "base/result_test.h"
#include "conformance/judges/configuration_table.h"
#include "conformance/judges/first_divergence.h"
#include "conformance/judges/judge.h"
#include "conformance/judges/lone_taps.h"
#include "conformance/judges/plan_quality.h"
#include "conformance/run/input_layout.h"
#include "conformance/run/runs.h"
#include "optimized/optimized.h"
#include "optimized/passes/pass.h"
#include "spec/graph_text.h"
#include "tools/executors/executor_sources.h"
#include "tools/store/check_input.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

using conformance::CaseReport;
using conformance::Configuration;
using conformance::Runs;
using conformance::Script;
using spec::Outcome;

std::shared_ptr<const spec::OpTable> builtin_ops() {
  static const auto kOps = std::make_shared<const spec::OpTable>(spec::builtin_op_table());
  return kOps;
}

Script script_over(const char* text, Configuration options = {}, int calls = 2) {
  auto program = must(spec::parse_program(text, *builtin_ops()));
  auto script = must(conformance::script_of(
      std::make_shared<const spec::Program>(std::move(program)), {}, calls, 1, builtin_ops()));
  script.options = std::move(options);
  return script;
}

CaseReport judge(const Script& script, const char* judges,
                 const conformance::ExecutorSource& subject,
                 const conformance::JudgeSettings& settings = {}) {
  const auto oracle = tools::reference_source(false);
  Runs runs(script, subject, *oracle);
  return must(conformance::judge_script(runs, conformance::parse_judges(judges).value(), settings));
}

CaseReport judge(const Script& script, const char* judges) {
  return judge(script, judges, *tools::optimized_source());
}

bool has_line(const CaseReport& report, const std::string& begin) {
  return std::any_of(report.localization.begin(), report.localization.end(),
                     [&](const std::string& line) { return line.starts_with(begin); });
}
std::string lines_of(const CaseReport& report) {
  std::string text = report.reason;
  for (const std::string& line : report.localization) text += "\n  " + line;
  return text;
}

TEST(ConfigurationRows, AreAllTakenByTheOptimizedExecutor) {
  const auto source = tools::optimized_source();
  for (const conformance::ConfigurationRow& row : conformance::configuration_rows()) {
    const auto made = source->make(conformance::parse_configuration(row.text), *builtin_ops());
    EXPECT_TRUE(made.ok()) << row.text << ": " << made.error().message;
  }
}

TEST(ConfigurationRows, TurnEveryPassOff) {
  for (const optimized::Pass& pass : optimized::builtin_passes()) {
    if (pass.name == "undo_functionalization") continue;  // nothing runs without it
    const auto& rows = conformance::configuration_rows();
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return row.text == "no-pass=" + pass.name;
    })) << pass.name;
  }
}

constexpr const char* kChain = R"(program "chain" {
  input %x : f32[8, 8]
  input %w : f32[8, 8]
  %a = aten.mm.default(%x, %w)
  %b = aten.relu.default(%a)
  %c = aten.cumsum.default(%b, 0)
  %d = aten.mm.default(%c, %w)
  %e = aten.add.Tensor(%d, %a)
  output %e
})";

TEST(DifferentialJudges, FindNothingInARightRun) {
  const CaseReport report = judge(script_over(kChain), "exact,configurations,quality,vacuity");
  EXPECT_EQ(report.outcome, Outcome::kPass) << lines_of(report);
  for (const conformance::JudgeReport& one : report.judges) {
    EXPECT_GT(one.checks, 0) << conformance::judge_name(one.judge);
  }
}

TEST(DifferentialJudges, CompareEveryConfigurationWithinOneScript) {
  const auto oracle = tools::reference_source(false);
  const auto subject = tools::optimized_source();
  const Script script = script_over(kChain);
  Runs runs(script, *subject, *oracle);
  conformance::JudgeSettings settings;
  settings.every_configuration = true;
  const auto report = must(conformance::judge_configurations(runs, settings));
  EXPECT_EQ(report.outcome, Outcome::kPass);
  EXPECT_FALSE(contains(report.remark, "refused"));
}

// The cubic root has no slope at zero, so that the oracle can tell nothing of a norm there.
TEST(DifferentialJudges, TakeNoFunctionThatIsOpenAtZeroForAnAllocation) {
  const CaseReport report = judge(script_over(R"(program "norm" {
  input %a : f32[3, 4]
  %y = aten.linalg_vector_norm.default(%a, 3.0, [-1])
  output %y
})"),
                                  "quality");
  EXPECT_EQ(report.outcome, Outcome::kPass) << lines_of(report);
}

TEST(DifferentialJudges, FindNoOtherPlanWhereAConstantIsNaN) {
  const CaseReport report = judge(script_over(R"(program "nan" {
  input %x : f32[3]
  %c : f32[] = aten.scalar_tensor.default(nan, dtype=f32)
  %y : f32[3] = aten.add.Tensor(%x, %c)
  output %y
})"),
                                  "configurations");
  EXPECT_EQ(report.outcome, Outcome::kPass) << lines_of(report);
}

// The optimized executor with a relu that computes abs: a wrong kernel. Instruments see the op that
// was asked for, as they would of a real one.
class WrongKernelSource final : public conformance::ExecutorSource {
 public:
  [[nodiscard]] std::string_view name() const override { return "wrong-kernel"; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const Configuration& configuration, const spec::OpTable& ops) const override {
    GRAPHGATE_TRY(auto inner, tools::optimized_source()->make(configuration, ops));
    if (configuration.contains("instrument")) return inner;
    return std::unique_ptr<spec::Executor>(std::make_unique<Wrong>(std::move(inner)));
  }

 private:
  struct Wrong final : spec::Executor {
    explicit Wrong(std::unique_ptr<spec::Executor> executor) : inner(std::move(executor)) {}
    [[nodiscard]] std::string_view name() const override { return "wrong-kernel"; }
    Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
      programs.push_back(std::make_unique<spec::Program>(program));
      for (spec::Node& node : programs.back()->graph.nodes) {
        if (node.op == "aten.relu.default") node.op = "aten.abs.default";
      }
      return inner->load(*programs.back());
    }
    std::unique_ptr<spec::Executor> inner;
    std::vector<std::unique_ptr<spec::Program>> programs;
  };
};

TEST(FirstDivergence, NamesTheNodeOfAWrongKernelAndSaysThatNoOptionHelps) {
  for (const char* judges : {"exact", "bounds"}) {
    const CaseReport report = judge(script_over(kChain), judges, WrongKernelSource());
    EXPECT_EQ(report.outcome, Outcome::kFail);
    EXPECT_TRUE(has_line(report, "first node: 'b'")) << lines_of(report);
    EXPECT_TRUE(has_line(report, "none of ")) << lines_of(report);
  }
}

// A finding names nodes of one program: another one may have the same names.
TEST(FirstDivergence, FindingsSayWhichProgramTheyAreAbout) {
  Script script = script_over(
      "program \"p\" {\n  input %x : f32[4]\n  %b = aten.exp.default(%x)\n  output %b\n}\n");
  const Script other = script_over(
      "program \"q\" {\n  input %x : f32[4]\n  %b = aten.relu.default(%x)\n  output %b\n}\n");
  script.programs.push_back(other.programs.front());
  for (const conformance::ScriptStep& step : other.steps) {
    script.steps.push_back(step);
    std::get<conformance::ScriptCall>(script.steps.back()).program = 1;
  }
  for (const char* judges : {"exact", "bounds"}) {
    const CaseReport report = judge(script, judges, WrongKernelSource());
    ASSERT_EQ(report.outcome, Outcome::kFail) << judges;
    for (const spec::Finding& finding : report.judges.front().findings) {
      EXPECT_EQ(finding.program, "q") << finding.rule << ": " << finding.message;
    }
  }
}

// A wrong kernel, on a device alone.
class WrongOnDeviceSource final : public conformance::ExecutorSource {
 public:
  [[nodiscard]] std::string_view name() const override { return "wrong-on-device"; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const Configuration& configuration, const spec::OpTable& ops) const override {
    const auto device = configuration.find("device");
    const bool is_host = device == configuration.end() || device->second == "host";
    if (is_host) return tools::optimized_source()->make(configuration, ops);
    return WrongKernelSource().make({}, ops);
  }
};

TEST(DifferentialJudges, HoldADeviceAgainstTheHost) {
  const Script script = script_over(kChain, {{"device", "emulated"}});
  const CaseReport right = judge(script, "configurations");
  EXPECT_EQ(right.outcome, Outcome::kPass) << lines_of(right);
  const CaseReport wrong = judge(script, "configurations", WrongOnDeviceSource());
  EXPECT_EQ(wrong.outcome, Outcome::kFail);
  EXPECT_TRUE(contains(wrong.reason, "device=host: "));
  // The host has no guarded memory: the row asks for none.
  const CaseReport guarded =
      judge(script_over(kChain, {{"device", "emulated"}, {"device-memory", "guarded"}}),
            "configurations");
  EXPECT_EQ(guarded.outcome, Outcome::kPass) << lines_of(guarded);
}

// Deviations planted in the cases that were written for them: the first node, and what helps.
struct PlantedCase {
  const char* file;
  const char* deviation;
  const char* node;
  const char* helps;
};

TEST(FirstDivergence, NamesTheNodeAndTheOptionsThatMakeItPass) {
  const PlantedCase kPlanted[] = {
      {"b3-in-place-over-a-removed-buffer", "in_place_over_removed", "z", "no-in-place"},
      {"b4-freed-twice", "frees_twice", "d", "no-reuse"},
      {"c7-allocated-per-call", "eager_output_not_copied", "", "no-capture"},
      {"f1-rounding-of-a-fused-value", "realization_moves_rounding", "", "compiler=eager"},
      {"m4-pending-reader", "writes_before_pending_readers", "", "compiler=eager"},
      {"p17-over-partitioned", "any_symbol_is_unsafe", "", ""},
  };
  for (const PlantedCase& planted : kPlanted) {
    const std::string path =
        std::string(GRAPHGATE_GOLDEN_DIR "/cases/catalogue/") + planted.file + ".case";
    auto script = must(tools::read_case(tools::read_text(path).value(), path));
    script.options["deviation"] = planted.deviation;
    const CaseReport report = judge(script, "exact,configurations,quality");
    EXPECT_EQ(report.outcome, Outcome::kFail) << planted.file;
    const std::string name(planted.node);
    EXPECT_TRUE(has_line(report, "first node: '" + name)) << planted.file << lines_of(report);
    EXPECT_TRUE(has_line(report, "without deviation=" + std::string(planted.deviation)))
        << planted.file << lines_of(report);
    const std::string helps(planted.helps);
    EXPECT_TRUE(helps.empty() || has_line(report, helps + ": passes"))
        << planted.file << lines_of(report);
  }
}

// A partition that frees what it knows as a view of another dtype alone, and is not given it: which
// cut parts the reader from what it reads.
constexpr const char* kViews = R"(program "views" {
  input %x : f32[4, 4]
  %a = aten.mul.Tensor(%x, 2.0)
  %b = aten.add.Tensor(%a, %x)
  %v = aten.view.dtype(%b, i16)
  %d = aten.bitwise_not.default(%v)
  %e = aten.neg.default(%d)
  %f = aten.add.Tensor(%e, %d)
  %g = aten.neg.default(%f)
  output %g
})";
constexpr const char* kViewsTwice = R"(program "views" {
  input %x : f32[4, 4]
  %a = aten.add.Tensor(%x, 1.0)
  %v = aten.view.dtype(%a, i16)
  %b = aten.bitwise_not.default(%v)
  %c = aten.mul.Tensor(%x, 2.0)
  %w = aten.view.dtype(%c, i16)
  %d = aten.bitwise_not.default(%w)
  %e = aten.add.Tensor(%d, %b)
  output %e
})";

struct PlantedCut {
  const char* program;
  Configuration options;
  const char* line;
};

TEST(FirstDivergence, NamesTheCutThatMakesItPass) {
  const PlantedCut kPlanted[] = {
      {kViews, {{"max-partition", "2"}}, "cut 0|1 moved from behind 'b' to behind 'd': passes"},
      {kViews, {{"max-partition", "1"}}, "cut 1|2, behind 'b', removed: passes"},
      {kViews, {{"cut-after", "b,e"}}, "cut 0|1 moved from behind 'b' to behind 'd': passes"},
      {kViewsTwice,
       {{"max-partition", "1"}},
       "cuts 0|1 (behind 'a'), 2|3 (behind 'c') removed: passes"},
      {kViews, {{"split-op", "aten.mm"}}, ""},
  };
  for (const PlantedCut& planted : kPlanted) {
    Script script = script_over(planted.program, planted.options);
    script.options["compiler"] = "eager";
    script.options["deviation"] = "signature_omits_frees";
    const CaseReport report = judge(script, "verifier");
    const bool is_wrong = *planted.line != '\0';
    EXPECT_EQ(report.outcome, is_wrong ? Outcome::kFail : Outcome::kPass) << report.reason;
    if (!is_wrong) continue;
    EXPECT_TRUE(has_line(report, planted.line)) << planted.line << "\n" << lines_of(report);
  }
}

// The added cut of a removed buffer's reader; a name that no option has said before.
TEST(FirstDivergence, NamesTheCutThatIsMissing) {
  const std::string path = GRAPHGATE_GOLDEN_DIR "/cases/catalogue/b4-freed-twice.case";
  auto script = must(tools::read_case(tools::read_text(path).value(), path));
  script.options["deviation"] = "frees_twice";
  const CaseReport report = judge(script, "verifier");
  EXPECT_TRUE(has_line(report, "a cut behind 'b' added: passes")) << lines_of(report);
}

// A plan from the cache whose op writes its operand by now, or does not any more: a refusal that
// names the op.
TEST(CachedPlans, MadeForOtherEffectsAreRefusedByName) {
  const std::pair<const char*, const char*> kCases[] = {
      {"other-mutability", "node 'n' (aten.neg.note): gives back bytes that it was given"},
      {"other-mutability-back", "node 'n' (aten.neg.note): gives back new bytes"}};
  for (const auto& [name, words] : kCases) {
    const std::string path = GRAPHGATE_GOLDEN_DIR "/cases/cache/" + std::string(name) + ".case";
    auto script = must(tools::read_case(tools::read_text(path).value(), path));
    const CaseReport right = judge(script, "all");
    EXPECT_EQ(right.outcome, Outcome::kPass) << name << ": " << right.reason;
    script.options["deviation"] = "key_by_op_name";
    const CaseReport report = judge(script, "all");
    EXPECT_EQ(report.outcome, Outcome::kFail) << name;
    ASSERT_FALSE(report.findings.empty()) << report.reason;
    EXPECT_EQ(report.findings[0].rule, "R1.refused-wrongly");
    EXPECT_TRUE(contains(report.reason, words));
  }
}

// An executor that refuses every call.
class RefusingSource : public conformance::ExecutorSource {
 public:
  [[nodiscard]] std::string_view name() const override { return "refusing"; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(const Configuration&,
                                                             const spec::OpTable&) const override {
    return std::unique_ptr<spec::Executor>(std::make_unique<Refusing>());
  }

 private:
  struct Program final : spec::LoadedProgram {
    Result<spec::CallResult> call(std::span<const spec::InputValue>) override {
      return bad_input("not today");
    }
  };
  struct Refusing final : spec::Executor {
    [[nodiscard]] std::string_view name() const override { return "refusing"; }
    Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program&) override {
      return std::unique_ptr<spec::LoadedProgram>(std::make_unique<Program>());
    }
  };
};

// The arm that is not taken excuses a refusal only if it cannot run itself.
TEST(Refusals, AreExcusedByAnArmThatCannotRunAlone) {
  const std::string kArms = R"(program "arms" {
  input %p : bool[]
  input %x : f32[3]
  graph @yes {
    input %a : f32[3]
    %b = aten.relu.default(%a)
    output %b
  }
  graph @no {
    input %c : f32[3]
    %d = aten.reshape.default(%c, [SIZES])
    output %d
  }
  %y : f32[3] = higher_order.cond(%p, @yes, @no, [%x])
  output %y
})";
  for (const bool fits : {true, false}) {
    std::string text = kArms;
    text.replace(text.find("SIZES"), 5, fits ? "3" : "2, 2");
    Script script = script_over(text.c_str(), {}, 1);
    auto& inputs = std::get<conformance::ScriptCall>(script.steps[0]).inputs;
    auto condition = spec::make_host_tensor(spec::DType::kBool, {});
    condition.storage->bytes[0] = std::byte{1};
    inputs[0] = condition;
    const CaseReport report = judge(script, "bounds", RefusingSource());
    ASSERT_FALSE(report.findings.empty()) << report.reason;
    EXPECT_EQ(report.findings[0].rule, fits ? "R1.refused-wrongly" : "R4.unsupported");
    EXPECT_EQ(report.outcome, fits ? Outcome::kFail : Outcome::kUnsupported) << report.reason;
  }
}

// Its kernels are CUDA's.
class CudaRefusingSource final : public RefusingSource {
 public:
  [[nodiscard]] conformance::Promises promises(
      const conformance::Configuration& /*options*/) const override {
    conformance::Promises out;
    out.kernels = "cuda";
    return out;
  }
};

// A target that is no probability is one for the CPU's kernel alone.
TEST(Refusals, AreExcusedByWhatCudasKernelsDoNotTake) {
  for (const bool is_probability : {true, false}) {
    std::string text = R"(program "loss" {
  input %x : f32[3]
  %p : f32[3] = aten.sigmoid.default(%x)
  %t : f32[3] = aten.full.default([3], TARGET, dtype=f32)
  %y : f32[] = aten.binary_cross_entropy.default(%p, %t)
  output %y
})";
    text.replace(text.find("TARGET"), 6, is_probability ? "1.0" : "2.0");
    const Script script = script_over(text.c_str(), {}, 1);
    const auto rule = [&](const auto& source) {
      return judge(script, "bounds", source).findings.at(0).rule;
    };
    EXPECT_EQ(rule(CudaRefusingSource()), is_probability ? "R1.refused-wrongly" : "R4.unsupported");
    EXPECT_EQ(rule(RefusingSource()), "R1.refused-wrongly");
  }
}

// An executor that refuses what CUDA's kernels do, and promises them, or does not.
class CheckedSource final : public conformance::ExecutorSource {
 public:
  explicit CheckedSource(bool has_cuda_kernels) {
    if (has_cuda_kernels) promised_.kernels = "cuda";
  }
  [[nodiscard]] std::string_view name() const override { return "checked"; }
  [[nodiscard]] conformance::Promises promises(
      const conformance::Configuration& /*options*/) const override {
    return promised_;
  }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const conformance::Configuration& /*configuration*/,
      const spec::OpTable& ops) const override {
    return reference_->make({{"mode", "eager"}, {"kernels", "cuda-checked"}}, ops);
  }

 private:
  conformance::Promises promised_;
  std::unique_ptr<tools::Subject> reference_ = tools::reference_source(false);
};

// The judge exact brings data of its own, whole numbers: as targets they are no probabilities.
TEST(Refusals, OfDataThatAJudgeBringsAreExcusedAsWell) {
  Script script = script_over(R"(program "loss" {
  input %x : f32[16]
  input %t : f32[16]
  %p : f32[16] = aten.clamp.default(%x, 0.0, 1.0)
  %u : f32[16] = aten.add.Tensor(%t, %t)
  %y : f32[16] = aten.binary_cross_entropy.default(%p, %u, None, 0)
  %z : f32[16] = aten.add.Tensor(%x, %x)
  output %y
  output %z
})",
                              {}, 1);
  auto quarters = spec::make_host_tensor(spec::DType::kFloat32, {16});
  const std::vector<float> values(16, 0.25F);
  std::memcpy(quarters.storage->bytes.data(), values.data(), values.size() * sizeof(float));
  std::get<conformance::ScriptCall>(script.steps[0]).inputs[1] = quarters;
  const auto findings_of = [&](bool has_cuda_kernels) {
    return judge(script, "exact", CheckedSource(has_cuda_kernels)).judges.at(0).findings;
  };
  ASSERT_EQ(findings_of(false).size(), 1U);
  EXPECT_EQ(findings_of(false)[0].rule, "E2.refusal");
  EXPECT_TRUE(findings_of(true).empty());
}

// CUDA's log_sigmoid_forward makes no buffer, which the CPU's does.
TEST(Refusals, AreExcusedByWhatTheCpusKernelsAloneMake) {
  const Script script = script_over(R"(program "buffer" {
  input %x : f32[3]
  %y : f32[3], %b : f32[3] = aten.log_sigmoid_forward.default(%x)
  %z : f32[3] = aten.reshape.default(%b, [3])
  output %z
})",
                                    {}, 1);
  EXPECT_EQ(judge(script, "bounds", CudaRefusingSource()).findings.at(0).rule, "R4.unsupported");
  EXPECT_EQ(judge(script, "bounds", RefusingSource()).findings.at(0).rule, "R1.refused-wrongly");
}

TEST(LoneTaps, FindTheFirstNodeThatDiffers) {
  const Script script = script_over(kChain);
  const auto oracle = tools::reference_source(false);
  const WrongKernelSource wrong;
  // Both sides are wrong alike: nothing differs between configurations.
  Runs runs(script, wrong, *oracle);
  EXPECT_FALSE(conformance::first_difference(runs, {}, {{"no-reuse", ""}}).has_value());
}

class EveryModelsPlan : public testing::TestWithParam<std::string> {};

// What `graphgate plan --quality` prints; a plan that got better may be stored anew.
TEST_P(EveryModelsPlan, CostsNoMoreThanTheStoredBaseline) {
  const std::string text = tools::read_text(GRAPHGATE_GOLDEN_DIR "/quality.txt").value();
  const auto baseline = must(conformance::parse_quality(text));
  const Model model = read_model(GetParam());
  auto loaded = must(optimized::make_executor({})->load(model.program));
  for (std::size_t i = 0; i < model.calls.size(); ++i) {
    std::vector<spec::InputValue> inputs = model.calls[i].inputs;
    conformance::lay_out_inputs(model.program, inputs);
    ASSERT_TRUE(loaded->call(inputs).ok());
    const auto stored = baseline.find(model.program.name + " call " + std::to_string(i));
    ASSERT_NE(stored, baseline.end()) << "call " << i << " is not in golden/quality.txt";
    const auto now = conformance::quality_of(*loaded->plan());
    for (const std::string& worse : conformance::worse_than(now, stored->second)) {
      ADD_FAILURE() << "call " << i << ": " << worse;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Models, EveryModelsPlan, testing::ValuesIn(model_paths()), model_name);

}  // namespace
}  // namespace graphgate
