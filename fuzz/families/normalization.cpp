// Softmaxes and norms over rows and groups.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

enum Softmax : std::size_t { kSoftmax, kLogSoftmax, kSoftmaxInt, kSafe };

bool draw_softmax(Draft& draft, GeneReader& genes, std::size_t variant) {
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  const int dim = draw_dim(genes, from.sizes.rank);
  static constexpr const char* kNames[] = {"aten._softmax.default", "aten._log_softmax.default",
                                           "aten.softmax.int", "aten._safe_softmax.default"};
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", self).integer("dim", genes.chance(30) ? dim - from.sizes.rank : dim);
  if (variant <= kLogSoftmax) node.boolean("half_to_float", false);
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

// Over the last dimension; native_layer_norm returns mean and reciprocal deviation besides.
bool draw_layer_norm(Draft& draft, GeneReader& genes, std::size_t native) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank >= 2 && is_computed_float(tensor.dtype) &&
           (native == 0 || is_plain_float(tensor.dtype)) && draft.is_row_major(tensor) &&
           is_constant(tensor.sizes[tensor.sizes.rank - 1]) &&
           tensor.sizes[tensor.sizes.rank - 1] > 0;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int last = from.sizes.rank - 1;
  const Size width = from.sizes[last];
  std::optional<TensorIndex> weight;
  std::optional<TensorIndex> bias;
  if (genes.chance(70)) weight = draft.pick_like(genes, from.dtype, Shape{width});
  if (weight && genes.chance(60)) bias = draft.pick_like(genes, from.dtype, Shape{width});
  Shape stats = from.sizes;
  stats[last] = 1;
  NodeBuilder node(draft,
                   native == 1 ? "aten.native_layer_norm.default" : "aten.layer_norm.default");
  node.tensor("input", *self).integers("normalized_shape", {width});
  node.optional_tensor("weight", weight).optional_tensor("bias", bias).real("eps", 1e-5);
  node.fresh(from.dtype, from.sizes);
  if (native == 1) {
    node.fresh(from.dtype, stats);
    node.fresh(from.dtype, stats);
  }
  return true;
}

bool draw_group_norm(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_like(genes, DType::kFloat32, Shape{2, 4, 3});
  if (!draft.is_row_major(draft.tensor(self))) return false;
  const TensorIndex weight = draft.pick_like(genes, DType::kFloat32, Shape{4});
  NodeBuilder node(draft, "aten.native_group_norm.default");
  node.tensor("input", self).tensor("weight", weight).none("bias");
  node.integer("N", 2).integer("C", 4).integer("HxW", 3).integer("group", 2).real("eps", 1e-5);
  node.fresh(DType::kFloat32, Shape{2, 4, 3});
  node.fresh(DType::kFloat32, Shape{2, 2});
  node.fresh(DType::kFloat32, Shape{2, 2});
  return true;
}

// The norm and its gradient, since the statistics are those of the input.
bool draw_group_norm_gradient(Draft& draft, GeneReader& genes, std::size_t) {
  constexpr DType kDType = DType::kFloat32;
  const Shape sizes{2, 4, 3};
  const Shape statistics{2, 2};
  const TensorIndex input = draft.pick_like(genes, kDType, sizes);
  const TensorIndex gradient = draft.pick_like(genes, kDType, sizes);
  if (!draft.is_row_major(draft.tensor(input)) || !draft.is_row_major(draft.tensor(gradient))) {
    return false;
  }
  const TensorIndex weight = draft.pick_like(genes, kDType, Shape{4});
  TensorIndex mean = 0;
  TensorIndex rstd = 0;
  {
    NodeBuilder norm(draft, "aten.native_group_norm.default");
    norm.tensor("input", input).tensor("weight", weight).none("bias");
    norm.integer("N", 2).integer("C", 4).integer("HxW", 3).integer("group", 2).real("eps", 0.125);
    norm.fresh(kDType, sizes);
    mean = norm.fresh(kDType, statistics);
    rstd = norm.fresh(kDType, statistics);
  }
  NodeBuilder node(draft, "aten.native_group_norm_backward.default");
  node.tensor("grad_out", gradient).tensor("input", input).tensor("mean", mean);
  node.tensor("rstd", rstd).tensor("weight", weight);
  node.integer("N", 2).integer("C", 4).integer("HxW", 3).integer("group", 2);
  node.argument("output_mask", {spec::Argument::List{{true}, {true}, {true}}});
  node.fresh(kDType, sizes);
  node.fresh(kDType, Shape{4});
  node.fresh(kDType, Shape{4});
  return true;
}

// Over the last dimension; the fused form returns the factors besides.
bool draw_rms_norm(Draft& draft, GeneReader& genes, std::size_t fused) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank >= 2 && is_plain_float(tensor.dtype) && draft.is_row_major(tensor) &&
           is_constant(tensor.sizes[tensor.sizes.rank - 1]) &&
           tensor.sizes[tensor.sizes.rank - 1] > 0;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const Size width = from.sizes[from.sizes.rank - 1];
  std::optional<TensorIndex> weight;
  if (genes.chance(70)) weight = draft.pick_like(genes, from.dtype, Shape{width});
  Shape stats = from.sizes;
  stats[from.sizes.rank - 1] = 1;
  NodeBuilder node(draft, fused == 1 ? "aten._fused_rms_norm.default" : "aten.rms_norm.default");
  node.tensor("input", *self).integers("normalized_shape", {width});
  node.optional_tensor("weight", weight);
  if (fused == 1 || genes.chance(50)) node.real("eps", 1e-5);
  node.fresh(from.dtype, from.sizes);
  if (fused == 1) node.fresh(from.dtype, stats);
  return true;
}

bool draw_whole_group_norm(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_like(genes, DType::kFloat32, Shape{2, 4, 3});
  if (!draft.is_row_major(draft.tensor(self))) return false;
  const TensorIndex weight = draft.pick_like(genes, DType::kFloat32, Shape{4});
  NodeBuilder node(draft, "aten.group_norm.default");
  node.tensor("input", self).integer("num_groups", 2).tensor("weight", weight).none("bias");
  node.fresh(DType::kFloat32, Shape{2, 4, 3});
  return true;
}

constexpr DrawnOp kNormalizationRows[] = {
    {"aten._softmax", 4, draw_softmax, kSoftmax},
    {"aten._log_softmax", 2, draw_softmax, kLogSoftmax},
    {"aten.softmax", 2, draw_softmax, kSoftmaxInt},
    {"aten._safe_softmax", 1, draw_softmax, kSafe},
    {"aten.layer_norm", 3, draw_layer_norm, 0},
    {"aten.native_layer_norm", 3, draw_layer_norm, 1},
    {"aten.native_group_norm", 1, draw_group_norm, 0},
    {"aten.native_group_norm_backward", 3, draw_group_norm_gradient, 0, 13},
    {"aten.rms_norm", 1, draw_rms_norm, 0, 6},
    {"aten._fused_rms_norm", 1, draw_rms_norm, 1, 6},
    {"aten.group_norm", 1, draw_whole_group_norm, 0, 6}};

}  // namespace

std::span<const DrawnOp> normalization_rows() { return kNormalizationRows; }

}  // namespace graphgate::fuzz
