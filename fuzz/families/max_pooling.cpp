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

// Lines, and planes of three dimensions: values, and places where they are asked for.
struct OtherPool {
  const char* op;
  int spatial;
  bool has_places;
};
constexpr OtherPool kOtherPools[] = {{"aten.max_pool1d.default", 1, false},
                                     {"aten.max_pool1d_with_indices.default", 1, true},
                                     {"aten.max_pool3d.default", 3, false},
                                     {"aten.max_pool3d_with_indices.default", 3, true}};

bool draw_other_pool(Draft& draft, GeneReader& genes, std::size_t variant) {
  const OtherPool& pool = kOtherPools[variant];
  const DType dtype = draft.draw_floating(genes);
  const bool is_line = pool.spatial == 1;
  const TensorIndex self =
      draft.pick_like(genes, dtype, is_line ? Shape{1, 2, 8} : Shape{1, 2, 2, 4, 4});
  const bool overlaps = is_line && genes.chance(40);
  const Shape sizes = !is_line ? Shape{1, 2, 1, 2, 2} : overlaps ? Shape{1, 2, 7} : Shape{1, 2, 4};
  const Layout layout = row_major_like(draft, {self}, sizes);
  NodeBuilder node(draft, pool.op);
  node.tensor("self", self);
  node.integers("kernel_size",
                is_line ? std::vector<std::int64_t>{2} : std::vector<std::int64_t>{2, 2, 2});
  if (overlaps) node.integers("stride", {1});
  node.fresh(dtype, sizes, layout);
  if (pool.has_places) {
    draft.set_range(node.fresh(DType::kInt64, sizes, layout), {0, is_line ? 7 : 31});
  }
  return true;
}

// The maxima of adaptive parts and their gradient, since the places are those of the maxima.
bool draw_adaptive_gradient(Draft& draft, GeneReader& genes, std::size_t is_deep) {
  const DType dtype = draft.draw_floating(genes);
  const Shape plane = is_deep == 1 ? Shape{1, 2, 2, 2, 4} : Shape{1, 2, 4, 4};
  const Shape sizes = is_deep == 1 ? Shape{1, 2, 1, 2, 3} : Shape{1, 2, 3, 1};
  const std::string op = is_deep == 1 ? "aten.adaptive_max_pool3d" : "aten.adaptive_max_pool2d";
  const TensorIndex self = draft.pick_like(genes, dtype, plane);
  const TensorIndex gradient = draft.pick_like(genes, dtype, sizes);
  const Layout layout = row_major_like(draft, {self}, sizes);
  TensorIndex places = 0;
  {
    NodeBuilder node(draft, op + ".default");
    node.tensor("self", self);
    node.integers("output_size", is_deep == 1 ? std::vector<std::int64_t>{1, 2, 3}
                                              : std::vector<std::int64_t>{3, 1});
    node.fresh(dtype, sizes, layout);
    places = node.fresh(DType::kInt64, sizes, layout);
    draft.set_range(places, {0, 15});
  }
  NodeBuilder node(draft, op + "_backward.default");
  node.tensor("grad_output", gradient).tensor("self", self).tensor("indices", places);
  node.fresh(dtype, plane, row_major_like(draft, {self}, plane));
  return true;
}

constexpr DrawnOp kMaxPoolingRows[] = {
    {"aten.max_pool1d", 1, draw_other_pool, 0, 6},
    {"aten.max_pool1d_with_indices", 1, draw_other_pool, 1, 6},
    {"aten.max_pool3d", 1, draw_other_pool, 2, 6},
    {"aten.max_pool3d_with_indices", 1, draw_other_pool, 3, 6},
    {"aten.max_pool2d", 1, draw_max_pool, 0},
    {"aten.max_pool2d_with_indices", 1, draw_max_pool, 1},
    {"aten.adaptive_max_pool2d", 1, draw_adaptive_max, 0},
    {"aten.adaptive_max_pool2d_backward", 2, draw_adaptive_gradient, 0, 13},
    {"aten.adaptive_max_pool3d_backward", 2, draw_adaptive_gradient, 1, 13}};

}  // namespace

std::span<const DrawnOp> max_pooling_rows() { return kMaxPoolingRows; }

}  // namespace graphgate::fuzz
