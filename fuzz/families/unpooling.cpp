// Values put back to the places that a maximum pooling took them from.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

// After a pooling over windows that do not overlap, so that no place is named twice.
bool draw_max_unpool(Draft& draft, GeneReader& genes, std::size_t variant) {
  const DType dtype = draft.draw_floating(genes);
  const bool planar = variant == 0;
  const Shape large = planar ? Shape{1, 2, 4, 4} : Shape{1, 2, 2, 4, 4};
  const Shape small = planar ? Shape{1, 2, 2, 2} : Shape{1, 2, 1, 2, 2};
  const std::vector<std::int64_t> window(planar ? 2 : 3, 2);
  const TensorIndex self = draft.pick_like(genes, dtype, large);
  const Layout layout = row_major_like(draft, {self}, small);
  TensorIndex values = 0;
  TensorIndex places = 0;
  {
    NodeBuilder node(draft, planar ? "aten.max_pool2d_with_indices.default"
                                   : "aten.max_pool3d_with_indices.default");
    node.tensor("self", self).integers("kernel_size", window);
    values = node.fresh(dtype, small, layout);
    places = node.fresh(DType::kInt64, small, layout);
    draft.set_range(places, {0, planar ? 15 : 31});
  }
  const Layout unpooled = row_major_like(draft, {values}, large);
  NodeBuilder node(draft, planar ? "aten.max_unpool2d.default" : "aten.max_unpool3d.default");
  node.tensor("self", values).tensor("indices", places);
  node.integers("output_size",
                planar ? std::vector<std::int64_t>{4, 4} : std::vector<std::int64_t>{2, 4, 4});
  if (!planar) node.integers("stride", window).integers("padding", {0, 0, 0});
  node.fresh(dtype, large, unpooled);
  return true;
}

constexpr DrawnOp kUnpoolingRows[] = {{"aten.max_unpool2d", 1, draw_max_unpool, 0, 6},
                                      {"aten.max_unpool3d", 1, draw_max_unpool, 1, 6}};

}  // namespace

std::span<const DrawnOp> unpooling_rows() { return kUnpoolingRows; }

}  // namespace graphgate::fuzz
