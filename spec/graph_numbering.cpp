// Renumbering of values in the order of definition; declared in graph_text.h.
#include <limits>

#include "spec/graph_text.h"

namespace graphgate::spec {
namespace {

void renumber_argument(Argument& argument, const std::vector<ValueId>& ids) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) *id = ids.at(id->index);
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) renumber_argument(element, ids);
  }
}

// New ids by old ids, in the order of definition.
std::vector<ValueId> ids_by_definition(const Graph& graph) {
  constexpr std::uint32_t kUndefined = std::numeric_limits<std::uint32_t>::max();
  std::vector<ValueId> ids(graph.values.size(), ValueId{kUndefined});
  std::uint32_t next = 0;
  for (const ValueId id : graph.inputs) ids.at(id.index).index = next++;
  for (const Node& node : graph.nodes) {
    for (const NodeResult& result : node.results) {
      for (const ValueId id : result.values) ids.at(id.index).index = next++;
    }
  }
  GRAPHGATE_CHECK(next == graph.values.size());
  return ids;
}

void apply_ids(Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<Value> values(graph.values.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    values.at(ids[i].index) = std::move(graph.values[i]);
  }
  graph.values = std::move(values);
  for (ValueId& id : graph.inputs) id = ids.at(id.index);
  for (Node& node : graph.nodes) {
    for (NamedArgument& named : node.arguments) renumber_argument(named.argument, ids);
    for (NodeResult& result : node.results) {
      for (ValueId& id : result.values) id = ids.at(id.index);
    }
  }
  for (Argument& output : graph.outputs) renumber_argument(output, ids);
  for (Graph& subgraph : graph.subgraphs) {
    subgraph = number_values_by_definition(std::move(subgraph));
  }
}

}  // namespace

Graph number_values_by_definition(Graph graph) {
  apply_ids(graph, ids_by_definition(graph));
  return graph;
}

Program number_values_by_definition(Program program) {
  const std::vector<ValueId> ids = ids_by_definition(program.graph);
  apply_ids(program.graph, ids);
  for (ProgramInput& input : program.inputs) {
    input.value = input.constant ? ValueId{} : ids.at(input.value.index);
  }
  return program;
}

}  // namespace graphgate::spec
