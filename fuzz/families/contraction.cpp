// Products of matrices by other names: linear and matmul.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_linear(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex input = draft.pick_floating(genes, 1, 3);
  const DrawnTensor from = draft.tensor(input);
  const Size inner = from.sizes[from.sizes.rank - 1];
  if (!is_constant(inner)) return false;
  const auto& dims = draft.settings().dims;
  const Size drawn = dims[genes.below(dims.size())];
  const Size outer = is_constant(drawn) ? drawn : 4;
  const TensorIndex weight = draft.pick_like(genes, from.dtype, Shape{outer, inner});
  std::optional<TensorIndex> bias;
  if (genes.chance(50)) bias = draft.pick_like(genes, from.dtype, Shape{outer});
  Shape sizes = from.sizes;
  sizes[sizes.rank - 1] = outer;
  const Layout layout = row_major_like(draft, {input}, sizes);
  NodeBuilder node(draft, "aten.linear.default");
  node.tensor("input", input).tensor("weight", weight).optional_tensor("bias", bias);
  node.fresh(from.dtype, sizes, layout);
  return true;
}

// Vectors, matrices and batches of them.
bool draw_matmul(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex a = draft.pick_floating(genes, 1, 3);
  const DrawnTensor first = draft.tensor(a);
  const int rank = first.sizes.rank;
  const Size inner = first.sizes[rank - 1];
  if (genes.chance(30)) {
    const TensorIndex b = draft.pick_like(genes, first.dtype, Shape{inner});
    Shape sizes = first.sizes;
    sizes.erase(rank - 1);
    NodeBuilder node(draft, "aten.matmul.default");
    node.tensor("self", a).tensor("other", b);
    node.fresh(first.dtype, sizes, row_major_like(draft, {a, b}, sizes));
    return true;
  }
  const TensorIndex b = draft.pick_like(genes, first.dtype, Shape{inner, 4});
  Shape sizes = first.sizes;
  sizes[rank - 1] = 4;
  const Layout layout = row_major_like(draft, {a, b}, sizes);
  NodeBuilder node(draft, "aten.matmul.default");
  node.tensor("self", a).tensor("other", b).fresh(first.dtype, sizes, layout);
  return true;
}

bool draw_cross(Draft& draft, GeneReader& genes, std::size_t) {
  const spec::DType dtype = draft.draw_floating(genes);
  const Shape sizes{2, 3};
  const TensorIndex a = draft.pick_like(genes, dtype, sizes);
  const TensorIndex b = draft.pick_like(genes, dtype, sizes);
  NodeBuilder node(draft, "aten.linalg_cross.default");
  node.tensor("self", a).tensor("other", b).fresh(dtype, sizes);
  return true;
}

// [2, 3], [4, 3, 5] and [2, 5] to [2, 4], as nn.Bilinear has them.
bool draw_trilinear(Draft& draft, GeneReader& genes, std::size_t) {
  const spec::DType dtype = draft.draw_floating(genes);
  const TensorIndex i1 = draft.pick_like(genes, dtype, Shape{2, 3});
  const TensorIndex i2 = draft.pick_like(genes, dtype, Shape{4, 3, 5});
  const TensorIndex i3 = draft.pick_like(genes, dtype, Shape{2, 5});
  NodeBuilder node(draft, "aten._trilinear.default");
  node.tensor("i1", i1).tensor("i2", i2).tensor("i3", i3).integers("expand1", {1, 3});
  node.integers("expand2", {0}).integers("expand3", {1, 2}).integers("sumdim", {2, 3});
  node.fresh(dtype, Shape{2, 4});
  return true;
}

constexpr DrawnOp kContractionRows[] = {{"aten._trilinear", 1, draw_trilinear, 0, 6},
                                        {"aten.linalg_cross", 1, draw_cross, 0, 6},
                                        {"aten.linear", 6, draw_linear, 0},
                                        {"aten.matmul", 5, draw_matmul, 0}};

}  // namespace

std::span<const DrawnOp> contraction_rows() { return kContractionRows; }

}  // namespace graphgate::fuzz
