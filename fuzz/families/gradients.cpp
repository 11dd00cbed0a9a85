// Gradients of losses, of norms, of what picks parts and of embeddings.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace gradients {
namespace {

using spec::DType;

// The gradient of a mean or a sum is one number, that of losses has their sizes.
struct Loss {
  std::string_view op;
  const char* number;  // what the loss is given besides, or null
};
constexpr Loss kLosses[] = {{"aten.mse_loss_backward.default", nullptr},
                            {"aten.smooth_l1_loss_backward.default", "beta"},
                            {"aten.huber_loss_backward.default", "delta"}};

bool draw_loss_gradient(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Loss& loss = kLosses[variant];
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const TensorIndex target = draft.pick_like(genes, from.dtype, from.sizes);
  const std::int64_t reduction = genes.next() % 3;
  const TensorIndex gradient =
      draft.pick_like(genes, from.dtype, reduction == 0 ? from.sizes : Shape{});
  NodeBuilder node(draft, loss.op);
  node.tensor("grad_output", gradient).tensor("self", self).tensor("target", target);
  node.integer("reduction", reduction);
  if (loss.number) node.real(loss.number, genes.chance(50) ? 1.0 : 0.5);
  node.fresh(from.dtype, from.sizes);
  return true;
}

// Of predictions between 0 and 1.
bool draw_entropy_gradient(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex logits = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(logits);
  const TensorIndex target = draft.pick_like(genes, from.dtype, from.sizes);
  const TensorIndex gradient = draft.pick_like(genes, from.dtype, from.sizes);
  TensorIndex self = 0;
  {
    NodeBuilder sigmoid(draft, "aten.sigmoid.default");
    sigmoid.tensor("self", logits);
    self = sigmoid.fresh(from.dtype, from.sizes);
  }
  NodeBuilder node(draft, "aten.binary_cross_entropy_backward.default");
  node.tensor("grad_output", gradient).tensor("self", self).tensor("target", target);
  node.none("weight").integer("reduction", genes.next() % 3).fresh(from.dtype, from.sizes);
  return true;
}

// Of a gate whose halves lie beside each other in the last dimension.
bool draw_gate_gradient(Draft& draft, GeneReader& genes, std::size_t) {
  const auto gradient = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kFloat32 && tensor.sizes.rank >= 1 &&
           is_constant(tensor.sizes[tensor.sizes.rank - 1]);
  });
  if (!gradient) return false;
  const DrawnTensor from = draft.tensor(*gradient);
  Shape sizes = from.sizes;
  Size& last = sizes[sizes.rank - 1];
  last = static_cast<Size>(2 * draft.table().least(last));
  const TensorIndex self = draft.pick_like(genes, from.dtype, sizes);
  NodeBuilder node(draft, "aten.glu_backward.default");
  node.tensor("grad_output", *gradient).tensor("self", self).integer("dim", -1);
  node.fresh(from.dtype, sizes);
  return true;
}

// A tensor put back where a slice or a row of a larger one was taken.
bool draw_part_gradient(Draft& draft, GeneReader& genes, std::size_t is_select) {
  const TensorIndex gradient = draft.pick_floating(genes, 1, 3);
  const DrawnTensor from = draft.tensor(gradient);
  const int dim = static_cast<int>(genes.next() % static_cast<std::uint32_t>(from.sizes.rank));
  if (!is_constant(from.sizes[dim])) return false;
  const std::int64_t before = genes.next() % 3;
  const std::int64_t behind = genes.next() % 3;
  const std::int64_t length = draft.table().least(from.sizes[dim]);
  Shape sizes;
  if (is_select == 1) {
    for (int d = 0; d < from.sizes.rank; ++d) {
      if (d == dim) sizes.push(static_cast<Size>(before + behind + 1));
      sizes.push(from.sizes[d]);
    }
    NodeBuilder node(draft, "aten.select_backward.default");
    node.tensor("grad_output", gradient).sizes("input_sizes", sizes);
    node.integer("dim", dim).integer("index", before);
    node.fresh(from.dtype, sizes);
    return true;
  }
  sizes = from.sizes;
  sizes[dim] = static_cast<Size>(before + length + behind);
  NodeBuilder node(draft, "aten.slice_backward.default");
  node.tensor("grad_output", gradient).sizes("input_sizes", sizes).integer("dim", dim);
  node.integer("start", before).integer("end", before + length).integer("step", 1);
  node.fresh(from.dtype, sizes);
  return true;
}

bool draw_embedding_gradient(Draft& draft, GeneReader& genes, std::size_t) {
  const auto gradient = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kFloat32 && tensor.sizes.rank >= 2;
  });
  if (!gradient) return false;
  const DrawnTensor from = draft.tensor(*gradient);
  Shape rows = from.sizes;
  rows.erase(from.sizes.rank - 1);
  const std::int64_t weights = 2 + genes.next() % 6;
  const TensorIndex index = draft.pick_index(genes, rows, static_cast<Size>(weights));
  NodeBuilder node(draft, "aten.embedding_dense_backward.default");
  node.tensor("grad_output", *gradient).tensor("indices", index);
  node.integer("num_weights", weights);
  node.integer("padding_idx", genes.chance(30) ? std::int64_t{1} : std::int64_t{-1});
  node.boolean("scale_grad_by_freq", false);
  node.fresh(from.dtype, Shape{static_cast<Size>(weights), from.sizes[from.sizes.rank - 1]});
  return true;
}

// The norm and its gradient, since the statistics are those of the input. Behind a value that
// others may have written in between they are not, and the formula stands all the same.
bool draw_layer_norm_gradient(Draft& draft, GeneReader& genes, std::size_t) {
  const auto input = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kFloat32 && tensor.sizes.rank >= 2 &&
           is_constant(tensor.sizes[tensor.sizes.rank - 1]) &&
           draft.table().least(tensor.sizes[tensor.sizes.rank - 1]) >= 2;
  });
  if (!input) return false;
  const DrawnTensor from = draft.tensor(*input);
  const Shape inner{from.sizes[from.sizes.rank - 1]};
  Shape outer = from.sizes;
  outer[from.sizes.rank - 1] = 1;
  const TensorIndex gradient = draft.pick_like(genes, from.dtype, from.sizes);
  const TensorIndex weight = draft.pick_like(genes, from.dtype, inner);
  TensorIndex mean = 0;
  TensorIndex rstd = 0;
  {
    NodeBuilder norm(draft, "aten.native_layer_norm.default");
    norm.tensor("input", *input).sizes("normalized_shape", inner);
    norm.tensor("weight", weight).tensor("bias", weight).real("eps", 1e-3);
    norm.fresh(from.dtype, from.sizes);
    mean = norm.fresh(from.dtype, outer);
    rstd = norm.fresh(from.dtype, outer);
  }
  NodeBuilder node(draft, "aten.native_layer_norm_backward.default");
  node.tensor("grad_out", gradient).tensor("input", *input).sizes("normalized_shape", inner);
  node.tensor("mean", mean).tensor("rstd", rstd).tensor("weight", weight).tensor("bias", weight);
  node.argument("output_mask", {spec::Argument::List{{true}, {true}, {true}}});
  node.fresh(from.dtype, from.sizes);
  node.fresh(from.dtype, inner);
  node.fresh(from.dtype, inner);
  return true;
}

bool draw_batch_norm_gradient(Draft& draft, GeneReader& genes, std::size_t) {
  const auto input = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kFloat32 && (tensor.sizes.rank == 2 || tensor.sizes.rank == 3) &&
           is_constant(tensor.sizes[1]) && draft.table().least(tensor.sizes[1]) > 0 &&
           draft.is_row_major(tensor) && draft.table().least(tensor.sizes[0]) >= 2 &&
           (tensor.sizes.rank == 2 || draft.table().least(tensor.sizes[2]) >= 1);
  });
  if (!input) return false;
  const DrawnTensor from = draft.tensor(*input);
  const Shape channels{from.sizes[1]};
  const TensorIndex gradient = draft.pick_like(genes, from.dtype, from.sizes);
  if (!draft.is_row_major(draft.tensor(gradient))) return false;
  const TensorIndex weight = draft.pick_like(genes, from.dtype, channels);
  TensorIndex mean = 0;
  TensorIndex rstd = 0;
  {
    NodeBuilder norm(draft, "aten._native_batch_norm_legit.no_stats");
    norm.tensor("input", *input).tensor("weight", weight).tensor("bias", weight);
    norm.boolean("training", true).real("momentum", 0.25).real("eps", 1e-3);
    norm.fresh(from.dtype, from.sizes);
    mean = norm.fresh(from.dtype, channels);
    rstd = norm.fresh(from.dtype, channels);
  }
  NodeBuilder node(draft, "aten.native_batch_norm_backward.default");
  node.tensor("grad_out", gradient).tensor("input", *input).tensor("weight", weight);
  node.none("running_mean")
      .none("running_var")
      .tensor("save_mean", mean)
      .tensor("save_invstd", rstd);
  node.boolean("train", true).real("eps", 1e-3);
  node.argument("output_mask", {spec::Argument::List{{true}, {true}, {true}}});
  node.fresh(from.dtype, from.sizes);
  node.fresh(from.dtype, channels);
  node.fresh(from.dtype, channels);
  return true;
}

constexpr DrawnOp kGradientRows[] = {
    {"aten.mse_loss_backward", 1, draw_loss_gradient, 0, 8},
    {"aten.smooth_l1_loss_backward", 1, draw_loss_gradient, 1, 8},
    {"aten.slice_backward", 1, draw_part_gradient, 0, 8},
    {"aten.select_backward", 1, draw_part_gradient, 1, 8},
    {"aten.embedding_dense_backward", 1, draw_embedding_gradient, 0, 8},
    {"aten.native_layer_norm_backward", 2, draw_layer_norm_gradient, 0, 8},
    {"aten.native_batch_norm_backward", 1, draw_batch_norm_gradient, 0, 8},
    {"aten.huber_loss_backward", 1, draw_loss_gradient, 2, 13},
    {"aten.binary_cross_entropy_backward", 2, draw_entropy_gradient, 0, 13},
    {"aten.glu_backward", 1, draw_gate_gradient, 0, 13},
};

}  // namespace
}  // namespace gradients

std::span<const DrawnOp> gradients_rows() { return gradients::kGradientRows; }

}  // namespace graphgate::fuzz
