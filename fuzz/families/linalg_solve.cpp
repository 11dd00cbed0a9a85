// Systems of linear equations.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

enum SolveKind : std::size_t { kSolveTriangle, kSolveCholesky, kSolveWhole, kSolveInverse };

Layout columns_of(const Shape& sizes) {
  Shape strides = sizes;
  strides[0] = 1;
  strides[1] = sizes[0];
  return {true, strides};
}

// A square matrix, and right-hand sides. Of a triangle the diagonal may be taken for ones, so that
// it has an inverse.
bool draw_solve(Draft& draft, GeneReader& genes, std::size_t kind) {
  const DType dtype = genes.chance(70) ? DType::kFloat32 : DType::kFloat64;
  const Shape square = {4, 4};
  const Shape sizes = {4, genes.chance(50) ? 4 : 2};
  const TensorIndex a = draft.pick_like(genes, dtype, square);
  if (kind == kSolveInverse) {
    NodeBuilder node(draft, "aten.linalg_inv_ex.default");
    node.tensor("A", a).fresh(dtype, square, columns_of(square));
    node.fresh(DType::kInt32, {});
    return true;
  }
  const TensorIndex b = draft.pick_like(genes, dtype, sizes);
  if (kind == kSolveTriangle) {
    NodeBuilder node(draft, "aten.linalg_solve_triangular.default");
    node.tensor("self", a).tensor("B", b).boolean("upper", genes.chance(50));
    if (genes.chance(70)) node.boolean("unitriangular", true);
    node.fresh(dtype, sizes, columns_of(sizes));
    return true;
  }
  if (kind == kSolveCholesky) {
    NodeBuilder node(draft, "aten.cholesky_solve.default");
    node.tensor("self", b).tensor("input2", a);
    if (genes.chance(40)) node.boolean("upper", true);
    node.fresh(dtype, sizes, columns_of(sizes));
    return true;
  }
  NodeBuilder node(draft, "aten._linalg_solve_ex.default");
  node.tensor("A", a).tensor("B", b).fresh(dtype, sizes, columns_of(sizes));
  node.fresh(dtype, square, columns_of(square));
  node.fresh(DType::kInt32, Shape{4});
  node.fresh(DType::kInt32, {});
  return true;
}

constexpr DrawnOp kLinalgSolveRows[] = {
    {"aten.linalg_solve_triangular", 1, draw_solve, kSolveTriangle, 6},
    {"aten.cholesky_solve", 1, draw_solve, kSolveCholesky, 6},
    {"aten._linalg_solve_ex", 1, draw_solve, kSolveWhole, 6},
    {"aten.linalg_inv_ex", 1, draw_solve, kSolveInverse, 6}};

}  // namespace

std::span<const DrawnOp> linalg_solve_rows() { return kLinalgSolveRows; }

}  // namespace graphgate::fuzz
