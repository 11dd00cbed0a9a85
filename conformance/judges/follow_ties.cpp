#include "conformance/judges/follow_ties.h"

#include <algorithm>
#include <map>
#include <set>

#include "conformance/judges/lone_taps.h"
#include "conformance/judges/node_effects.h"
#include "spec/follow.h"
#include "spec/type_text.h"

namespace graphgate::conformance {
namespace {

using spec::HostTensor;
using spec::Node;
using spec::ValueId;
using spec::ValueKind;

// Ties of one script, in order, each once.
using Ties = std::set<Tie>;

// Rounds of asking: choices may lead to nodes that depend on rounding, too.
constexpr int kMostRounds = 4;

// Whether a node makes nothing but tensors and numbers, each a result of its own, by an op that is
// known: what may be followed.
bool may_choose(const spec::Graph& graph, const Node& node, const spec::OpTable& ops) {
  if (ops.find(node.op) == nullptr || node.results.empty()) return false;
  return std::ranges::all_of(node.results, [&](const spec::NodeResult& result) {
    if (result.is_list || result.values.size() != 1) return false;
    const ValueKind kind = graph.value(result.values.front()).kind;
    return kind == ValueKind::kTensor || spec::is_symbolic(kind);
  });
}

// Ties of program `p` that are results of node `n`.
std::vector<Tie> ties_of(const Ties& ties, std::size_t p, std::size_t n) {
  std::vector<Tie> out;
  for (auto at = ties.lower_bound(Tie{p, n, 0}); at != ties.end(); ++at) {
    if (at->program != p || at->node != n) break;
    out.push_back(*at);
  }
  return out;
}

// A program that grows by nodes, values and outputs; its own nodes are added in their order.
class GrowingProgram {
 public:
  explicit GrowingProgram(const spec::Program& original) : out_(original) {
    out_.graph.nodes.clear();
  }

  void add(Node node) { out_.graph.nodes.push_back(std::move(node)); }
  ValueId add_value(const std::string& name, ValueKind kind) {
    spec::Value value;
    value.name = name;
    value.kind = kind;
    out_.graph.values.push_back(std::move(value));
    return {static_cast<std::uint32_t>(out_.graph.values.size() - 1)};
  }
  // A clone of a tensor as it is here; another value as it is.
  ValueId clone(ValueId id) {
    if (out_.graph.value(id).kind != ValueKind::kTensor) return id;
    const std::string name = "graphgate_tie_" + std::to_string(clones_++);
    const ValueId copy = add_value(name, ValueKind::kTensor);
    add({name,
         "aten.clone.default",
         {{"self", {id}}, {"memory_format", {spec::MemoryFormat::kContiguous}}},
         {{false, {copy}}}});
    return copy;
  }
  void output(ValueId id) {
    out_.outputs.push_back({spec::OutputKind::kUserOutput, ""});
    out_.graph.outputs.push_back({id});
  }
  // An input that takes values of this form, of whatever sizes.
  ValueId input(const spec::InputValue& example) {
    const std::string name = "graphgate_choice_" + std::to_string(inputs_++);
    const ValueId id = add_value(name, kind_of(example));
    if (const auto* tensor = std::get_if<HostTensor>(&example)) {
      spec::TensorType type = spec::type_of(*tensor);
      for (std::size_t d = 0; d < type.sizes.size(); ++d) {
        type.sizes[d] = spec::SymExpr::symbol(name + "_" + std::to_string(d));
      }
      out_.graph.values.back().type = std::move(type);
    }
    out_.graph.inputs.push_back(id);
    out_.inputs.push_back({spec::InputKind::kUserInput, id, name, true, std::nullopt});
    return id;
  }
  std::shared_ptr<const spec::Program> take() {
    return std::make_shared<const spec::Program>(std::move(out_));
  }

 private:
  static ValueKind kind_of(const spec::InputValue& value) {
    if (std::holds_alternative<HostTensor>(value)) return ValueKind::kTensor;
    if (std::holds_alternative<double>(value)) return ValueKind::kSymFloat;
    return std::holds_alternative<bool>(value) ? ValueKind::kSymBool : ValueKind::kSymInt;
  }

  spec::Program out_;
  std::size_t clones_ = 0;
  std::size_t inputs_ = 0;
};

// The program for the subject: its choices as further outputs.
std::shared_ptr<const spec::Program> with_taps(const spec::Program& program, std::size_t p,
                                               const Ties& ties) {
  GrowingProgram out(program);
  std::vector<ValueId> taps;
  for (std::size_t n = 0; n < program.graph.nodes.size(); ++n) {
    const Node& node = program.graph.nodes[n];
    out.add(node);
    for (const Tie& tie : ties_of(ties, p, n)) {
      taps.push_back(out.clone(node.results[tie.result].values.front()));
    }
  }
  for (const ValueId tap : taps) out.output(tap);
  return out.take();
}

// What an oracle's program asks at the nodes that may choose.
enum class Asks : std::uint8_t {
  kCounts,   // every node, for how many of its elements rounding decides; those are outputs
  kChoices,  // those of the ties; the results are outputs
};

// The program for an oracle. `choices`: those of one call, in the order of the ties; they stand for
// the form of others. `counted` are the results that each output of kCounts is about.
class OracleProgram {
 public:
  OracleProgram(const spec::Program& program, std::size_t p, const spec::OpTable& ops,
                const Ties& ties, std::span<const spec::InputValue> choices)
      : program_(program), p_(p), ops_(ops), ties_(ties), choices_(choices), out_(program) {}

  std::shared_ptr<const spec::Program> make(Asks asks, std::vector<Tie>& counted) {
    for (std::size_t n = 0; n < program_.graph.nodes.size(); ++n) {
      const Node& node = program_.graph.nodes[n];
      const std::vector<Tie> ties = ties_of(ties_, p_, n);
      const bool is_asked = asks == Asks::kCounts || !ties.empty();
      if (!is_asked || !may_choose(program_.graph, node, ops_)) {
        out_.add(node);
        continue;
      }
      const std::vector<ValueId> counts = add_followed(node, ties);
      for (const Tie& tie : ties) {
        if (asks == Asks::kChoices) {
          outputs_.push_back(out_.clone(node.results[tie.result].values.front()));
        }
      }
      for (std::size_t r = 0; asks == Asks::kCounts && r < counts.size(); ++r) {
        outputs_.push_back(counts[r]);
        counted.push_back({p_, n, r});
      }
    }
    for (const ValueId id : outputs_) out_.output(id);
    return out_.take();
  }

 private:
  // The node, and the one that follows it. Returns the values that count its elements.
  std::vector<ValueId> add_followed(const Node& node, const std::vector<Tie>& ties) {
    Node follow{node.name + "_followed", std::string(spec::kFollow), operands_kept(node), {}};
    out_.add(node);
    spec::Argument::List results;
    spec::Argument::List choices(node.results.size(), {spec::None{}});
    for (const spec::NodeResult& result : node.results) {
      results.push_back({result.values.front()});
      follow.results.push_back(result);
    }
    for (const Tie& tie : ties) choices[tie.result] = {out_.input(choices_[next_choice_++])};
    std::vector<ValueId> counts;
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      counts.push_back(out_.add_value(follow.name + "_" + std::to_string(r), ValueKind::kSymInt));
      follow.results.push_back({false, {counts.back()}});
    }
    follow.arguments.push_back({std::string(spec::kFollowedOp), {spec::OpName{node.op}}});
    follow.arguments.push_back({std::string(spec::kFollowedResults), {std::move(results)}});
    follow.arguments.push_back({std::string(spec::kFollowedChoices), {std::move(choices)}});
    out_.add(std::move(follow));
    return counts;
  }

  // The node's arguments; clones of what they are before it where the node writes some of them.
  std::vector<spec::NamedArgument> operands_kept(const Node& node) {
    bool writes = false;
    for_each_written(node, *ops_.find(node.op), [&](ValueId) { writes = true; });
    std::vector<spec::NamedArgument> out = node.arguments;
    for (spec::NamedArgument& named : out) {
      if (writes) named.argument = cloned(named.argument);
    }
    return out;
  }

  spec::Argument cloned(const spec::Argument& argument) {
    if (const auto* id = argument.as<ValueId>()) return {out_.clone(*id)};
    const auto* list = argument.as<spec::Argument::List>();
    if (!list) return argument;
    spec::Argument::List out;
    for (const spec::Argument& element : *list) out.push_back(cloned(element));
    return {std::move(out)};
  }

  const spec::Program& program_;
  const std::size_t p_;
  const spec::OpTable& ops_;
  const Ties& ties_;
  std::span<const spec::InputValue> choices_;
  GrowingProgram out_;
  std::vector<ValueId> outputs_;
  std::size_t next_choice_ = 0;
};

// A tensor with bytes of its own: it shares no storage with the output that it came as.
spec::InputValue as_input(const spec::OutputValue& value) {
  if (const auto* tensor = std::get_if<HostTensor>(&value)) {
    HostTensor copy = *tensor;
    copy.storage = std::make_shared<spec::HostStorage>(*tensor->storage);
    return copy;
  }
  if (const auto* x = std::get_if<double>(&value)) return *x;
  if (const auto* b = std::get_if<bool>(&value)) return *b;
  const auto* i = std::get_if<std::int64_t>(&value);
  return i ? *i : std::int64_t{0};
}

// The subject's choices in a call of its run with taps.
std::vector<spec::InputValue> choices_in(const CallRecord& call, std::size_t own) {
  std::vector<spec::InputValue> out;
  for (std::size_t i = own; i < call.result.outputs.size(); ++i) {
    out.push_back(as_input(call.result.outputs[i]));
  }
  return out;
}

class TieFollower {
 public:
  explicit TieFollower(Runs& runs) : runs_(runs), script_(runs.script()) {}

  Result<TieSearch> run() {
    GRAPHGATE_TRY(const Trace* const plain, runs_.subject());
    if (plain->calls.empty()) return TieSearch{};
    GRAPHGATE_TRY(const bool has_choice, may_have_choice(*plain));
    if (!has_choice) return TieSearch{};
    tapped_ = *plain;
    std::int64_t elements = 0;
    for (int round = 0;; ++round) {
      GRAPHGATE_TRY(const Found found, ask_oracle());
      elements = found.elements;
      const std::size_t known = ties_.size();
      ties_.insert(found.ties.begin(), found.ties.end());
      if (ties_.size() == known) break;
      if (round == kMostRounds) {
        return TieSearch{.why_not = "each choice leads to nodes that depend on rounding, too"};
      }
      GRAPHGATE_TRY(const std::string why_not, ask_subject(*plain));
      if (!why_not.empty()) return TieSearch{.why_not = why_not};
    }
    if (ties_.empty()) return TieSearch{};
    std::vector<std::vector<Tie>> counted;
    TieSearch out;
    FollowedTies& followed = out.followed.emplace();
    followed.script = oracle_script(Asks::kChoices, counted);
    followed.runs = runs_on(*followed.script);
    followed.ties.assign(ties_.begin(), ties_.end());
    followed.elements = elements;
    return out;
  }

 private:
  struct Found {
    Ties ties;
    std::int64_t elements = 0;
  };

  // Whether the oracle's run says that rounding left some node a choice, or cannot say it: a call
  // did not end, or a recording is compared, which goes on from states of its own.
  Result<bool> may_have_choice(const Trace& plain) {
    const bool is_recorded = std::ranges::any_of(script_.steps, [](const ScriptStep& step) {
      const auto* call = std::get_if<ScriptCall>(&step);
      return call && call->expected;
    });
    if (is_recorded) return true;
    GRAPHGATE_TRY(const Trace* const oracle, runs_.oracle("sampled"));
    if (oracle->error || oracle->calls.size() < plain.calls.size()) return true;
    return std::ranges::any_of(oracle->calls, [](const CallRecord& call) {
      return std::ranges::any_of(call.result.findings, [](const spec::Finding& finding) {
        return finding.rule == spec::kOpenChoice;
      });
    });
  }

  // Which results rounding decides, along what the subject chose so far and, elsewhere, along the
  // oracle's own choices.
  Result<Found> ask_oracle() {
    std::vector<std::vector<Tie>> counted;
    const std::unique_ptr<const Script> script = oracle_script(Asks::kCounts, counted);
    const std::unique_ptr<Runs> runs = runs_on(*script);
    GRAPHGATE_TRY(const Trace* const oracle, runs->oracle("sampled"));
    Found out;
    for (const CallRecord& call : oracle->calls) {
      const std::size_t own = user_outputs(*script_.programs[call.program]);
      const std::vector<Tie>& results = counted[call.program];
      if (call.result.outputs.size() != own + results.size()) continue;  // of another oracle
      for (std::size_t i = 0; i < results.size(); ++i) {
        const auto* count = std::get_if<std::int64_t>(&call.result.outputs[own + i]);
        if (!count || *count == 0) continue;
        out.ties.insert(results[i]);
        out.elements += *count;
      }
    }
    return out;
  }

  // Runs the subject with all ties tapped. Returns why that cannot be, or "".
  Result<std::string> ask_subject(const Trace& plain) {
    Script script = script_;
    for (std::size_t p = 0; p < script.programs.size(); ++p) {
      script.programs[p] = with_taps(*script_.programs[p], p, ties_);
    }
    GRAPHGATE_TRY(tapped_, runs_.subject_on(script, {}));
    if (tapped_.error) return "with its choices as further outputs: " + tapped_.error->message;
    if (tapped_.calls.size() < plain.calls.size()) {
      return std::string("with its choices as further outputs it runs fewer calls");
    }
    for (const CallRecord& call : tapped_.calls) {
      const std::size_t own = user_outputs(*script_.programs[call.program]);
      const auto taps = std::ranges::count(ties_, call.program, &Tie::program);
      if (call.result.outputs.size() == own + static_cast<std::size_t>(taps)) continue;
      return std::string("with its choices as further outputs it returns another number of them");
    }
    return std::string();
  }

  // The script for oracles, with the inputs and choices of the subject's latest run. A recording
  // made choices of its own, and is left to the oracle that follows nobody.
  std::unique_ptr<const Script> oracle_script(Asks asks, std::vector<std::vector<Tie>>& counted) {
    auto out = std::make_unique<Script>(script_);
    counted.resize(script_.programs.size());
    std::map<std::size_t, const CallRecord*> first;  // by program
    for (const CallRecord& call : tapped_.calls) {
      auto& step = std::get<ScriptCall>(out->steps[call.step]);
      step.inputs = call.inputs;
      for (spec::InputValue& choice : choices_of(call)) step.inputs.push_back(std::move(choice));
      step.expected.reset();
      first.emplace(call.program, &call);
    }
    for (std::size_t p = 0; p < script_.programs.size(); ++p) {
      const auto example = first.find(p);
      if (example == first.end()) continue;
      const std::vector<spec::InputValue> choices = choices_of(*example->second);
      out->programs[p] = OracleProgram(*script_.programs[p], p, *script_.ops, ties_, choices)
                             .make(asks, counted[p]);
    }
    return out;
  }

  [[nodiscard]] std::vector<spec::InputValue> choices_of(const CallRecord& call) const {
    return choices_in(call, user_outputs(*script_.programs[call.program]));
  }

  // Runs on such a script: the subject's is its latest one, with choices behind its inputs.
  [[nodiscard]] std::unique_ptr<Runs> runs_on(const Script& script) const {
    auto out = std::make_unique<Runs>(runs_.on(script));
    Trace trace = tapped_;
    for (CallRecord& call : trace.calls) {
      for (const spec::InputValue& choice : choices_of(call)) {
        call.inputs.push_back(choice);
        call.result.final_inputs.push_back(choice);
      }
    }
    out->provide(std::move(trace));
    return out;
  }

  Runs& runs_;
  const Script& script_;
  Trace tapped_;  // the subject's latest run: the plain one at first
  Ties ties_;
};

}  // namespace

Result<TieSearch> follow_ties(Runs& runs) { return TieFollower(runs).run(); }

}  // namespace graphgate::conformance
