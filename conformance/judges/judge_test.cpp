// Whole scripts, judged: outcomes, expectations, refusals, and what judges share.
#include "conformance/judges/judge.h"

#include "conformance/run/runs.h"
#include "conformance/run/scripted_test.h"

namespace graphgate::conformance {
namespace {

using namespace scripted;

using spec::CallResult;
using spec::Outcome;

Script two_calls() { return script_of(relu_program(), {}, 2, 1, builtin_ops()).value(); }

ScriptedSource oracle() {
  const auto right = answering({1, 2}, 1e-6);
  return {"o", {{"sampled", right}, {"worst-case", right}, {"eager", right}}};
}

JudgeSettings quick() { return JudgeSettings{.judge_nodes = false, .localize = false}; }

Result<CaseReport> judge_with(const Script& script, ScriptedAnswer answer,
                              const char* judges = "bounds") {
  const ScriptedSource subject("e", {{"", std::move(answer)}});
  const ScriptedSource expected = oracle();
  Runs runs(script, subject, expected);
  return judge_script(runs, parse_judges(judges).value(), quick());
}

ScriptedAnswer refusing(ErrorKind kind, std::size_t from_call) {
  return [=](std::span<const spec::InputValue> inputs, std::size_t call) -> Result<CallResult> {
    if (call >= from_call) return Error{kind, "input 'x' has moved"};
    return result_of({1, 2}, inputs);
  };
}

// Refuses every option, as a process does that takes none.
class TakesNoOption final : public ExecutorSource {
 public:
  explicit TakesNoOption(ScriptedAnswer answer) : inner_("e", {{"", std::move(answer)}}) {}
  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const Configuration& configuration, const spec::OpTable& ops) const override {
    if (!configuration.empty()) return unsupported("'e' has no such option");
    return inner_.make(configuration, ops);
  }

 private:
  ScriptedSource inner_;
};

TEST(JudgeScript, CountsNoChangeAsTriedThatTheExecutorDoesNotTake) {
  const auto last_line = [](const ExecutorSource& subject) {
    const ScriptedSource expected = oracle();
    const Script script = two_calls();
    Runs runs(script, subject, expected);
    JudgeSettings settings = quick();
    settings.localize = true;
    const CaseReport report = judge_script(runs, parse_judges("bounds").value(), settings).value();
    EXPECT_EQ(report.outcome, Outcome::kFail);
    return report.localization.empty() ? "" : report.localization.back();
  };
  EXPECT_EQ(last_line(TakesNoOption(answering({1, 3}))),
            "no change of the configuration could be tried on this executor");
  EXPECT_TRUE(contains(last_line(ScriptedSource("e", {{"", answering({1, 3})}})),
                       "changes of the configuration makes it pass"));
}

TEST(JudgeScript, GivesNoVerdictWhereTheOracleLacksMemory) {
  const Script script = two_calls();
  const ScriptedSource subject("e", {{"", answering({1, 2})}});
  const auto right = answering({1, 2});
  const auto lacking = refusing(ErrorKind::kInfrastructure, 1);
  const ScriptedSource lacks("o", {{"sampled", right}, {"worst-case", lacking}, {"eager", right}});
  Runs runs(script, subject, lacks);
  const auto judged = judge_script(runs, parse_judges("exact").value(), quick());
  ASSERT_FALSE(judged.ok()) << spec::outcome_name(judged.value().outcome)
                            << ", checks: " << judged.value().judges.at(0).checks;
  EXPECT_EQ(judged.error().kind, ErrorKind::kInfrastructure);
}

TEST(Judges, HaveNamesThatReadBack) {
  for (std::size_t i = 0; i < kJudgeCount; ++i) {
    const auto judge = static_cast<Judge>(i);
    EXPECT_EQ(parse_judge(judge_name(judge)), judge);
    EXPECT_TRUE(JudgeSet::all().has(judge));
  }
  const JudgeSet some = parse_judges("bounds,happens-before").value();
  EXPECT_TRUE(some.has(Judge::kBounds) && some.has(Judge::kHappensBefore));
  EXPECT_FALSE(some.has(Judge::kExact));
  EXPECT_EQ(parse_judges("all").value(), JudgeSet::all());
  for (const char* wrong : {"", "bound", "bounds,", "bounds all"}) {
    EXPECT_FALSE(parse_judges(wrong).ok()) << wrong;
  }
}

TEST(JudgeScript, PassesARightExecutorAndFailsAWrongOne) {
  EXPECT_EQ(judge_with(two_calls(), answering({1, 2})).value().outcome, Outcome::kPass);
  const CaseReport wrong = judge_with(two_calls(), answering({1, 3})).value();
  EXPECT_EQ(wrong.outcome, Outcome::kFail);
  EXPECT_EQ(wrong.judges.at(0).findings.size(), 2U) << "all are collected";
}

TEST(JudgeScript, DoesNotPassWhatNoJudgeCouldCheck) {
  const CaseReport report = judge_with(two_calls(), answering({1, 2}), "verifier").value();
  EXPECT_EQ(report.outcome, Outcome::kUnsupported);
  EXPECT_EQ(report.reason, "the executor shows no plans");
}

TEST(JudgeScript, LetsAJudgeAbstainBesideOneThatCompares) {
  EXPECT_EQ(judge_with(two_calls(), answering({1, 2}), "verifier,bounds").value().outcome,
            Outcome::kPass);
}

TEST(JudgeScript, DoesNotPassAScriptWithoutACall) {
  Script script = two_calls();
  script.steps.clear();
  EXPECT_EQ(judge_with(script, answering({1, 2})).value().outcome, Outcome::kMistrusted);
}

TEST(JudgeScript, TurnsAnExpectedFailureIntoXFailAndItsAbsenceIntoXPass) {
  Script script = two_calls();
  script.expectation.outcome = Outcome::kFail;
  EXPECT_EQ(judge_with(script, answering({1, 3})).value().outcome, Outcome::kXFail);
  EXPECT_EQ(judge_with(script, answering({1, 2})).value().outcome, Outcome::kXPass);
}

TEST(JudgeScript, WantsTheRuleThatTheCaseNames) {
  Script script = two_calls();
  script.expectation.outcome = Outcome::kFail;
  script.expectation.detail = "B1.outside-bound: one element";
  EXPECT_EQ(judge_with(script, answering({1, 3})).value().outcome, Outcome::kXFail);
  script.expectation.detail = "V3.overlap";
  const CaseReport other = judge_with(script, answering({1, 3})).value();
  EXPECT_EQ(other.outcome, Outcome::kFail);
  EXPECT_EQ(other.reason.substr(0, 29), "expected a finding V3.overlap");
  script.expectation.detail = "stale value";
  EXPECT_EQ(judge_with(script, answering({1, 3})).value().outcome, Outcome::kXFail);
}

TEST(JudgeScript, FailsARefusalOfWhatTheReferenceTakes) {
  const CaseReport report = judge_with(two_calls(), refusing(ErrorKind::kBadInput, 1)).value();
  EXPECT_EQ(report.outcome, Outcome::kFail);
  EXPECT_EQ(report.findings.at(0).rule, "R1.refused-wrongly");
}

TEST(JudgeScript, PassesTheRefusalThatTheCaseExpectsAndNoOther) {
  Script script = two_calls();
  script.expectation.refusal = spec::ExpectedRefusal{1, "has moved"};
  const CaseReport refused = judge_with(script, refusing(ErrorKind::kBadInput, 1)).value();
  EXPECT_EQ(refused.outcome, Outcome::kPass) << refused.reason;
  EXPECT_GT(refused.judges.at(0).checks, 0) << "the call before is judged";
  EXPECT_EQ(judge_with(script, answering({1, 2})).value().findings.at(0).rule, "R3.not-refused");
  EXPECT_EQ(judge_with(script, refusing(ErrorKind::kBadInput, 0)).value().outcome, Outcome::kFail);
  script.expectation.refusal->text = "dtype";
  EXPECT_EQ(judge_with(script, refusing(ErrorKind::kBadInput, 1)).value().findings.at(0).rule,
            "R3.not-refused");
}

TEST(JudgeScript, CallsAnInternalErrorOfTheExecutorACrash) {
  const CaseReport report = judge_with(two_calls(), refusing(ErrorKind::kInternal, 1)).value();
  EXPECT_EQ(report.outcome, Outcome::kCrash);
  EXPECT_EQ(report.findings.at(0).rule, "R2.broke-down");
}

// The verdict on the calls stands beside it.
TEST(JudgeScript, JudgesWhatComesOfClosing) {
  const Script script = two_calls();
  const auto judged = [&](ErrorKind kind, const std::vector<float>& output) {
    ScriptedSource subject("e", {{"", answering(output)}});
    subject.closed = Error{kind, "over"};
    const ScriptedSource expected = oracle();
    Runs runs(script, subject, expected);
    return judge_script(runs, parse_judges("bounds").value(), quick());
  };
  const CaseReport crash = judged(ErrorKind::kInternal, {1, 2}).value();
  EXPECT_EQ(crash.outcome, Outcome::kCrash);
  ASSERT_EQ(crash.findings.size(), 1U);
  EXPECT_EQ(crash.findings[0].rule, "R2.broke-down");
  EXPECT_EQ(crash.findings[0].message, "e: closing: over");
  EXPECT_GT(crash.judges.at(0).checks, 0);
  EXPECT_EQ(judged(ErrorKind::kUnsupported, {1, 2}).value().outcome, Outcome::kUnsupported);
  EXPECT_EQ(judged(ErrorKind::kBadInput, {1, 2}).value().findings.at(0).rule, "R1.refused-wrongly");
  EXPECT_EQ(judged(ErrorKind::kInfrastructure, {1, 2}).error().kind, ErrorKind::kInfrastructure);
  // What fails goes on being called as it was.
  const CaseReport wrong = judged(ErrorKind::kInternal, {1, 3}).value();
  EXPECT_EQ(wrong.outcome, Outcome::kFail);
  EXPECT_TRUE(wrong.findings.empty());
}

TEST(JudgeScript, CallsAnEndWhileItIsMadeACrash) {
  const Script script = two_calls();
  ScriptedSource subject("e", {{"", answering({1, 2})}});
  subject.opening_that_fails = 1;
  subject.ends = true;
  const ScriptedSource expected = oracle();
  Runs runs(script, subject, expected);
  const CaseReport report = judge_script(runs, parse_judges("bounds").value(), quick()).value();
  EXPECT_EQ(report.outcome, Outcome::kCrash);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].message, "e: loading: ended");
}

// The judge of the nodes does without a run that ends; the case does not pass.
TEST(JudgeScript, CallsAnEndInARunOfAJudgesOwnACrash) {
  const Script script = two_calls();
  JudgeSettings settings = quick();
  settings.judge_nodes = true;
  ScriptedSource subject("e", {{"", answering({1, 2})}});
  subject.opening_that_fails = 2;
  subject.ends = true;
  const ScriptedSource expected = oracle();
  Runs runs(script, subject, expected);
  const CaseReport report = judge_script(runs, parse_judges("bounds").value(), settings).value();
  EXPECT_EQ(report.outcome, Outcome::kCrash);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].rule, "R2.broke-down");
}

TEST(JudgeScript, HandsOnAnErrorThatTheReferenceMakesToo) {
  const Script script = two_calls();
  const auto both = refusing(ErrorKind::kBadInput, 0);
  const ScriptedSource subject("e", {{"", both}});
  const ScriptedSource reference("o", {{"eager", both}, {"sampled", both}});
  Runs runs(script, subject, reference);
  EXPECT_EQ(failure_of(judge_script(runs, parse_judges("bounds").value(), quick())).kind,
            ErrorKind::kBadInput);
}

TEST(JudgeScript, BlamesNoRefusalOfWhatTheReferenceLeavesOpen) {
  const Script script = two_calls();
  const ScriptedSource subject("e", {{"", refusing(ErrorKind::kBadInput, 1)}});
  const auto judged = [&](const ScriptedAnswer& open) {
    const ScriptedSource reference("o", {{"eager", open}, {"sampled", open}});
    Runs runs(script, subject, reference);
    return judge_script(runs, parse_judges("bounds").value(), quick()).value();
  };
  const CaseReport same_call = judged(refusing(ErrorKind::kUnsupported, 1));
  EXPECT_EQ(same_call.outcome, Outcome::kUnsupported);
  EXPECT_EQ(same_call.findings.at(0).rule, "R4.unsupported");
  EXPECT_EQ(judged(refusing(ErrorKind::kUnsupported, 0)).findings.at(0).rule, "R1.refused-wrongly");
}

TEST(RunsOfAScript, AreMadeOnceForEveryConfiguration) {
  const Script script = two_calls();
  const ScriptedSource subject("e", {{"", answering({1, 2})}, {"x", answering({1, 2})}});
  const ScriptedSource expected = oracle();
  Runs runs(script, subject, expected);
  ASSERT_TRUE(runs.subject().ok() && runs.subject().ok() && runs.subject({{"mode", "x"}}).ok());
  EXPECT_EQ(subject.made, 2);
  ASSERT_TRUE(runs.oracle("sampled").ok() && runs.oracle("sampled").ok());
  Runs others(script, subject, expected);
  others.share_oracle(runs);
  ASSERT_TRUE(others.oracle("sampled").ok());
  EXPECT_EQ(expected.made, 1);
}

// How many executors it takes to run plainly and with words.
int executors_of(bool is_as_unwatched, bool shares_runs, const ScriptedAnswer& answer) {
  const Script script = two_calls();
  ScriptedSource subject("e", {{"", answer}});
  subject.is_as_unwatched = is_as_unwatched;
  const ScriptedSource expected = oracle();
  Runs runs(script, subject, expected);
  if (shares_runs) runs.share_runs_with_words();
  EXPECT_TRUE(runs.subject().ok() && runs.subject({{"instrument", "provenance"}}).ok());
  return subject.made;
}

TEST(RunsOfAScript, StandForPlainOnesWhereWordsChangeNothing) {
  EXPECT_EQ(executors_of(true, true, answering({1, 2})), 1);
  EXPECT_EQ(executors_of(true, false, answering({1, 2})), 2) << "nobody asked to share";
  EXPECT_EQ(executors_of(false, true, answering({1, 2})), 2) << "the executor says that they do";
  EXPECT_EQ(executors_of(true, true, refusing(ErrorKind::kBadInput, 1)), 2)
      << "which of the two is refused has to be seen";
}

TEST(JudgeScript, SharesNoRunsWhereAllJudgesAreAsked) {
  const Script script = two_calls();
  const auto shares_for = [&](const JudgeSet& judges) {
    ScriptedSource subject("e", {{"", answering({1, 2})}});
    subject.is_as_unwatched = true;
    const ScriptedSource expected = oracle();
    Runs runs(script, subject, expected);
    JudgeSettings settings = quick();
    settings.share_runs = true;
    EXPECT_TRUE(judge_script(runs, judges, settings).ok());
    const SubjectTraces& traces = runs.subject_traces();
    return traces.at({}) == traces.at({{"instrument", "provenance"}});
  };
  EXPECT_TRUE(shares_for(parse_judges("provenance,bounds").value()));
  EXPECT_FALSE(shares_for(JudgeSet::all()));
}

// An oracle that fed back its own outputs would judge the second call by the first one's rounding.
TEST(RunsOfAScript, CallTheOracleWithWhatTheSubjectFedBack) {
  Script script = two_calls();
  script.steps.insert(script.steps.begin() + 1, ScriptFeedBack{{0, 0}, {0, 0}});
  const ScriptedSource subject("e", {{"", answering({1.5F, 2})}});
  const ScriptedSource expected = oracle();
  Runs runs(script, subject, expected);
  const Trace& trace = *runs.oracle("sampled").value();
  ASSERT_EQ(trace.calls.size(), 2U);
  EXPECT_EQ(trace.calls[1].step, 2U) << "steps count as in the script";
  EXPECT_EQ(spec::elements_of(std::get<spec::HostTensor>(trace.calls[1].inputs[0])),
            (std::vector<float>{1.5F, 2}));
}

// Three calls of a program that may change its buffer.
Script calls_of_a_counter() {
  spec::Program program = spec::parse_program(R"(program "p" {
  buffer %b "b" : f32[2]
  %y : f32[2] = aten.add_.Tensor(%b, %b)
  output %y
})",
                                              spec::builtin_op_table())
                              .value();
  program.tensors.emplace("b", spec::float_tensor({0, 0}));
  return script_of(std::make_shared<const spec::Program>(std::move(program)), {}, 3, 1,
                   builtin_ops())
      .value();
}

// An executor whose calls leave that in the buffer.
ScriptedAnswer leaving(std::vector<std::vector<float>> contents) {
  return [=](std::span<const spec::InputValue> inputs, std::size_t call) -> Result<CallResult> {
    CallResult result = result_of({1, 2}, inputs);
    result.state_targets = {"b"};
    result.final_states = {spec::float_tensor(contents[call])};
    return result;
  };
}

// The roundings of one call are the operands of the next.
TEST(RunsOfAScript, BeginEachCallOfTheOracleWithTheStatesThatTheSubjectLeft) {
  const Script script = calls_of_a_counter();
  const ScriptedSource subject("e", {{"", leaving({{0, 0}, {1.5F, 2}, {3, 4}})}});
  const ScriptedSource expected = oracle();
  Runs runs(script, subject, expected);
  const Trace& trace = *runs.oracle("sampled").value();
  ASSERT_EQ(trace.calls.size(), 3U);
  EXPECT_EQ(trace.calls[2].step, 2U) << "steps count as in the script";
  ASSERT_EQ(expected.given.size(), 1U) << "the first call changed nothing, the last has no next";
  EXPECT_EQ(expected.given[0].first, "b");
  EXPECT_EQ(spec::elements_of(expected.given[0].second), (std::vector<float>{1.5F, 2}));
  Runs others(script, subject, expected);
  others.share_oracle(runs);
  EXPECT_FALSE(others.has_oracle("sampled")) << "another subject may have left other states";
}

TEST(RunsOfAScript, GiveNoStatesOfTheSubjectToAnOracleOfARecording) {
  Script script = calls_of_a_counter();
  std::get<ScriptCall>(script.steps[1]).expected = ExpectedCall{};
  const ScriptedSource subject("e", {{"", leaving({{1, 1}, {2, 2}, {3, 3}})}});
  const ScriptedSource expected = oracle();
  Runs runs(script, subject, expected);
  EXPECT_EQ(runs.oracle("sampled").value()->calls.size(), 3U);
  EXPECT_TRUE(expected.given.empty()) << "its second call began with states of its own";
}

TEST(RunsOfAScript, GiveNoStatesToAnOracleOfProvenance) {
  const Script script = calls_of_a_counter();
  const ScriptedSource subject("e", {{"", leaving({{1, 1}, {2, 2}, {3, 3}})}});
  const ScriptedSource expected("o", {{"provenance", answering({1, 2})}});
  Runs runs(script, subject, expected);
  EXPECT_EQ(runs.oracle("provenance").value()->calls.size(), 3U);
  EXPECT_TRUE(expected.given.empty());
}

// A restart changes the options of the case, and not what an earlier one made of them.
TEST(OptionsAtAStep, AreThoseOfTheLatestRestart) {
  Script script = two_calls();
  script.steps.insert(script.steps.begin() + 1, ScriptRestart{{{"weak-outputs", ""}}, nullptr});
  script.steps.emplace_back(ScriptRestart{{{"poison", "0xff"}}, nullptr});
  const Configuration options = {{"memory", "lines"}};
  EXPECT_EQ(options_at(script, options, 1), options);
  EXPECT_TRUE(options_at(script, options, 2).contains("weak-outputs"));
  const Configuration last = {{"memory", "lines"}, {"poison", "0xff"}};
  EXPECT_EQ(options_at(script, options, script.steps.size()), last);
}

}  // namespace
}  // namespace graphgate::conformance
