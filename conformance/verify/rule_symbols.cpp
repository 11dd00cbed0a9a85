// V2: the symbols of a partition are those that something inside depends on.
//
// A type depends on a symbol if another value of it, in its range, gives another size, stride or
// offset: so `s0 - s0 + 4` depends on nothing. Symbols that only the call knows are none of these.
#include <algorithm>

#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

using SymbolSet = std::set<std::string>;

class SymbolCheck {
 public:
  SymbolCheck(const RuleCase& rule_case, Findings& out)
      : plan_(rule_case.plan()),
        facts_(*rule_case.facts),
        flow_(*rule_case.flow),
        accesses_(rule_case.accesses),
        lineage_(*rule_case.lineage),
        symbols_(plan_.symbols.begin(), plan_.symbols.end()),
        out_(out) {}

  void check() {
    if (symbols_.empty() && lists_none()) return;
    find_graph_values();
    for (std::uint32_t b = 0; b < plan_.blocks.size(); ++b) {
      for (std::uint32_t p = 0; p < plan_.blocks[b].partitions.size(); ++p) check_partition(b, p);
    }
  }

 private:
  // Whether the plan or the program has such a symbol at all.
  [[nodiscard]] bool exists(const std::string& name) const {
    if (plan_.symbols.contains(name)) return true;
    if (facts_.program->symbols.contains(name)) return true;
    const auto mentions = [&](const spec::SymExpr& expr) {
      const auto names = spec::free_symbols(expr);
      return std::ranges::find(names, name) != names.end();
    };
    return std::ranges::any_of(plan_.values, [&](const auto& value) {
      const auto& type = value.value.type;
      return (value.value.expr && mentions(*value.value.expr)) ||
             (type && std::ranges::any_of(type->sizes, mentions));
    });
  }

  [[nodiscard]] bool lists_none() const {
    return std::ranges::all_of(plan_.blocks, [](const auto& block) {
      return std::ranges::all_of(block.partitions, [](const auto& partition) {
        return partition.signature.symbols.empty();
      });
    });
  }

  // What plan values are in the graph: inputs, and results of steps that are nodes of it.
  void find_graph_values() {
    graph_values_.resize(plan_.values.size());
    const auto& inputs = facts_.program->inputs;
    for (std::size_t i = 0; i < std::min(plan_.inputs.size(), inputs.size()); ++i) {
      if (plan_.inputs[i].constant || inputs[i].constant) continue;
      graph_values_[plan_.inputs[i].value.index] = {0, inputs[i].value};
    }
    for (const FlowNode& node : flow_.nodes) {
      if (!node.graph_node || node.match != NodeMatch::kSame) continue;
      const std::uint32_t frame = facts_.nodes[*node.graph_node].frame;
      const auto& own = node.node->results;
      const auto& others = facts_.node(*node.graph_node).results;
      for (std::size_t r = 0; r < std::min(own.size(), others.size()); ++r) {
        const std::size_t count = std::min(own[r].values.size(), others[r].values.size());
        for (std::size_t v = 0; v < count; ++v) {
          graph_values_[own[r].values[v].index] = {frame, others[r].values[v]};
        }
      }
    }
  }

  void check_partition(std::uint32_t block, std::uint32_t index) {
    const auto& listed = plan_.blocks[block].partitions[index].signature.symbols;
    must_.clear();
    may_.clear();
    knows_all_ = true;
    added_.assign(facts_.frames.size(), {});
    for (const FlowNode& node : flow_.nodes) {
      if (is_inside(node.step, block, index)) add_node(node);
    }
    const SymbolSet names(listed.begin(), listed.end());
    for (const std::string& name : must_) {
      if (!names.contains(name)) {
        report("V2.missing-symbol", block, index,
               "does not list the symbol " + name +
                   ", which sizes, strides or offsets inside depend on");
      }
    }
    for (const std::string& name : names) {
      if (!exists(name) || (knows_all_ && !may_.contains(name))) {
        report("V2.superfluous-symbol", block, index,
               "lists the symbol " + name + ", which nothing inside mentions");
      }
    }
  }

  // In the partition, or in an arm of a conditional that stands in it.
  bool is_inside(std::uint32_t step, std::uint32_t block, std::uint32_t index) const {
    for (std::optional<std::uint32_t> at = step; at; at = accesses_.places[*at].conditional) {
      if (accesses_.places[*at].block == block && accesses_.places[*at].partition == index) {
        return true;
      }
    }
    return false;
  }

  void add_node(const FlowNode& node) {
    if (!node.graph_node) {
      knows_all_ = false;  // the copy of something that the graph does not name here
      return;
    }
    add_values(*node.graph_node, node.match == NodeMatch::kSame);
    // What it reads in place of an operand, as a tensor of which a slice is the whole.
    spec::for_each_operand(*node.node, [&](spec::ValueId id) {
      if (const auto& value = graph_values_[id.index]) add_value(value->frame, value->id, false);
    });
    for (const std::uint32_t absorbed : lineage_.absorbed_by(*node.graph_node)) {
      add_values(absorbed, false);
    }
  }

  void add_values(std::uint32_t graph_node, bool surely) {
    const NodeFact& fact = facts_.nodes[graph_node];
    const spec::Graph& graph = *facts_.frames[fact.frame].graph;
    const spec::Node& node = graph.node(fact.node);
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) add_value(fact.frame, id, surely);
    }
    spec::for_each_operand(node, [&](spec::ValueId id) { add_value(fact.frame, id, surely); });
  }

  void add_value(std::uint32_t frame, spec::ValueId id, bool surely) {
    const spec::Graph& graph = *facts_.frames[frame].graph;
    std::vector<Added>& added = added_[frame];
    added.resize(graph.values.size(), Added::kNot);
    const Added how = surely ? Added::kSurely : Added::kMaybe;
    if (added[id.index] >= how) return;
    added[id.index] = how;
    const spec::Value& value = graph.value(id);
    if (value.expr) add_expr(*value.expr, false);
    if (value.kind != spec::ValueKind::kTensor) {
      knows_all_ = knows_all_ && value.expr.has_value();
      return;
    }
    if (!value.type) {
      knows_all_ = false;
      return;
    }
    for (const spec::SymExpr& size : value.type->sizes) add_expr(size, surely);
    for (const spec::SymExpr& stride : value.type->strides) add_expr(stride, surely);
    add_expr(value.type->storage_offset, surely);
  }

  void add_expr(const spec::SymExpr& expr, bool surely) {
    if (expr.is_constant()) return;
    for (const std::string& name : spec::free_symbols(expr)) {
      may_.insert(name);  // bound or not: no input may tell a symbol that stands in `2*s0` alone
      if (!symbols_.contains(name)) continue;
      if (surely && !must_.contains(name) && hangs_on(expr, name)) must_.insert(name);
    }
  }

  // Whether another value of the symbol, in its range, gives another number.
  bool hangs_on(const spec::SymExpr& expr, const std::string& name) const {
    const auto now = spec::evaluate(expr, symbols_);
    if (!now.ok()) return false;
    const auto info = facts_.program->symbols.find(name);
    spec::SymbolValues other = symbols_;
    for (const std::int64_t more : {1, 2, 7, 64, -1, -2}) {
      std::int64_t& value = other.find(name)->second;
      value = std::max<std::int64_t>(symbols_.find(name)->second, 2) + more;
      if (info != facts_.program->symbols.end() && info->second.max && value > *info->second.max) {
        continue;
      }
      if (value < 2 || (info != facts_.program->symbols.end() && value < info->second.min))
        continue;
      const auto then = spec::evaluate(expr, other);
      if (then.ok() && then.value() != now.value()) return true;
    }
    return false;
  }

  void report(std::string rule, std::uint32_t block, std::uint32_t index,
              const std::string& words) {
    spec::Finding finding{.rule = std::move(rule), .message = "partition " + std::to_string(index)};
    if (block != 0) finding.message += " of block '" + plan_.blocks[block].name + "'";
    finding.message += " " + words;
    const spec::PlanPartition& partition = plan_.blocks[block].partitions[index];
    if (partition.begin_step < partition.end_step) {
      finding.nodes.push_back(plan_.steps[partition.begin_step].node.name);
    }
    out_.push_back(std::move(finding));
  }

  struct GraphValue {
    std::uint32_t frame = 0;
    spec::ValueId id;
  };

  const spec::Plan& plan_;
  const GraphFacts& facts_;
  const PlanFlow& flow_;
  const Accesses& accesses_;
  Lineage& lineage_;
  spec::SymbolValues symbols_;
  Findings& out_;
  std::vector<std::optional<GraphValue>> graph_values_;  // by plan value
  enum class Added : std::uint8_t { kNot, kMaybe, kSurely };
  std::vector<std::vector<Added>> added_;  // by frame and value: of the partition at hand
  SymbolSet must_;                         // of the partition at hand
  SymbolSet may_;                          // a superset
  bool knows_all_ = true;                  // whether all that is inside has types
};

}  // namespace

void check_symbols(const RuleCase& rule_case, Findings& out) {
  if (rule_case.facts != nullptr) SymbolCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
