// Whether a script can fail at all: every input that a program uses must matter to what it returns.
//
// Rules: Z1.input-ignored, Z2.all-nan, Z3.constant-output. A vacuous script is MISTRUSTED: passing
// it proves nothing of what does not matter. Only the reference runs.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "conformance/compare/element.h"
#include "conformance/judges/byte_reads.h"
#include "conformance/judges/flips.h"
#include "conformance/judges/judge_report.h"
#include "conformance/judges/node_effects.h"
#include "conformance/judges/same_bits.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::HostTensor;
using spec::Outcome;

// A place whose contents a flip changes.
struct Source {
  std::size_t program = 0;
  std::string name;  // as messages have it: "input 'x'", "parameter 'w'"
  std::optional<std::size_t> user_input;
  std::string target;  // of a state
};

// Nodes from which something can be seen: those that an output depends on, and those that write, or
// hold a subgraph that may.
class LiveNodes {
 public:
  LiveNodes(const spec::Graph& graph, const spec::OpTable& ops) : ops_(ops) {
    for (const spec::Argument& output : graph.outputs) {
      spec::for_each_value(output, [&](spec::ValueId id) { used_.insert(id); });
    }
    for (std::size_t n = graph.nodes.size(); n-- > 0;) visit(graph.nodes[n]);
  }
  // Values that live nodes read, and outputs.
  [[nodiscard]] const std::set<spec::ValueId>& used() const { return used_; }
  [[nodiscard]] const std::vector<std::string>& dead() const { return dead_; }

 private:
  void visit(const spec::Node& node) {
    bool is_live = has_effect(ops_.find(node.op));
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) is_live |= used_.contains(id);
    }
    if (!is_live) {
      dead_.push_back("'" + node.name + "'");
      return;
    }
    spec::for_each_operand(node, [&](spec::ValueId id) { used_.insert(id); });
  }

  const spec::OpTable& ops_;
  std::set<spec::ValueId> used_;
  std::vector<std::string> dead_;
};

// Inputs that some live node reads, or that an output hands on.
std::vector<Source> sources_of(const spec::Program& program, const LiveNodes& live,
                               std::size_t index) {
  std::vector<Source> out;
  std::size_t user_inputs = 0;
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind == spec::InputKind::kUserInput && input.constant) continue;
    const bool is_user = input.kind == spec::InputKind::kUserInput;
    const std::size_t place = is_user ? user_inputs++ : 0;
    if (!live.used().contains(input.value)) continue;
    Source source{index, (is_user ? "input '" : "state '") + input.target + "'", std::nullopt,
                  input.target};
    if (is_user) source.user_input = place;
    out.push_back(std::move(source));
  }
  return out;
}

class VacuityJudge {
 public:
  VacuityJudge(Runs& runs, const JudgeSettings& settings) : runs_(runs), settings_(settings) {
    report_.judge = Judge::kVacuity;
  }

  Result<JudgeReport> run() {
    // Not Runs::oracle, which would be called with what a subject fed back.
    const auto base = runs_.oracle_on(runs_.script(), "eager");
    if (!base.ok()) {
      if (base.error().kind != ErrorKind::kUnsupported) return base.error();
      report_.remark = base.error().message;
      conclude(report_, watch_, Outcome::kUnsupported, "");
      return std::move(report_);
    }
    base_ = &base.value();
    look_at_results();
    GRAPHGATE_TRY_VOID(flip_sources());
    look_at_constants();
    conclude(report_, watch_, Outcome::kMistrusted, "nothing comes back that could be wrong");
    return std::move(report_);
  }

 private:
  // Outputs that are NaN, or one number, through and through are kept for later: a flip may change
  // them.
  void look_at_results() {
    for (std::size_t c = 0; c < base_->calls.size(); ++c) {
      const auto& outputs = base_->calls[c].result.outputs;
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        const std::string where = "output " + std::to_string(i);
        const auto* tensor = std::get_if<HostTensor>(&outputs[i]);
        report_.checks += 1;
        if (!tensor) continue;
        const std::vector<long double> elements = decode_elements(*tensor);
        if (elements.empty()) continue;
        Output& seen = outputs_[{base_->calls[c].program, where}];
        seen.is_nan = seen.is_nan &&
                      std::ranges::all_of(elements, [](long double x) { return std::isnan(x); });
        seen.has_elements = true;
        const std::size_t parts = parts_of(tensor->dtype);
        bool is_constant = elements.size() > parts;
        for (std::size_t e = parts; e < elements.size(); ++e) {
          is_constant = is_constant && elements[e] == elements[e - parts];
        }
        seen.is_constant = seen.is_constant && is_constant;
      }
    }
  }

  [[nodiscard]] const spec::Program& program(std::size_t index) const {
    return *runs_.script().programs[index];
  }

  // Every source in turn; where there are too many, a sample of them.
  Result<void> flip_sources() {
    std::vector<Source>& sources = sources_;
    for (std::size_t p = 0; p < runs_.script().programs.size(); ++p) {
      const LiveNodes live(program(p).graph, *runs_.script().ops);
      for (Source& source : sources_of(program(p), live, p)) sources.push_back(std::move(source));
      dead_.insert(dead_.end(), live.dead().rbegin(), live.dead().rend());
    }
    const std::size_t every = sources.size() / kMostSources + 1;
    std::size_t flipped_count = 0;
    for (std::size_t i = settings_.seed % every; i < sources.size(); i += every) {
      GRAPHGATE_TRY_VOID(flip_source(sources[i]));
      ++flipped_count;
    }
    report_.remark = std::to_string(flipped_count) + " of " + std::to_string(sources.size()) +
                     " inputs and states changed, one at a time, in " + std::to_string(runs_made_) +
                     " runs";
    if (!dead_.empty()) report_.remark += "; nothing depends on " + join_names(dead_);
    return {};
  }

  Result<void> flip_source(const Source& source) {
    bool tried = false;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const Flip flip = attempt == 0   ? Flip::kRotate
                        : attempt == 1 ? Flip::kAll
                                       : Flip::kOneElement;
      for (const bool whole : {false, true}) {
        const auto script = with_flip(source, flip, static_cast<std::uint64_t>(attempt), whole);
        if (!script) continue;
        GRAPHGATE_TRY(const bool matters, changes_results(*script, source, tried));
        if (matters) {
          ++report_.checks;
          return {};
        }
      }
    }
    if (!tried || is_overwritten(source)) return {};
    GRAPHGATE_TRY(const bool is_read,
                  reads_bytes(runs_, source.program, source.target, settings_.seed));
    if (!is_read) return {};
    add("Z1.input-ignored",
        source.name + " of '" + program(source.program).name +
            "' does not matter: whatever it holds, every output and state stays the same",
        source.name);
    return {};
  }

  // The script with the source's contents changed: up to the program's first call, or whole.
  // Nothing where that changes no bit, or where the whole is not more.
  [[nodiscard]] std::optional<Script> with_flip(const Source& source, Flip flip,
                                                std::uint64_t attempt, bool whole) const {
    Script out = runs_.script();
    const std::size_t first = first_call(source.program);
    if (first == out.steps.size()) return std::nullopt;
    if (!whole) out.steps.resize(first + 1, ScriptStep(ScriptCheck{}));
    if (whole && first + 1 >= out.steps.size()) return std::nullopt;
    const std::uint64_t seed = settings_.seed + attempt;
    if (!source.user_input) {
      auto changed = std::make_shared<spec::Program>(*out.programs[source.program]);
      auto tensor = changed->tensors.find(source.target);
      if (tensor == changed->tensors.end()) return std::nullopt;
      auto contents = flipped(tensor->second, flip, seed);
      if (!contents) return std::nullopt;
      rebind(*changed, tensor->second.storage, contents->storage);
      out.programs[source.program] = std::move(changed);
      return out;
    }
    bool any = false;
    for (ScriptStep& step : out.steps) {
      auto* call = std::get_if<ScriptCall>(&step);
      if (!call || call->program != source.program) continue;
      if (*source.user_input >= call->inputs.size()) continue;
      auto contents = flipped(call->inputs[*source.user_input], flip, seed);
      if (!contents) continue;
      call->inputs[*source.user_input] = std::move(*contents);
      any = true;
    }
    return any ? std::optional<Script>(std::move(out)) : std::nullopt;
  }

  // Tensors that share the storage keep sharing it.
  static void rebind(spec::Program& program, const std::shared_ptr<spec::HostStorage>& before,
                     const std::shared_ptr<spec::HostStorage>& after) {
    const spec::HostStorage* const old = before.get();
    for (auto& [target, tensor] : program.tensors) {
      if (tensor.storage.get() == old) tensor.storage = after;
    }
  }

  [[nodiscard]] std::size_t first_call(std::size_t program_index) const {
    const auto& steps = runs_.script().steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto* call = std::get_if<ScriptCall>(&steps[i]);
      if (call && call->program == program_index) return i;
    }
    return steps.size();
  }

  // Whether the changed script returns anything else. An error that the right data does not meet
  // is a difference too: an index that is out of range matters. The source itself, where nothing
  // wrote it, stays what it was given, and does not count.
  Result<bool> changes_results(const Script& script, const Source& source, bool& reached) {
    ++runs_made_;
    const auto trace = runs_.oracle_on(script, "eager");
    if (!trace.ok()) {
      if (trace.error().kind == ErrorKind::kInfrastructure) return trace.error();
      return true;
    }
    if (trace.value().error && trace.value().error->kind == ErrorKind::kInfrastructure) {
      return *trace.value().error;
    }
    reached |= is_reached(trace.value(), source);
    if (trace.value().error && (!base_->error || trace.value().error_step < base_->error_step)) {
      return true;
    }
    bool matters = false;
    const std::size_t count = std::min(trace.value().calls.size(), base_->calls.size());
    for (std::size_t i = 0; i < count; ++i) {
      const CallRecord& changed = trace.value().calls[i];
      BitOptions options{.signed_zeros = false, .layouts = false, .sharing = false};
      const BitReport bits =
          compare_bits(changed.result, base_->calls[i].result, "before", options);
      for (const BitDifference& difference : bits.differences) {
        outputs_[{changed.program, difference.where}].moves = true;
        matters |= !is_itself(difference.where, source, changed.program);
      }
    }
    return matters;
  }

  // Whether the change got to the program: what is fed back takes an input's place.
  [[nodiscard]] bool is_reached(const Trace& changed, const Source& source) const {
    if (!source.user_input) return true;
    for (std::size_t i = 0; i < std::min(changed.calls.size(), base_->calls.size()); ++i) {
      if (changed.calls[i].program != source.program) continue;
      const std::size_t input = *source.user_input;
      if (!same(changed.calls[i].inputs[input], base_->calls[i].inputs[input])) return true;
    }
    return changed.calls.size() < base_->calls.size();
  }

  static bool is_itself(const std::string& where, const Source& source, std::size_t program_index) {
    if (program_index != source.program) return false;
    if (source.user_input) return where == "final input " + std::to_string(*source.user_input);
    return where == "state '" + source.target + "'";
  }

  // Whether the program writes the source: then its contents are a result, and compared as one.
  [[nodiscard]] bool is_overwritten(const Source& source) const {
    for (const CallRecord& call : base_->calls) {
      if (call.program != source.program) continue;
      if (source.user_input) {
        if (!same(call.inputs[*source.user_input], call.result.final_inputs[*source.user_input])) {
          return true;
        }
        continue;
      }
      const auto& targets = call.result.state_targets;
      const auto at = std::ranges::find(targets, source.target);
      const auto before = program(source.program).tensors.find(source.target);
      if (at == targets.end() || before == program(source.program).tensors.end()) continue;
      if (!same(before->second,
                call.result.final_states[static_cast<std::size_t>(at - targets.begin())])) {
        return true;
      }
    }
    return false;
  }

  static bool same(const spec::InputValue& a, const spec::InputValue& b) {
    const auto* x = std::get_if<HostTensor>(&a);
    const auto* y = std::get_if<HostTensor>(&b);
    return !x || !y || spec::packed_bytes(*x) == spec::packed_bytes(*y);
  }

  // Outputs that are one number in every call, and stay it whatever changes. One such output among
  // others is said; a script that returns nothing else is vacuous.
  void look_at_constants() {
    std::vector<std::string> constant;
    bool any_other = false;
    for (const auto& [key, output] : outputs_) {
      if (!output.has_elements || !output.is_nan || output.moves) continue;
      add("Z2.all-nan",
          key.second + " of '" + program(key.first).name + "' is NaN through and through",
          key.second);
    }
    for (const auto& [key, output] : outputs_) {
      const bool is_output = key.second.starts_with("output ");
      const bool is_fixed = is_output && output.is_constant && !output.moves;
      if (is_fixed) constant.push_back(key.second + " of '" + program(key.first).name + "'");
      any_other |= is_output && !is_fixed;
    }
    if (constant.empty() || runs_made_ == 0) return;
    any_other |=
        std::ranges::any_of(sources_, [&](const Source& source) { return is_overwritten(source); });
    if (any_other) {
      report_.remark += "; one number whatever comes in: " + join_names(constant);
    } else {
      add("Z3.constant-output",
          join_names(constant) + ": one number through and through, whatever the inputs hold",
          constant.front());
    }
  }

  void add(std::string rule, std::string message, std::string name) {
    report_.findings.push_back({.rule = std::move(rule),
                                .outcome = Outcome::kMistrusted,
                                .message = std::move(message),
                                .nodes = {std::move(name)}});
  }

  static constexpr std::size_t kMostSources = 48;
  static constexpr int kAttempts = 5;
  struct Output {
    bool has_elements = false;
    bool is_constant = true;
    bool is_nan = true;
    bool moves = false;
  };

  Runs& runs_;
  const JudgeSettings& settings_;
  StopWatch watch_;
  JudgeReport report_;
  const Trace* base_ = nullptr;
  std::map<std::pair<std::size_t, std::string>, Output> outputs_;
  std::size_t runs_made_ = 0;
  std::vector<Source> sources_;
  std::vector<std::string> dead_;  // nodes
};

}  // namespace

Result<JudgeReport> judge_vacuity(Runs& runs, const JudgeSettings& settings) {
  return VacuityJudge(runs, settings).run();
}

}  // namespace graphgate::conformance
