// Numbers that sizes and elements give, and arithmetic on them.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

// A size becomes a number, which others are made from, and which tensors take as a scalar.
bool draw_arithmetic(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    for (int d = 0; d < tensor.sizes.rank; ++d) {
      if (!is_constant(tensor.sizes[d])) return true;
    }
    return false;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  int dim = 0;
  while (is_constant(from.sizes[dim])) ++dim;
  const spec::Argument size = draft.size_argument(from.sizes[dim]);
  static constexpr const char* kNames[] = {"_operator.add",      "_operator.mul", "_operator.sub",
                                           "_operator.floordiv", "_operator.mod", "torch.sym_max",
                                           "torch.sym_min"};
  spec::ValueId number;
  {
    NodeBuilder node(draft, kNames[variant]);
    const auto by = 2 + static_cast<std::int64_t>(genes.below(3));
    node.argument("a", size).integer("b", by);
    std::optional<Size> known;
    if (variant == 0) known = draft.table().plus(from.sizes[dim], by);
    if (variant == 1) known = draft.table().product(static_cast<Size>(by), from.sizes[dim]);
    if (variant == 3) known = draft.table().quotient(from.sizes[dim], static_cast<Size>(by));
    number = node.number(spec::ValueKind::kSymInt, known);
  }
  use_number(draft, genes, "aten.add.Tensor", number);
  return true;
}

// An element read on the host, and used as a number.
bool draw_item(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_plain_float(tensor.dtype) && tensor.sizes.rank == 0;
  });
  if (!self) return false;
  spec::ValueId number;
  {
    NodeBuilder node(draft, "aten._local_scalar_dense.default");
    number = node.tensor("self", *self).number(spec::ValueKind::kSymFloat, std::nullopt);
  }
  use_number(draft, genes, "aten.mul.Tensor", number);
  return true;
}

// A number that calls pass.
bool draw_number_input(Draft& draft, GeneReader& genes, std::size_t) {
  if (draft.number_inputs() >= 1) return false;
  const spec::ValueId number = draft.add_number_input(spec::ValueKind::kSymFloat);
  use_number(draft, genes, "aten.mul.Tensor", number);
  return true;
}

constexpr DrawnOp kSymbolicRows[] = {
    {"_operator.add", 1, draw_arithmetic, 0}, {"_operator.mul", 1, draw_arithmetic, 1},
    {"_operator.sub", 1, draw_arithmetic, 2}, {"_operator.floordiv", 1, draw_arithmetic, 3},
    {"_operator.mod", 1, draw_arithmetic, 4}, {"torch.sym_max", 1, draw_arithmetic, 5},
    {"torch.sym_min", 1, draw_arithmetic, 6}, {"aten._local_scalar_dense", 2, draw_item, 0},
    {"input", 1, draw_number_input, 0}};

}  // namespace

std::span<const DrawnOp> symbolic_rows() { return kSymbolicRows; }

}  // namespace graphgate::fuzz
