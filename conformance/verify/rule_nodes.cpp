// V4: every node whose bytes somebody sees runs, and one that updates its operand runs once.
//
// Seen is what an output, a final state or a seen node reads, by the facts; of what an absent view
// or conversion is given, only what it may hand on. A node may be gone from a plan if it gives its
// operand back as it is (a view, a copy, an integer plus 0), or if a fused op stands for it; one
// that writes its operand only for a fused op that writes as well, or that alone sees the write.
// Whether a node gives its operand back is asked of the run of the reference, where provenance
// words move unchanged through copies, and else of its schema: then more is blamed than may be
// missing.
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "conformance/verify/rule_families.h"
#include "conformance/verify/run_rows.h"

namespace graphgate::verify {
namespace {

using spec::Node;
using spec::ProvenanceRow;
using spec::Value;
using spec::ValueKind;

// What sees a node: another node, an end of the program, or hidden state.
struct Seer {
  enum class Kind : std::uint8_t { kNode, kOutput, kFinal, kHidden };
  Kind kind = Kind::kNode;
  std::uint32_t index = 0;  // of the node, the output, the input
};

constexpr std::array<std::string_view, 4> kCopies = {"clone", "_to_copy", "_unsafe_view",
                                                     "lift_fresh_copy"};

// The words without producer and version, which every write counts anew.
bool same_words(const ProvenanceRow& a, const ProvenanceRow& b) {
  return a.words.size() == b.words.size() &&
         std::equal(a.words.begin(), a.words.end(), b.words.begin(),
                    [](spec::ProvenanceWord x, spec::ProvenanceWord y) {
                      return spec::provenance_hash(x) == spec::provenance_hash(y);
                    });
}

// A run that tells geometry alone says nothing of what a node gives back.
bool tells_words(const RuleCase& rule_case) {
  const auto* run = rule_case.plan().padding ? nullptr : rule_case.plan_case.facts_of_run;
  return run != nullptr && has_words(*run);
}

class NodeCheck {
 public:
  NodeCheck(const RuleCase& rule_case, Findings& out)
      : case_(rule_case),
        facts_(*rule_case.facts),
        lineage_(*rule_case.lineage),
        tells_words_(tells_words(rule_case)),
        out_(out),
        seers_(facts_.nodes.size()),
        updates_(facts_.nodes.size(), 0) {}

  void check() {
    see_ends();
    note_flow();
    for (std::uint32_t n = 0; n < facts_.nodes.size(); ++n) {
      const bool is_missing = !seers_[n].empty() && lineage_.is_absent(n) && !has_effect(n);
      if (is_missing && !may_be_gone(n)) report_missing(n);
      if (updates_[n] > 1) report_repeated(n);
    }
  }

 private:
  // --- What is seen -----------------------------------------------------------------------------

  void see_ends() {
    std::size_t place = 0;  // among user outputs; one that the plan lacks is V9's
    for (std::size_t o = 0; o < facts_.outputs.size(); ++o) {
      const bool is_user = facts_.program->outputs[o].kind == spec::OutputKind::kUserOutput;
      if (is_user && place++ >= case_.plan().outputs.size()) continue;
      if (!facts_.outputs[o]) continue;
      see(facts_.outputs[o]->writers(), {Seer::Kind::kOutput, static_cast<std::uint32_t>(o)});
    }
    for (std::size_t i = 0; i < facts_.finals.size(); ++i) {
      const Seer seer{Seer::Kind::kFinal, static_cast<std::uint32_t>(i)};
      if (facts_.finals[i]) see(facts_.finals[i]->writers(), seer);
    }
    for (std::uint32_t n = 0; n < facts_.nodes.size(); ++n) {
      if (has_effect(n)) see({facts_.writer_of(n)}, {Seer::Kind::kHidden, 0});
    }
    while (!left_.empty()) {
      const std::uint32_t node = left_.back();
      left_.pop_back();
      const Seer seer{Seer::Kind::kNode, node};
      const NodeFact& fact = facts_.nodes[node];
      const bool hands_on = lineage_.is_absent(node) && hands_on_alone(fact);
      for (const OperandFact& operand : fact.operands) {
        if (hands_on && !may_be_handed_on(fact, operand.use)) continue;
        if (operand.tensor) see(operand.tensor->writers(), seer);
        see(operand.number, seer);
      }
    }
  }

  // A view, or a conversion: what it gives back is an operand that it may alias. It takes a dtype
  // or sizes of what else it is given (type_as, expand_as).
  [[nodiscard]] static bool hands_on_alone(const NodeFact& fact) {
    const spec::OpRow* row = fact.use.row;
    if (row == nullptr || row->effects.mutates()) return false;
    const auto& returns = row->effects.returns;
    return !row->undeclared_aliases.empty() ||
           (row->effects.is_view &&
            std::ranges::none_of(returns, [](const auto& one) { return one.aliases.empty(); }));
  }

  [[nodiscard]] bool may_be_handed_on(const NodeFact& fact, const OperandUse& use) const {
    const spec::OpRow& row = *fact.use.row;
    const Node& node = facts_.frames[fact.frame].graph->node(fact.node);
    const auto argument = row.schema.find_argument(node.arguments[use.argument].name);
    return !argument || may_alias(row, *argument);
  }

  // That these run is V4.missing-effect's.
  [[nodiscard]] bool has_effect(std::uint32_t node) const {
    const auto& hidden = facts_.nodes[node].use.hidden;
    return std::ranges::any_of(hidden, [](const auto& use) { return use.writes; });
  }

  void see(const Writers& writers, Seer seer) {
    for (const Writer writer : writers) {
      if (facts_.is_input(writer)) continue;
      auto& seers = seers_[facts_.node_of(writer)];
      if (seers.empty()) left_.push_back(facts_.node_of(writer));
      seers.push_back(seer);
    }
  }

  // --- What the plan runs -----------------------------------------------------------------------

  void note_flow() {
    std::map<std::uint32_t, std::vector<const FlowNode*>> steps;
    for (const FlowNode& flow : case_.flow->nodes) {
      if (!flow.graph_node) continue;
      const bool writes = flow.row != nullptr && flow.row->effects.mutates();
      if (flow.match == NodeMatch::kRewritten) {
        const auto& absorbed = lineage_.absorbed_by(*flow.graph_node);
        for (const std::uint32_t node : absorbed) {
          if (writes || !updates(node) || is_seen_inside(node, *flow.graph_node)) {
            replaced_.insert(node);
          }
        }
      }
      if (flow.match != NodeMatch::kSame || !writes || !updates(*flow.graph_node)) continue;
      auto& before = steps[*flow.graph_node];
      const bool is_other_arm = std::ranges::any_of(before, [&](const FlowNode* other) {
        return case_.accesses.are_exclusive(other->step, flow.step);
      });
      if (!is_other_arm) ++updates_[*flow.graph_node];
      before.push_back(&flow);
    }
  }

  // Whether nobody sees the node but the fused one and what that stands for.
  [[nodiscard]] bool is_seen_inside(std::uint32_t node, std::uint32_t fused) {
    const auto& absorbed = lineage_.absorbed_by(fused);
    return std::ranges::all_of(seers_[node], [&](Seer seer) {
      return seer.kind == Seer::Kind::kNode &&
             (seer.index == fused || absorbed.contains(seer.index));
    });
  }

  [[nodiscard]] bool updates(std::uint32_t node) const {
    const auto& operands = facts_.nodes[node].use.operands;
    return std::ranges::any_of(operands, [](const OperandUse& operand) { return operand.writes; });
  }

  // --- What may be gone -------------------------------------------------------------------------

  [[nodiscard]] bool may_be_gone(std::uint32_t node) const {
    if (replaced_.contains(node)) return true;
    const bool writes = updates(node);
    const Node& original = facts_.node(node);
    if (!has_tensors(original) && !writes)
      return true;  // a number is a constant by now, or a check
    if (words_stay(original)) return true;
    return !writes && gives_back(original, *facts_.frames[facts_.nodes[node].frame].graph);
  }

  [[nodiscard]] bool has_tensors(const Node& node) const {
    const spec::OpRow* row = case_.plan_case.ops->find(node.op);
    if (row == nullptr) return true;
    return std::ranges::any_of(row->schema.returns,
                               [](const auto& one) { return one.type.holds_tensors(); });
  }

  // By the run: what the node made, and what it wrote, has the words of one of its operands.
  [[nodiscard]] bool words_stay(const Node& node) const {
    if (!tells_words_) return false;
    std::vector<const ProvenanceRow*> operands;
    while (const auto* row = case_.rows.operand(node.name, operands.size()))
      operands.push_back(row);
    if (operands.empty()) return false;
    const auto is_operand = [&](const ProvenanceRow& made) {
      return std::ranges::any_of(operands, [&](const ProvenanceRow* row) {
        return row->dtype == made.dtype && same_words(*row, made);
      });
    };
    std::size_t results = 0;
    while (const auto* row = case_.rows.result(node.name, results)) {
      if (!row->words.empty() && !is_operand(*row)) return false;
      ++results;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto* row = case_.rows.written(node.name, i);
      if (row != nullptr && !same_words(*row, *operands[i])) return false;
    }
    return results > 0;
  }

  // By the schema: a view, a copy of the same dtype (or between integers), an integer that nothing
  // is added to. A dtype that the program does not state is not held against a view or a clone.
  [[nodiscard]] bool gives_back(const Node& node, const spec::Graph& graph) const {
    const spec::OpRow* row = case_.plan_case.ops->find(node.op);
    if (row == nullptr || node.results.empty() || node.results[0].values.empty()) return false;
    const auto from = dtype_of_operand(node, graph);
    const auto to = dtype_of(graph.value(node.results[0].values[0]));
    const bool is_known = from && to;
    const bool is_integral = is_known && spec::is_integral(*from) && spec::is_integral(*to);
    const std::string base = row->schema.base_name();
    const bool is_other_dtype = is_known && *from != *to && !is_integral;
    // view.dtype converts nothing, and a component of a complex number is a part of its bytes.
    const bool is_component = base == "real" || base == "imag";
    if (is_other_dtype && !base.starts_with("view") && !is_component) return false;
    const bool may_alias =
        !row->undeclared_aliases.empty() ||
        (!row->effects.returns.empty() && !row->effects.returns[0].aliases.empty());
    const bool is_copy = std::ranges::find(kCopies, base) != kCopies.end();
    if (may_alias || (is_copy && (is_known || base != "_to_copy"))) return true;
    return is_integral && adds_nothing(node, base);
  }

  static std::optional<spec::DType> dtype_of(const Value& value) {
    if (value.kind != ValueKind::kTensor || !value.type) return std::nullopt;
    return value.type->dtype;
  }

  static std::optional<spec::DType> dtype_of_operand(const Node& node, const spec::Graph& graph) {
    std::optional<spec::DType> found;
    spec::for_each_operand(node, [&](spec::ValueId id) {
      if (!found) found = dtype_of(graph.value(id));
    });
    return found;
  }

  static bool adds_nothing(const Node& node, const std::string& base) {
    for (const spec::NamedArgument& named : node.arguments) {
      const auto* other = named.name == "other" ? named.argument.as<std::int64_t>() : nullptr;
      if (other == nullptr) continue;
      return base == "mul" ? *other == 1 : (base == "add" || base == "sub") && *other == 0;
    }
    return false;
  }

  // --- Words ------------------------------------------------------------------------------------

  [[nodiscard]] std::string text_of(Seer seer) const {
    switch (seer.kind) {
      case Seer::Kind::kOutput:
        return "output " + std::to_string(seer.index);
      case Seer::Kind::kFinal:
        return "the final value of '" + facts_.program->inputs[seer.index].target + "'";
      case Seer::Kind::kHidden:
        return "hidden state";
      case Seer::Kind::kNode:
        break;
    }
    return facts_.name_of(facts_.writer_of(seer.index));
  }

  void report_missing(std::uint32_t node) {
    add(node, facts_.name_of(facts_.writer_of(node)) + " runs in no step, and " +
                  text_of(seers_[node].front()) + " is to see what it " +
                  (updates(node) ? "writes" : "makes"));
  }

  void report_repeated(std::uint32_t node) {
    add(node, facts_.name_of(facts_.writer_of(node)) + " updates its operand in " +
                  std::to_string(updates_[node]) + " steps");
  }

  void add(std::uint32_t node, std::string message) {
    out_.push_back({.rule = "V4.missing-node",
                    .message = std::move(message),
                    .nodes = {facts_.node(node).name}});
  }

  const RuleCase& case_;
  const GraphFacts& facts_;
  Lineage& lineage_;
  bool tells_words_;
  Findings& out_;
  // By node: all who see it, in the order of their finding.
  std::vector<absl::InlinedVector<Seer, 2>> seers_;
  std::vector<std::uint32_t> left_;
  std::vector<std::size_t> updates_;  // by node: steps that update its operand
  std::set<std::uint32_t> replaced_;  // nodes that a fused op stands for
};

}  // namespace

void check_nodes(const RuleCase& rule_case, Findings& out) {
  if (rule_case.facts != nullptr) NodeCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
