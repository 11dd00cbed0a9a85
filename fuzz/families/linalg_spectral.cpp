// Eigenvalues, singular values, and what is made of them.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

enum SpectralKind : std::size_t {
  kSpectralEigen,
  kSpectralSingular,
  kSpectralExponential,
  kSpectralPolar
};

bool draw_spectral(Draft& draft, GeneReader& genes, std::size_t kind) {
  const DType dtype = genes.chance(70) ? DType::kFloat32 : DType::kFloat64;
  const Shape sizes = {4, 4};
  const Layout by_columns = {true, Shape{1, 4}};
  const TensorIndex a = draft.pick_like(genes, dtype, sizes);
  if (kind == kSpectralEigen) {
    NodeBuilder node(draft, "aten._linalg_eigh.default");
    node.tensor("A", a);
    if (genes.chance(40)) node.text("UPLO", "U");
    node.fresh(dtype, Shape{4});
    node.fresh(dtype, sizes, by_columns);
    return true;
  }
  if (kind == kSpectralSingular) {
    NodeBuilder node(draft, "aten._linalg_svd.default");
    node.tensor("A", a);
    node.fresh(dtype, sizes, by_columns);
    node.fresh(dtype, Shape{4});
    node.fresh(dtype, sizes, by_columns);
    return true;
  }
  if (kind == kSpectralExponential) {
    NodeBuilder node(draft, "aten.linalg_matrix_exp.default");
    node.tensor("self", a).fresh(dtype, sizes);
    return true;
  }
  NodeBuilder node(draft, "aten.linalg_polar.default");
  node.tensor("A", a).fresh(dtype, sizes);
  node.fresh(dtype, sizes);
  return true;
}

constexpr DrawnOp kLinalgSpectralRows[] = {
    {"aten._linalg_eigh", 1, draw_spectral, kSpectralEigen, 6},
    {"aten._linalg_svd", 1, draw_spectral, kSpectralSingular, 6},
    {"aten.linalg_matrix_exp", 1, draw_spectral, kSpectralExponential, 6},
    {"aten.linalg_polar", 1, draw_spectral, kSpectralPolar, 6}};

}  // namespace

std::span<const DrawnOp> linalg_spectral_rows() { return kLinalgSpectralRows; }

}  // namespace graphgate::fuzz
