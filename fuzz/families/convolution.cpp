// Convolutions of small planes.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

// One dimension or two of space; groups, strides and padding by gene.
bool draw_convolution(Draft& draft, GeneReader& genes, std::size_t variant) {
  const spec::DType dtype = draft.draw_floating(genes);
  const bool is_plane = variant != 1;
  const Shape input_sizes = is_plane ? Shape{1, 4, 5, 5} : Shape{1, 4, 8};
  const bool grouped = genes.chance(40);
  const Size inner = grouped ? 2 : 4;
  const Shape weight_sizes = is_plane ? Shape{4, inner, 3, 3} : Shape{4, inner, 3};
  const TensorIndex input = draft.pick_like(genes, dtype, input_sizes);
  const TensorIndex weight = draft.pick_like(genes, dtype, weight_sizes);
  std::optional<TensorIndex> bias;
  if (genes.chance(50)) bias = draft.pick_like(genes, dtype, Shape{4});
  const Size stride = genes.chance(40) ? 2 : 1;
  const Size padding = genes.chance(50) ? 1 : 0;
  Shape sizes = input_sizes;
  const std::size_t spatial = is_plane ? 2 : 1;
  for (std::size_t d = 0; d < spatial; ++d) {
    Size& size = sizes[2 + static_cast<int>(d)];
    size = (size + 2 * padding - 3) / stride + 1;
  }
  const auto each = [&](std::int64_t value) { return std::vector<std::int64_t>(spatial, value); };
  static constexpr const char* kNames[] = {"aten.convolution.default", "aten.conv1d.default",
                                           "aten.conv2d.default"};
  const Layout layout = row_major_like(draft, {input, weight}, sizes);
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("input", input).tensor("weight", weight).optional_tensor("bias", bias);
  node.integers("stride", each(stride)).integers("padding", each(padding));
  node.integers("dilation", each(1));
  if (variant == 0) node.boolean("transposed", false).integers("output_padding", each(0));
  node.integer("groups", grouped ? 2 : 1).fresh(dtype, sizes, layout);
  return true;
}

// The gradients of a convolution of planes, or of its input and weights alone.
bool draw_convolution_backward(Draft& draft, GeneReader& genes, std::size_t) {
  const spec::DType dtype = draft.draw_floating(genes);
  const bool is_transposed = genes.chance(30);
  const Size stride = genes.chance(40) ? 2 : 1;
  const Size padding = genes.chance(50) ? 1 : 0;
  const Size groups = genes.chance(40) ? 2 : 1;
  const Shape input_sizes{1, 4, 5, 5};
  const Shape weight_sizes{4, 4 / groups, 3, 3};
  Shape sizes = input_sizes;
  for (int d = 2; d < 4; ++d) {
    sizes[d] = is_transposed ? (sizes[d] - 1) * stride - 2 * padding + 3
                             : (sizes[d] + 2 * padding - 3) / stride + 1;
  }
  const TensorIndex gradient = draft.pick_like(genes, dtype, sizes);
  const TensorIndex input = draft.pick_like(genes, dtype, input_sizes);
  const TensorIndex weight = draft.pick_like(genes, dtype, weight_sizes);
  const Layout of_input = row_major_like(draft, {input, weight}, input_sizes);
  const Layout of_weight = row_major_like(draft, {input, weight}, weight_sizes);
  NodeBuilder node(draft, "aten.convolution_backward.default");
  node.tensor("grad_output", gradient).tensor("input", input).tensor("weight", weight);
  node.integers("bias_sizes", {4}).integers("stride", {stride, stride});
  node.integers("padding", {padding, padding}).integers("dilation", {1, 1});
  node.boolean("transposed", is_transposed).integers("output_padding", {0, 0});
  node.integer("groups", groups);
  node.argument("output_mask", {spec::Argument::List{{true}, {true}, {true}}});
  node.fresh(dtype, input_sizes, of_input);
  node.fresh(dtype, weight_sizes, of_weight);
  node.fresh(dtype, Shape{4});
  return true;
}

constexpr DrawnOp kConvolutionRows[] = {
    {"aten.convolution", 1, draw_convolution, 0},
    {"aten.conv1d", 1, draw_convolution, 1},
    {"aten.conv2d", 1, draw_convolution, 2},
    {"aten.convolution_backward", 1, draw_convolution_backward, 0, 6}};

}  // namespace

std::span<const DrawnOp> convolution_rows() { return kConvolutionRows; }

}  // namespace graphgate::fuzz
