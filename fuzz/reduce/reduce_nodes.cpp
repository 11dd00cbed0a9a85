// Nodes go, in four ways. What used their results takes something else, or goes with them.
//
//   extract    what is left is cut out of the program: values from outside become inputs, values
//              that only the outside used become outputs
//   cascade    users go, too, and outputs that nothing makes any more
//   bypass     users take an operand of the node that has the same type
//   replace    users take an input of the graph that has the same type
#include <algorithm>
#include <set>

#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/reduction_pass.h"

namespace graphgate::fuzz {
namespace {

using spec::Argument;
using spec::CaseFile;
using spec::Graph;
using spec::Node;
using spec::Program;
using spec::ValueId;
using spec::ValueKind;

// Nodes of one graph that are to go.
struct Removal {
  GraphPlace graph;
  std::vector<bool> nodes;
};

std::vector<Removal> removals(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  const std::vector<NodePlace> places = node_places(the_case);
  std::vector<Removal> out;
  for (std::size_t i = begin; i < end; ++i) {
    if (out.empty() || !(out.back().graph == places[i].graph)) {
      const std::size_t count = graph_at(the_case, places[i].graph).nodes.size();
      out.push_back({places[i].graph, std::vector<bool>(count, false)});
    }
    out.back().nodes[places[i].node] = true;
  }
  return out;
}

void erase_nodes(Graph& graph, const std::vector<bool>& dropped) {
  std::vector<Node> kept;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!dropped[n]) kept.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(kept);
}

template <class Visit>
void for_each_result(const Node& node, Visit&& visit) {
  for (const spec::NodeResult& result : node.results) {
    for (const ValueId id : result.values) visit(id);
  }
}

bool mentions(const Argument& argument, const std::set<ValueId>& values) {
  bool found = false;
  for_each_value(argument, [&](ValueId id) { found |= values.contains(id); });
  return found;
}

// Drops the outputs of a root graph that mention these values. False where an arm would lose one.
bool drop_outputs_of(CaseFile& the_case, const GraphPlace& place, const std::set<ValueId>& values) {
  const Graph& graph = graph_at(the_case, place);
  std::vector<bool> dropped;
  dropped.reserve(graph.outputs.size());
  for (const Argument& output : graph.outputs) dropped.push_back(mentions(output, values));
  if (std::find(dropped.begin(), dropped.end(), true) == dropped.end()) return true;
  if (!place.path.empty()) return false;
  drop_outputs(the_case, place.program, dropped);
  return true;
}

// ---- extract

void add_user_input(Program& program, ValueId id) {
  spec::ProgramInput input;
  input.value = id;
  input.target = program.graph.value(id).name;
  const auto is_taken = [&] {
    return program.find_input(spec::InputKind::kUserInput, input.target).has_value();
  };
  while (is_taken()) input.target += '_';
  program.inputs.push_back(std::move(input));
  program.graph.inputs.push_back(id);
}

class Extraction {
 public:
  Extraction(CaseFile& the_case, Removal removal)
      : case_(the_case), place_(std::move(removal.graph)), dropped_(std::move(removal.nodes)) {}

  bool run() {
    const Graph graph = graph_at(case_, place_);
    if (!place_.path.empty()) return false;
    keep_what_cannot_be_input(graph);
    std::set<ValueId> gone;
    std::set<ValueId> used_outside;
    std::set<ValueId> used_inside;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      if (dropped_[n]) for_each_result(graph.nodes[n], [&](ValueId id) { gone.insert(id); });
      for_each_operand(graph.nodes[n],
                       [&](ValueId id) { (dropped_[n] ? used_outside : used_inside).insert(id); });
    }
    if (!drop_outputs_of(case_, place_, gone)) return false;
    Program& program = case_.programs[place_.program];
    erase_nodes(program.graph, dropped_);
    for (const ValueId id : gone) {
      if (used_inside.contains(id)) add_user_input(program, id);
    }
    for (const Node& node : program.graph.nodes) {
      for_each_result(node, [&](ValueId id) {
        const bool lost_users = used_outside.contains(id) && !used_inside.contains(id);
        if (lost_users) add_output(program, id);
      });
    }
    return true;
  }

 private:
  // From the last node to the first: what is kept needs its operands.
  void keep_what_cannot_be_input(const Graph& graph) {
    std::set<ValueId> needed;
    for (std::size_t n = graph.nodes.size(); n-- > 0;) {
      for_each_result(graph.nodes[n], [&](ValueId id) {
        const spec::Value& value = graph.value(id);
        const bool can_be_input = value.kind == ValueKind::kTensor && value.type;
        if (needed.contains(id) && !can_be_input) dropped_[n] = false;
      });
      if (dropped_[n]) continue;
      for_each_operand(graph.nodes[n], [&](ValueId id) { needed.insert(id); });
    }
  }

  static void add_output(Program& program, ValueId id) {
    if (program.graph.value(id).kind != ValueKind::kTensor) return;
    const auto& outputs = program.graph.outputs;
    const bool is_output = std::any_of(outputs.begin(), outputs.end(),
                                       [&](const Argument& one) { return mentions(one, {id}); });
    if (is_output) return;
    program.outputs.push_back({spec::OutputKind::kUserOutput, ""});
    program.graph.outputs.push_back({id});
  }

  CaseFile& case_;
  GraphPlace place_;
  std::vector<bool> dropped_;
};

Candidate extract(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  CaseFile out = the_case;
  for (Removal& removal : removals(the_case, begin, end)) {
    if (!Extraction(out, std::move(removal)).run()) return std::nullopt;
  }
  tidy_case(out);
  return out;
}

// ---- cascade

bool cascade(CaseFile& the_case, Removal removal) {
  Graph& graph = graph_at(the_case, removal.graph);
  std::set<ValueId> gone;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for_each_operand(graph.nodes[n], [&](ValueId id) {
      if (gone.contains(id)) removal.nodes[n] = true;
    });
    if (removal.nodes[n]) for_each_result(graph.nodes[n], [&](ValueId id) { gone.insert(id); });
  }
  erase_nodes(graph, removal.nodes);
  return drop_outputs_of(the_case, removal.graph, gone);
}

Candidate drop_with_users(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  CaseFile out = the_case;
  for (Removal& removal : removals(the_case, begin, end)) {
    if (!cascade(out, std::move(removal))) return std::nullopt;
  }
  tidy_case(out);
  return out;
}

// ---- bypass and replace

// Whether one can stand where the other does, as far as it is stated.
bool may_replace(const spec::Value& value, const spec::Value& other) {
  if (value.kind != other.kind) return false;
  if (!value.type || !other.type) return value.kind != ValueKind::kTensor || !value.type;
  return value.type->dtype == other.type->dtype && value.type->sizes == other.type->sizes &&
         value.type->device == other.type->device;
}

enum class Instead { kFirstOperand, kLastOperand, kInput };

std::vector<ValueId> choices(const Graph& graph, const Node& node, Instead instead) {
  std::vector<ValueId> out;
  if (instead == Instead::kInput) {
    out = graph.inputs;
  } else {
    for_each_operand(node, [&](ValueId id) { out.push_back(id); });
    if (instead == Instead::kLastOperand) std::reverse(out.begin(), out.end());
  }
  return out;
}

// What takes the places of the node's results; nothing where a used one has no stand-in.
std::optional<Substitution> stand_ins(const Graph& graph, const Node& node,
                                      const std::set<ValueId>& used, Instead instead) {
  Substitution out;
  bool is_complete = true;
  for_each_result(node, [&](ValueId id) {
    if (!used.contains(id)) return;
    const std::vector<ValueId> from = choices(graph, node, instead);
    const auto found = std::find_if(from.begin(), from.end(), [&](ValueId one) {
      return may_replace(graph.value(id), graph.value(one));
    });
    if (found == from.end()) {
      is_complete = false;
    } else {
      out.emplace(id, *found);
    }
  });
  if (!is_complete) return std::nullopt;
  return out;
}

bool stand_in(CaseFile& the_case, const Removal& removal, Instead instead) {
  Graph& graph = graph_at(the_case, removal.graph);
  const std::set<ValueId> used = used_values(graph);
  std::vector<bool> dropped(graph.nodes.size(), false);
  Substitution places;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!removal.nodes[n]) continue;
    const auto found = stand_ins(graph, graph.nodes[n], used, instead);
    if (!found) continue;
    dropped[n] = true;
    places.insert(found->begin(), found->end());
  }
  if (std::find(dropped.begin(), dropped.end(), true) == dropped.end()) return false;
  erase_nodes(graph, dropped);
  substitute(graph, places);
  return true;
}

Candidate replace_with(const CaseFile& the_case, std::size_t begin, std::size_t end,
                       Instead instead) {
  CaseFile out = the_case;
  bool any = false;
  for (const Removal& removal : removals(the_case, begin, end)) {
    any |= stand_in(out, removal, instead);
  }
  if (!any) return std::nullopt;
  tidy_case(out);
  return out;
}

ReductionPass replace_pass(const char* name, Instead instead) {
  return {name, count_of<node_places>,
          [instead](const CaseFile& the_case, std::size_t begin, std::size_t end) {
            return replace_with(the_case, begin, end, instead);
          }};
}

}  // namespace

std::vector<ReductionPass> node_passes() {
  return {{"nodes around a cut-out", count_of<node_places>, extract},
          {"nodes with their users", count_of<node_places>, drop_with_users},
          replace_pass("nodes for their first operands", Instead::kFirstOperand),
          replace_pass("nodes for their last operands", Instead::kLastOperand),
          replace_pass("nodes for inputs", Instead::kInput)};
}

}  // namespace graphgate::fuzz
