// Gradients of activation functions, of dropout and of softmax.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

struct Gradient {
  std::string_view name;
  std::string_view second;  // what the op reads beside the gradient
};
constexpr Gradient kGradients[] = {{"aten.sigmoid_backward", "output"},
                                   {"aten.tanh_backward", "output"},
                                   {"aten.silu_backward", "self"},
                                   {"aten.gelu_backward", "self"},
                                   {"aten.threshold_backward", "self"}};

// The gradient and the other have the same sizes and layout, so that either decides the strides.
bool draw_gradient(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Gradient& gradient = kGradients[variant];
  const TensorIndex first = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(first);
  const auto second = pick_alike(draft, genes, from);
  if (!second) return false;
  const Layout layout = row_major_like(draft, {first, *second}, from.sizes);
  NodeBuilder node(draft, std::string(gradient.name) + ".default");
  node.tensor("grad_output", first).tensor(gradient.second, *second);
  if (gradient.name == "aten.threshold_backward") node.real("threshold", 0.25);
  if (gradient.name == "aten.gelu_backward" && genes.chance(40)) node.text("approximate", "tanh");
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

// Of the input or, where both have the same sign, of the result.
bool draw_slope_gradient(Draft& draft, GeneReader& genes, std::size_t is_elu) {
  const TensorIndex first = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(first);
  const auto second = pick_alike(draft, genes, from);
  if (!second) return false;
  const Layout layout = row_major_like(draft, {first, *second}, from.sizes);
  const bool is_result = genes.chance(30);
  NodeBuilder node(draft,
                   is_elu == 1 ? "aten.elu_backward.default" : "aten.leaky_relu_backward.default");
  node.tensor("grad_output", first);
  if (is_elu == 1) {
    node.real("alpha", 0.5).real("scale", 1).real("input_scale", 1).boolean("is_result", is_result);
    node.tensor("self_or_result", *second);
  } else {
    node.tensor("self", *second).real("negative_slope", 0.25).boolean("self_is_result", is_result);
  }
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

bool draw_dropout_gradient(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex first = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(first);
  const TensorIndex mask = pick_mask(draft, genes, from.sizes);
  if (draft.tensor(mask).sizes != from.sizes) return false;
  const Layout layout = row_major_like(draft, {first, mask}, from.sizes);
  NodeBuilder node(draft, "aten.native_dropout_backward.default");
  node.tensor("grad_output", first).tensor("mask", mask).real("scale", 1.25);
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

bool draw_softmax_gradient(Draft& draft, GeneReader& genes, std::size_t is_log) {
  const TensorIndex first = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(first);
  const auto output = pick_alike(draft, genes, from);
  if (!output) return false;
  NodeBuilder node(draft, is_log == 1 ? "aten._log_softmax_backward_data.default"
                                      : "aten._softmax_backward_data.default");
  node.tensor("grad_output", first).tensor("output", *output);
  node.integer("dim", draw_dim(genes, from.sizes.rank)).dtype("input_dtype", from.dtype);
  node.fresh(from.dtype, from.sizes);
  return true;
}

}  // namespace

std::span<const DrawnOp> activation_backward_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    std::vector<DrawnOp> rows;
    rows.reserve(std::size(kGradients) + 5);
    for (std::uint32_t i = 0; i < std::size(kGradients); ++i) {
      rows.push_back({kGradients[i].name, 1, draw_gradient, i, 6});
    }
    rows.push_back({"aten.native_dropout_backward", 1, draw_dropout_gradient, 0, 6});
    rows.push_back({"aten._softmax_backward_data", 1, draw_softmax_gradient, 0, 6});
    rows.push_back({"aten._log_softmax_backward_data", 1, draw_softmax_gradient, 1, 6});
    rows.push_back({"aten.leaky_relu_backward", 1, draw_slope_gradient, 0, 8});
    rows.push_back({"aten.elu_backward", 1, draw_slope_gradient, 1, 8});
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
