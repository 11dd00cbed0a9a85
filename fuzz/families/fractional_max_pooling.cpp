// Maxima over windows whose beginnings a sample tells.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

// Samples of one number, so that windows lie where they do at every call.
bool draw_fractional(Draft& draft, GeneReader& genes, std::size_t variant) {
  const DType dtype = draft.draw_floating(genes);
  const bool planar = variant == 0;
  const Shape from = planar ? Shape{1, 2, 4, 4} : Shape{1, 2, 4, 4, 4};
  const Shape sizes = planar ? Shape{1, 2, 2, 2} : Shape{1, 2, 2, 2, 2};
  const TensorIndex self = draft.pick_like(genes, dtype, from);
  const TensorIndex samples = draft.add_filled(dtype, Shape{1, 2, planar ? 2 : 3}, 0);
  NodeBuilder node(
      draft, planar ? "aten.fractional_max_pool2d.default" : "aten.fractional_max_pool3d.default");
  const std::vector<std::int64_t> window(planar ? 2 : 3, 2);
  node.tensor("self", self).integers("kernel_size", window).integers("output_size", window);
  node.tensor("random_samples", samples);
  node.fresh(dtype, sizes);
  draft.set_range(node.fresh(DType::kInt64, sizes), {0, planar ? 15 : 63});
  return true;
}

constexpr DrawnOp kFractionalRows[] = {{"aten.fractional_max_pool2d", 1, draw_fractional, 0, 6},
                                       {"aten.fractional_max_pool3d", 1, draw_fractional, 1, 6}};

}  // namespace

std::span<const DrawnOp> fractional_max_pooling_rows() { return kFractionalRows; }

}  // namespace graphgate::fuzz
