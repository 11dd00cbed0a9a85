// Conditionals lose an arm, a result or an operand; loops become one iteration, or none;
// functionalized ops become the op itself.
#include <algorithm>
#include <set>

#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/reduction_pass.h"
#include "spec/loops.h"

namespace graphgate::fuzz {
namespace {

using spec::Argument;
using spec::CaseFile;
using spec::Graph;
using spec::Node;
using spec::SubgraphId;
using spec::ValueId;

constexpr std::string_view kCond = "higher_order.cond";
constexpr std::string_view kAutoFunctionalized = "higher_order.auto_functionalized_v2";

std::vector<NodePlace> nodes_of_op(const CaseFile& the_case, std::string_view op) {
  std::vector<NodePlace> out;
  for (NodePlace& place : node_places(the_case)) {
    if (graph_at(the_case, place.graph).nodes[place.node].op == op) out.push_back(place);
  }
  return out;
}

// The arms of a conditional, and the list of what they are given (null: nothing).
struct Conditional {
  std::vector<SubgraphId> arms;
  Argument::List* operands = nullptr;
};

Conditional conditional_of(Node& node) {
  Conditional out;
  for (spec::NamedArgument& named : node.arguments) {
    if (const auto* id = named.argument.as<SubgraphId>()) out.arms.push_back(*id);
    if (auto* list = std::get_if<Argument::List>(&named.argument.value)) out.operands = list;
  }
  return out;
}

// ---- one arm in the place of the conditional

class Inliner {
 public:
  Inliner(Graph& graph, std::size_t node, const Graph& arm)
      : graph_(graph), node_(node), arm_(arm) {
    for (const spec::Value& value : graph.values) value_names_.insert(value.name);
    for (const Node& one : graph.nodes) node_names_.insert(one.name);
    for (const Graph& subgraph : graph.subgraphs) graph_names_.insert(subgraph.name);
  }

  bool run(const Argument::List& operands) {
    if (operands.size() != arm_.inputs.size()) return false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto* id = operands[i].as<ValueId>();
      if (!id) return false;
      places_[arm_.inputs[i]] = *id;
    }
    std::vector<Node> nodes;
    nodes.reserve(arm_.nodes.size());
    for (const Node& node : arm_.nodes) nodes.push_back(moved(node));
    Substitution results;
    if (!take_results(results)) return false;
    const auto at = graph_.nodes.begin() + static_cast<std::ptrdiff_t>(node_);
    graph_.nodes.insert(graph_.nodes.erase(at), nodes.begin(), nodes.end());
    substitute(graph_, results);
    return true;
  }

 private:
  static std::string fresh(std::string name, std::set<std::string>& taken) {
    while (!taken.insert(name).second) name += '_';
    return name;
  }

  void move(ValueId& id) {
    const auto known = places_.find(id);
    if (known != places_.end()) {
      id = known->second;
      return;
    }
    const ValueId place{static_cast<std::uint32_t>(graph_.values.size())};
    graph_.values.push_back(arm_.value(id));
    graph_.values.back().name = fresh(arm_.value(id).name, value_names_);
    places_[id] = place;
    id = place;
  }

  // Graphs that the arm holds move with it.
  void move_subgraphs(Argument& argument) {
    if (auto* id = std::get_if<SubgraphId>(&argument.value)) {
      Graph inner = arm_.subgraphs[id->index];
      inner.name = fresh(inner.name, graph_names_);
      id->index = static_cast<std::uint32_t>(graph_.subgraphs.size());
      graph_.subgraphs.push_back(std::move(inner));
    }
    if (auto* list = std::get_if<Argument::List>(&argument.value)) {
      for (Argument& element : *list) move_subgraphs(element);
    }
  }

  Node moved(Node node) {
    node.name = fresh(node.name, node_names_);
    for (spec::NamedArgument& named : node.arguments) {
      change_values(named.argument, [&](ValueId& id) { move(id); });
      move_subgraphs(named.argument);
    }
    for (spec::NodeResult& result : node.results) {
      for (ValueId& id : result.values) move(id);
    }
    return node;
  }

  bool take_results(Substitution& results) {
    std::vector<ValueId> made;
    for (const spec::NodeResult& result : graph_.nodes[node_].results) {
      made.insert(made.end(), result.values.begin(), result.values.end());
    }
    if (made.size() != arm_.outputs.size()) return false;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto* id = arm_.outputs[i].as<ValueId>();
      if (!id) return false;
      ValueId place = *id;
      move(place);
      results.emplace(made[i], place);
    }
    return true;
  }

  Graph& graph_;
  std::size_t node_;
  const Graph arm_;
  std::set<std::string> value_names_;
  std::set<std::string> node_names_;
  std::set<std::string> graph_names_;
  std::map<ValueId, ValueId> places_;  // of the arm's values in the graph
};

Candidate inline_arm(const CaseFile& the_case, std::size_t index) {
  const NodePlace place = nodes_of_op(the_case, kCond)[index / 2];
  CaseFile out = the_case;
  Graph& graph = graph_at(out, place.graph);
  const Conditional parts = conditional_of(graph.nodes[place.node]);
  if (parts.arms.size() != 2) return std::nullopt;
  const Argument::List operands = parts.operands ? *parts.operands : Argument::List{};
  Inliner inliner(graph, place.node, graph.subgraphs[parts.arms[index % 2].index]);
  if (!inliner.run(operands)) return std::nullopt;
  tidy_case(out);
  return out;
}

// ---- one iteration in the place of a loop, or none

// while_loop(condition, body, carried, additional): the body once (even `index`), or what is
// carried as it is.
Candidate unroll(const CaseFile& the_case, std::size_t index) {
  const NodePlace place = nodes_of_op(the_case, spec::kWhileLoop)[index / 2];
  CaseFile out = the_case;
  Graph& graph = graph_at(out, place.graph);
  Node& node = graph.nodes[place.node];
  if (node.arguments.size() != 4) return std::nullopt;
  const auto* body = node.arguments[1].argument.as<SubgraphId>();
  const auto* carried = node.arguments[2].argument.as<Argument::List>();
  const auto* additional = node.arguments[3].argument.as<Argument::List>();
  if (!body || !carried || !additional) return std::nullopt;
  if (index % 2 == 0) {
    Argument::List operands = *carried;
    operands.insert(operands.end(), additional->begin(), additional->end());
    Inliner inliner(graph, place.node, graph.subgraphs[body->index]);
    if (!inliner.run(operands)) return std::nullopt;
  } else {
    Substitution results;
    std::size_t next = 0;
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        const auto* given = next < carried->size() ? (*carried)[next++].as<ValueId>() : nullptr;
        if (!given) return std::nullopt;
        results.emplace(id, *given);
      }
    }
    graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(place.node));
    substitute(graph, results);
  }
  tidy_case(out);
  return out;
}

// ---- a result that nobody uses, an operand that no arm uses

bool is_used(const Graph& graph, ValueId id) { return used_values(graph).contains(id); }

template <class T>
void erase_at(std::vector<T>& list, std::size_t index) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

// Unused results go, and unused operands: all at once, since each needs no check of its own.
bool narrow(Graph& graph, std::size_t index) {
  Node& node = graph.nodes[index];
  const Conditional parts = conditional_of(node);
  // A graph that two nodes hold keeps its ports.
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (n == index) continue;
    for (const SubgraphId id : conditional_of(graph.nodes[n]).arms) {
      for (const SubgraphId arm : parts.arms) {
        if (id == arm) return false;
      }
    }
  }
  std::set<std::uint32_t> arms;
  for (const SubgraphId arm : parts.arms) arms.insert(arm.index);
  bool any = false;
  for (std::size_t r = node.results.size(); r-- > 0;) {
    if (node.results[r].is_list || is_used(graph, node.results[r].values.front())) continue;
    if (node.results.size() == 1) break;
    erase_at(node.results, r);
    for (const std::uint32_t arm : arms) erase_at(graph.subgraphs[arm].outputs, r);
    any = true;
  }
  for (std::size_t o = parts.operands ? parts.operands->size() : 0; o-- > 0;) {
    const bool used = std::any_of(arms.begin(), arms.end(), [&](std::uint32_t arm) {
      return is_used(graph.subgraphs[arm], graph.subgraphs[arm].inputs[o]);
    });
    if (used) continue;
    erase_at(*parts.operands, o);
    for (const std::uint32_t arm : arms) erase_at(graph.subgraphs[arm].inputs, o);
    any = true;
  }
  return any;
}

Candidate narrow_conditional(const CaseFile& the_case, std::size_t index) {
  const NodePlace place = nodes_of_op(the_case, kCond)[index];
  CaseFile out = the_case;
  if (!narrow(graph_at(out, place.graph), place.node)) return std::nullopt;
  tidy_case(out);
  return out;
}

// ---- functionalized ops

const Argument* find_argument(const Node& node, const std::string& name) {
  for (const spec::NamedArgument& named : node.arguments) {
    if (named.name == name) return &named.argument;
  }
  return nullptr;
}

// auto_functionalized_v2(op, x=%x, _out_base_index=0, _all_bases=[%b]) -> op(x=%x, out=%b); who
// used the new version of a base uses the base. Bases of which a view is written stay as they are.
std::optional<Node> plain_call(const Node& node, Substitution& results) {
  constexpr std::string_view kIndex = "_base_index";
  const auto* bases_argument = find_argument(node, "_all_bases");
  const auto* bases = bases_argument ? bases_argument->as<Argument::List>() : nullptr;
  const auto* op = node.arguments.empty() ? nullptr : node.arguments[0].argument.as<spec::OpName>();
  if (!bases || !op || node.results.size() < bases->size()) return std::nullopt;
  Node out{node.name, op->name, {}, {}};
  for (const spec::NamedArgument& named : node.arguments) {
    if (named.argument.as<spec::OpName>() || named.name == "_all_bases") continue;
    if (!named.name.starts_with('_')) {
      out.arguments.push_back(named);
      continue;
    }
    const auto* index = named.argument.as<std::int64_t>();
    if (!named.name.ends_with(kIndex) || !index) return std::nullopt;
    const std::string name = named.name.substr(1, named.name.size() - 1 - kIndex.size());
    out.arguments.push_back({name, bases->at(static_cast<std::size_t>(*index))});
  }
  const std::size_t returns = node.results.size() - bases->size();
  for (std::size_t r = 0; r < returns; ++r) out.results.push_back(node.results[r]);
  for (std::size_t b = 0; b < bases->size(); ++b) {
    const auto* base = (*bases)[b].as<ValueId>();
    if (!base || node.results[returns + b].is_list) return std::nullopt;
    results.emplace(node.results[returns + b].values.front(), *base);
  }
  return out;
}

Candidate call_plainly(const CaseFile& the_case, std::size_t index) {
  const NodePlace place = nodes_of_op(the_case, kAutoFunctionalized)[index];
  CaseFile out = the_case;
  Graph& graph = graph_at(out, place.graph);
  Substitution results;
  auto plain = plain_call(graph.nodes[place.node], results);
  if (!plain) return std::nullopt;
  // An op that returns nothing has no result.
  std::erase_if(plain->results, [&](const spec::NodeResult& result) {
    return !result.is_list && graph.value(result.values.front()).kind == spec::ValueKind::kNone;
  });
  graph.nodes[place.node] = std::move(*plain);
  substitute(graph, results);
  tidy_case(out);
  return out;
}

ReductionPass pass_over(std::string name, std::string_view op, std::size_t each,
                        Candidate (*change)(const CaseFile&, std::size_t)) {
  return single_pass(
      std::move(name),
      [op, each](const CaseFile& the_case) { return nodes_of_op(the_case, op).size() * each; },
      change);
}

}  // namespace

std::vector<ReductionPass> subgraph_passes() {
  return {pass_over("conditionals for an arm", kCond, 2, inline_arm),
          pass_over("ports of conditionals", kCond, 1, narrow_conditional),
          pass_over("loops for an iteration", spec::kWhileLoop, 2, unroll),
          pass_over("functionalized ops for themselves", kAutoFunctionalized, 1, call_plainly)};
}

}  // namespace graphgate::fuzz
