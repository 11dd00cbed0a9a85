// Distances between rows.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_between(Draft& draft, GeneReader& genes, std::size_t) {
  const auto a = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_plain_float(tensor.dtype) && tensor.sizes.rank == 2 &&
           draft.table().least(tensor.sizes[0]) >= 1 && draft.table().least(tensor.sizes[1]) >= 1;
  });
  if (!a) return false;
  const DrawnTensor first = draft.tensor(*a);
  const TensorIndex b = draft.pick_like(genes, first.dtype, first.sizes);
  const Shape sizes{first.sizes[0], first.sizes[0]};
  if (!draft.is_small(sizes)) return false;
  NodeBuilder node(draft, "aten._cdist_forward.default");
  node.tensor("x1", *a)
      .tensor("x2", b)
      .real("p", genes.chance(50) ? 2.0 : 1.0)
      .none("compute_mode");
  node.fresh(first.dtype, sizes);
  return true;
}

bool draw_within(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_plain_float(tensor.dtype) && tensor.sizes.rank == 2 && is_constant(tensor.sizes[0]) &&
           tensor.sizes[0] >= 2 && draft.table().least(tensor.sizes[1]) >= 1;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  if (!from.has_layout || !draft.is_row_major(from)) return false;
  const Size rows = from.sizes[0];
  NodeBuilder node(draft, "aten._pdist_forward.default");
  node.tensor("self", *self).real("p", genes.chance(50) ? 2.0 : 1.0);
  node.fresh(from.dtype, Shape{rows * (rows - 1) / 2});
  return true;
}

constexpr DrawnOp kDistanceRows[] = {{"aten._cdist_forward", 1, draw_between, 0},
                                     {"aten._pdist_forward", 1, draw_within, 0}};

}  // namespace

std::span<const DrawnOp> distance_rows() { return kDistanceRows; }

}  // namespace graphgate::fuzz
