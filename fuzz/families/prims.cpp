// PyTorch's primitive ops: copies, views and sums.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_convert(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const Layout layout = preserved_layout(draft, self);
  const spec::DType dtype = draft.draw_floating(genes);
  NodeBuilder node(draft, "prims.convert_element_type.default");
  node.tensor("a", self).dtype("dtype", dtype).fresh(dtype, from.sizes, layout);
  return true;
}

bool draw_view_of(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [](const DrawnTensor& t) { return t.has_layout; });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  NodeBuilder node(draft, "prims.view_of.default");
  node.tensor("a", *self).view(*self, from.sizes, from.strides, from.offset, from.overlaps);
  return true;
}

// The sum over the first dimension, in the operand's dtype.
bool draw_sum(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  Shape sizes = from.sizes;
  sizes.erase(0);
  NodeBuilder node(draft, "prims.sum.default");
  node.tensor("inp", self).integers("dims", {0}).fresh(from.dtype, sizes, Layout{});
  return true;
}

// A copy with the first two dimensions as one.
bool draw_collapse(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 2);
  const DrawnTensor from = draft.tensor(self);
  Shape sizes = from.sizes;
  sizes[1] = draft.table().product(sizes[0], sizes[1]);
  sizes.erase(0);
  NodeBuilder node(draft, "prims.collapse.default");
  node.tensor("a", self).integer("start", 0).integer("end", 1).fresh(from.dtype, sizes);
  return true;
}

constexpr DrawnOp kPrimsRows[] = {
    {"prims.convert_element_type", 1, draw_convert, 0, 6},
    {"prims.view_of", 1, draw_view_of, 0, 6},
    {"prims.sum", 1, draw_sum, 0, 6},
    {"prims.collapse", 1, draw_collapse, 0, 6},
};

}  // namespace

std::span<const DrawnOp> prims_rows() { return kPrimsRows; }

}  // namespace graphgate::fuzz
