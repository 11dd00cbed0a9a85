// Conditionals: a predicate that data decide, and two arms that make tensors of one type.
#include "fuzz/families/family.h"

namespace graphgate::fuzz {
namespace {

using spec::Argument;
using spec::DType;

// One arm: a chain of one to three pointwise nodes over its operand, the last of them in place now
// and then. Values of an arm are its own.
spec::Graph draw_arm(GeneReader& genes, std::string name, const spec::TensorType& operand,
                     const spec::TensorType& result) {
  static constexpr const char* kUnary[] = {"aten.neg.default", "aten.abs.default",
                                           "aten.tanh.default", "aten.relu.default",
                                           "aten.clone.default"};
  spec::Graph graph;
  graph.name = std::move(name);
  const auto add_value = [&](std::string value_name, const spec::TensorType& type) {
    spec::Value value;
    value.name = std::move(value_name);
    value.type = type;
    graph.values.push_back(std::move(value));
    return spec::ValueId{static_cast<std::uint32_t>(graph.values.size() - 1)};
  };
  spec::ValueId last = add_value(graph.name + "_x", operand);
  graph.inputs = {last};
  const std::uint32_t count = 1 + genes.below(3);
  for (std::uint32_t i = 0; i < count; ++i) {
    spec::Node node;
    const bool in_place = i > 0 && genes.chance(40);
    node.op = in_place ? "aten.mul_.Tensor" : genes.of(kUnary);
    node.arguments.push_back({"self", {last}});
    if (in_place) node.arguments.push_back({"other", {0.5}});
    last = add_value(graph.name + "_" + std::to_string(i), result);
    node.results.push_back({false, {last}});
    node.name = graph.values.back().name;
    graph.nodes.push_back(std::move(node));
  }
  graph.outputs = {Argument{last}};
  return graph;
}

TensorIndex draw_predicate(Draft& draft, GeneReader& genes) {
  const auto found = draft.pick(genes, [](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kBool && tensor.sizes.rank == 0;
  });
  if (found) return *found;
  const auto number = draft.pick(genes, [](const DrawnTensor& tensor) {
    return is_plain_float(tensor.dtype) && tensor.sizes.rank == 0;
  });
  if (!number) return draft.add_input(spec::InputKind::kUserInput, DType::kBool, {});
  NodeBuilder node(draft, "aten.gt.Scalar");
  node.tensor("self", *number).integer("other", 0);
  return node.fresh(DType::kBool, {});
}

bool draw_cond(Draft& draft, GeneReader& genes, std::size_t) {
  const auto operand = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_computed_float(tensor.dtype) && tensor.sizes.rank >= 1 &&
           draft.is_row_major(tensor) && tensor.offset == 0 && !draft.is_unbacked(tensor.sizes);
  });
  if (!operand) return false;
  const DrawnTensor from = draft.tensor(*operand);
  const spec::TensorType type = draft.type_of(from);
  DrawnTensor made = from;
  made.strides = draft.row_major(from.sizes);
  const spec::TensorType result = draft.type_of(made);
  const TensorIndex predicate = draw_predicate(draft, genes);
  const std::string number = std::to_string(draft.subgraphs());
  const spec::SubgraphId yes = draft.add_subgraph(draw_arm(genes, "yes" + number, type, result));
  const spec::SubgraphId no = draft.add_subgraph(draw_arm(genes, "no" + number, type, result));
  NodeBuilder node(draft, "higher_order.cond");
  node.tensor("", predicate).argument("", {yes}).argument("", {no}).tensors("", {*operand});
  node.fresh(from.dtype, from.sizes);
  return true;
}

constexpr DrawnOp kRows[] = {{"higher_order.cond", 5, draw_cond, 0}};

}  // namespace

std::span<const DrawnOp> control_flow_rows() { return kRows; }

}  // namespace graphgate::fuzz
