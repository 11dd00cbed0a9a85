// Rims of constants, reflections and repetitions.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_constant(Draft& draft, GeneReader& genes, std::size_t variant) {
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  Shape sizes = from.sizes;
  sizes[sizes.rank - 1] = draft.table().plus(sizes[sizes.rank - 1], 3);
  const Layout layout = row_major_like(draft, {self}, sizes);
  NodeBuilder node(draft, variant == 0 ? "aten.constant_pad_nd.default" : "aten.pad.default");
  node.tensor("self", self).integers("pad", {1, 2});
  if (variant == 1) node.text("mode", "constant");
  if (genes.chance(50)) node.real("value", 0.5);
  node.fresh(from.dtype, sizes, layout);
  return true;
}

// The last dimension of a matrix, at both ends.
bool draw_mirror(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_computed_float(tensor.dtype) && tensor.sizes.rank == 2 &&
           draft.table().least(tensor.sizes[0]) >= 1 && draft.table().least(tensor.sizes[1]) >= 3;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  Shape sizes = from.sizes;
  sizes[1] = draft.table().plus(sizes[1], 3);
  const Layout layout = row_major_like(draft, {*self}, sizes);
  NodeBuilder node(
      draft, variant == 0 ? "aten.reflection_pad1d.default" : "aten.replication_pad1d.default");
  node.tensor("self", *self).integers("padding", {1, 2}).fresh(from.dtype, sizes, layout);
  return true;
}

constexpr DrawnOp kPaddingRows[] = {{"aten.constant_pad_nd", 3, draw_constant, 0},
                                    {"aten.pad", 1, draw_constant, 1},
                                    {"aten.reflection_pad1d", 1, draw_mirror, 0},
                                    {"aten.replication_pad1d", 1, draw_mirror, 1}};

}  // namespace

std::span<const DrawnOp> padding_rows() { return kPaddingRows; }

}  // namespace graphgate::fuzz
