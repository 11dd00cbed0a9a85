// Diagonals of matrices, and indices beside them.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

bool draw_eye(Draft& draft, GeneReader& genes, std::size_t) {
  const DType dtype = draft.draw_floating(genes);
  const Shape sizes = draft.draw_shape(genes, 2, 2);
  NodeBuilder node(draft, "aten.eye.m");
  node.size("n", sizes[0]).size("m", sizes[1]).dtype("dtype", dtype);
  if (draft.settings().on_accelerator) node.argument("device", {draft.main_device()});
  node.fresh(dtype, sizes);
  return true;
}

bool draw_diag(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1, 1);
  const DrawnTensor from = draft.tensor(self);
  const Shape sizes{from.sizes[0], from.sizes[0]};
  if (!draft.is_small(sizes)) return false;
  NodeBuilder node(draft, "aten.diag.default");
  node.tensor("self", self).fresh(from.dtype, sizes);
  return true;
}

// Of a matrix of 3 rows and 4 columns: 6 elements from the diagonal down, 9 from it on.
bool draw_triangle_indices(Draft& draft, GeneReader&, std::size_t upper) {
  NodeBuilder node(draft, upper == 1 ? "aten.triu_indices.default" : "aten.tril_indices.default");
  node.integer("row", 3).integer("col", 4);
  if (draft.settings().on_accelerator) node.argument("device", {draft.main_device()});
  const TensorIndex made = node.fresh(DType::kInt64, Shape{2, upper == 1 ? 9 : 6});
  draft.set_range(made, {0, 3});
  return true;
}

constexpr DrawnOp kDiagonalRows[] = {{"aten.eye", 1, draw_eye, 0, 6},
                                     {"aten.diag", 1, draw_diag, 0, 6},
                                     {"aten.tril_indices", 1, draw_triangle_indices, 0, 6},
                                     {"aten.triu_indices", 1, draw_triangle_indices, 1, 6}};

}  // namespace

std::span<const DrawnOp> diagonal_rows() { return kDiagonalRows; }

}  // namespace graphgate::fuzz
