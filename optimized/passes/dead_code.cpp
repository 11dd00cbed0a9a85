#include <algorithm>

#include "optimized/passes/pass.h"

namespace graphgate::optimized {
namespace {

// Whether a node does anything beside making its results.
bool has_effect(const spec::OpRow* row) {
  if (!row) return true;
  return row->effects.mutates() || !row->undeclared_writes.empty() || !row->orders.empty() ||
         !row->hidden_state_writes.empty() || row->schema.returns.empty();
}

}  // namespace

void eliminate_dead_code(spec::Graph& graph, const spec::OpTable& ops) {
  std::vector<bool> is_read(graph.values.size(), false);
  const auto read = [&](spec::ValueId id) { is_read[id.index] = true; };
  for (const spec::Argument& output : graph.outputs) for_each_value(output, read);
  std::vector<bool> stays(graph.nodes.size(), false);
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const spec::Node& node = graph.nodes[n];
    stays[n] = has_effect(ops.find(node.op));
    for (const spec::NodeResult& result : node.results) {
      stays[n] = stays[n] || std::any_of(result.values.begin(), result.values.end(),
                                         [&](spec::ValueId id) { return is_read[id.index]; });
    }
    if (stays[n]) for_each_operand(node, read);
  }
  std::vector<spec::Node> kept;
  kept.reserve(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (stays[n]) kept.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(kept);
}

}  // namespace graphgate::optimized
