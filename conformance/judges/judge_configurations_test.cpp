#include <algorithm>

#include "base/result_test.h"
#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "conformance/run/scripted_source_test.h"

namespace graphgate::conformance {
namespace {

using spec::Outcome;

const std::vector<std::string> kOptions = {"mode", "no-reuse", "memory", "no-capture", "compiler"};

Script two_calls() { return script_over_floats({{{1, 2, 3}, {2, 2, 2}}, {{4, 5, 6}, {1, 1, 1}}}); }

JudgeReport judge(const Answer& answer, const Script& script) {
  const ScriptedSource subject(answer, kOptions);
  const ScriptedSource oracle(product());
  Runs runs(script, subject, oracle);
  return must(judge_configurations(runs, {}));
}

// The product, but for what `change` does to it.
Answer product_but(
    std::function<void(const Configuration&, std::size_t, std::vector<float>&)> change) {
  return [change](const Configuration& configuration, std::size_t call,
                  const std::vector<std::vector<float>>& inputs) -> Result<std::vector<float>> {
    GRAPHGATE_TRY(std::vector<float> out, product()(configuration, call, inputs));
    change(configuration, call, out);
    return out;
  };
}

TEST(JudgeConfigurations, PassesEqualBitsAndCountsWhatIsRefused) {
  const JudgeReport report = judge(product(), two_calls());
  EXPECT_EQ(report.outcome, Outcome::kPass);
  EXPECT_GT(report.checks, 0);
  EXPECT_TRUE(contains(report.remark, "refused"));
  EXPECT_TRUE(contains(report.remark, "max-partition"));
}

TEST(JudgeConfigurations, NamesTheConfigurationTheCallAndTheElement) {
  const JudgeReport report =
      judge(product_but([](const Configuration& c, std::size_t call, std::vector<float>& out) {
              const auto memory = c.find("memory");
              if (call == 1 && memory != c.end() && memory->second == "lines") out[1] += 1;
            }),
            two_calls());
  EXPECT_EQ(report.outcome, Outcome::kFail);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].rule, "C1.configuration");
  EXPECT_EQ(report.findings[0].message,
            "memory=lines: call 1, output 0: element [1] is 6 (bits 0x40c00000), the default 5 "
            "(bits 0x40a00000) (1 of 3 elements differ)");
}

TEST(JudgeConfigurations, SeesAReplayThatDiffers) {
  const JudgeReport report =
      judge(product_but([](const Configuration& c, std::size_t call, std::vector<float>& out) {
              if (call == 3 && !c.contains("no-capture")) out[0] = 7;
            }),
            two_calls());
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_TRUE(report.findings[0].message.starts_with("the script twice in a row: call 3"))
      << report.findings[0].message;
}

TEST(JudgeConfigurations, SeesACallThatHangsOnThoseBeforeIt) {
  // A cache of the first call's product, found by the call's number: right only in that order.
  const JudgeReport report =
      judge(product_but([](const Configuration&, std::size_t call, std::vector<float>& out) {
              if (call == 1) out = {4, 5, 6};
            }),
            two_calls());
  const auto is_order = [](const spec::Finding& finding) {
    return finding.message.starts_with("calls from last to first: call 0");
  };
  EXPECT_TRUE(std::any_of(report.findings.begin(), report.findings.end(), is_order));
}

TEST(JudgeConfigurations, TakesADefectUnderOneConfigurationForAFinding) {
  const Answer breaks =
      [](const Configuration& c, std::size_t call,
         const std::vector<std::vector<float>>& inputs) -> Result<std::vector<float>> {
    if (c.contains("no-reuse") && !c.contains("no-capture") && call == 1) {
      return Error{ErrorKind::kInternal, "lost"};
    }
    return product()(c, call, inputs);
  };
  const JudgeReport report = judge(breaks, two_calls());
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].rule, "C2.refusal");
  EXPECT_TRUE(contains(report.findings[0].message, "no-reuse: the script ends at step 1: lost"));
}

TEST(JudgeConfigurations, IsUnsupportedWhereTheExecutorHasNoOtherConfiguration) {
  const ScriptedSource subject(product(), {});
  const ScriptedSource oracle(product());
  const Script script = script_over_floats({});
  Runs runs(script, subject, oracle);
  const auto report = must(judge_configurations(runs, {}));
  EXPECT_EQ(report.outcome, Outcome::kUnsupported);
  EXPECT_EQ(report.checks, 0);
}

}  // namespace
}  // namespace graphgate::conformance
