// Factors of matrices: of whatever is drawn, and of what Gram's matrices give.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

enum FactorKind : std::size_t {
  kFactorCholesky,
  kFactorLu,
  kFactorDeterminant,
  kFactorQr,
  kFactorReflections,
  kFactorLdl
};

bool is_matrix(Draft& draft, const DrawnTensor& tensor) {
  if (tensor.dtype != DType::kFloat32 && tensor.dtype != DType::kFloat64) return false;
  return tensor.sizes.rank == 2 && is_constant(tensor.sizes[0]) && is_constant(tensor.sizes[1]) &&
         draft.is_small(tensor.sizes);
}

// A square matrix that is there, or a new one.
TensorIndex pick_square(Draft& draft, GeneReader& genes) {
  const auto found = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_matrix(draft, tensor) && tensor.sizes[0] == tensor.sizes[1] && tensor.sizes[0] >= 1;
  });
  if (found) return *found;
  const DType dtype = genes.chance(70) ? DType::kFloat32 : DType::kFloat64;
  return draft.pick_like(genes, dtype, Shape{4, 4});
}

Layout by_columns(const Shape& sizes) {
  Shape strides = sizes;
  strides[0] = 1;
  strides[1] = sizes[0] == 0 ? Size(1) : sizes[0];
  return {true, strides};
}

// A^T A: no minor of it is negative.
TensorIndex gram_of(Draft& draft, TensorIndex a) {
  const DrawnTensor from = draft.tensor(a);
  TensorIndex turned = 0;
  {
    NodeBuilder node(draft, "aten.permute.default");
    node.tensor("self", a).integers("dims", {1, 0});
    turned = node.view(a, Shape{from.sizes[1], from.sizes[0]},
                       Shape{from.strides[1], from.strides[0]}, from.offset, from.overlaps);
  }
  NodeBuilder node(draft, "aten.mm.default");
  node.tensor("self", turned).tensor("mat2", a);
  return node.fresh(from.dtype, Shape{from.sizes[1], from.sizes[1]});
}

bool draw_square_factor(Draft& draft, GeneReader& genes, std::size_t kind) {
  const TensorIndex a = pick_square(draft, genes);
  const DrawnTensor from = draft.tensor(a);
  const Shape& sizes = from.sizes;
  if (kind == kFactorCholesky) {
    const TensorIndex gram = from.has_layout ? gram_of(draft, a) : a;
    NodeBuilder node(draft, "aten.linalg_cholesky_ex.default");
    node.tensor("self", gram);
    if (genes.chance(40)) node.boolean("upper", true);
    node.fresh(from.dtype, sizes, by_columns(sizes));
    node.fresh(DType::kInt32, {});
    return true;
  }
  if (kind == kFactorLdl) {
    NodeBuilder node(draft, "aten.linalg_ldl_factor_ex.default");
    node.tensor("self", a).fresh(from.dtype, sizes, by_columns(sizes));
    node.fresh(DType::kInt32, Shape{sizes[0]});
    node.fresh(DType::kInt32, {});
    return true;
  }
  const bool takes_logarithm = genes.chance(40);
  NodeBuilder node(draft,
                   takes_logarithm ? "aten._linalg_slogdet.default" : "aten._linalg_det.default");
  node.tensor("A", a).fresh(from.dtype, {});
  if (takes_logarithm) node.fresh(from.dtype, {});
  node.fresh(from.dtype, sizes, by_columns(sizes));
  node.fresh(DType::kInt32, Shape{sizes[0]});
  return true;
}

// LU and QR of matrices of any sizes.
bool draw_factor(Draft& draft, GeneReader& genes, std::size_t kind) {
  const auto found = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_matrix(draft, tensor) && tensor.sizes[0] >= 1 && tensor.sizes[1] >= 1;
  });
  const TensorIndex a = found ? *found : pick_square(draft, genes);
  const DrawnTensor from = draft.tensor(a);
  const Size rows = from.sizes[0];
  const Size columns = from.sizes[1];
  const Size steps = std::min(rows, columns);
  const Shape left = {rows, steps};
  const Shape right = {steps, columns};
  if (kind == kFactorLu && genes.chance(40)) {
    NodeBuilder node(draft, "aten.linalg_lu.default");
    node.tensor("A", a).fresh(from.dtype, Shape{rows, rows});
    node.fresh(from.dtype, left);
    node.fresh(from.dtype, right);
    return true;
  }
  if (kind == kFactorLu) {
    NodeBuilder node(draft, "aten.linalg_lu_factor_ex.default");
    node.tensor("A", a).fresh(from.dtype, from.sizes, by_columns(from.sizes));
    node.fresh(DType::kInt32, Shape{steps});
    node.fresh(DType::kInt32, {});
    return true;
  }
  if (kind == kFactorQr) {
    NodeBuilder node(draft, "aten.linalg_qr.default");
    node.tensor("A", a).fresh(from.dtype, left, by_columns(left));
    node.fresh(from.dtype, right, by_columns(right));
    return true;
  }
  TensorIndex packed = 0;
  TensorIndex tau = 0;
  {
    NodeBuilder node(draft, "aten.geqrf.default");
    node.tensor("self", a);
    packed = node.fresh(from.dtype, from.sizes, by_columns(from.sizes));
    tau = node.fresh(from.dtype, Shape{steps});
  }
  if (rows < columns) return true;
  NodeBuilder node(draft, "aten.linalg_householder_product.default");
  node.tensor("input", packed).tensor("tau", tau);
  node.fresh(from.dtype, from.sizes, by_columns(from.sizes));
  return true;
}

constexpr DrawnOp kLinalgFactorRows[] = {
    {"aten.linalg_cholesky_ex", 1, draw_square_factor, kFactorCholesky, 6},
    {"aten.linalg_lu", 1, draw_factor, kFactorLu, 6},
    {"aten._linalg_det", 1, draw_square_factor, kFactorDeterminant, 6},
    {"aten.linalg_qr", 1, draw_factor, kFactorQr, 6},
    {"aten.geqrf", 1, draw_factor, kFactorReflections, 6},
    {"aten.linalg_ldl_factor_ex", 1, draw_square_factor, kFactorLdl, 6}};

}  // namespace

std::span<const DrawnOp> linalg_factor_rows() { return kLinalgFactorRows; }

}  // namespace graphgate::fuzz
