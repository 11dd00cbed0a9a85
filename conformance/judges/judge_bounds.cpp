// Numbers inside error bounds: executor and recording against the oracle, call by call, and node by
// node.
#include <algorithm>
#include <cmath>
#include <set>

#include "conformance/bounds/estimate.h"
#include "conformance/bounds/producers.h"
#include "conformance/bounds/tiles.h"
#include "conformance/judges/follow_ties.h"
#include "conformance/judges/judge.h"
#include "conformance/judges/judge_nodes.h"
#include "conformance/judges/judge_report.h"
#include "conformance/judges/lone_taps.h"
#include "conformance/judges/run_end.h"
#include "conformance/judges/same_bits.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::Finding;
using spec::Outcome;

// The call's recording or expectation, with what was really passed.
ExpectedCall expected_call(const Script& script, const CallRecord& record) {
  const auto& call = std::get<ScriptCall>(script.steps[record.step]);
  ExpectedCall expected = call.expected.value_or(ExpectedCall{});
  expected.inputs = record.inputs;
  return expected;
}

std::set<std::string> symbols_in(const std::vector<spec::SymExpr>& sizes) {
  std::set<std::string> names;
  for (const spec::SymExpr& size : sizes) {
    for (std::string& name : spec::free_symbols(size)) names.insert(std::move(name));
  }
  return names;
}

// The symbols that inputs give their values: data decide all others.
std::set<std::string> symbols_of_inputs(const spec::Program& program) {
  std::set<std::string> names;
  for (const spec::ValueId id : program.graph.inputs) {
    const spec::Value& input = program.graph.value(id);
    if (input.expr) names.merge(symbols_in({*input.expr}));
    if (input.type) names.merge(symbols_in(input.type->sizes));
  }
  return names;
}

// Whether data decide the sizes of this value, or the number that it is.
bool has_open_size(const spec::Value& value, const std::set<std::string>& known) {
  const auto is_open = [&](const spec::SymExpr& expr) {
    return !std::ranges::includes(known, symbols_in({expr}));
  };
  if (value.expr) return is_open(*value.expr);
  return value.type && std::ranges::any_of(value.type->sizes, is_open);
}

// What a recording says of a call whose data nobody knows: sizes and numbers that data decide are
// those of this run, where they are of the recorded kind.
ExpectedCall without_open_sizes(ExpectedCall expected, const spec::Program& program,
                                const spec::CallResult& result) {
  const std::set<std::string> known = symbols_of_inputs(program);
  std::size_t user_output = 0;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    if (program.outputs[i].kind != spec::OutputKind::kUserOutput) continue;
    const std::size_t place = user_output++;
    if (place >= expected.outputs.size() || place >= result.outputs.size()) break;
    const auto* id = program.graph.outputs[i].as<spec::ValueId>();
    if (id == nullptr || !has_open_size(program.graph.value(*id), known)) continue;
    const spec::OutputValue& made = result.outputs[place];
    const auto* tensor = std::get_if<spec::HostTensor>(&made);
    const auto* recorded = std::get_if<spec::HostTensor>(&expected.outputs[place]);
    const bool is_alike = made.index() == expected.outputs[place].index() &&
                          (tensor == nullptr || (tensor->dtype == recorded->dtype &&
                                                 tensor->sizes.size() == recorded->sizes.size()));
    if (!is_alike) continue;
    expected.outputs[place] = made;
    if (place < expected.geometries.size()) expected.geometries[place].reset();
  }
  return expected;
}

class BoundsJudge {
 public:
  BoundsJudge(Runs& runs, const JudgeSettings& settings) : runs_(runs), settings_(settings) {
    report_.judge = Judge::kBounds;
  }

  Result<JudgeReport> run() {
    GRAPHGATE_TRY(subject_, runs_.subject());
    GRAPHGATE_TRY(std::vector<Finding> ends, findings_of_end(runs_, *subject_));
    GRAPHGATE_TRY(const bool is_tiled, judge_tiles());
    if (!is_tiled) GRAPHGATE_TRY_VOID(judge_wholes());
    std::move(ends.begin(), ends.end(), std::back_inserter(report_.findings));
    add_doubts();
    const bool has_reference = is_tiled || oracle_->is_loaded || !oracle_->error;
    conclude(report_, watch_, has_reference ? Outcome::kMistrusted : Outcome::kUnsupported,
             has_reference ? "nothing was compared: no output and no state has an element"
                           : oracle_->error->message);
    return std::move(report_);
  }

 private:
  // The calls by what the oracle knows of whole tensors.
  Result<void> judge_wholes() {
    GRAPHGATE_TRY(oracle_, runs_.oracle("sampled"));
    if (!ends_open(*oracle_)) GRAPHGATE_TRY_VOID(look_at_oracle());
    const std::size_t calls = std::min(subject_->calls.size(), oracle_->calls.size());
    for (std::size_t i = 0; i < calls; ++i) GRAPHGATE_TRY_VOID(judge(i));
    for (std::size_t i = calls; i < subject_->calls.size(); ++i) judge_recorded(i);
    if (!open_.empty() || ends_open(*oracle_)) GRAPHGATE_TRY_VOID(go_along_ties());
    if (ends_open(*oracle_)) GRAPHGATE_TRY_VOID(look_at_oracle());
    if (has_blind_tensor_) {
      GRAPHGATE_TRY(is_blind_by_draws_, tells_all_where_draws_are_known());
    }
    const bool is_any_judged = !subject_->calls.empty() && !oracle_->calls.empty();
    if (!is_any_judged) return {};
    bool wants_nodes = settings_.judge_nodes || is_suspect_ || is_blind_by_draws_;
    if (!wants_nodes && settings_.share_runs) {
      GRAPHGATE_TRY(const bool is_same, has_bits_of_reference());
      wants_nodes = !is_same;
    }
    return wants_nodes ? judge_each_node() : Result<void>();
  }

  // Whether a subject of strict arithmetic made, in every call, the bits that the reference
  // computes in its eager mode: all outputs, final inputs and states, what is open too. Both share
  // no code, so that one wrong node would have to be wrong in both. A run with words computes the
  // same.
  Result<bool> has_bits_of_reference() {
    const Promises promised = runs_.promises();
    const bool is_alike = promised.arithmetic == "strict" && promised.kernels == "cpu";
    if (!is_alike || !runs_.has_oracle("provenance")) return false;
    GRAPHGATE_TRY(const Trace* known, runs_.oracle("provenance"));
    if (known->error) {
      GRAPHGATE_TRY(known, runs_.oracle("eager"));
    }
    const Trace& reference = *known;
    if (reference.error || subject_->error) return false;
    return std::ranges::equal(
        subject_->calls, reference.calls, [&](const CallRecord& ours, const CallRecord& theirs) {
          const BitOptions options{.layouts = promised.keeps_layouts, .sharing = false};
          return ours.step == theirs.step &&
                 compare_bits(ours.result, theirs.result, reference.executor, options)
                     .differences.empty();
        });
  }

  // Whether that oracle could not tell how a call goes on.
  [[nodiscard]] bool ends_open(const Trace& oracle) const {
    return oracle.error && oracle.error->kind == ErrorKind::kUnsupported && oracle.is_loaded &&
           oracle.calls.size() < subject_->calls.size();
  }

  // The calls again, by an oracle that goes along what the subject chose where rounding decides.
  // What that oracle knows then takes the place of what was known before.
  Result<void> go_along_ties() {
    const auto is_proved = [](const Finding& finding) { return finding.outcome == Outcome::kFail; };
    if (std::ranges::any_of(report_.findings, is_proved)) return {};
    GRAPHGATE_TRY(TieSearch search, follow_ties(runs_));
    why_not_followed_ = search.why_not;
    if (!search.followed) return {};
    GRAPHGATE_TRY(const Trace* const tapped, search.followed->runs->subject());
    GRAPHGATE_TRY(const Trace* const told, search.followed->runs->oracle("sampled"));
    if (told->calls.size() < oracle_->calls.size()) return {};
    why_not_followed_ = what_taps_change(*tapped, *told);
    if (!why_not_followed_.empty()) return {};
    followed_ = std::move(search.followed);
    oracle_ = told;
    elements_ = undecided_ = 0;
    has_blind_tensor_ = false;
    open_.clear();
    for (std::size_t i = 0; i < std::min(tapped->calls.size(), told->calls.size()); ++i) {
      GRAPHGATE_TRY_VOID(judge_followed(*tapped, i));
    }
    report_.figures["followed"] = static_cast<double>(followed_->elements);
    return {};
  }

  // Where the program's own results have other bits when it is tapped, as far as an oracle knows of
  // them: then what is tapped tells nothing of the run that is judged. Empty: nowhere.
  [[nodiscard]] std::string what_taps_change(const Trace& tapped, const Trace& told) const {
    for (std::size_t i = 0; i < std::min(tapped.calls.size(), told.calls.size()); ++i) {
      const std::size_t own = own_outputs(i);
      const std::size_t inputs = subject_->calls[i].result.final_inputs.size();
      const auto trimmed = [&](spec::CallResult result) {
        result.outputs.resize(std::min(own, result.outputs.size()));
        result.output_spreads.resize(std::min(own, result.output_spreads.size()));
        result.final_inputs.resize(std::min(inputs, result.final_inputs.size()));
        result.final_input_spreads.resize(std::min(inputs, result.final_input_spreads.size()));
        return result;
      };
      const spec::CallResult oracle = trimmed(told.calls[i].result);
      const BitReport bits =
          compare_bits(trimmed(tapped.calls[i].result), subject_->calls[i].result, "the plain run",
                       {.oracle = &oracle, .layouts = false, .sharing = false});
      if (bits.differences.empty()) continue;
      return "with its choices as further outputs the program has other bits (call " +
             std::to_string(i) + ", " + bits.differences.front().where + ")";
    }
    return "";
  }

  [[nodiscard]] std::size_t own_outputs(std::size_t call) const {
    return user_outputs(*runs_.script().programs[subject_->calls[call].program]);
  }

  // A call whose ties are followed: first what the subject chose, then what came of it.
  Result<void> judge_followed(const Trace& tapped, std::size_t index) {
    const CallRecord& record = tapped.calls[index];
    const spec::Program& program = *runs_.script().programs[record.program];
    ExpectedCall expected;
    expected.inputs = record.inputs;
    GRAPHGATE_TRY_VOID(judge_choices(tapped, index));
    GRAPHGATE_TRY(EstimatedCall judged, judge_by_estimate(*followed_->runs, tapped, index, expected,
                                                          options_for(program)));
    note_open(index);
    count(judged.call);
    explained_ += judged.explained;
    for (std::size_t i = 0; i < judged.call.differences.size(); ++i) {
      const Difference& difference = judged.call.differences[i];
      if (const Tie* const tie = tie_at(index, difference)) {
        // Others are judged by what errors explain, and by no trial: trials take them.
        if (is_real(tapped.calls[index], difference)) {
          add_choice(index, program.graph.nodes[tie->node], difference.message,
                     judged.is_proved[i]);
        }
      } else if (!is_noted(index, difference)) {
        note(index, program, difference, judged.is_proved[i]);
      }
    }
    return {};
  }

  // What is tapped that a difference of a run with taps is about; null where it is about the
  // program's own results.
  [[nodiscard]] const Tie* tie_at(std::size_t index, const Difference& difference) const {
    std::size_t output = own_outputs(index);
    for (const Tie& tie : followed_->ties) {
      if (tie.program != subject_->calls[index].program) continue;
      if (difference.where == "output " + std::to_string(output++)) return &tie;
    }
    return nullptr;
  }

  // Whether a difference is about an output of a floating dtype.
  static bool is_real(const CallRecord& call, const Difference& difference) {
    for (std::size_t i = 0; i < call.result.outputs.size(); ++i) {
      if (difference.where != "output " + std::to_string(i)) continue;
      const auto* tensor = std::get_if<spec::HostTensor>(&call.result.outputs[i]);
      return tensor != nullptr && spec::is_floating_point(tensor->dtype);
    }
    return false;
  }

  [[nodiscard]] bool is_noted(std::size_t index, const Difference& difference) const {
    const std::string begin = place_of(index, difference);
    return std::ranges::any_of(report_.findings, [&](const Finding& finding) {
      return finding.message.starts_with(begin);
    });
  }

  // The indices, integers, booleans and numbers that the subject chose in a call, against what
  // errors leave to choose from: by the worst case, which proves, and by the estimate.
  Result<void> judge_choices(const Trace& tapped, std::size_t index) {
    GRAPHGATE_TRY(const Trace* const worst, followed_->runs->oracle("worst-case"));
    const std::size_t p = tapped.calls[index].program;
    const double multiple = sigma_multiple(elements_, settings_.false_alarm_rate);
    std::size_t output = own_outputs(index);
    for (const Tie& tie : followed_->ties) {
      if (tie.program != p) continue;
      const spec::OutputValue& choice = tapped.calls[index].result.outputs[output];
      const spec::Node& node = runs_.script().programs[p]->graph.nodes[tie.node];
      const bool has_worst = index < worst->calls.size();
      const std::string proof =
          has_worst ? what_is_off(choice, worst->calls[index].result, output, 1) : "";
      const std::string doubt = what_is_off(choice, oracle_->calls[index].result, output, multiple);
      if (!proof.empty() || !doubt.empty()) {
        add_choice(index, node, proof.empty() ? doubt : proof, !proof.empty());
      }
      ++output;
    }
    return {};
  }

  void add_choice(std::size_t index, const spec::Node& node, const std::string& message,
                  bool proved) {
    is_suspect_ |= !proved;
    add(proved ? "B11.wrong-choice" : "B2.outside-estimate",
        proved ? Outcome::kFail : Outcome::kSuspect,
        subject_->executor + ": call " + std::to_string(index) + ", node '" + node.name + "' (" +
            node.op + ") chose what errors of its operands do not explain: " + message,
        node.name, program_of(index));
  }

  // A choice, against what an oracle that followed it holds for possible. In words; "" for nothing.
  static std::string what_is_off(const spec::OutputValue& choice, const spec::CallResult& oracle,
                                 std::size_t output, double multiple) {
    const spec::Spread& spread = oracle.output_spreads[output];
    if (const auto* tensor = std::get_if<spec::HostTensor>(&choice)) {
      const auto* known = std::get_if<spec::HostTensor>(&oracle.outputs[output]);
      if (known == nullptr) return "it is a tensor, the oracle's is none";
      if (spec::is_floating_point(tensor->dtype)) return "";  // judged as other results are
      std::string form = compare_form(*tensor, geometry_of(*known));
      return form.empty() ? compare_values(*tensor, spread, multiple).message : form;
    }
    const auto* x = std::get_if<double>(&choice);
    const bool is_known = std::holds_alternative<double>(oracle.outputs[output]);
    if (x == nullptr || !is_known || spread.values.empty()) return "";
    return compare_values(number_tensor(*x), spread, multiple).message;
  }

  // All calls by tiles. False where some call has to be judged as a whole: then nothing is noted.
  Result<bool> judge_tiles() {
    const bool is_whole_run = !subject_->error && !subject_->calls.empty();
    if (!is_whole_run || settings_.judge_nodes || settings_.share_runs) return false;
    std::vector<TiledCall> judged;
    for (std::size_t i = 0; i < subject_->calls.size(); ++i) {
      const CallRecord& record = subject_->calls[i];
      auto tiled =
          judge_by_tiles(runs_, *subject_, i, expected_call(runs_.script(), record),
                         options_for(*runs_.script().programs[record.program]), settings_.tiles);
      if (tiled.ok()) {
        judged.push_back(std::move(tiled).value());
        continue;
      }
      if (tiled.error().kind == ErrorKind::kUnsupported) return false;
      return tiled.error();
    }
    for (std::size_t i = 0; i < judged.size(); ++i) {
      note(i, judged[i].judged);
      for (const OpenElements& open : judged[i].open) {
        if (open.count > 0) note_open(i, open.where, open.count, open.elements, open.first);
      }
    }
    if (is_suspect_) report_.remark = "no node is judged alone: the call is judged by tiles";
    return true;
  }

  void add(const char* rule, Outcome outcome, std::string message, std::string node = "",
           std::string program = "") {
    Finding finding{.rule = rule,
                    .outcome = outcome,
                    .message = std::move(message),
                    .program = std::move(program)};
    if (!node.empty()) finding.nodes.push_back(std::move(node));
    report_.findings.push_back(std::move(finding));
  }

  // Whether a recording says what the call of this step came to.
  [[nodiscard]] bool is_recorded(std::size_t step) const {
    const auto& steps = runs_.script().steps;
    const auto* call = step < steps.size() ? std::get_if<ScriptCall>(&steps[step]) : nullptr;
    return call != nullptr && call->expected.has_value();
  }

  // An oracle that cannot tell which way the program goes leaves the rest undecided.
  Result<void> look_at_oracle() {
    if (!oracle_->error || oracle_->calls.size() >= subject_->calls.size()) return {};
    if (oracle_->error->kind == ErrorKind::kUnsupported) {
      add(oracle_->is_loaded ? "B5.undecided" : "R6.no-reference",
          oracle_->is_loaded ? Outcome::kUndecided : Outcome::kUnsupported,
          oracle_->error->message + not_followed());
      return {};
    }
    if (oracle_->error->kind != ErrorKind::kBadInput) return *oracle_->error;
    // The recording and the program contradict each other: no executor is at fault.
    if (is_recorded(oracle_->error_step)) return *oracle_->error;
    add("B6.taken-wrongly", Outcome::kFail,
        subject_->executor + ": step " + std::to_string(oracle_->error_step) +
            ": takes what the reference refuses: " + oracle_->error->message);
    return {};
  }

  [[nodiscard]] JudgeOptions options_for(const spec::Program& program) const {
    return JudgeOptions{.false_alarm_rate = settings_.false_alarm_rate,
                        .layouts = runs_.promises().keeps_layouts,
                        .functionalized = is_functionalized(program)};
  }

  // A call that the oracle did not come to: the recording's dtypes, sizes, strides and sharing
  // hold all the same, but for sizes that data decide.
  void judge_recorded(std::size_t index) {
    const CallRecord& record = subject_->calls[index];
    const spec::Program& program = *runs_.script().programs[record.program];
    const CallReport judged = judge_recorded_form(
        subject_->executor, record.result,
        without_open_sizes(expected_call(runs_.script(), record), program, record.result),
        options_for(program));
    for (const Difference& difference : judged.differences) note(index, program, difference, true);
  }

  Result<void> judge(std::size_t index) {
    const CallRecord& record = subject_->calls[index];
    const spec::Program& program = *runs_.script().programs[record.program];
    const ExpectedCall expected = expected_call(runs_.script(), record);
    const JudgeOptions options = options_for(program);
    GRAPHGATE_TRY(const EstimatedCall judged,
                  judge_by_estimate(runs_, *subject_, index, expected, options));
    note_open(index);
    note(index, judged);
    return {};
  }

  void note(std::size_t index, const EstimatedCall& judged) {
    const spec::Program& program = *runs_.script().programs[subject_->calls[index].program];
    count(judged.call);
    explained_ += judged.explained;
    for (std::size_t i = 0; i < judged.call.differences.size(); ++i) {
      note(index, program, judged.call.differences[i], judged.is_proved[i]);
    }
  }

  void count(const CallReport& call) {
    elements_ += call.elements;
    undecided_ += call.undecided;
    has_blind_tensor_ |= call.has_blind_tensor;
    if (call.worst_ratio <= report_.figures["worst_ratio"]) return;
    report_.figures["worst_ratio"] = call.worst_ratio;
    report_.figures["worst_error"] = call.worst_error;
    report_.figures["worst_allowed"] = call.worst_allowed;
  }

  // Which elements of a call the oracle leaves open.
  void note_open(std::size_t index) {
    const spec::CallResult& oracle = oracle_->calls[index].result;
    const std::size_t own = std::min(own_outputs(index), oracle.output_spreads.size());
    for (std::size_t i = 0; i < own; ++i) {
      note_open(index, "output " + std::to_string(i), oracle.output_spreads[i]);
    }
    for (std::size_t i = 0; i < oracle.final_input_spreads.size(); ++i) {
      note_open(index, "final input " + std::to_string(i), oracle.final_input_spreads[i]);
    }
    for (std::size_t i = 0; i < oracle.final_state_spreads.size(); ++i) {
      note_open(index, "state '" + oracle.state_targets[i] + "'", oracle.final_state_spreads[i]);
    }
  }

  void note_open(std::size_t index, const std::string& where, const spec::Spread& spread) {
    const auto is_open = [](double radius) { return std::isinf(radius); };
    const auto first = std::ranges::find_if(spread.radii, is_open);
    if (first == spread.radii.end()) return;
    note_open(index, where, std::count_if(first, spread.radii.end(), is_open),
              std::ssize(spread.radii), first - spread.radii.begin());
  }

  void note_open(std::size_t index, const std::string& where, std::int64_t count,
                 std::int64_t elements, std::int64_t first) {
    open_.push_back("call " + std::to_string(index) + ", " + where + ": " + std::to_string(count) +
                    " of " + std::to_string(elements) + " elements, from number " +
                    std::to_string(first) + " on");
  }

  // The first few, and how many more.
  [[nodiscard]] std::string listed_open() const {
    constexpr std::size_t kShown = 3;
    std::string out;
    for (std::size_t i = 0; i < std::min(open_.size(), kShown); ++i) {
      out += (i > 0 ? "; " : "") + open_[i];
    }
    if (open_.size() > kShown) out += "; " + std::to_string(open_.size() - kShown) + " more";
    return out;
  }

  // Whether an oracle that takes its own draws for the subject's knows something of every tensor of
  // every call: then it is random draws alone that leave tensors open.
  Result<bool> tells_all_where_draws_are_known() {
    Runs& runs = followed_ ? *followed_->runs : runs_;
    GRAPHGATE_TRY(const Trace* const known, runs.oracle_with_known_draws());
    if (known->calls.size() < subject_->calls.size()) return false;
    const auto is_blind = [](const spec::Spread& spread) {
      return !spread.radii.empty() &&
             std::ranges::all_of(spread.radii, [](double radius) { return std::isinf(radius); });
    };
    return std::ranges::none_of(known->calls, [&](const CallRecord& call) {
      const spec::CallResult& result = call.result;
      return std::ranges::any_of(result.output_spreads, is_blind) ||
             std::ranges::any_of(result.final_input_spreads, is_blind) ||
             std::ranges::any_of(result.final_state_spreads, is_blind);
    });
  }

  static const char* rule_of(Difference::Kind kind, bool proved) {
    switch (kind) {
      case Difference::Kind::kNumber:
        return proved ? "B1.outside-bound" : "B2.outside-estimate";
      case Difference::Kind::kExact:
        return proved ? "B3.exact" : "B2.outside-estimate";
      case Difference::Kind::kLayout:
        return "B9.layout";
      case Difference::Kind::kSharing:
        return "B10.sharing";
      case Difference::Kind::kForm:
        break;
    }
    return "B3.exact";
  }

  void note(std::size_t index, const spec::Program& program, const Difference& difference,
            bool proved) {
    const char* rule = rule_of(difference.kind, proved);
    if (difference.subject == "recording") rule = "B8.recording";
    is_suspect_ |= !proved;
    add(rule, proved ? Outcome::kFail : Outcome::kSuspect,
        place_of(index, difference) + difference.message, producer_of(program, difference.where),
        program.name);
  }

  static std::string place_of(std::size_t index, const Difference& difference) {
    return difference.subject + ": call " + std::to_string(index) + ", " + difference.where + ": ";
  }

  [[nodiscard]] std::string program_of(std::size_t call) const {
    if (call >= subject_->calls.size()) return "";
    return runs_.script().programs[subject_->calls[call].program]->name;
  }

  // A node outside its own bound is a failure, and the place where it begins: it goes first. Where
  // the executor cannot run the program with taps, the report says so.
  Result<void> judge_each_node() {
    auto judged = judge_nodes(runs_);
    if (!judged.ok()) {
      if (judged.error().kind != ErrorKind::kUnsupported) return judged.error();
      report_.remark = "no node is judged alone: " + judged.error().message;
      return {};
    }
    const NodeReport& nodes = judged.value();
    are_nodes_judged_ = nodes.judged > 0 && nodes.passed_over == 0 && !nodes.has_blind_tensor;
    report_.figures["nodes_judged"] = static_cast<double>(nodes.judged);
    report_.figures["worst_node_ratio"] = nodes.worst_ratio;
    report_.node_ratios = nodes.ratios;
    elements_of_nodes_ = nodes.elements;
    std::vector<Finding> before = std::move(report_.findings);
    report_.findings.clear();
    for (const NodeFinding& finding : nodes.findings) {
      const std::string node =
          finding.node.empty() ? "" : ", node '" + finding.node + "' (" + finding.op + ")";
      add("B4.node-bound", Outcome::kFail,
          subject_->executor + ": call " + std::to_string(finding.call) + node + ", " +
              finding.message,
          finding.node, program_of(finding.call));
    }
    report_.findings.insert(report_.findings.end(), nodes.faults_of_plans.begin(),
                            nodes.faults_of_plans.end());
    std::move(before.begin(), before.end(), std::back_inserter(report_.findings));
    return {};
  }

  void add_doubts() {
    report_.checks = elements_ == 0 ? 0 : elements_ + elements_of_nodes_;
    report_.figures["elements"] = static_cast<double>(elements_);
    report_.figures["undecided"] = static_cast<double>(undecided_);
    report_.figures["explained_by_trials"] = static_cast<double>(explained_);
    const auto& programs = runs_.script().programs;
    if (std::ranges::all_of(programs,
                            [](const auto& program) { return program->graph.nodes.empty(); })) {
      add("B7.nothing-computed", Outcome::kMistrusted, "the program has no nodes");
    }
    const bool follows_draws = is_blind_by_draws_ && are_nodes_judged_;
    if (has_blind_tensor_ && !follows_draws) {
      add("B5.undecided", Outcome::kUndecided,
          "an output or state of which the oracle can tell no number: all depend on ties, on "
          "contents that are left open, or on errors without a bound (" +
              listed_open() + ")" + not_followed());
    }
    if (follows_draws && report_.remark.empty()) {
      report_.remark = "random draws are open, and followed node by node: " + listed_open();
    }
    if (report_.remark.empty() && followed_) report_.remark = "followed: " + listed_ties();
    if (report_.remark.empty() && !open_.empty()) {
      report_.remark = "left open: " + listed_open() + not_followed();
    }
  }

  [[nodiscard]] std::string not_followed() const {
    return why_not_followed_.empty() ? "" : "; ties are not followed: " + why_not_followed_;
  }

  // The nodes whose choices were followed, the first few.
  [[nodiscard]] std::string listed_ties() const {
    std::vector<std::string> names;
    for (const Tie& tie : followed_->ties) {
      const std::string name =
          "'" + runs_.script().programs[tie.program]->graph.nodes[tie.node].name + "'";
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    const std::string open = open_.empty() ? "" : "; left open: " + listed_open();
    return "what the subject chose where rounding decides, in " + join_names(names) + open;
  }

  Runs& runs_;
  const JudgeSettings& settings_;
  const StopWatch watch_;
  const Trace* subject_ = nullptr;
  const Trace* oracle_ = nullptr;
  JudgeReport report_;
  std::int64_t elements_ = 0;
  std::int64_t undecided_ = 0;
  std::int64_t explained_ = 0;  // tensors outside of the estimate, inside what trials do
  std::int64_t elements_of_nodes_ = 0;
  bool has_blind_tensor_ = false;
  bool is_blind_by_draws_ = false;
  bool are_nodes_judged_ = false;         // each of them, on what it read
  std::vector<std::string> open_;         // tensors with elements that the oracle leaves open
  std::optional<FollowedTies> followed_;  // then oracle_ goes along the subject's choices
  std::string why_not_followed_;          // though there are ties
  bool is_suspect_ = false;
};

}  // namespace

Result<JudgeReport> judge_bounds(Runs& runs, const JudgeSettings& settings) {
  return BoundsJudge(runs, settings).run();
}

}  // namespace graphgate::conformance
