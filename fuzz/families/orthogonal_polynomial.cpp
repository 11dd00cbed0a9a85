// Orthogonal polynomials, of a degree that is a small number. PyTorch's CPU kernels take no 16-bit
// floats.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

struct Polynomial {
  std::string_view name;
};
constexpr Polynomial kPolynomials[] = {
    {"aten.special_chebyshev_polynomial_t"},
    {"aten.special_chebyshev_polynomial_u"},
    {"aten.special_chebyshev_polynomial_v"},
    {"aten.special_chebyshev_polynomial_w"},
    {"aten.special_hermite_polynomial_h"},
    {"aten.special_hermite_polynomial_he"},
    {"aten.special_laguerre_polynomial_l"},
    {"aten.special_legendre_polynomial_p"},
    {"aten.special_shifted_chebyshev_polynomial_t"},
    {"aten.special_shifted_chebyshev_polynomial_u"},
    {"aten.special_shifted_chebyshev_polynomial_v"},
    {"aten.special_shifted_chebyshev_polynomial_w"},
};

bool draw_polynomial(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const std::vector<OpForms> kForms = [] {
    std::vector<OpForms> forms;
    for (const Polynomial& row : kPolynomials) forms.push_back(forms_of(row.name, "n_scalar"));
    return forms;
  }();
  const TensorIndex x = draft.pick_floating(genes);
  const spec::DType dtype = draft.tensor(x).dtype;
  if (!is_plain_float(dtype)) return false;
  const std::int64_t degree = genes.next() % 12;
  add_pointwise(draft, genes, kForms[variant], {{"x", x}}, dtype, 1,
                [&](NodeBuilder& node) { node.integer("n", degree); });
  return true;
}

}  // namespace

std::span<const DrawnOp> orthogonal_polynomial_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    std::vector<DrawnOp> rows;
    for (std::uint32_t i = 0; i < std::size(kPolynomials); ++i) {
      rows.push_back({kPolynomials[i].name, 1, draw_polynomial, i, 6});
    }
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
