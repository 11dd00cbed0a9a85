// Arguments that have a default, and elements of lists.
#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/reduction_pass.h"
#include "spec/case_ops.h"

namespace graphgate::fuzz {
namespace {

using spec::Argument;
using spec::CaseFile;

struct ArgumentPlace {
  NodePlace node;
  std::size_t argument = 0;
  std::size_t element = 0;  // of a list
};

// Arguments whose schema has a default.
std::vector<ArgumentPlace> optional_arguments(const CaseFile& the_case) {
  std::vector<ArgumentPlace> out;
  const auto ops = spec::shared_case_ops(the_case);
  if (!ops.ok()) return out;
  for (NodePlace& place : node_places(the_case)) {
    const spec::Node& node = graph_at(the_case, place.graph).nodes[place.node];
    const spec::OpRow* row = ops.value()->find(node.op);
    for (std::size_t a = 0; row && a < node.arguments.size(); ++a) {
      const auto index = row->schema.find_argument(node.arguments[a].name);
      if (index && row->schema.arguments[*index].default_value) out.push_back({place, a, 0});
    }
  }
  return out;
}

Candidate drop_optional(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  const std::vector<ArgumentPlace> places = optional_arguments(the_case);
  CaseFile out = the_case;
  for (std::size_t i = end; i-- > begin;) {
    auto& arguments = graph_at(out, places[i].node.graph).nodes[places[i].node.node].arguments;
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(places[i].argument));
  }
  tidy_case(out);
  return out;
}

// Elements of lists of tensors that have more than one. A conditional's operands belong to its
// arms.
std::vector<ArgumentPlace> list_elements(const CaseFile& the_case) {
  std::vector<ArgumentPlace> out;
  for (NodePlace& place : node_places(the_case)) {
    const spec::Node& node = graph_at(the_case, place.graph).nodes[place.node];
    if (node.op.starts_with("higher_order.")) continue;
    for (std::size_t a = 0; a < node.arguments.size(); ++a) {
      const auto* list = node.arguments[a].argument.as<Argument::List>();
      if (!list || list->size() < 2 || !list->front().as<spec::ValueId>()) continue;
      for (std::size_t e = 0; e < list->size(); ++e) out.push_back({place, a, e});
    }
  }
  return out;
}

Candidate drop_element(const CaseFile& the_case, std::size_t index) {
  const ArgumentPlace place = list_elements(the_case)[index];
  CaseFile out = the_case;
  spec::Graph& graph = graph_at(out, place.node.graph);
  spec::Node& node = graph.nodes[place.node.node];
  auto& list = std::get<Argument::List>(node.arguments[place.argument].argument.value);
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(place.element));
  forget_result_types(out.programs[place.node.graph.program].graph);
  tidy_case(out);
  return out;
}

}  // namespace

std::vector<ReductionPass> argument_passes() {
  return {{"arguments with defaults", count_of<optional_arguments>, drop_optional},
          single_pass("elements of lists", count_of<list_elements>, drop_element)};
}

}  // namespace graphgate::fuzz
