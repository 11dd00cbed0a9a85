// Whether tensors are equal or close, which gives a Python bool, and which elements are among
// others. Of integers: nothing depends on rounding then.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

bool draw_agreement(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Shape sizes{4};
  const TensorIndex self = draft.pick_index(genes, sizes, 2);
  const TensorIndex other = draft.pick_index(genes, sizes, 2);
  NodeBuilder node(draft, variant == 0 ? "aten.equal.default" : "aten.allclose.default");
  node.tensor("self", self).tensor("other", other);
  node.number(spec::ValueKind::kSymBool, std::nullopt);
  return true;
}

bool draw_isin(Draft& draft, GeneReader& genes, std::size_t) {
  const Shape sizes{4};
  const TensorIndex elements = draft.pick_index(genes, sizes, 3);
  const TensorIndex tests = draft.pick_index(genes, Shape{2}, 3);
  NodeBuilder node(draft, "aten.isin.Tensor_Tensor");
  node.tensor("elements", elements).tensor("test_elements", tests);
  if (genes.chance(40)) node.boolean("invert", true);
  node.fresh(DType::kBool, sizes);
  return true;
}

constexpr DrawnOp kEqualityRows[] = {{"aten.equal", 1, draw_agreement, 0, 6},
                                     {"aten.allclose", 1, draw_agreement, 1, 6},
                                     {"aten.isin", 1, draw_isin, 0, 6}};

}  // namespace

std::span<const DrawnOp> equality_rows() { return kEqualityRows; }

}  // namespace graphgate::fuzz
