// Blocks of images as columns, and back.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

// Images of 2 channels and 4 x 4, in 9 blocks of 2 x 2.
bool draw_folding(Draft& draft, GeneReader& genes, std::size_t back) {
  const DType dtype = draft.draw_floating(genes);
  const Shape image{1, 2, 4, 4};
  const Shape columns{1, 8, 9};
  const TensorIndex self = draft.pick_like(genes, dtype, back == 1 ? columns : image);
  NodeBuilder node(draft, back == 1 ? "aten.col2im.default" : "aten.im2col.default");
  node.tensor("self", self);
  if (back == 1) node.integers("output_size", {4, 4});
  node.integers("kernel_size", {2, 2}).integers("dilation", {1, 1});
  node.integers("padding", {0, 0}).integers("stride", {1, 1});
  node.fresh(dtype, back == 1 ? image : columns);
  return true;
}

constexpr DrawnOp kFoldingRows[] = {{"aten.im2col", 1, draw_folding, 0, 6},
                                    {"aten.col2im", 1, draw_folding, 1, 6}};

}  // namespace

std::span<const DrawnOp> folding_rows() { return kFoldingRows; }

}  // namespace graphgate::fuzz
