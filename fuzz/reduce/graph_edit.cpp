#include "fuzz/reduce/graph_edit.h"

#include <algorithm>
#include <set>

#include "spec/graph_text.h"

namespace graphgate::fuzz {
namespace {

using spec::Argument;
using spec::Graph;
using spec::Node;
using spec::Program;
using spec::ValueId;

void add_places(const Graph& graph, const GraphPlace& place, std::vector<GraphPlace>& out) {
  out.push_back(place);
  for (std::uint32_t s = 0; s < graph.subgraphs.size(); ++s) {
    GraphPlace inner = place;
    inner.path.push_back(s);
    add_places(graph.subgraphs[s], inner, out);
  }
}

template <class Change>
void change_subgraphs(Argument& argument, Change&& change) {
  if (auto* id = std::get_if<spec::SubgraphId>(&argument.value)) change(*id);
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) change_subgraphs(element, change);
  }
}

void drop_unused_subgraphs(Graph& graph) {
  std::vector<bool> used(graph.subgraphs.size(), false);
  for (Node& node : graph.nodes) {
    for (spec::NamedArgument& named : node.arguments) {
      change_subgraphs(named.argument, [&](spec::SubgraphId& id) { used[id.index] = true; });
    }
  }
  std::vector<std::uint32_t> place(graph.subgraphs.size(), 0);
  std::vector<Graph> kept;
  for (std::size_t s = 0; s < used.size(); ++s) {
    place[s] = static_cast<std::uint32_t>(kept.size());
    if (used[s]) kept.push_back(std::move(graph.subgraphs[s]));
  }
  graph.subgraphs = std::move(kept);
  for (Node& node : graph.nodes) {
    for (spec::NamedArgument& named : node.arguments) {
      change_subgraphs(named.argument, [&](spec::SubgraphId& id) { id.index = place[id.index]; });
    }
  }
}

// Returns the new places of values; those of dropped ones mean nothing.
std::vector<std::uint32_t> drop_undefined_values(Graph& graph) {
  std::vector<bool> defined(graph.values.size(), false);
  for (const ValueId id : graph.inputs) defined[id.index] = true;
  for (const Node& node : graph.nodes) {
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) defined[id.index] = true;
    }
  }
  std::vector<std::uint32_t> place(graph.values.size(), 0);
  std::vector<spec::Value> kept;
  for (std::size_t v = 0; v < defined.size(); ++v) {
    place[v] = static_cast<std::uint32_t>(kept.size());
    if (defined[v]) kept.push_back(std::move(graph.values[v]));
  }
  graph.values = std::move(kept);
  const auto move = [&](ValueId& id) { id.index = place[id.index]; };
  for (ValueId& id : graph.inputs) move(id);
  for (Node& node : graph.nodes) {
    for (spec::NamedArgument& named : node.arguments) change_values(named.argument, move);
    for (spec::NodeResult& result : node.results) {
      for (ValueId& id : result.values) move(id);
    }
  }
  for (Argument& output : graph.outputs) change_values(output, move);
  return place;
}

void tidy_graph(Graph& graph) {
  drop_unused_subgraphs(graph);
  for (Graph& subgraph : graph.subgraphs) {
    tidy_graph(subgraph);
    (void)drop_undefined_values(subgraph);
  }
}

void add_symbols(const spec::SymExpr& expr, std::set<std::string>& out) {
  if (expr.is_constant()) return;
  for (std::string& name : spec::free_symbols(expr)) out.insert(std::move(name));
}

void add_symbols(const Graph& graph, std::set<std::string>& out) {
  for (const spec::Value& value : graph.values) {
    if (value.expr) add_symbols(*value.expr, out);
    if (!value.type) continue;
    for (const spec::SymExpr& size : value.type->sizes) add_symbols(size, out);
    for (const spec::SymExpr& stride : value.type->strides) add_symbols(stride, out);
    add_symbols(value.type->storage_offset, out);
  }
  for (const Graph& subgraph : graph.subgraphs) add_symbols(subgraph, out);
}

void drop_symbols(spec::CaseFile& the_case, Program& program) {
  std::set<std::string> mentioned;
  add_symbols(program.graph, mentioned);
  std::erase_if(program.symbols, [&](const auto& row) { return !mentioned.contains(row.first); });
  for (spec::Step& step : the_case.scenario.steps) {
    auto* call = std::get_if<spec::CallStep>(&step);
    if (!call || call->program != program.name) continue;
    std::erase_if(call->sizes, [&](const auto& size) {
      const bool is_leading = size.first == "size" && !program.symbols.empty();
      return !is_leading && !program.symbols.contains(size.first);
    });
  }
}

void tidy_program(Program& program) {
  tidy_graph(program.graph);
  const std::vector<std::uint32_t> place = drop_undefined_values(program.graph);
  for (spec::ProgramInput& input : program.inputs) {
    if (!input.constant) input.value.index = place[input.value.index];
  }
  std::erase_if(program.tensors, [&](const auto& row) {
    return std::none_of(
        program.inputs.begin(), program.inputs.end(), [&](const spec::ProgramInput& input) {
          return input.kind != spec::InputKind::kUserInput && input.target == row.first;
        });
  });
  program = spec::number_values_by_definition(std::move(program));
}

void drop_unused_sets(spec::CaseFile& the_case) {
  std::set<std::string> used;
  for (const spec::Step& step : the_case.scenario.steps) {
    const auto* call = std::get_if<spec::CallStep>(&step);
    if (call && call->inputs) used.insert(*call->inputs);
  }
  std::erase_if(the_case.inputs,
                [&](const spec::InputSet& set) { return !used.contains(set.name); });
}

void drop_unused_weights(spec::CaseFile& the_case) {
  std::erase_if(the_case.weights, [&](const spec::CaseWeights& weights) {
    const Program* program = the_case.find_program(weights.program);
    return !program || std::all_of(program->inputs.begin(), program->inputs.end(),
                                   [](const spec::ProgramInput& input) {
                                     return input.kind == spec::InputKind::kUserInput;
                                   });
  });
}

// Caches of sleeps that no program has any more.
void drop_unknown_caches(spec::CaseFile& the_case) {
  for (spec::Step& step : the_case.scenario.steps) {
    auto* sleep = std::get_if<spec::SleepStep>(&step);
    if (!sleep) continue;
    std::erase_if(sleep->asked.caches, [&](const std::string& cache) {
      return std::none_of(
          the_case.programs.begin(), the_case.programs.end(), [&](const Program& program) {
            return std::any_of(
                program.inputs.begin(), program.inputs.end(), [&](const spec::ProgramInput& input) {
                  return input.kind == spec::InputKind::kBuffer && input.target == cache;
                });
          });
    });
  }
}

}  // namespace

std::vector<GraphPlace> graph_places(const spec::CaseFile& the_case) {
  std::vector<GraphPlace> out;
  for (std::size_t p = 0; p < the_case.programs.size(); ++p) {
    add_places(the_case.programs[p].graph, {p, {}}, out);
  }
  return out;
}

std::vector<NodePlace> node_places(const spec::CaseFile& the_case) {
  std::vector<NodePlace> out;
  for (const GraphPlace& place : graph_places(the_case)) {
    const std::size_t count = graph_at(the_case, place).nodes.size();
    for (std::size_t n = 0; n < count; ++n) out.push_back({place, n});
  }
  return out;
}

const Graph& graph_at(const spec::CaseFile& the_case, const GraphPlace& place) {
  const Graph* graph = &the_case.programs.at(place.program).graph;
  for (const std::uint32_t s : place.path) graph = &graph->subgraphs.at(s);
  return *graph;
}

Graph& graph_at(spec::CaseFile& the_case, const GraphPlace& place) {
  Graph* graph = &the_case.programs.at(place.program).graph;
  for (const std::uint32_t s : place.path) graph = &graph->subgraphs.at(s);
  return *graph;
}

std::set<spec::ValueId> used_values(const spec::Graph& graph) {
  std::set<spec::ValueId> used;
  const auto add = [&](spec::ValueId id) { used.insert(id); };
  for (const spec::Node& node : graph.nodes) spec::for_each_operand(node, add);
  for (const spec::Argument& output : graph.outputs) spec::for_each_value(output, add);
  return used;
}

std::vector<spec::HostTensor*> literals_of(spec::CaseFile& the_case, const std::string& program) {
  std::vector<spec::HostTensor*> out;
  const auto is_meant = [&](const std::string& name) { return program.empty() || name == program; };
  for (spec::Program& one : the_case.programs) {
    if (!is_meant(one.name)) continue;
    for (auto& [target, tensor] : one.tensors) out.push_back(&tensor);
  }
  for (spec::InputSet& set : the_case.inputs) {
    if (!is_meant(set.program)) continue;
    for (spec::CaseInput& input : set.inputs) {
      if (auto* tensor = std::get_if<spec::HostTensor>(&input.data)) out.push_back(tensor);
    }
  }
  return out;
}

void substitute(Graph& graph, const Substitution& places) {
  const auto replace = [&](ValueId& id) {
    for (auto found = places.find(id); found != places.end(); found = places.find(id)) {
      id = found->second;
    }
  };
  for (Node& node : graph.nodes) {
    for (spec::NamedArgument& named : node.arguments) change_values(named.argument, replace);
  }
  for (Argument& output : graph.outputs) change_values(output, replace);
}

void tidy_case(spec::CaseFile& the_case) {
  for (Program& program : the_case.programs) {
    tidy_program(program);
    drop_symbols(the_case, program);
  }
  drop_unused_sets(the_case);
  drop_unused_weights(the_case);
  drop_unknown_caches(the_case);
}

void forget_result_types(Graph& graph) {
  for (const Node& node : graph.nodes) {
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) graph.values[id.index].type.reset();
    }
  }
  for (Graph& subgraph : graph.subgraphs) forget_result_types(subgraph);
}

}  // namespace graphgate::fuzz
