#include "tools/store/trace_store.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "base/file_io.h"
#include "base/folder_test.h"
#include "base/result_test.h"
#include "conformance/run/runs.h"
#include "tools/executors/executor_sources.h"
#include "tools/store/check_input.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;
using namespace conformance;

const char* const kStoredCase = R"(graphgate-case 1
name "stored"
seed 2
op my::twice(Tensor x) -> Tensor
program "g" {
  parameter %w "w" : f32[3, 3]
  buffer %total "total" : f32[3]
  input %x : f32[2, 3]
  input %n : f32[3]
  input %k : symint
  %a = aten.mm.default(%x, %w)
  %t = aten.add_.Tensor(%total, %n)
  %v = aten.transpose.int(%a, 0, 1)
  output %v
  output %t
}
weights "g" seed 7
inputs "first" of "g" {
  n : f32[3] = [1.0, nan, inf]
  k = 3
}
scenario {
  call g inputs=first
  hold g.out0
  sleep level=2
  wake weights
  swap-weights g seed=3
  wake
  feed-back g.out1 -> g.in1
  static g.in0
  call g inputs=first
  check held
}
expect PASS
)";

class StoredRuns : public testing::Test {
 protected:
  void SetUp() override { script_ = read_case(kStoredCase, "stored.case").value(); }

  const TestFolder test_folder_;
  const fs::path folder_ = test_folder_.path();
  Script script_;
};

// What the judges of stored runs say, with the oracle's help.
CaseReport judge_again(Runs& runs, const char* judges) {
  JudgeSettings settings{.judge_nodes = false, .localize = false};
  return must(judge_script(runs, parse_judges(judges).value(), settings));
}

class GoneSource final : public ExecutorSource {
 public:
  [[nodiscard]] std::string_view name() const override { return "gone"; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(const Configuration&,
                                                             const spec::OpTable&) const override {
    return unsupported("gone");
  }
};

TEST_F(StoredRuns, ComeBackAsTheyWere) {
  const auto subject = optimized_source();
  const auto oracle = reference_source(/*allow_zero_and_one=*/false);
  Runs runs(script_, *subject, *oracle);
  const Trace& before = *runs.subject().value();
  ASSERT_FALSE(before.error) << before.error->message;
  ASSERT_TRUE(runs.subject({{"instrument", "provenance"}}).ok());
  const std::string run = (folder_ / "run").string();
  ASSERT_TRUE(write_run(run, script_, {"optimized", true, false}, runs.subject_traces()).ok());
  auto stored = must(read_run(run));
  ASSERT_EQ(stored.traces.size(), 2U);
  const Trace& after = *stored.traces.at({});
  ASSERT_EQ(after.calls.size(), before.calls.size());
  for (std::size_t i = 0; i < before.calls.size(); ++i) {
    EXPECT_EQ(*after.calls[i].plan, *before.calls[i].plan);
    for (std::size_t o = 0; o < before.calls[i].result.outputs.size(); ++o) {
      const auto& a = std::get<spec::HostTensor>(before.calls[i].result.outputs[o]);
      const auto& b = std::get<spec::HostTensor>(after.calls[i].result.outputs[o]);
      EXPECT_EQ(a.strides, b.strides);
      EXPECT_EQ(spec::packed_bytes(a), spec::packed_bytes(b));
    }
  }
  ASSERT_EQ(after.held.size(), before.held.size());
  EXPECT_EQ(spec::packed_bytes(*after.held[0].now), spec::packed_bytes(*before.held[0].now));
  const auto& rows = stored.traces.at({{"instrument", "provenance"}})->calls[0].result;
  EXPECT_FALSE(rows.provenance.empty());
  EXPECT_EQ(std::get<ScriptSleep>(stored.script.steps[2]).asked, (spec::SleepRequest{2, {}}));
  EXPECT_EQ(std::get<ScriptWake>(stored.script.steps[3]).part, spec::SleepPart::kWeights);
  EXPECT_EQ(std::get<ScriptWake>(stored.script.steps[5]).part, std::nullopt);
}

TEST_F(StoredRuns, KeepWhatTheExecutorPromisesAndThatItWasLate) {
  conformance::SubjectTraces traces;
  auto late = std::make_unique<Trace>();
  late->executor = "theirs";
  late->error = Error{ErrorKind::kInternal, "no answer"};
  late->is_late = true;
  traces.emplace(conformance::Configuration{}, std::move(late));
  RunHead head{"theirs", true, false};
  head.promises = {.rounds_results = false,
                   .arithmetic = "approximate",
                   .kernels = "cuda",
                   .split_sums = {"bf16"},
                   .keeps_layouts = false};
  const std::string run = (folder_ / "run").string();
  ASSERT_TRUE(write_run(run, script_, head, traces).ok());
  StoredRun stored = read_run(run).value();
  EXPECT_FALSE(stored.promises.rounds_results);
  EXPECT_EQ(stored.promises.arithmetic, "approximate");
  EXPECT_EQ(stored.promises.kernels, "cuda");
  EXPECT_EQ(stored.promises.split_sums, std::vector<std::string>{"bf16"});
  EXPECT_FALSE(stored.promises.keeps_layouts);
  const GoneSource gone;
  const auto oracle = reference_source(/*allow_zero_and_one=*/false);
  Runs runs(stored.script, gone, *oracle);
  runs.provide(std::move(*stored.traces.at({})));
  const CaseReport report = judge_again(runs, "bounds");
  EXPECT_EQ(report.outcome, spec::Outcome::kTimeout);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].rule, "R2.no-answer");
}

TEST_F(StoredRuns, KeepWhatCameOfClosing) {
  conformance::SubjectTraces traces;
  auto ended = std::make_unique<Trace>();
  ended->executor = "theirs";
  ended->closing_error = Error{ErrorKind::kInternal, "was killed"};
  ended->has_ended = true;
  traces.emplace(conformance::Configuration{}, std::move(ended));
  const std::string run = (folder_ / "run").string();
  ASSERT_TRUE(write_run(run, script_, {"theirs", true, false}, traces).ok());
  StoredRun stored = read_run(run).value();
  Trace& trace = *stored.traces.at({});
  ASSERT_TRUE(trace.closing_error);
  EXPECT_EQ(trace.closing_error->message, "was killed");
  EXPECT_FALSE(trace.error);
  EXPECT_TRUE(trace.has_ended);
  const GoneSource gone;
  const auto oracle = reference_source(/*allow_zero_and_one=*/false);
  Runs runs(stored.script, gone, *oracle);
  runs.provide(std::move(trace));
  const CaseReport report = judge_again(runs, "state");
  EXPECT_EQ(report.outcome, spec::Outcome::kCrash);
}

// The second call breaks what the first one fixed: nobody says that it is to be refused, and it is.
constexpr const char* kRefusingCase = R"(graphgate-case 1
name "refusing"
option "wrapper" "split"
program "g" {
  input %x : f32[2, 3]
  input %y : f32[2, 3]
  %s = aten.add.Tensor(%x, %y)
  output %s
}
inputs "apart" of "g" {
  x seed 1
  y seed 2
}
inputs "one" of "g" {
  x : f32[2, 3] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
  y : f32[2, 3] = alias "x"
}
scenario {
  call g inputs=apart
  call g inputs=one
}
)";

// By all that is stored, and by the file without `left_out`, as older ones are.
CaseReport judged_from_file(const std::string& run, const std::string& left_out) {
  const std::string path = run + "/run.json";
  auto json = nlohmann::ordered_json::parse(must(read_whole(path)));
  for (auto& trace : json["traces"]) {
    if (!left_out.empty()) trace.erase(left_out);
    if (!left_out.empty() && trace.contains("error")) trace["error"].erase("is_due");
  }
  must(write_text(json.dump(), path));
  StoredRun stored = must(read_run(run));
  const GoneSource gone;
  const auto oracle = reference_source(/*allow_zero_and_one=*/false);
  Runs runs(stored.script, gone, *oracle);
  for (auto& [changes, one] : stored.traces) runs.provide(std::move(*one), changes);
  return judge_again(runs, "bounds");
}

TEST_F(StoredRuns, KeepWhetherARefusalWasDue) {
  const Script script = must(read_case(kRefusingCase, "refusing.case"));
  const auto subject = optimized_source();
  const auto oracle = reference_source(/*allow_zero_and_one=*/false);
  Runs runs(script, *subject, *oracle);
  ASSERT_TRUE(must(runs.subject())->is_refusal_due);
  EXPECT_EQ(judge_again(runs, "bounds").outcome, spec::Outcome::kPass);
  const std::string run = (folder_ / "run").string();
  must(write_run(run, script, {"optimized", true, false}, runs.subject_traces()));
  EXPECT_TRUE(must(read_run(run)).traces.at({})->is_refusal_due);
  // The calls before it would have to run again, and its executor is gone.
  for (const spec::Finding& finding : judged_from_file(run, "").findings) {
    EXPECT_EQ(finding.outcome, spec::Outcome::kUnsupported) << finding.message;
  }
  const CaseReport older = judged_from_file(run, "once_findings");
  EXPECT_EQ(older.outcome, spec::Outcome::kUnsupported) << older.reason;
  EXPECT_NE(older.reason.find("does not say whether this refusal was due"), std::string::npos)
      << older.reason;
}

TEST_F(StoredRuns, KeepThatACallWasServedWhichWasToBeRefused) {
  conformance::SubjectTraces traces;
  auto served = std::make_unique<Trace>();
  served->executor = "theirs";
  served->is_loaded = true;
  served->once_findings.push_back({.rule = "R3.not-refused", .message = "call 1 ran"});
  traces.emplace(conformance::Configuration{}, std::move(served));
  const std::string run = (folder_ / "run").string();
  must(write_run(run, script_, {"theirs", true, false}, traces));
  const CaseReport report = judged_from_file(run, "");
  EXPECT_EQ(report.outcome, spec::Outcome::kFail) << report.reason;
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].rule, "R3.not-refused");
}

TEST_F(StoredRuns, AreJudgedWithoutTheirExecutor) {
  const auto subject = optimized_source();
  const auto oracle = reference_source(/*allow_zero_and_one=*/false);
  Runs runs(script_, *subject, *oracle);
  const CaseReport first = judge_again(runs, "bounds,state,verifier");
  EXPECT_EQ(first.outcome, spec::Outcome::kPass) << first.reason;
  const std::string run = (folder_ / "run").string();
  ASSERT_TRUE(write_run(run, script_, {"optimized", true, false}, runs.subject_traces()).ok());
  for (const bool is_damaged : {false, true}) {
    StoredRun stored = read_run(run).value();
    Trace& trace = *stored.traces.at({});
    if (is_damaged) {
      auto& tensor = std::get<spec::HostTensor>(trace.calls[1].result.outputs[0]);
      tensor.storage->bytes[3] ^= std::byte{0x40};
    }
    const GoneSource gone;
    Runs again(stored.script, gone, *oracle);
    for (auto& [changes, one] : stored.traces) again.provide(std::move(*one), changes);
    const CaseReport second = judge_again(again, "bounds,state,verifier");
    if (is_damaged) {
      EXPECT_EQ(second.outcome, spec::Outcome::kFail);
      continue;
    }
    EXPECT_EQ(second.outcome, spec::Outcome::kPass) << second.reason;
    ASSERT_EQ(second.judges.size(), first.judges.size());
    for (std::size_t j = 0; j < first.judges.size(); ++j) {
      EXPECT_EQ(second.judges[j].checks, first.judges[j].checks);
    }
  }
}

// Ways not to be well formed: judges say of the stored plan what they say of the live one.
TEST_F(StoredRuns, KeepPlansThatAreNotWellFormed) {
  const auto subject = optimized_source();
  const auto oracle = reference_source(/*allow_zero_and_one=*/false);
  const GoneSource gone;
  using Break = void (*)(spec::Plan&);
  const Break kBreaks[] = {
      [](spec::Plan& plan) { plan.buffers[1].name = plan.buffers[0].name; },
      [](spec::Plan& plan) { plan.buffers.back().offset_bytes = 1 << 20; },
      [](spec::Plan& plan) { plan.buffers.back().pool = spec::PoolId{77}; },
      [](spec::Plan& plan) { plan.values.back().buffer.reset(); },
      [](spec::Plan& plan) { plan.steps[0].node.results[0].values.clear(); },
      [](spec::Plan& plan) { plan.steps[0].waits.push_back(spec::EventId{5}); },
      [](spec::Plan& plan) { plan.blocks[0].partitions.pop_back(); },
      [](spec::Plan& plan) { plan.blocks[0].partitions[0].signature.outputs.push_back({99}); },
  };
  for (const Break& damage : kBreaks) {
    Runs runs(script_, *subject, *oracle);
    ASSERT_TRUE(runs.subject().ok());
    Trace trace = *runs.subject().value();
    auto plan = std::make_shared<spec::Plan>(*trace.calls[0].plan);
    damage(*plan);
    ASSERT_FALSE(spec::check_plan(*plan).ok());
    const auto damaged = trace.calls[0].plan;
    for (CallRecord& call : trace.calls) {
      if (call.plan == damaged) call.plan = plan;
    }
    Runs live(script_, gone, *oracle);
    live.provide(trace);
    const CaseReport before = judge_again(live, "bounds,verifier,happens-before,quality");
    ASSERT_EQ(before.outcome, spec::Outcome::kFail);
    EXPECT_TRUE(contains(before.reason, spec::check_plan(*plan).error().message));
    const std::string run = (folder_ / "run").string();
    ASSERT_TRUE(write_run(run, script_, {"optimized", true, false}, live.subject_traces()).ok());
    auto stored = must(read_run(run));
    ASSERT_TRUE(stored.traces.at({})->calls[0].plan);
    EXPECT_EQ(*stored.traces.at({})->calls[0].plan, *plan);
    Runs again(stored.script, gone, *oracle);
    again.provide(std::move(*stored.traces.at({})));
    const CaseReport after = judge_again(again, "bounds,verifier,happens-before,quality");
    EXPECT_EQ(after.outcome, before.outcome);
    EXPECT_EQ(after.reason, before.reason);
    for (std::size_t j = 0; j < before.judges.size(); ++j) {
      EXPECT_EQ(after.judges[j].findings.size(), before.judges[j].findings.size());
      EXPECT_EQ(after.judges[j].checks, before.judges[j].checks);
    }
  }
}

TEST_F(StoredRuns, ReplaceOnlyStoredRuns) {
  const auto subject = optimized_source();
  const auto oracle = reference_source(/*allow_zero_and_one=*/false);
  Runs runs(script_, *subject, *oracle);
  ASSERT_TRUE(runs.subject().ok());
  const auto write = [&](const fs::path& at) {
    return write_run(at.string(), script_, {"optimized", true, false}, runs.subject_traces());
  };
  EXPECT_TRUE(write(folder_ / "run").ok());
  EXPECT_TRUE(write(folder_ / "run").ok());
  fs::create_directory(folder_ / "mine");
  std::ofstream(folder_ / "mine" / "letter.txt") << "dear";
  EXPECT_EQ(failure_of(write(folder_ / "mine")).kind, ErrorKind::kInfrastructure);
  EXPECT_TRUE(fs::exists(folder_ / "mine" / "letter.txt"));
  const auto entries = std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  EXPECT_EQ(entries, 2) << "nothing half-written stays";
  EXPECT_EQ(find_runs(folder_.string()).value(), std::vector{(folder_ / "run").string()});
}

TEST_F(StoredRuns, RefuseWhatIsDamagedInOneLine) {
  const auto subject = optimized_source();
  const auto oracle = reference_source(/*allow_zero_and_one=*/false);
  Runs runs(script_, *subject, *oracle);
  ASSERT_TRUE(runs.subject().ok());
  const fs::path run = folder_ / "run";
  ASSERT_TRUE(
      write_run(run.string(), script_, {"optimized", true, false}, runs.subject_traces()).ok());
  const std::string text = must(read_whole(run / "run.json"));
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    std::ofstream(run / "run.json") << changed;
    return message_of(read_run(run.string()), "read");
  };
  EXPECT_TRUE(
      contains(error_with("\"graphgate_run\": 1", "\"graphgate_run\": 2"), "found version 2"));
  EXPECT_TRUE(contains(error_with("\"storage\": 0", "\"storage\": 999"), "no such storage"));
  EXPECT_TRUE(contains(error_with("{", "["), "run.json: line 2, column"));
  EXPECT_TRUE(contains(error_with("{", std::string(1'000'000, '[')), "nested deeper than 256"));
  EXPECT_FALSE(find_runs((folder_ / "nowhere").string()).ok());
}

}  // namespace
}  // namespace graphgate::tools
