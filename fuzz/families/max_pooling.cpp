// Maxima over windows, and where they are.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

bool draw_max_pool(Draft& draft, GeneReader& genes, std::size_t with_places) {
  const DType dtype = draft.draw_floating(genes);
  const TensorIndex self = draft.pick_like(genes, dtype, Shape{1, 2, 4, 4});
  const bool pads = genes.chance(40);
  const Shape sizes = pads ? Shape{1, 2, 3, 3} : Shape{1, 2, 2, 2};
  const Layout layout = row_major_like(draft, {self}, sizes);
  NodeBuilder node(
      draft, with_places == 1 ? "aten.max_pool2d_with_indices.default" : "aten.max_pool2d.default");
  node.tensor("self", self).integers("kernel_size", {2, 2}).integers("stride", {2, 2});
  if (pads) node.integers("padding", {1, 1});
  node.fresh(dtype, sizes, layout);
  if (with_places == 1) draft.set_range(node.fresh(DType::kInt64, sizes, layout), {0, 15});
  return true;
}

bool draw_adaptive_max(Draft& draft, GeneReader& genes, std::size_t) {
  const DType dtype = draft.draw_floating(genes);
  const TensorIndex self = draft.pick_like(genes, dtype, Shape{1, 2, 4, 4});
  const Shape sizes{1, 2, 2, 3};
  const Layout layout = row_major_like(draft, {self}, sizes);
  NodeBuilder node(draft, "aten.adaptive_max_pool2d.default");
  node.tensor("self", self).integers("output_size", {2, 3});
  node.fresh(dtype, sizes, layout);
  draft.set_range(node.fresh(DType::kInt64, sizes, layout), {0, 15});
  return true;
}

constexpr DrawnOp kMaxPoolingRows[] = {{"aten.max_pool2d", 1, draw_max_pool, 0},
                                       {"aten.max_pool2d_with_indices", 1, draw_max_pool, 1},
                                       {"aten.adaptive_max_pool2d", 1, draw_adaptive_max, 0}};

}  // namespace

std::span<const DrawnOp> max_pooling_rows() { return kMaxPoolingRows; }

}  // namespace graphgate::fuzz
