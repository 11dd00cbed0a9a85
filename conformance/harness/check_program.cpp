#include "conformance/harness/check_program.h"

#include <algorithm>
#include <memory>

#include "conformance/harness/input_layout.h"

namespace graphgate::conformance {
namespace {

using spec::CallResult;
using spec::LoadedProgram;
using spec::Outcome;

// The node that makes graph output `index`, or "".
std::string producer_of(const spec::Program& program, std::size_t index) {
  const auto* id = program.graph.outputs[index].as<spec::ValueId>();
  if (!id) return "";
  for (const spec::Node& node : program.graph.nodes) {
    for (const spec::NodeResult& result : node.results) {
      if (std::find(result.values.begin(), result.values.end(), *id) != result.values.end()) {
        return node.name;
      }
    }
  }
  return "";
}

// What a difference's `where` names, as a graph output writes it.
bool is_about(const Difference& difference, const spec::Program& program, std::size_t index,
              std::size_t user_outputs_before) {
  const spec::ProgramOutput& output = program.outputs[index];
  if (output.kind == spec::OutputKind::kUserOutput) {
    return difference.where == "output " + std::to_string(user_outputs_before);
  }
  if (output.kind != spec::OutputKind::kUserInputMutation) {
    return difference.where == "state '" + output.target + "'";
  }
  std::size_t user_input = 0;
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind != spec::InputKind::kUserInput || input.constant) continue;
    if (input.target == output.target) break;
    ++user_input;
  }
  return difference.where == "final input " + std::to_string(user_input);
}

// The node that a difference comes from: the one that makes the output, or the new contents of the
// state or input, that differs. "" where the program writes in place.
std::string producer(const spec::Program& program, const Difference& difference) {
  std::size_t user_outputs = 0;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    if (is_about(difference, program, i, user_outputs)) return producer_of(program, i);
    user_outputs += program.outputs[i].kind == spec::OutputKind::kUserOutput ? 1 : 0;
  }
  return "";
}

bool is_functionalized(const spec::Program& program) {
  return std::any_of(program.outputs.begin(), program.outputs.end(), [](const auto& output) {
    return output.kind != spec::OutputKind::kUserOutput;
  });
}

class Checker {
 public:
  Checker(const spec::Program& program, std::span<const ExpectedCall> calls, const Parties& parties,
          const CheckOptions& options)
      : program_(program), calls_(calls), parties_(parties), options_(options) {
    report_.program = program.name;
    report_.nodes = program.graph.nodes.size();
    report_.recorded = !calls.empty();
  }

  Result<ProgramReport> run() {
    GRAPHGATE_TRY(const bool loaded, load());
    if (!loaded) return std::move(report_);
    const std::size_t count =
        calls_.empty() ? static_cast<std::size_t>(options_.seeded_calls) : calls_.size();
    for (std::size_t i = 0; i < count; ++i) {
      GRAPHGATE_TRY(const bool ran, run_call(i));
      if (!ran) return std::move(report_);
      ++report_.calls;
    }
    if (options_.judge_nodes) GRAPHGATE_TRY_VOID(judge_each_node(count));
    conclude();
    return std::move(report_);
  }

 private:
  // False when some party cannot run the program: the report then says so.
  Result<bool> load() {
    for (spec::Executor* executor : parties_.executors) {
      GRAPHGATE_TRY(auto loaded, load_one(*executor));
      if (!loaded) return false;
      executors_.push_back(std::move(loaded));
    }
    GRAPHGATE_TRY(oracle_, load_one(*parties_.oracle));
    return oracle_ != nullptr;
  }

  Result<std::unique_ptr<LoadedProgram>> load_one(spec::Executor& executor) {
    auto loaded = executor.load(program_);
    if (loaded.ok()) return std::move(loaded).value();
    if (loaded.error().kind != ErrorKind::kUnsupported) return loaded.error();
    report_.outcome = Outcome::kUnsupported;
    report_.reason = loaded.error().message;
    return std::unique_ptr<LoadedProgram>();
  }

  // The expectation of one call; inputs only where there is no recording.
  Result<ExpectedCall> expected_call(std::size_t index) const {
    if (!calls_.empty()) {
      ExpectedCall recorded = calls_[index];
      lay_out_inputs(program_, recorded.inputs);
      return recorded;
    }
    ExpectedCall seeded;
    GRAPHGATE_TRY(seeded.inputs, seeded_inputs(program_, options_.seed, static_cast<int>(index)));
    return seeded;
  }

  // False when a party cannot go on: the report then says so. An oracle that cannot tell which way
  // the program goes leaves it undecided.
  Result<bool> run_call(std::size_t index) {
    GRAPHGATE_TRY(const ExpectedCall expected, expected_call(index));
    auto oracle_result = oracle_->call(expected.inputs);
    if (cannot_go_on(oracle_result, Outcome::kUndecided)) return false;
    GRAPHGATE_TRY(const CallResult oracle, std::move(oracle_result));
    for (std::size_t e = 0; e < executors_.size(); ++e) {
      auto executor_result = executors_[e]->call(expected.inputs);
      if (cannot_go_on(executor_result, Outcome::kUnsupported)) return false;
      GRAPHGATE_TRY(const CallResult result, std::move(executor_result));
      const std::string name(parties_.executors[e]->name());
      GRAPHGATE_TRY_VOID(judge(index, name, result, oracle, expected));
      GRAPHGATE_TRY_VOID(look_at_plan(name, executors_[e]->plan()));
    }
    return true;
  }

  bool cannot_go_on(const Result<CallResult>& result, Outcome outcome) {
    if (result.ok() || result.error().kind != ErrorKind::kUnsupported) return false;
    if (report_.outcome == Outcome::kPass) {
      report_.outcome = outcome;
      report_.reason = result.error().message;
    }
    return true;
  }

  Result<void> judge(std::size_t index, const std::string& name, const CallResult& actual,
                     const CallResult& oracle, const ExpectedCall& expected) {
    JudgeOptions judge_options;
    judge_options.false_alarm_rate = options_.false_alarm_rate;
    judge_options.functionalized = is_functionalized(program_);
    CallReport call = judge_call(name, actual, oracle, expected, judge_options);
    report_.elements += call.elements;
    report_.undecided += call.undecided;
    has_blind_tensor_ |= call.has_blind_tensor;
    if (call.worst_ratio > report_.worst_ratio) {
      report_.worst_ratio = call.worst_ratio;
      report_.worst_error = call.worst_error;
      report_.worst_allowed = call.worst_allowed;
    }
    if (call.differences.empty()) return {};
    GRAPHGATE_TRY(const CallResult bounds, bounds_of(index));
    JudgeOptions worst_case = judge_options;
    worst_case.multiple = 1;
    const CallReport proof = judge_call(name, actual, bounds, expected, worst_case);
    for (Difference& difference : call.differences) {
      const bool proved =
          !difference.by_value ||
          std::any_of(proof.differences.begin(), proof.differences.end(), [&](const auto& other) {
            return other.subject == difference.subject && other.where == difference.where;
          });
      note(index, std::move(difference), proved ? Outcome::kFail : Outcome::kSuspect);
    }
    return {};
  }

  // A plan that is not well formed is a defect of the executor that made it.
  Result<void> look_at_plan(const std::string& name, const spec::Plan* plan) {
    if (!plan) return {};
    const auto checked = spec::check_plan(*plan);
    if (!checked.ok()) {
      return Error{ErrorKind::kInternal,
                   program_.name + ": the plan of " + name + ": " + checked.error().message};
    }
    report_.plan = plan_stats(*plan);
    return {};
  }

  // What the worst-case bounds allow of call `index`: all calls up to it run anew, because state
  // carries over.
  Result<CallResult> bounds_of(std::size_t index) {
    GRAPHGATE_TRY(auto bounds, parties_.bounds->load(program_));
    for (std::size_t i = 0; i < index; ++i) {
      GRAPHGATE_TRY(const ExpectedCall earlier, expected_call(i));
      GRAPHGATE_TRY_VOID(discard(bounds->call(earlier.inputs)));
    }
    GRAPHGATE_TRY(const ExpectedCall expected, expected_call(index));
    return bounds->call(expected.inputs);
  }

  static Result<void> discard(const Result<CallResult>& result) {
    if (!result.ok()) return result.error();
    return {};
  }

  void note(std::size_t index, Difference difference, Outcome outcome) {
    const bool worse = report_.outcome == Outcome::kPass ||
                       (report_.outcome == Outcome::kSuspect && outcome == Outcome::kFail);
    const std::string place = "call " + std::to_string(index) + ", ";
    if (worse) {
      report_.outcome = outcome;
      report_.node = producer(program_, difference);
      report_.reason =
          difference.subject + ": " + place + difference.where + ": " + difference.message;
    }
    difference.where = place + difference.where;
    report_.differences.push_back(std::move(difference));
  }

  // A node outside its own bound is a failure, and the place where it begins: it goes first.
  Result<void> judge_each_node(std::size_t calls) {
    std::vector<std::vector<spec::InputValue>> inputs;
    for (std::size_t i = 0; i < calls; ++i) {
      GRAPHGATE_TRY(ExpectedCall expected, expected_call(i));
      inputs.push_back(std::move(expected.inputs));
    }
    for (spec::Executor* executor : parties_.executors) {
      GRAPHGATE_TRY(const NodeReport nodes,
                    judge_nodes(program_, inputs, *executor, *parties_.bounds, *options_.ops));
      report_.nodes_judged += nodes.judged;
      report_.worst_node_ratio = std::max(report_.worst_node_ratio, nodes.worst_ratio);
      if (nodes.findings.empty()) continue;
      const NodeFinding& first = nodes.findings.front();
      report_.outcome = Outcome::kFail;
      report_.node = first.node;
      report_.reason = std::string(executor->name()) + ": call " + std::to_string(first.call) +
                       ", " + first.message;
      for (const NodeFinding& finding : nodes.findings) {
        report_.differences.push_back({std::string(executor->name()),
                                       "call " + std::to_string(finding.call) + ", node '" +
                                           finding.node + "' (" + finding.op + ")",
                                       finding.message, true});
      }
    }
    return {};
  }

  void conclude() {
    if (report_.outcome != Outcome::kPass) return;
    if (report_.nodes == 0) {
      report_.outcome = Outcome::kMistrusted;
      report_.reason = "the program has no nodes";
    } else if (report_.elements == 0) {
      report_.outcome = Outcome::kMistrusted;
      report_.reason = "nothing was compared: no output and no state has an element";
    } else if (has_blind_tensor_) {
      report_.outcome = Outcome::kUndecided;
      report_.reason =
          "an output or state of which the oracle can tell no number: all hang on ties, "
          "on contents that are left open, or on errors without a bound";
    }
  }

  const spec::Program& program_;
  std::span<const ExpectedCall> calls_;
  const Parties& parties_;
  const CheckOptions& options_;
  ProgramReport report_;
  bool has_blind_tensor_ = false;
  std::vector<std::unique_ptr<LoadedProgram>> executors_;
  std::unique_ptr<LoadedProgram> oracle_;
};

}  // namespace

Result<ProgramReport> check_program(const spec::Program& program,
                                    std::span<const ExpectedCall> calls, const Parties& parties,
                                    const CheckOptions& options) {
  return Checker(program, calls, parties, options).run();
}

}  // namespace graphgate::conformance
