// Canaries: executors that are wrong on purpose. Every judge that claims to see a fault must fail
// the canary that has it, and pass the same executor without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "spec/case_file.h"
#include "tools/executors/executor_sources.h"

namespace graphgate::tools {
namespace {

using conformance::Configuration;
using spec::CallResult;
using spec::HostTensor;
using spec::Plan;

struct Fault {
  const char* name;
  const char* judges;  // that must see it
  std::function<void(CallResult& now, const CallResult* before)> edit_result = {};
  std::function<void(Plan&)> edit_plan = {};
  bool held_outputs_move = false;
};

class MovingOutput final : public spec::HeldOutput {
 public:
  MovingOutput(const CallResult& last, std::size_t index) : last_(last), index_(index) {}
  [[nodiscard]] Result<HostTensor> read() const override {
    return std::get<HostTensor>(last_.outputs[index_]);
  }

 private:
  const CallResult& last_;
  std::size_t index_;
};

class CanaryProgram final : public spec::LoadedProgram {
 public:
  CanaryProgram(std::unique_ptr<spec::LoadedProgram> right, const Fault& fault)
      : right_(std::move(right)), fault_(fault) {}

  Result<CallResult> call(std::span<const spec::InputValue> inputs) override {
    return call_with(inputs, {});
  }
  Result<CallResult> call_with(std::span<const spec::InputValue> inputs,
                               const spec::CallOptions& options) override {
    GRAPHGATE_TRY(CallResult right, right_->call_with(inputs, options));
    CallResult result = right;
    if (fault_.edit_result) fault_.edit_result(result, calls_++ > 0 ? &last_ : nullptr);
    last_ = std::move(right);
    if (right_->plan()) {
      auto plan = std::make_shared<Plan>(*right_->plan());
      if (fault_.edit_plan) fault_.edit_plan(*plan);
      plan_ = std::move(plan);
    }
    return result;
  }
  Result<std::shared_ptr<spec::HeldOutput>> hold(std::size_t index) override {
    if (!fault_.held_outputs_move) return right_->hold(index);
    return std::shared_ptr<spec::HeldOutput>(std::make_shared<MovingOutput>(last_, index));
  }
  Result<void> set_state(std::string_view target, const HostTensor& value, bool rebind) override {
    return right_->set_state(target, value, rebind);
  }
  [[nodiscard]] std::shared_ptr<const Plan> plan() const override { return plan_; }

 private:
  std::unique_ptr<spec::LoadedProgram> right_;
  const Fault& fault_;
  CallResult last_;
  std::shared_ptr<const Plan> plan_;
  int calls_ = 0;
};

class CanaryExecutor final : public spec::Executor {
 public:
  CanaryExecutor(std::unique_ptr<spec::Executor> right, const Fault& fault)
      : right_(std::move(right)), fault_(fault) {}
  [[nodiscard]] std::string_view name() const override { return "canary"; }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    GRAPHGATE_TRY(auto loaded, right_->load(program));
    return std::unique_ptr<spec::LoadedProgram>(
        std::make_unique<CanaryProgram>(std::move(loaded), fault_));
  }

 private:
  std::unique_ptr<spec::Executor> right_;
  const Fault& fault_;
};

// Another executor with the fault, in one of its modes.
class FaultyMode final : public conformance::ExecutorSource {
 public:
  FaultyMode(const Fault& fault, std::unique_ptr<conformance::ExecutorSource> right,
             std::string mode)
      : fault_(fault), right_(std::move(right)), mode_(std::move(mode)) {}
  [[nodiscard]] std::string_view name() const override { return right_->name(); }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const Configuration& configuration, const spec::OpTable& ops) const override {
    GRAPHGATE_TRY(auto right, right_->make(configuration, ops));
    const auto mode = configuration.find("mode");
    if (mode == configuration.end() || mode->second != mode_) return right;
    return std::unique_ptr<spec::Executor>(
        std::make_unique<CanaryExecutor>(std::move(right), fault_));
  }

 private:
  const Fault& fault_;
  const std::unique_ptr<conformance::ExecutorSource> right_;
  const std::string mode_;
};

// Wrong in every configuration, or (`only_default`) where nothing is changed.
class CanarySource final : public conformance::ExecutorSource {
 public:
  CanarySource(const Fault& fault, Configuration base, bool only_default)
      : fault_(fault), base_(std::move(base)), only_default_(only_default) {}
  [[nodiscard]] std::string_view name() const override { return "canary"; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const Configuration& configuration, const spec::OpTable& ops) const override {
    GRAPHGATE_TRY(auto right, right_->make(configuration, ops));
    if (only_default_ && configuration != base_) return right;
    return std::unique_ptr<spec::Executor>(
        std::make_unique<CanaryExecutor>(std::move(right), fault_));
  }

 private:
  const Fault& fault_;
  Configuration base_;
  bool only_default_;
  std::unique_ptr<conformance::ExecutorSource> right_ = optimized_source();
};

HostTensor own_copy(const HostTensor& tensor) {
  HostTensor copy = tensor;
  copy.storage = std::make_shared<spec::HostStorage>(*tensor.storage);
  return copy;
}

// Makes the element at `index` another number.
HostTensor damaged(const HostTensor& tensor, std::size_t index) {
  HostTensor copy = own_copy(tensor);
  float x = 0;
  std::byte* at = copy.storage->bytes.data() + index * sizeof(x);
  std::memcpy(&x, at, sizeof(x));
  x = x * 2 + 1;
  std::memcpy(at, &x, sizeof(x));
  return copy;
}

void keep_old_states(CallResult& now, const CallResult* before) {
  if (before) now.final_states = before->final_states;
}

// The output of the call before, with the words that it had.
void return_stale_output(CallResult& now, const CallResult* before) {
  if (!before) return;
  now.outputs[1] = before->outputs[1];
  for (spec::ProvenanceRow& row : now.provenance) {
    for (const spec::ProvenanceRow& old : before->provenance) {
      const bool same = row.node.empty() && old.node.empty() && row.port == "output 1";
      if (same && old.port == row.port) row.words = old.words;
    }
  }
}

void swap_outputs(CallResult& now, const CallResult* /*before*/) {
  std::swap(now.outputs[0], now.outputs[1]);
  spec::ProvenanceRow* first = nullptr;
  for (spec::ProvenanceRow& row : now.provenance) {
    if (!row.node.empty()) continue;
    if (row.port == "output 0") first = &row;
    if (row.port == "output 1" && first) std::swap(row.words, first->words);
  }
}

void shift_elements(CallResult& now, const CallResult* /*before*/) {
  HostTensor moved = own_copy(std::get<HostTensor>(now.outputs[0]));
  auto& bytes = moved.storage->bytes;
  std::rotate(bytes.begin(), bytes.begin() + sizeof(float), bytes.end());
  now.outputs[0] = std::move(moved);
}

void change_a_parameter(CallResult& now, const CallResult* /*before*/) {
  for (std::size_t i = 0; i < now.final_states.size(); ++i) {
    if (now.state_targets[i] == "w") now.final_states[i] = damaged(now.final_states[i], 2);
  }
}

void change_an_input(CallResult& now, const CallResult* /*before*/) {
  now.final_inputs[0] = damaged(std::get<HostTensor>(now.final_inputs[0]), 1);
}

void lose_an_output(CallResult& now, const CallResult* /*before*/) { now.outputs.pop_back(); }

// Every buffer of the arena begins where the arena does.
void overlay_buffers(Plan& plan) {
  for (spec::PlanBuffer& buffer : plan.buffers) {
    if (plan.pools[buffer.pool.index].kind == spec::PoolKind::kArena) buffer.offset_bytes = 0;
  }
}

void forget_waits(Plan& plan) {
  for (spec::PlanStep& step : plan.steps) step.waits.clear();
}

void capture_nothing(Plan& plan) {
  for (spec::PlanBlock& block : plan.blocks) {
    for (spec::PlanPartition& partition : block.partitions) {
      partition.captured = false;
      partition.reason = "canary";
    }
  }
  for (spec::PlanStep& step : plan.steps) {
    step.stream = 0;
    step.waits.clear();
    step.records.clear();
  }
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {"drops the writes of a call to its state", "bounds,state,exact", keep_old_states},
      {"returns the output of the call before", "provenance,exact,bounds", return_stale_output},
      {"swaps two outputs", "provenance,exact,bounds", swap_outputs},
      {"is off by one element", "exact,bounds", shift_elements},
      {"changes a parameter that nothing writes", "bounds,state,exact", change_a_parameter},
      {"changes the caller's input", "bounds,state,exact", change_an_input},
      {"loses an output", "bounds,exact", lose_an_output},
      {"lays buffers over each other", "verifier", {}, overlay_buffers},
      {"waits for no event", "happens-before", {}, forget_waits},
      {"captures nothing", "quality", {}, capture_nothing},
      {"lets held outputs be overwritten", "shadow", {}, {}, true},
  };
  return kFaults;
}

const char* const kCase = R"(graphgate-case 1
name "canary"
seed 4
option "streams" "4"
program "g" {
  parameter %w "w" : f32[3, 3]
  buffer %total "total" : f32[3]
  input %x : f32[2, 3]
  input %n : f32[3]
  %a = aten.mm.default(%x, %w)
  %t = aten.add_.Tensor(%total, %n)
  %b = aten.mul.Tensor(%a, 2.0)
  %c = aten.mm.default(%b, %w)
  %d = aten.mm.default(%a, %w)
  %e = aten.mm.default(%d, %w)
  %y = aten.add.Tensor(%c, %t)
  %z = aten.add.Tensor(%e, %c)
  output %y
  output %z
}
weights "g" seed 7
scenario {
  call g
  hold g.out0
  call g
  check held
  call g
}
)";

class NoFilesBeside final : public conformance::CaseFiles {
 public:
  [[nodiscard]] Result<std::map<std::string, HostTensor, std::less<>>> tensors(
      const std::string& file) const override {
    return bad_input(file + ": is not there");
  }
};

conformance::Script canary_script() {
  const spec::CaseFile the_case = spec::parse_case(kCase).value();
  EXPECT_TRUE(spec::check_case(the_case).ok());
  return conformance::script_of(the_case, NoFilesBeside()).value();
}

// What each of `judges` says of the canary.
std::vector<conformance::JudgeReport> judge_canary(const Fault& fault, const std::string& judges,
                                                   bool only_default = false) {
  const conformance::Script script = canary_script();
  const CanarySource subject(fault, script.options, only_default);
  const auto oracle = reference_source(/*allow_zero_and_one=*/false);
  conformance::Runs runs(script, subject, *oracle);
  conformance::JudgeSettings settings;
  settings.localize = false;
  auto report = judge_script(runs, conformance::parse_judges(judges).value(), settings);
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report.ok() ? report.value().judges : std::vector<conformance::JudgeReport>{};
}

TEST(Canaries, FailEveryJudgeThatClaimsToSeeTheirFault) {
  for (const Fault& fault : faults()) {
    const auto reports = judge_canary(fault, fault.judges);
    EXPECT_FALSE(reports.empty());
    for (const auto& report : reports) {
      EXPECT_EQ(report.outcome, spec::Outcome::kFail)
          << "an executor that " << fault.name << ", under the judge "
          << conformance::judge_name(report.judge) << " " << report.remark;
    }
  }
}

TEST(Canaries, FailConfigurationEqualityWhereOneConfigurationAloneIsWrong) {
  const auto reports = judge_canary(faults()[3], "configurations", /*only_default=*/true);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].outcome, spec::Outcome::kFail) << reports[0].remark;
}

// What an op makes is cut where it should be rounded: less than an estimate of errors allows, and
// more than the bound of a node does.
void cut_last_bits(CallResult& now, const CallResult* /*before*/) {
  for (spec::OutputValue& output : now.outputs) {
    auto& tensor = std::get<HostTensor>(output);
    tensor = own_copy(tensor);
    for (std::size_t at = 0; at < tensor.storage->bytes.size(); at += sizeof(float)) {
      tensor.storage->bytes[at] &= std::byte{0xfe};
    }
  }
}

// In the executor, and in the reference too.
conformance::JudgeReport bounds_of_a_cut(bool is_shared, bool judges_nodes) {
  const spec::CaseFile the_case = spec::parse_case(R"(graphgate-case 1
name "cut"
seed 4
program "g" {
  input %x : f32[64]
  %y = aten.mul.Scalar(%x, 0.1)
  output %y
}
scenario {
  call g
}
)")
                                      .value();
  const Fault cut{"cuts what it should round", "", cut_last_bits};
  const Fault none{"is right", ""};
  const conformance::Script script = conformance::script_of(the_case, NoFilesBeside()).value();
  const CanarySource subject(cut, script.options, /*only_default=*/false);
  const FaultyMode oracle(is_shared ? cut : none, reference_source(/*allow_zero_and_one=*/false),
                          "provenance");
  conformance::Runs runs(script, subject, oracle);
  conformance::JudgeSettings settings;
  settings.localize = false;
  settings.share_runs = true;
  settings.judge_nodes = judges_nodes;
  auto report =
      judge_script(runs, conformance::parse_judges("provenance,bounds").value(), settings);
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report.value().judges.back();
}

TEST(Canaries, FailWhereNodesAreJudgedThoughTheReferenceHasTheirFaultToo) {
  const auto picked = bounds_of_a_cut(/*is_shared=*/true, /*judges_nodes=*/true);
  ASSERT_EQ(picked.outcome, spec::Outcome::kFail) << picked.remark;
  EXPECT_EQ(picked.findings[0].rule, "B4.node-bound");
  const auto other = bounds_of_a_cut(/*is_shared=*/true, /*judges_nodes=*/false);
  EXPECT_EQ(other.outcome, spec::Outcome::kPass) << "it has the reference's bits";
  EXPECT_FALSE(other.figures.contains("nodes_judged"));
}

TEST(Canaries, HaveTheirNodesJudgedWhereABitIsNotTheReferences) {
  const auto alone = bounds_of_a_cut(/*is_shared=*/false, /*judges_nodes=*/false);
  ASSERT_EQ(alone.outcome, spec::Outcome::kFail) << alone.remark;
  EXPECT_EQ(alone.findings[0].rule, "B4.node-bound");
}

TEST(Canaries, PassWithoutAFault) {
  const Fault none{"is right", ""};
  for (const auto& report : judge_canary(none, "all")) {
    EXPECT_EQ(report.outcome, spec::Outcome::kPass)
        << conformance::judge_name(report.judge) << ": " << report.remark
        << (report.findings.empty() ? "" : report.findings[0].message);
    EXPECT_GT(report.checks, 0) << conformance::judge_name(report.judge);
  }
}

}  // namespace
}  // namespace graphgate::tools
