// The judge of bounds, judged with executors that are wrong on purpose.
#include <limits>

#include "conformance/bounds/judge_call.h"
#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "conformance/run/scripted_test.h"

namespace graphgate::conformance {
namespace {

using namespace scripted;

using spec::CallResult;
using spec::Outcome;

ExpectedCall recording(const std::vector<float>& output) {
  return ExpectedCall{.inputs = {spec::float_tensor({1, 2})},
                      .outputs = {spec::float_tensor(output)},
                      .geometries = {geometry_of(spec::float_tensor(output))},
                      .shared_with = {""}};
}

struct Answers {
  ScriptedAnswer executor;
  ScriptedAnswer sampled;
  ScriptedAnswer worst_case;
};

CaseReport judge(const Answers& answers, const std::vector<ExpectedCall>& calls,
                 const std::shared_ptr<const spec::Program>& program = relu_program(),
                 const Promises& promises = {}) {
  const Script script = script_of(program, calls, 2, 1, builtin_ops()).value();
  ScriptedSource subject("e", {{"", answers.executor}});
  subject.promised = promises;
  const ScriptedSource oracle("o", {{"sampled", answers.sampled},
                                    {"worst-case", answers.worst_case},
                                    {"eager", answers.sampled}});
  Runs runs(script, subject, oracle);
  JudgeSettings settings{.judge_nodes = false, .localize = false};
  JudgeSet judges;
  judges.add(Judge::kBounds);
  auto report = must(judge_script(runs, judges, settings));
  Configuration promised = {{"mode", oracle.asked["mode"]}};
  if (promises.arithmetic != "strict") promised["arithmetic"] = promises.arithmetic;
  if (!promises.split_sums.empty()) promised["split-sums"] = join_list(promises.split_sums);
  if (promises.has_tf32_convolutions) promised["tf32"] = "convolution";
  oracle.asked.erase("draws");  // where it could tell of nothing: whether draws are why
  oracle.asked.erase("trial");  // the last thing asked may be one of the estimate's
  EXPECT_EQ(oracle.asked, promised);
  return report;
}

std::string first_rule(const CaseReport& report) {
  const auto& findings = report.judges.at(0).findings;
  return findings.empty() ? "" : findings.front().rule;
}

// What is no number is proved wrong where the worst case has a number, and suspicious where it is
// open.
TEST(BoundsJudge, AsksTheWorstCaseOfWhatIsNoNumber) {
  const auto wrong = answering({std::numeric_limits<float>::quiet_NaN(), 2});
  const auto sampled = answering({1, 2}, 1e-3);
  const auto judged = [&](double worst) {
    return judge({wrong, sampled, answering({1, 2}, worst)}, {});
  };
  EXPECT_EQ(first_rule(judged(1)), "B3.exact");
  EXPECT_EQ(judged(1).outcome, Outcome::kFail);
  const double open = std::numeric_limits<double>::infinity();
  EXPECT_EQ(first_rule(judged(open)), "B2.outside-estimate");
  EXPECT_EQ(judged(open).outcome, Outcome::kSuspect);
}

// x / x where x is 0 for the executor alone, and the estimate has it two deviations from zero.
TEST(BoundsJudge, HoldsNoNaNAgainstAnExecutorWhereNobodyKnowsTheSize) {
  const auto wrong = answering({std::numeric_limits<float>::quiet_NaN(), 2});
  const auto worst = [](double radius) {
    return [=](std::span<const spec::InputValue> inputs, std::size_t) -> Result<CallResult> {
      CallResult result = result_of({1, 2}, inputs, 1e-3);
      result.output_spreads[0].radii[0] = radius;
      return result;
    };
  };
  const double open = std::numeric_limits<double>::infinity();
  EXPECT_EQ(judge({wrong, worst(1), worst(open)}, {}).outcome, Outcome::kPass);
  EXPECT_EQ(judge({wrong, worst(0.1), worst(open)}, {}).outcome, Outcome::kSuspect);
  EXPECT_EQ(judge({wrong, worst(1), worst(10)}, {}).outcome, Outcome::kFail);
}

// A program that the reference has no body for, with these recordings.
CaseReport judge_without_reference(const ScriptedAnswer& executor,
                                   const std::vector<ExpectedCall>& calls) {
  const Script script = script_of(relu_program(), calls, 2, 1, builtin_ops()).value();
  const ScriptedSource subject("e", {{"", executor}});
  ScriptedSource oracle("o", {{"sampled", executor}, {"eager", executor}});
  oracle.refusal = unsupported("the reference has no body for my.op");
  Runs runs(script, subject, oracle);
  JudgeSettings settings;
  settings.localize = false;
  return judge_script(runs, parse_judges("bounds,state,exact").value(), settings).value();
}

TEST(BoundsJudge, BlamesNobodyForWhatTheReferenceCannotRun) {
  const CaseReport report = judge_without_reference(answering({1, 2}), {recording({1, 2})});
  EXPECT_EQ(report.outcome, Outcome::kUnsupported) << report.reason;
  EXPECT_EQ(report.rule, "R6.no-reference");
  EXPECT_EQ(report.not_compared, "the reference has no body for my.op");
}

// A size beyond its range, say, that was recorded all the same.
TEST(BoundsJudge, BlamesNobodyWhereARecordingHasACallThatTheReferenceRefuses) {
  const ScriptedAnswer refuses = [](std::span<const spec::InputValue>,
                                    std::size_t) -> Result<CallResult> {
    return bad_input("size s0 is 1, outside its range [2, 8]");
  };
  const auto judged = [&](const std::vector<ExpectedCall>& calls) {
    const Script script = script_of(relu_program(), calls, 1, 1, builtin_ops()).value();
    const ScriptedSource subject("e", {{"", answering({1, 2})}});
    const ScriptedSource oracle("o", {{"sampled", refuses}, {"eager", refuses}});
    Runs runs(script, subject, oracle);
    JudgeSettings settings{.judge_nodes = false, .localize = false};
    return judge_script(runs, parse_judges("bounds").value(), settings);
  };
  EXPECT_EQ(judged({}).value().rule, "B6.taken-wrongly");
  const auto recorded = judged({recording({1, 2})});
  ASSERT_FALSE(recorded.ok());
  EXPECT_EQ(recorded.error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(recorded.error().message, "judge bounds: size s0 is 1, outside its range [2, 8]");
}

TEST(BoundsJudge, HoldsMetadataToTheRecordingWhereNoValueCanBe) {
  const auto with_output = [](const spec::HostTensor& tensor) {
    return [=](std::span<const spec::InputValue> inputs, std::size_t) -> Result<CallResult> {
      CallResult result = result_of({1, 2}, inputs);
      result.outputs = {tensor};
      return result;
    };
  };
  const auto rule_of = [&](const ScriptedAnswer& executor, const ExpectedCall& recorded) {
    const CaseReport report = judge_without_reference(executor, {recorded});
    EXPECT_FALSE(report.not_compared.empty());
    return report.outcome == Outcome::kFail ? report.rule : "";
  };
  ExpectedCall plain = recording({1, 2});
  EXPECT_EQ(rule_of(answering({3, 4}), plain), "") << "values cannot be told";
  const spec::HostTensor wide = spec::make_host_tensor(spec::DType::kFloat64, {2});
  EXPECT_EQ(rule_of(with_output(wide), plain), "B3.exact");
  plain.geometries.clear();
  EXPECT_EQ(rule_of(with_output(wide), plain), "B3.exact") << "the recorded tensor has a dtype";
  EXPECT_EQ(rule_of(answering({1, 2, 3}), plain), "B3.exact") << "and sizes";
  spec::HostTensor gaps = spec::make_host_tensor(spec::DType::kFloat32, {4});
  gaps.sizes = {2};
  gaps.strides = {2};
  EXPECT_EQ(rule_of(with_output(gaps), recording({1, 2})), "B9.layout");
  const ScriptedAnswer shares = [](std::span<const spec::InputValue> inputs, std::size_t) {
    CallResult result = result_of({1, 2}, inputs);
    result.outputs = {std::get<spec::HostTensor>(result.final_inputs[0])};
    return Result<CallResult>(std::move(result));
  };
  EXPECT_EQ(rule_of(shares, recording({1, 2})), "B10.sharing");
  const ScriptedAnswer writes = [](std::span<const spec::InputValue> inputs, std::size_t) {
    CallResult result = result_of({1, 2}, inputs);
    result.final_inputs[0] = spec::float_tensor({9, 9});
    return Result<CallResult>(std::move(result));
  };
  EXPECT_EQ(rule_of(writes, recording({1, 2})), "B3.exact") << "the recording has it unchanged";
}

// A size that draws or ties decide may be another one in each run; the dtype may not.
TEST(BoundsJudge, HoldsNoSizeThatDataDecideToTheRecordingWhereTheOracleEnds) {
  const auto program = std::make_shared<const spec::Program>(must(spec::parse_program(
      "program \"p\" {\n  symbol u0 in [0, 2]\n  input %x : f32[2]\n"
      "  %places : i64[u0, 1] = aten.nonzero.default(%x)\n  output %places\n}\n",
      spec::builtin_op_table())));
  const auto outcome = [&](std::vector<std::int64_t> sizes, spec::DType dtype) {
    const ScriptedAnswer executor = [=](std::span<const spec::InputValue> inputs,
                                        std::size_t) -> Result<CallResult> {
      CallResult result = result_of({1, 2}, inputs);
      result.outputs = {spec::make_host_tensor(dtype, sizes)};
      return result;
    };
    const ScriptedAnswer ends = [](std::span<const spec::InputValue>,
                                   std::size_t) -> Result<CallResult> {
      return unsupported("the sizes depend on random draws");
    };
    ExpectedCall recorded = recording({1, 2});
    recorded.outputs = {spec::make_host_tensor(spec::DType::kInt64, {2, 1})};
    recorded.geometries = {geometry_of(std::get<spec::HostTensor>(recorded.outputs[0]))};
    return judge({executor, ends, ends}, {recorded}, program).outcome;
  };
  EXPECT_EQ(outcome({2, 1}, spec::DType::kInt64), Outcome::kUndecided);
  EXPECT_EQ(outcome({1, 1}, spec::DType::kInt64), Outcome::kUndecided);
  EXPECT_EQ(outcome({1, 1}, spec::DType::kInt32), Outcome::kFail);
  EXPECT_EQ(outcome({2}, spec::DType::kInt64), Outcome::kFail);
}

TEST(BoundsJudge, PassesWhatLiesWithinTheEstimate) {
  const auto within = answering({1, 2}, 1e-3);
  const auto report = judge({answering({1, 2}), within, within}, {recording({1.0005F, 2})});
  EXPECT_EQ(report.outcome, Outcome::kPass) << report.reason;
  EXPECT_GT(report.judges.at(0).figures.at("worst_ratio"), 0);
}

TEST(BoundsJudge, CallsANumberOutsideTheEstimateButWithinItsBoundSuspect) {
  const auto report = judge({answering({1.5F, 2}), answering({1, 2}, 1e-6), answering({1, 2}, 1.0)},
                            {recording({1, 2})});
  EXPECT_EQ(report.outcome, Outcome::kSuspect);
  EXPECT_EQ(first_rule(report), "B2.outside-estimate");
}

TEST(BoundsJudge, FailsANumberOutsideItsBoundAndNamesTheNode) {
  const auto report =
      judge({answering({1.5F, 2}), answering({1, 2}, 1e-6), answering({1, 2}, 1e-5)}, {});
  EXPECT_EQ(report.outcome, Outcome::kFail);
  EXPECT_EQ(first_rule(report), "B1.outside-bound");
  EXPECT_EQ(report.judges.at(0).findings.front().nodes, std::vector<std::string>{"the_node"});
  EXPECT_TRUE(contains(report.reason, "e: call 0, output 0: element [0]"));
}

TEST(BoundsJudge, FailsARecordingThatIsOffThoughTheExecutorIsRight) {
  const auto near = answering({1, 2}, 1e-6);
  const auto report = judge({answering({1, 2}), near, near}, {recording({1.5F, 2})});
  EXPECT_EQ(report.outcome, Outcome::kFail);
  EXPECT_EQ(first_rule(report), "B8.recording");
  EXPECT_TRUE(contains(report.reason, "recording: call 0, output 0: element [0]"));
}

TEST(BoundsJudge, FailsAnInputThatWasChangedThoughNotRecordedSo) {
  const auto mutant = [](std::span<const spec::InputValue> inputs,
                         std::size_t) -> Result<CallResult> {
    CallResult result = result_of({1, 2}, inputs);
    result.final_inputs = {spec::float_tensor({9, 9})};
    return result;
  };
  const auto right = answering({1, 2});
  EXPECT_EQ(judge({mutant, right, right}, {recording({1, 2})}).outcome, Outcome::kFail);
}

TEST(BoundsJudge, FailsAnOutputThatSharesAnInputsStorageUnrecorded) {
  const auto alias = [](std::span<const spec::InputValue> inputs,
                        std::size_t) -> Result<CallResult> {
    CallResult result = result_of({1, 2}, inputs);
    result.outputs = {std::get<spec::HostTensor>(inputs[0])};
    return result;
  };
  const auto right = answering({1, 2});
  const auto report = judge({alias, right, right}, {recording({1, 2})});
  EXPECT_EQ(report.outcome, Outcome::kFail);
  EXPECT_EQ(first_rule(report), "B10.sharing");
  EXPECT_TRUE(contains(report.reason, "shares storage with input0"));
}

TEST(BoundsJudge, FailsAnotherStrideThanRecorded) {
  const auto right = answering({1, 2});
  ExpectedCall call = recording({1, 2});
  call.geometries[0]->strides = {2};
  EXPECT_EQ(judge({right, right, right}, {call}).outcome, Outcome::kFail);
}

// The second element of its storage is the first of the output.
ScriptedAnswer with_another_layout() {
  return [](std::span<const spec::InputValue> inputs, std::size_t) -> Result<CallResult> {
    CallResult result = result_of({1, 2}, inputs);
    spec::HostTensor moved = spec::float_tensor({0, 1, 2});
    moved.sizes = {2};
    moved.storage_offset = 1;
    result.outputs = {moved};
    return result;
  };
}

TEST(BoundsJudge, TellsALayoutFromAValue) {
  const auto right = answering({1, 2});
  const auto report = judge({with_another_layout(), right, right}, {});
  EXPECT_EQ(report.outcome, Outcome::kFail);
  EXPECT_EQ(first_rule(report), "B9.layout");
  EXPECT_TRUE(contains(report.reason, "storage offset is 1, expected 0"));
}

TEST(BoundsJudge, LeavesLayoutsToAnExecutorThatKeepsNone) {
  const auto right = answering({1, 2});
  Promises promises;
  promises.keeps_layouts = false;
  const Answers moved = {with_another_layout(), right, right};
  EXPECT_EQ(judge(moved, {}, relu_program(), promises).outcome, Outcome::kPass);
  const auto other = answering({1, 3});
  EXPECT_EQ(judge({with_another_layout(), other, other}, {}, relu_program(), promises).outcome,
            Outcome::kFail);
}

TEST(BoundsJudge, AsksForTheArithmeticOfTheSubject) {
  const auto right = answering({1, 2});
  Promises promises;
  promises.arithmetic = "approximate";
  promises.split_sums = {"bf16", "f16"};
  promises.has_tf32_convolutions = true;
  EXPECT_EQ(judge({right, right, right}, {}, relu_program(), promises).outcome, Outcome::kPass);
}

TEST(BoundsJudge, IsUndecidedWhenTheOracleCanTellOfNothing) {
  const auto blind = [](std::span<const spec::InputValue> inputs,
                        std::size_t) -> Result<CallResult> {
    constexpr double kNothing = std::numeric_limits<double>::infinity();
    CallResult result = result_of({1, 2}, inputs, kNothing);
    result.final_input_spreads[0].radii.assign(2, kNothing);
    return result;
  };
  const auto report = judge({answering({1, 2}), blind, blind}, {recording({5, 6})});
  EXPECT_EQ(report.outcome, Outcome::kUndecided);
}

TEST(BoundsJudge, SaysWhichElementsAreOpen) {
  const auto partly = [](std::span<const spec::InputValue> inputs,
                         std::size_t) -> Result<CallResult> {
    CallResult result = result_of({1, 2}, inputs, 1e-3);
    result.output_spreads[0].radii[1] = std::numeric_limits<double>::infinity();
    return result;
  };
  const auto report = judge({answering({1, 7}), partly, partly}, {});
  EXPECT_EQ(report.outcome, Outcome::kPass) << report.reason;
  EXPECT_EQ(report.judges.at(0).remark,
            "left open: call 0, output 0: 1 of 2 elements, from number 1 on; "
            "call 1, output 0: 1 of 2 elements, from number 1 on");
}

TEST(BoundsJudge, HoldsAFloatToItsBoundAsItHoldsAnElement) {
  const auto float_answer = [](double x, double radius = 0) {
    return [=](std::span<const spec::InputValue> inputs, std::size_t) -> Result<CallResult> {
      CallResult result = result_of({1}, inputs);
      result.outputs = {x};
      result.output_spreads = {{{static_cast<long double>(x)}, {radius}}};
      return result;
    };
  };
  const auto judged = [&](double x) {
    return judge({float_answer(x), float_answer(1, 1e-3), float_answer(1, 1e-2)}, {});
  };
  EXPECT_EQ(judged(1.0005).outcome, Outcome::kPass);
  EXPECT_EQ(judged(1.009).outcome, Outcome::kSuspect);
  EXPECT_EQ(judged(1.1).outcome, Outcome::kFail);
}

TEST(BoundsJudge, MistrustsAProgramWithoutNodes) {
  auto empty = std::make_shared<spec::Program>(*relu_program());
  empty->graph.outputs = {{empty->graph.inputs[0]}};
  empty->graph.nodes.clear();
  const auto same = answering({1, 2});
  EXPECT_EQ(judge({same, same, same}, {recording({1, 2})}, empty).outcome, Outcome::kMistrusted);
}

TEST(BoundsJudge, AllowsAnInputToChangeWithTheOneItWasGivenOver) {
  const auto both = [](std::span<const spec::InputValue> inputs,
                       std::size_t) -> Result<CallResult> {
    CallResult result = result_of({1, 2}, inputs);
    result.final_inputs = {spec::float_tensor({9, 9}), spec::float_tensor({9, 9})};
    result.final_input_spreads = {spec::Spread{{9, 9}, {0, 0}}, spec::Spread{{9, 9}, {0, 0}}};
    return result;
  };
  ExpectedCall call = recording({1, 2});
  call.inputs.push_back(call.inputs[0]);  // the same storage
  call.final_inputs.emplace(0, spec::float_tensor({9, 9}));
  const auto report = judge({both, both, both}, {call});
  EXPECT_EQ(report.outcome, Outcome::kPass) << report.reason;
}

TEST(BoundsJudge, SaysNothingOfOutputsThatAPartialExpectationLeavesOut) {
  const auto right = answering({1, 2});
  ExpectedCall call = recording({7, 7});
  EXPECT_EQ(judge({right, right, right}, {call}).outcome, Outcome::kFail);
  call.is_partial = true;
  call.outputs[0] = spec::None{};
  EXPECT_EQ(judge({right, right, right}, {call}).outcome, Outcome::kPass);
}

// PyTorch's conjugate is a mark: its recording says that the memory is shared, which nobody else
// has.
TEST(JudgeCall, TakesAConjugateThatLiesApart) {
  const auto numbers = [](std::vector<float> parts) {
    return spec::host_tensor(spec::DType::kComplex64, {1}, parts);
  };
  CallResult apart;
  apart.outputs = {numbers({1, -2})};
  apart.final_inputs = {numbers({1, 2})};
  CallResult oracle = apart;
  oracle.output_spreads = {{{1, -2}, {0, 0}}};
  oracle.final_input_spreads = {{{1, 2}, {0, 0}}};
  ExpectedCall expected;
  expected.inputs = {numbers({1, 2})};
  expected.outputs = {numbers({1, -2})};
  expected.shared_with = {"input0"};
  EXPECT_TRUE(judge_call("e", apart, oracle, expected, {}).differences.empty());
  oracle.outputs = {std::get<spec::HostTensor>(oracle.final_inputs[0])};
  EXPECT_FALSE(judge_call("e", apart, oracle, expected, {}).differences.empty())
      << "the oracle shares";
}

}  // namespace
}  // namespace graphgate::conformance
