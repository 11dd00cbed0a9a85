#include <limits>

#include "base/result_test.h"
#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "conformance/run/scripted_source_test.h"

namespace graphgate::conformance {
namespace {

using spec::Outcome;

JudgeReport judge_oracle(const Answer& oracle_answer, const Script& script) {
  const ScriptedSource subject(product());
  const ScriptedSource oracle(oracle_answer);
  Runs runs(script, subject, oracle);
  return must(judge_vacuity(runs, {}));
}

Script one_call() { return script_over_floats({{{1, 2, 3}, {2, 3, 4}}}); }

TEST(JudgeVacuity, PassesWhereEveryInputMatters) {
  const JudgeReport report = judge_oracle(product(), one_call());
  EXPECT_EQ(report.outcome, Outcome::kPass) << report.findings.front().message;
  EXPECT_EQ(report.checks, 3) << "one output, two inputs";
}

// x * w, but where x begins with 5: then w does not matter, though the op reads it.
TEST(JudgeVacuity, NamesAnInputThatDoesNotMatter) {
  const JudgeReport report = judge_oracle(
      [](const Configuration& c, std::size_t call,
         const std::vector<std::vector<float>>& inputs) -> Result<std::vector<float>> {
        if (inputs[0][0] == 5) return inputs[0];
        return product()(c, call, inputs);
      },
      script_over_floats({{{5, 5, 5}, {2, 3, 4}}}));
  EXPECT_EQ(report.outcome, Outcome::kMistrusted);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].rule, "Z1.input-ignored");
  EXPECT_EQ(report.findings[0].nodes, std::vector<std::string>{"input 'w'"});
}

TEST(JudgeVacuity, LetsInputsBeThatNoNodeReads) {
  const Script script = script_over_floats({{{1, 2, 3}, {2, 3, 4}}}, R"(program "p" {
  input %x : f32[3]
  input %w : f32[3]
  %y = aten.neg.default(%x)
  output %y
})");
  const JudgeReport report = judge_oracle(
      [](const Configuration&, std::size_t, const std::vector<std::vector<float>>& inputs)
          -> Result<std::vector<float>> { return inputs[0]; },
      script);
  EXPECT_EQ(report.outcome, Outcome::kPass);
}

// As zeros_like(w) does: sizes alone.
TEST(JudgeVacuity, LetsInputsBeWhoseBytesNoOpReads) {
  const JudgeReport report = judge_oracle(
      [](const Configuration&, std::size_t, const std::vector<std::vector<float>>& inputs)
          -> Result<std::vector<float>> { return inputs[0]; },
      one_call());
  EXPECT_EQ(report.outcome, Outcome::kPass);
}

TEST(JudgeVacuity, MistrustsOutputsThatAreAllNan) {
  const JudgeReport report = judge_oracle(
      [](const Configuration&, std::size_t,
         const std::vector<std::vector<float>>&) -> Result<std::vector<float>> {
        return std::vector<float>(3, std::numeric_limits<float>::quiet_NaN());
      },
      one_call());
  EXPECT_EQ(report.outcome, Outcome::kMistrusted);
  EXPECT_EQ(report.findings.front().rule, "Z2.all-nan");
}

TEST(JudgeVacuity, MistrustsAConstantOutputThatNoInputMoves) {
  const JudgeReport report =
      judge_oracle([](const Configuration&, std::size_t, const std::vector<std::vector<float>>&)
                       -> Result<std::vector<float>> { return std::vector<float>(3, 1.0F); },
                   one_call());
  EXPECT_EQ(report.outcome, Outcome::kMistrusted);
  EXPECT_EQ(report.findings.back().rule, "Z3.constant-output");
}

TEST(JudgeVacuity, TrustsAConstantOutputThatAnInputMoves) {
  const JudgeReport report = judge_oracle(product(), script_over_floats({{{0, 0, 0}, {2, 3, 4}}}));
  // %x makes the output 1 * w; but with %x = 0, %w does not matter.
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].nodes, std::vector<std::string>{"input 'w'"});
}

}  // namespace
}  // namespace graphgate::conformance
