// State after every call: parameters, buffers, hidden state and the caller's inputs, against the
// oracle, though no output may show them yet.
//
// Rules: T1.state-differs (contents that are not the oracle's), T2.undeclared-write (bytes that
// changed though no node may write them), T3.state-geometry (sizes, strides, offset, dtype, or who
// shares memory with whom).
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "conformance/bounds/estimate.h"
#include "conformance/bounds/tiles.h"
#include "conformance/compare/element.h"
#include "conformance/judges/judge_report.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::CallResult;
using spec::Finding;
using spec::HostTensor;
using spec::Outcome;

// Which inputs of a program some node may write, through whatever views. Values that may share a
// storage are in one class; nodes that hold subgraphs may do anything to their operands.
class MayWrite {
 public:
  MayWrite(const spec::Program& program, const spec::OpTable& ops)
      : program_(program), ops_(ops), class_(program.graph.values.size()) {
    std::iota(class_.begin(), class_.end(), std::size_t{0});
    join_shared_state();
    for (const spec::Node& node : program.graph.nodes) add(node);
    for (const std::size_t value : written_) roots_.insert(root(value));
  }

  [[nodiscard]] bool operator()(const spec::ProgramInput& input) {
    for (const spec::ProgramOutput& output : program_.outputs) {
      if (output.kind != spec::OutputKind::kUserOutput && output.target == input.target) {
        return true;
      }
    }
    return hidden_.contains(input.target) || roots_.contains(root(input.value.index));
  }

 private:
  std::size_t root(std::size_t value) {
    while (class_[value] != value) value = class_[value] = class_[class_[value]];
    return value;
  }
  void join(spec::ValueId a, spec::ValueId b) { class_[root(a.index)] = root(b.index); }

  // State under several names.
  void join_shared_state() {
    std::map<const spec::HostStorage*, spec::ValueId> first;
    for (const spec::ProgramInput& input : program_.inputs) {
      const auto tensor = program_.tensors.find(input.target);
      if (input.kind == spec::InputKind::kUserInput || tensor == program_.tensors.end()) continue;
      const auto [at, is_new] = first.emplace(tensor->second.storage.get(), input.value);
      if (!is_new) join(input.value, at->second);
    }
  }

  void add(const spec::Node& node) {
    const spec::OpRow* row = ops_.find(node.op);
    if (!row) return add_unknown(node);
    for (const spec::NamedArgument& named : node.arguments) {
      const auto index = row->schema.find_argument(named.name);
      if (!index) return add_unknown(node);
      spec::for_each_value(named.argument, [&](spec::ValueId id) {
        if (row->writes(*index)) written_.push_back(id.index);
        if (may_be_returned(*row, *index)) join_results(node, id);
      });
    }
    for (const std::string& state : row->hidden_state_writes) add_hidden(node, *row, state);
  }

  static bool may_be_returned(const spec::OpRow& row, std::size_t argument) {
    const auto& aliases = row.undeclared_aliases;
    return std::ranges::find(aliases, row.schema.arguments[argument].name) != aliases.end() ||
           std::ranges::any_of(row.effects.returns, [&](const auto& r) {
             return std::ranges::find(r.aliases, argument) != r.aliases.end();
           });
  }

  void join_results(const spec::Node& node, spec::ValueId operand) {
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) join(id, operand);
    }
  }

  void add_unknown(const spec::Node& node) {
    spec::for_each_operand(node, [&](spec::ValueId id) {
      written_.push_back(id.index);
      join_results(node, id);
    });
  }

  // The name of the state stands in an argument, or is the row's own.
  void add_hidden(const spec::Node& node, const spec::OpRow& row, const std::string& state) {
    const auto argument = row.state_argument(state);
    if (!argument) {
      hidden_.insert(state);
      return;
    }
    for (const spec::NamedArgument& named : node.arguments) {
      const auto* name = named.argument.as<std::string>();
      if (named.name == row.schema.arguments[*argument].name && name) hidden_.insert(*name);
    }
  }

  const spec::Program& program_;
  const spec::OpTable& ops_;
  std::vector<std::size_t> class_;  // by value: a member of its class
  std::vector<std::size_t> written_;
  std::set<std::size_t> roots_;
  std::set<std::string, std::less<>> hidden_;
};

class StateJudge {
 public:
  StateJudge(Runs& runs, const JudgeSettings& settings) : runs_(runs), settings_(settings) {
    report_.judge = Judge::kState;
  }

  Result<JudgeReport> run() {
    const auto subject = runs_.subject();
    if (!subject.ok()) return not_run(std::move(report_), watch_, subject.error());
    subject_ = subject.value();
    if (subject_->calls.empty() && subject_->error) {
      return not_run(std::move(report_), watch_, *subject_->error);
    }
    for (const auto& program : runs_.script().programs) {
      may_write_.emplace_back(*program, *runs_.script().ops);
      states_.push_back(program->tensors);
    }
    std::size_t step = 0;
    for (std::size_t c = 0; c < subject_->calls.size(); ++c) {
      for (; step < subject_->calls[c].step; ++step) follow(runs_.script().steps[step]);
      judge_unwritten(c);
      GRAPHGATE_TRY_VOID(judge_left_behind(c));
    }
    conclude(report_, watch_, Outcome::kUnsupported, "no call leaves anything behind");
    return std::move(report_);
  }

 private:
  void add(std::string_view rule, Outcome outcome, std::size_t call, const std::string& message) {
    Finding finding{.rule = std::string(rule),
                    .outcome = outcome,
                    .message = "call " + std::to_string(call) + ", " + message};
    if (call < subject_->calls.size()) {
      finding.program = runs_.script().programs[subject_->calls[call].program]->name;
    }
    report_.findings.push_back(std::move(finding));
  }

  // What steps between calls do to state.
  void follow(const ScriptStep& step) {
    if (const auto* swap = std::get_if<ScriptSwap>(&step)) {
      for (const auto& [target, value] : swap->values) note_swap(swap->program, target, value);
    } else if (std::holds_alternative<ScriptRestart>(step)) {
      for (std::size_t p = 0; p < states_.size(); ++p) {
        states_[p] = runs_.script().programs[p]->tensors;
      }
    }
  }

  // Other names of the state change with it, unknown how.
  void note_swap(std::size_t program, const std::string& target, const HostTensor& value) {
    const auto& tensors = runs_.script().programs[program]->tensors;
    const auto swapped = tensors.find(target);
    for (const auto& [name, tensor] : tensors) {
      const bool is_shared =
          swapped != tensors.end() && name != target && tensor.storage == swapped->second.storage;
      if (is_shared) states_[program].erase(name);
    }
    states_[program][target] = value;
  }

  // Inputs and state that no node may write, bit by bit as they were.
  void judge_unwritten(std::size_t c) {
    const CallRecord& record = subject_->calls[c];
    const spec::Program& program = *runs_.script().programs[record.program];
    std::size_t next = 0;
    for (const spec::ProgramInput& input : program.inputs) {
      if (input.kind != spec::InputKind::kUserInput || input.constant) continue;
      const std::size_t i = next++;
      if (i >= record.inputs.size() || i >= record.result.final_inputs.size()) break;
      const auto* before = std::get_if<HostTensor>(&record.inputs[i]);
      const auto* after = std::get_if<HostTensor>(&record.result.final_inputs[i]);
      if (!before || !after || shares_written(record, i)) continue;
      judge_same(c, "final input " + std::to_string(i), input, *before, *after);
    }
    for (const spec::ProgramInput& input : program.inputs) {
      if (input.kind == spec::InputKind::kUserInput) continue;
      const auto before = states_[record.program].find(input.target);
      for (std::size_t i = 0; i < record.result.final_states.size(); ++i) {
        if (record.result.state_targets[i] != input.target) continue;
        const HostTensor& after = record.result.final_states[i];
        const bool is_known = before != states_[record.program].end();
        if (is_known) judge_same(c, "state '" + input.target + "'", input, before->second, after);
      }
    }
    remember(record);
  }

  // Whether a caller passed this input over the same storage as one that may be written.
  bool shares_written(const CallRecord& record, std::size_t index) {
    const spec::Program& program = *runs_.script().programs[record.program];
    const auto& storage = std::get<HostTensor>(record.inputs[index]).storage;
    std::size_t next = 0;
    for (const spec::ProgramInput& input : program.inputs) {
      if (input.kind != spec::InputKind::kUserInput || input.constant) continue;
      const std::size_t i = next++;
      if (i >= record.inputs.size()) break;
      const auto* other = std::get_if<HostTensor>(&record.inputs[i]);
      if (other && other->storage == storage && may_write_[record.program](input)) return true;
    }
    return false;
  }

  void judge_same(std::size_t c, const std::string& where, const spec::ProgramInput& input,
                  const HostTensor& before, const HostTensor& after) {
    if (may_write_[subject_->calls[c].program](input)) return;
    report_.checks += spec::element_count(after.sizes);
    if (same_elements(before, after)) return;
    add("T2.undeclared-write", Outcome::kFail, c,
        where + ": has changed, and no node of the program may write it");
  }

  void remember(const CallRecord& record) {
    for (std::size_t i = 0; i < record.result.final_states.size(); ++i) {
      states_[record.program][record.result.state_targets[i]] = record.result.final_states[i];
    }
  }

  // Against the oracle: by tiles where the call is large and can be cut, then nothing is written.
  Result<void> judge_left_behind(std::size_t c) {
    const JudgeOptions options{.false_alarm_rate = settings_.false_alarm_rate, .outputs = false};
    if (!oracle_) {
      auto tiled = judge_by_tiles(runs_, *subject_, c, {}, options, settings_.tiles);
      if (tiled.ok()) {
        judge_sharing(c, subject_->calls[c].result, as_given(c));
        note(c, tiled.value().judged);
        return {};
      }
      if (tiled.error().kind != ErrorKind::kUnsupported) return tiled.error();
    }
    GRAPHGATE_TRY(oracle_, runs_.oracle("sampled"));
    if (c >= oracle_->calls.size()) return {};
    judge_sharing(c, subject_->calls[c].result, oracle_->calls[c].result);
    GRAPHGATE_TRY(const EstimatedCall judged, judge_by_estimate(runs_, *subject_, c, {}, options));
    note(c, judged);
    return {};
  }

  // What a call that writes nothing leaves behind.
  [[nodiscard]] CallResult as_given(std::size_t c) const {
    const CallRecord& record = subject_->calls[c];
    CallResult out;
    out.final_inputs = record.inputs;
    for (const std::string& target : record.result.state_targets) {
      const auto state = states_[record.program].find(target);
      if (state == states_[record.program].end()) continue;
      out.state_targets.push_back(target);
      out.final_states.push_back(state->second);
    }
    return out;
  }

  void note(std::size_t c, const EstimatedCall& judged) {
    report_.checks += judged.call.elements;
    for (std::size_t i = 0; i < judged.call.differences.size(); ++i) {
      const Difference& difference = judged.call.differences[i];
      const bool is_geometry = difference.kind == Difference::Kind::kForm ||
                               difference.kind == Difference::Kind::kLayout;
      add(is_geometry ? "T3.state-geometry" : "T1.state-differs",
          judged.is_proved[i] ? Outcome::kFail : Outcome::kSuspect, c,
          difference.where + ": " + difference.message);
    }
  }

  // Inputs and states that lie over one storage do so in both, or in neither.
  void judge_sharing(std::size_t c, const CallResult& actual, const CallResult& expected) {
    const auto ours = named_tensors(actual);
    const auto theirs = named_tensors(expected);
    if (ours.size() != theirs.size()) return;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const auto shares = [&](const auto& tensors) {
          return tensors[i].second->storage == tensors[k].second->storage &&
                 !tensors[i].second->storage->bytes.empty();
        };
        ++report_.checks;
        if (shares(ours) == shares(theirs)) continue;
        add("T3.state-geometry", Outcome::kFail, c,
            ours[i].first + (shares(ours) ? " shares memory with " : " shares no memory with ") +
                ours[k].first + ", unlike in the oracle");
      }
    }
  }

  static std::vector<std::pair<std::string, const HostTensor*>> named_tensors(
      const CallResult& result) {
    std::vector<std::pair<std::string, const HostTensor*>> out;
    for (std::size_t i = 0; i < result.final_inputs.size(); ++i) {
      const auto* tensor = std::get_if<HostTensor>(&result.final_inputs[i]);
      if (tensor) out.emplace_back("final input " + std::to_string(i), tensor);
    }
    for (std::size_t i = 0; i < result.final_states.size(); ++i) {
      out.emplace_back("state '" + result.state_targets[i] + "'", &result.final_states[i]);
    }
    return out;
  }

  Runs& runs_;
  const JudgeSettings& settings_;
  const StopWatch watch_;
  const Trace* subject_ = nullptr;
  const Trace* oracle_ = nullptr;  // null until a call has to be judged as a whole
  JudgeReport report_;
  std::vector<MayWrite> may_write_;  // by program
  std::vector<std::map<std::string, HostTensor, std::less<>>>
      states_;  // as the last call left them
};

}  // namespace

Result<JudgeReport> judge_state(Runs& runs, const JudgeSettings& settings) {
  return StateJudge(runs, settings).run();
}

}  // namespace graphgate::conformance
