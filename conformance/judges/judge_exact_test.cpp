#include <cmath>

#include "base/result_test.h"
#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "conformance/run/scripted_source_test.h"

namespace graphgate::conformance {
namespace {

using spec::Outcome;

JudgeReport judge(const Answer& subject_answer, const Answer& oracle_answer = product()) {
  const ScriptedSource subject(subject_answer);
  const ScriptedSource oracle(oracle_answer);
  const Script script = script_over_floats({{{0.5F, 2, 3}, {2, 3, 4}}});
  Runs runs(script, subject, oracle);
  return must(judge_exact(runs, {}));
}

TEST(JudgeExact, PassesEqualBitsOnIntegers) {
  const JudgeReport report = judge(product());
  EXPECT_EQ(report.outcome, Outcome::kPass);
  EXPECT_EQ(report.checks, 3);
  EXPECT_EQ(report.remark, "3 of 3 elements exact on integers up to 4");
}

TEST(JudgeExact, FailsOneUnitInTheLastPlace) {
  const JudgeReport report =
      judge([](const Configuration& c, std::size_t call,
               const std::vector<std::vector<float>>& inputs) -> Result<std::vector<float>> {
        GRAPHGATE_TRY(std::vector<float> out, product()(c, call, inputs));
        out[2] = std::nextafter(out[2], 100.0F);
        return out;
      });
  EXPECT_EQ(report.outcome, Outcome::kFail);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].rule, "E1.exact");
  EXPECT_TRUE(report.findings[0].message.starts_with("call 0, output 0: element [2]"))
      << report.findings[0].message;
}

TEST(JudgeExact, TakesMinusZeroForZero) {
  const JudgeReport report =
      judge([](const Configuration& c, std::size_t call,
               const std::vector<std::vector<float>>& inputs) -> Result<std::vector<float>> {
        GRAPHGATE_TRY(std::vector<float> out, product()(c, call, inputs));
        for (float& x : out) x = x == 0 ? -x : x;
        return out;
      });
  EXPECT_EQ(report.outcome, Outcome::kPass);
}

TEST(JudgeExact, DoesNotPassWhereEverythingIsZero) {
  const Answer zeros = [](const Configuration&, std::size_t,
                          const std::vector<std::vector<float>>&) -> Result<std::vector<float>> {
    return std::vector<float>(3, 0.0F);
  };
  const JudgeReport report = judge(zeros, zeros);
  EXPECT_EQ(report.outcome, Outcome::kMistrusted);
  EXPECT_EQ(report.checks, 0);
}

TEST(JudgeExact, SaysWhenOnlyOneSideGoesOn) {
  const JudgeReport report =
      judge([](const Configuration&, std::size_t,
               const std::vector<std::vector<float>>&) -> Result<std::vector<float>> {
        return bad_input("no such size");
      });
  EXPECT_EQ(report.outcome, Outcome::kFail);
  EXPECT_EQ(report.findings.front().rule, "E2.refusal");
}

// A lack of memory is neither's refusal.
TEST(JudgeExact, SaysNothingWhereTheMachineLetsOneSideDown) {
  const Answer no_memory =
      [](const Configuration& c, std::size_t call,
         const std::vector<std::vector<float>>& inputs) -> Result<std::vector<float>> {
    const auto mode = c.find("mode");  // of the reference; the executor has none
    if (mode != c.end() && mode->second != "eager") return product()(c, call, inputs);
    return infrastructure("out of memory");
  };
  for (const bool is_subject : {true, false}) {
    const ScriptedSource subject(is_subject ? no_memory : product());
    const ScriptedSource oracle(is_subject ? product() : no_memory);
    const Script script = script_over_floats({{{0.5F, 2, 3}, {2, 3, 4}}});
    Runs runs(script, subject, oracle);
    const auto report = judge_exact(runs, {});
    ASSERT_FALSE(report.ok()) << is_subject;
    EXPECT_EQ(report.error().kind, ErrorKind::kInfrastructure);
  }
}

}  // namespace
}  // namespace graphgate::conformance
