#include "conformance/judges/idle_nodes.h"

#include <algorithm>

#include "conformance/judges/node_effects.h"
#include "conformance/judges/storage_groups.h"

namespace graphgate::conformance {
namespace {

using spec::Graph;
using spec::Node;
using spec::OpRow;
using spec::ValueId;

// What a node does beside making its results.
struct Effect {
  bool is_open = false;          // who sees none of its operands can tell that it ran
  std::vector<ValueId> written;  // operands that it may write
};

Effect effect_of(const Graph& graph, const Node& node, const spec::OpTable& ops);

// Where an arm writes anything, all that arms are given counts as written.
Effect effect_of_arms(const Graph& graph, const Node& node, const spec::OpTable& ops) {
  Effect out;
  bool writes = false;
  for (const spec::NamedArgument& named : node.arguments) {
    const auto* arm = named.argument.as<spec::SubgraphId>();
    if (arm == nullptr) continue;
    const Graph& inner = graph.subgraphs[arm->index];
    for (const Node& other : inner.nodes) {
      const Effect effect = effect_of(inner, other, ops);
      out.is_open |= effect.is_open;
      writes |= !effect.written.empty();
    }
  }
  if (!writes) return out;
  // The first argument is the predicate.
  for (std::size_t i = 1; i < node.arguments.size(); ++i) {
    spec::for_each_value(node.arguments[i].argument,
                         [&](ValueId id) { out.written.push_back(id); });
  }
  return out;
}

Effect effect_of(const Graph& graph, const Node& node, const spec::OpTable& ops) {
  if (is_conditional(node)) return effect_of_arms(graph, node, ops);
  const OpRow* const row = ops.find(node.op);
  Effect out;
  out.is_open = row == nullptr || !row->hidden_state_writes.empty() || !row->orders.empty();
  if (row) for_each_written(node, *row, [&](ValueId id) { out.written.push_back(id); });
  return out;
}

class Sweep {
 public:
  Sweep(Graph& graph, const spec::OpTable& ops) : graph_(graph), ops_(ops), groups_(graph, ops) {
    for (const Node& node : graph.nodes) groups_.join(node);
    is_wanted_.resize(graph.values.size(), false);
    is_watched_.resize(graph.values.size(), false);
  }

  void want(ValueId id) {
    is_wanted_[id.index] = true;
    is_watched_[groups_.group_of(id)] = true;
  }

  void run() {
    for (std::size_t n = graph_.nodes.size(); n-- > 0;) {
      const Node& node = graph_.nodes[n];
      if (is_needed(node)) {
        spec::for_each_operand(node, [&](ValueId id) { want(id); });
      } else {
        graph_.nodes.erase(graph_.nodes.begin() + static_cast<std::ptrdiff_t>(n));
      }
    }
  }

 private:
  bool is_needed(const Node& node) {
    const Effect effect = effect_of(graph_, node, ops_);
    bool needed = effect.is_open;
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) needed |= is_wanted_[id.index];
    }
    for (const ValueId id : effect.written) needed |= is_watched_[groups_.group_of(id)];
    return needed;
  }

  Graph& graph_;
  const spec::OpTable& ops_;
  StorageGroups groups_;
  std::vector<bool> is_wanted_;   // by value: who makes it stays
  std::vector<bool> is_watched_;  // by the value that stands for a group: who writes into it stays
};

}  // namespace

void drop_idle_nodes(Graph& graph, const std::vector<ValueId>& wanted, const spec::OpTable& ops) {
  Sweep sweep(graph, ops);
  for (const ValueId id : wanted) sweep.want(id);
  sweep.run();
}

}  // namespace graphgate::conformance
