// Edits of the programs of a case that leave it whole: what the reducer's passes are made of.
//
// An edit marks or substitutes, then tidy_case drops what nothing mentions any more and numbers
// values anew. Names stay, so that what refers by name (input sets, cut-after) still does.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "spec/case_file.h"

namespace graphgate::fuzz {

// A graph of a case: the root graph of a program, or one below it, by the places of subgraphs.
struct GraphPlace {
  std::size_t program = 0;
  std::vector<std::uint32_t> path;
  friend bool operator==(const GraphPlace&, const GraphPlace&) = default;
};
struct NodePlace {
  GraphPlace graph;
  std::size_t node = 0;
};

// Root graphs and subgraphs in the order of the text; nodes in the order of running.
[[nodiscard]] std::vector<GraphPlace> graph_places(const spec::CaseFile& the_case);
[[nodiscard]] std::vector<NodePlace> node_places(const spec::CaseFile& the_case);
[[nodiscard]] spec::Graph& graph_at(spec::CaseFile& the_case, const GraphPlace& place);
[[nodiscard]] const spec::Graph& graph_at(const spec::CaseFile& the_case, const GraphPlace& place);

// Calls `change(ValueId&)` for every value that an argument mentions, nested lists included.
template <class Change>
void change_values(spec::Argument& argument, Change&& change) {
  if (auto* id = std::get_if<spec::ValueId>(&argument.value)) change(*id);
  if (auto* list = std::get_if<spec::Argument::List>(&argument.value)) {
    for (spec::Argument& element : *list) change_values(element, change);
  }
}

// The values that nodes of the graph read, and that it returns; not those of its subgraphs.
[[nodiscard]] std::set<spec::ValueId> used_values(const spec::Graph& graph);

// The tensors that a case writes out: state of its programs and entries of its input sets, of one
// program where `program` is not empty.
[[nodiscard]] std::vector<spec::HostTensor*> literals_of(spec::CaseFile& the_case,
                                                         const std::string& program = {});

// By value, what takes its place: as an operand and as an output.
using Substitution = std::map<spec::ValueId, spec::ValueId>;

// Chains (a -> b, b -> c) are followed.
void substitute(spec::Graph& graph, const Substitution& places);

// Drops values that nothing defines and subgraphs that no node is given, unmentioned symbols, state
// and sets without a user, and numbers values by definition.
void tidy_case(spec::CaseFile& the_case);

// Leaves open what node results are, arms included: an edit that changes one type changes others.
void forget_result_types(spec::Graph& graph);

// Drop outputs, by their places in Program::outputs, or inputs, by those in Program::inputs, of a
// program, and whatever refers to them: steps, set entries, expectations. An input must have no
// user.
void drop_outputs(spec::CaseFile& the_case, std::size_t program, const std::vector<bool>& dropped);
void drop_inputs(spec::CaseFile& the_case, std::size_t program, const std::vector<bool>& dropped);

// Drops steps, and then those that make no sense without them: ports of programs that are not
// called before, releases of what is not held. Expectations of calls go with their calls.
void drop_steps(spec::CaseFile& the_case, std::vector<bool> dropped);

// Gives every port its program by name: so steps can go without changing what others mean.
void name_ports(spec::CaseFile& the_case);

}  // namespace graphgate::fuzz
