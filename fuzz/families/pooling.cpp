// Averages over windows.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

Shape plane() { return {1, 2, 4, 4}; }

bool draw_average(Draft& draft, GeneReader& genes, std::size_t) {
  const DType dtype = draft.draw_floating(genes);
  const TensorIndex self = draft.pick_like(genes, dtype, plane());
  const bool overlaps = genes.chance(40);
  const Shape sizes = overlaps ? Shape{1, 2, 3, 3} : Shape{1, 2, 2, 2};
  const Layout layout = row_major_like(draft, {self}, sizes);
  NodeBuilder node(draft, "aten.avg_pool2d.default");
  node.tensor("self", self).integers("kernel_size", {2, 2});
  node.integers("stride",
                overlaps ? std::vector<std::int64_t>{1, 1} : std::vector<std::int64_t>{2, 2});
  node.fresh(dtype, sizes, layout);
  return true;
}

bool draw_adaptive(Draft& draft, GeneReader& genes, std::size_t variant) {
  const DType dtype = draft.draw_floating(genes);
  if (variant == 0) {
    const TensorIndex self = draft.pick_like(genes, dtype, Shape{1, 2, 8});
    NodeBuilder node(draft, "aten.adaptive_avg_pool1d.default");
    node.tensor("self", self).integers("output_size", {3});
    node.fresh(dtype, Shape{1, 2, 3}, Layout{});
    return true;
  }
  const TensorIndex self = draft.pick_like(genes, dtype, plane());
  const Layout layout = row_major_like(draft, {self}, Shape{1, 2, 2, 3});
  NodeBuilder node(draft, variant == 1 ? "aten._adaptive_avg_pool2d.default"
                                       : "aten.adaptive_avg_pool2d.default");
  node.tensor("self", self).integers("output_size", {2, 3});
  node.fresh(dtype, Shape{1, 2, 2, 3}, layout);
  return true;
}

bool draw_line_average(Draft& draft, GeneReader& genes, std::size_t) {
  const DType dtype = draft.draw_floating(genes);
  const TensorIndex self = draft.pick_like(genes, dtype, Shape{1, 2, 8});
  const bool pads = genes.chance(40);
  const Shape sizes = pads ? Shape{1, 2, 5} : Shape{1, 2, 4};
  const Layout layout = row_major_like(draft, {self}, sizes);
  NodeBuilder node(draft, "aten.avg_pool1d.default");
  node.tensor("self", self).integers("kernel_size", {2});
  if (pads) node.integers("stride", {2}).integers("padding", {1});
  node.fresh(dtype, sizes, layout);
  return true;
}

constexpr DrawnOp kPoolingRows[] = {{"aten.avg_pool1d", 1, draw_line_average, 0, 6},
                                    {"aten.avg_pool2d", 1, draw_average, 0},
                                    {"aten.adaptive_avg_pool1d", 1, draw_adaptive, 0},
                                    {"aten._adaptive_avg_pool2d", 1, draw_adaptive, 1},
                                    {"aten.adaptive_avg_pool2d", 1, draw_adaptive, 2}};

}  // namespace

std::span<const DrawnOp> pooling_rows() { return kPoolingRows; }

}  // namespace graphgate::fuzz
