// Conditionals: a predicate that data decide, and two arms that make tensors of one type. Some of
// them write to an operand, which is read behind the conditional too. Loops: a counter that ends
// them, some of them earlier by what data say, and scans along a dimension.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::Argument;
using spec::DType;

// An arm in the making. Its values are its own; their names begin with the arm's.
class ArmBuilder {
 public:
  explicit ArmBuilder(std::string name) { graph_.name = std::move(name); }

  spec::ValueId input(const std::string& name, const spec::TensorType& type) {
    graph_.inputs.push_back(add_value(graph_.name + "_" + name, type));
    return graph_.inputs.back();
  }
  // One result, of this type where it is known.
  spec::ValueId node(std::string op, std::vector<spec::NamedArgument> arguments,
                     const std::optional<spec::TensorType>& type) {
    const std::string name = graph_.name + "_" + std::to_string(graph_.nodes.size());
    const spec::ValueId id = add_value(name, type);
    graph_.nodes.push_back({name, std::move(op), std::move(arguments), {{false, {id}}}});
    return id;
  }
  spec::Graph result_in(spec::ValueId id) {
    graph_.outputs = {Argument{id}};
    return std::move(graph_);
  }
  spec::Graph result_in(spec::ValueId first, spec::ValueId second) {
    graph_.outputs = {Argument{first}, Argument{second}};
    return std::move(graph_);
  }

 private:
  spec::ValueId add_value(std::string name, const std::optional<spec::TensorType>& type) {
    spec::Value value;
    value.name = std::move(name);
    value.type = type;
    graph_.values.push_back(std::move(value));
    return {static_cast<std::uint32_t>(graph_.values.size() - 1)};
  }

  spec::Graph graph_;
};

// A chain of one to three pointwise nodes over `from`, the last of them in place now and then.
spec::ValueId draw_chain(ArmBuilder& arm, GeneReader& genes, spec::ValueId from,
                         const spec::TensorType& result) {
  static constexpr const char* kOfOne[] = {"aten.neg.default", "aten.abs.default",
                                           "aten.tanh.default", "aten.relu.default",
                                           "aten.clone.default"};
  spec::ValueId last = from;
  const std::uint32_t count = 1 + genes.below(3);
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool in_place = i > 0 && genes.chance(40);
    if (in_place) {
      last = arm.node("aten.mul_.Tensor", {{"self", {last}}, {"other", {0.5}}}, result);
    } else {
      last = arm.node(genes.of(kOfOne), {{"self", {last}}}, result);
    }
  }
  return last;
}

// One arm that touches nothing but its operand.
spec::Graph draw_arm(GeneReader& genes, std::string name, const spec::TensorType& operand,
                     const spec::TensorType& result) {
  ArmBuilder arm(std::move(name));
  const spec::ValueId x = arm.input("x", operand);
  return arm.result_in(draw_chain(arm, genes, x, result));
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

// What an arm may read: row-major, so that the strides of what it makes are known.
std::optional<TensorIndex> pick_operand(Draft& draft, GeneReader& genes) {
  return draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_computed_float(tensor.dtype) && tensor.sizes.rank >= 1 &&
           draft.is_row_major(tensor) && tensor.offset == 0 && !draft.is_unbacked(tensor.sizes);
  });
}

bool draw_cond(Draft& draft, GeneReader& genes, std::size_t) {
  const auto operand = pick_operand(draft, genes);
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

// What the arms of a conditional that writes are over.
struct WritingOperands {
  spec::TensorType x;
  spec::TensorType target;
  std::optional<spec::TensorType> index;  // rows of the target
  bool copies = false;                    // x may be copied to the target
};

// The first row, as a view.
spec::ValueId draw_row(ArmBuilder& arm, spec::ValueId of) {
  constexpr std::int64_t kFirst = 0;
  return arm.node("aten.select.int", {{"self", {of}}, {"dim", {kFirst}}, {"index", {kFirst}}}, {});
}

// A write to the target, or to a part of it.
void draw_write(ArmBuilder& arm, GeneReader& genes, const WritingOperands& types,
                const std::vector<spec::ValueId>& in) {
  const spec::ValueId x = in[0];
  const spec::ValueId target = in[1];
  switch (genes.below(6)) {
    case 0:
      arm.node("aten.mul_.Tensor", {{"self", {target}}, {"other", {0.5}}}, types.target);
      return;
    case 1:
      arm.node("aten.zero_.default", {{"self", {target}}}, types.target);
      return;
    case 2: {
      const spec::ValueId row = draw_row(arm, target);
      arm.node("aten.add_.Tensor", {{"self", {row}}, {"other", {1.0}}}, {});
      return;
    }
    case 3:
      if (!types.index) break;
      arm.node(
          "aten.index_fill_.int_Scalar",
          {{"self", {target}}, {"dim", {std::int64_t{0}}}, {"index", {in[2]}}, {"value", {0.25}}},
          types.target);
      return;
    case 4: {
      if (!types.index) break;
      const spec::ValueId row = draw_row(arm, target);
      const spec::ValueId copy = arm.node("aten.clone.default", {{"self", {row}}}, {});
      arm.node("aten.index_put_.default",
               {{"self", {target}}, {"indices", {Argument::List{{in[2]}}}}, {"values", {copy}}},
               types.target);
      return;
    }
    default:
      break;
  }
  if (types.copies) {
    arm.node("aten.copy_.default", {{"self", {target}}, {"src", {x}}}, types.target);
  } else {
    arm.node("aten.add_.Tensor", {{"self", {target}}, {"other", {1.0}}}, types.target);
  }
}

// One arm over x, the target and perhaps an index: it reads x before it writes, or behind.
spec::Graph draw_writing_arm(GeneReader& genes, std::string name, const WritingOperands& types,
                             const spec::TensorType& result, std::uint32_t writes) {
  ArmBuilder arm(std::move(name));
  std::vector<spec::ValueId> in = {arm.input("x", types.x), arm.input("t", types.target)};
  if (types.index) in.push_back(arm.input("i", *types.index));
  if (writes == 1) draw_write(arm, genes, types, in);
  const spec::ValueId last = draw_chain(arm, genes, in[0], result);
  if (writes == 2) draw_write(arm, genes, types, in);
  return arm.result_in(last);
}

// Arms that write to an operand. Which did is for data to decide, and all that is read behind.
bool draw_writing_cond(Draft& draft, GeneReader& genes, std::size_t) {
  const auto operand = pick_operand(draft, genes);
  if (!operand) return false;
  const auto target = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_computed_float(tensor.dtype) && tensor.sizes.rank >= 1 && tensor.has_layout &&
           !draft.is_unbacked(tensor.sizes) && draft.table().least(tensor.sizes[0]) >= 1;
  });
  if (!target || !draft.may_write(*target)) return false;
  const DrawnTensor from = draft.tensor(*operand);
  const DrawnTensor to = draft.tensor(*target);
  std::optional<TensorIndex> index;
  if (draft.table().least(to.sizes[0]) >= 2 && genes.chance(50)) {
    index = draft.pick_index(genes, Shape{2}, to.sizes[0]);
  }
  WritingOperands types{draft.type_of(from), draft.type_of(to), std::nullopt, false};
  if (index) types.index = draft.type_of(draft.tensor(*index));
  types.copies = from.storage != to.storage && broadcasts_to(from.sizes, to.sizes);
  DrawnTensor made = from;
  made.strides = draft.row_major(from.sizes);
  const spec::TensorType result = draft.type_of(made);
  const TensorIndex predicate = draw_predicate(draft, genes);
  // 0: does not write, 1: before the result is made, 2: behind it.
  const std::uint32_t gene = genes.next();
  const std::uint32_t yes_writes = gene % 3;
  const std::uint32_t no_writes = yes_writes == 0 ? 1 + gene / 3 % 2 : gene / 3 % 3;
  const std::string number = std::to_string(draft.subgraphs());
  const spec::SubgraphId yes =
      draft.add_subgraph(draw_writing_arm(genes, "yes" + number, types, result, yes_writes));
  const spec::SubgraphId no =
      draft.add_subgraph(draw_writing_arm(genes, "no" + number, types, result, no_writes));
  std::vector<TensorIndex> operands = {*operand, *target};
  if (index) operands.push_back(*index);
  NodeBuilder node(draft, "higher_order.cond");
  node.tensor("", predicate).argument("", {yes}).argument("", {no}).tensors("", operands);
  node.fresh(from.dtype, from.sizes);
  node.writes(*target);
  return true;
}

// What the graphs of a while_loop are over: a counter, what is carried, and what every iteration
// reads beside it.
struct LoopOperands {
  spec::TensorType counter;
  spec::TensorType decision;
  spec::TensorType carried;
  bool has_addend = false;  // as `carried`
};

struct LoopInputs {
  spec::ValueId counter;
  spec::ValueId carried;
  std::optional<spec::ValueId> addend;
};
LoopInputs add_inputs(ArmBuilder& graph, const LoopOperands& types) {
  LoopInputs in;
  in.counter = graph.input("i", types.counter);
  in.carried = graph.input("x", types.carried);
  if (types.has_addend) in.addend = graph.input("y", types.carried);
  return in;
}

// Goes on until the counter is there, and perhaps as long as the carried has a positive sum.
spec::Graph draw_condition(GeneReader& genes, std::string name, const LoopOperands& types,
                           std::int64_t end) {
  ArmBuilder graph(std::move(name));
  const LoopInputs in = add_inputs(graph, types);
  const spec::ValueId goes_on =
      graph.node("aten.lt.Scalar", {{"self", {in.counter}}, {"other", {end}}}, types.decision);
  if (!genes.chance(25)) return graph.result_in(goes_on);
  const spec::ValueId sum = graph.node("aten.sum.default", {{"self", {in.carried}}}, {});
  const spec::ValueId is_positive =
      graph.node("aten.gt.Scalar", {{"self", {sum}}, {"other", {std::int64_t{0}}}}, types.decision);
  return graph.result_in(graph.node(
      "aten.bitwise_and.Tensor", {{"self", {goes_on}}, {"other", {is_positive}}}, types.decision));
}

spec::Graph draw_body(GeneReader& genes, std::string name, const LoopOperands& types) {
  ArmBuilder graph(std::move(name));
  const LoopInputs in = add_inputs(graph, types);
  spec::ValueId last = draw_chain(graph, genes, in.carried, types.carried);
  if (in.addend) {
    last =
        graph.node("aten.add.Tensor", {{"self", {last}}, {"other", {*in.addend}}}, types.carried);
  }
  const spec::ValueId next = graph.node(
      "aten.add.Tensor", {{"self", {in.counter}}, {"other", {std::int64_t{1}}}}, types.counter);
  return graph.result_in(next, last);
}

bool draw_while_loop(Draft& draft, GeneReader& genes, std::size_t) {
  const auto operand = pick_operand(draft, genes);
  if (!operand) return false;
  const DrawnTensor from = draft.tensor(*operand);
  const auto addend = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == from.dtype && tensor.sizes == from.sizes && draft.is_row_major(tensor) &&
           tensor.offset == 0;
  });
  DrawnTensor scalar;
  LoopOperands types;
  scalar.dtype = DType::kInt64;
  types.counter = draft.type_of(scalar);
  scalar.dtype = DType::kBool;
  types.decision = draft.type_of(scalar);
  types.carried = draft.type_of(from);
  types.has_addend = addend && genes.chance(50);
  const std::int64_t end = genes.below(5);  // 0: the body never runs
  const TensorIndex counter = draft.add_filled(DType::kInt64, {}, 0);
  const std::string number = std::to_string(draft.subgraphs());
  const spec::SubgraphId condition =
      draft.add_subgraph(draw_condition(genes, "while" + number, types, end));
  const spec::SubgraphId body = draft.add_subgraph(draw_body(genes, "do" + number, types));
  NodeBuilder node(draft, "higher_order.while_loop");
  node.argument("", {condition}).argument("", {body}).tensors("", {counter, *operand});
  node.tensors("",
               types.has_addend ? std::vector<TensorIndex>{*addend} : std::vector<TensorIndex>{});
  draft.set_range(node.fresh(DType::kInt64, {}), {0, end});
  node.fresh(from.dtype, from.sizes);
  return true;
}

bool draw_loop_along(Draft& draft, GeneReader& genes, std::size_t) {
  constexpr std::int64_t kMostIterations = 16;
  const auto operand = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_computed_float(tensor.dtype) && tensor.sizes.rank >= 1 &&
           draft.is_row_major(tensor) && tensor.offset == 0 && !draft.is_unbacked(tensor.sizes) &&
           draft.table().least(tensor.sizes[0]) >= 1 &&
           draft.table().bounds(tensor.sizes[0]).most <= kMostIterations;
  });
  if (!operand) return false;
  const DrawnTensor from = draft.tensor(*operand);
  DrawnTensor slice = from;
  slice.sizes.erase(0);
  slice.strides = draft.row_major(slice.sizes);
  const spec::TensorType type = draft.type_of(slice);
  const TensorIndex initial = draft.add_filled(from.dtype, slice.sizes, 1);
  ArmBuilder graph("scan" + std::to_string(draft.subgraphs()));
  const spec::ValueId carried = graph.input("c", type);
  const spec::ValueId scanned = graph.input("x", type);
  const spec::ValueId sum =
      graph.node("aten.add.Tensor", {{"self", {carried}}, {"other", {scanned}}}, type);
  const spec::ValueId product =
      graph.node("aten.mul.Tensor", {{"self", {carried}}, {"other", {scanned}}}, type);
  const spec::ValueId next = draw_chain(graph, genes, sum, type);
  const spec::ValueId stacked = draw_chain(graph, genes, product, type);
  const spec::SubgraphId body = draft.add_subgraph(graph.result_in(next, stacked));
  NodeBuilder node(draft, "higher_order.scan");
  node.argument("", {body}).tensors("", {initial}).tensors("", {*operand}).tensors("", {});
  node.fresh(slice.dtype, slice.sizes);
  node.fresh(from.dtype, from.sizes);
  return true;
}

constexpr DrawnOp kControlFlowRows[] = {
    {"higher_order.cond", 5, draw_cond, 0},
    {"writing-cond", 4, draw_writing_cond, 0, 4, {}, "higher_order.cond"},
    {"higher_order.while_loop", 4, draw_while_loop, 0, 7},
    {"higher_order.scan", 3, draw_loop_along, 0, 7}};

}  // namespace

std::span<const DrawnOp> control_flow_rows() { return kControlFlowRows; }

}  // namespace graphgate::fuzz
