// The judges of memory and state over the built-in executors: right runs pass, and what deviations
// do to outputs that callers hold and to state is found.

#include <algorithm>
#include <cstring>

#include "base/result_test.h"
#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "spec/graph_text.h"
#include "tools/executors/executor_sources.h"

namespace graphgate {
namespace {

using conformance::Configuration;
using conformance::JudgeReport;
using conformance::Runs;
using conformance::Script;
using conformance::ScriptCall;

constexpr const char* kDouble = R"(program "double" {
  symbol s0 in [1, 1024]
  buffer %b "b" : f32[1] = [0.0]
  input %x : f32[s0]
  %t : f32[1] = aten.add_.Tensor(%b, 1.0)
  %y : f32[s0] = aten.mul.Tensor(%x, 2.0)
  output %y
})";

spec::HostTensor numbers(std::int64_t size, float first) {
  spec::HostTensor tensor = spec::make_host_tensor(spec::DType::kFloat32, {size});
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& value : values) value = first++;
  std::memcpy(tensor.storage->bytes.data(), values.data(), values.size() * sizeof(float));
  return tensor;
}

// Calls of these sizes; what they return is held by the judge.
Script script_of(const std::vector<std::int64_t>& sizes, Configuration options) {
  Script script;
  script.ops = std::make_shared<const spec::OpTable>(spec::builtin_op_table());
  script.programs = {
      std::make_shared<const spec::Program>(spec::parse_program(kDouble, *script.ops).value())};
  float first = 1;
  for (const std::int64_t size : sizes) {
    ScriptCall call;
    call.inputs = {numbers(size, first += 10)};
    script.steps.emplace_back(std::move(call));
  }
  script.options = std::move(options);
  return script;
}

using JudgeFunction = Result<JudgeReport> (*)(Runs&, const conformance::JudgeSettings&);

JudgeReport report_of(JudgeFunction judge, const Script& script) {
  const auto subject = tools::optimized_source();
  const auto oracle = tools::reference_source(false);
  Runs runs(script, *subject, *oracle);
  return judge(runs, {}).value();
}

std::string text_of(const JudgeReport& report) {
  std::string text;
  for (const spec::Finding& finding : report.findings) {
    text += finding.rule + ": " + finding.message + "\n";
  }
  return text;
}

bool has_rule(const JudgeReport& report, const std::string& rule) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const spec::Finding& finding) { return finding.rule == rule; });
}

TEST(MemoryJudges, PassRightRuns) {
  const std::vector<Configuration> configurations = {
      {},
      {{"weak-outputs", ""}},
      {{"share-pools", ""}},
      {{"share-pools", ""}, {"weak-outputs", ""}},
      {{"capture-sizes", "4,256"}},
      {{"warm-up", "1"}, {"memory", "lines"}},
  };
  for (const Configuration& configuration : configurations) {
    const Script script = script_of({200, 3, 3, 200}, configuration);
    for (const JudgeFunction judge : {conformance::judge_shadow, conformance::judge_state}) {
      const JudgeReport report = report_of(judge, script);
      EXPECT_EQ(report.outcome, spec::Outcome::kPass)
          << conformance::print_configuration(configuration) << "\n"
          << text_of(report);
      EXPECT_EQ(report.remark, "");
      EXPECT_GT(report.checks, 4);
    }
  }
}

TEST(MemoryJudges, FindHeldOutputsThatDidNotStay) {
  const struct {
    Configuration options;
    const char* deviation;
    const char* words;
  } cases[] = {
      {{{"weak-outputs", ""}}, "no_generation_check", "the weak output 0 of call 1"},
      {{{"share-pools", ""}}, "weak_output_in_shared_pool", "is refused"},
      {{{"share-pools", ""}}, "frees_blocks_of_live_graphs", "the strong output 0 of call 0"},
  };
  for (const auto& tested : cases) {
    Configuration options = tested.options;
    options["deviation"] = tested.deviation;
    const JudgeReport report =
        report_of(conformance::judge_shadow, script_of({200, 3, 3}, options));
    EXPECT_EQ(report.outcome, spec::Outcome::kFail) << tested.deviation;
    EXPECT_TRUE(has_rule(report, "S6.held-overwritten")) << text_of(report);
    EXPECT_TRUE(contains(text_of(report), tested.words));
  }
}

TEST(MemoryJudges, NameTheNodeThatTookThePlaceOfAHeldOutput) {
  const JudgeReport report = report_of(
      conformance::judge_shadow,
      script_of({200, 3}, {{"share-pools", ""}, {"deviation", "frees_blocks_of_live_graphs"}}));
  ASSERT_TRUE(has_rule(report, "S6.held-overwritten"));
  EXPECT_EQ(report.findings.front().nodes, std::vector<std::string>{"y"}) << text_of(report);
}

TEST(MemoryJudges, FindStateThatAWarmUpLeftBehind) {
  const JudgeReport report =
      report_of(conformance::judge_state,
                script_of({3, 3}, {{"warm-up", "1"}, {"deviation", "warm_up_mutates"}}));
  EXPECT_TRUE(has_rule(report, "T1.state-differs")) << text_of(report);
  EXPECT_TRUE(contains(text_of(report), "call 0, state 'b'"));
}

}  // namespace
}  // namespace graphgate
