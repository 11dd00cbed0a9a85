// Batch norms: some of them update running statistics that the schema does not call written.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

struct Parts {
  TensorIndex input = 0;
  TensorIndex weight = 0;
  TensorIndex bias = 0;
  TensorIndex mean = 0;
  TensorIndex variance = 0;
  DrawnTensor from;
};

std::optional<Parts> pick_parts(Draft& draft, GeneReader& genes, bool writes) {
  const auto input = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kFloat32 && (tensor.sizes.rank == 2 || tensor.sizes.rank == 3) &&
           is_constant(tensor.sizes[1]) && tensor.sizes[1] > 0 && draft.is_row_major(tensor) &&
           draft.table().least(tensor.sizes[0]) >= 2;
  });
  if (!input) return std::nullopt;
  Parts parts;
  parts.input = *input;
  parts.from = draft.tensor(*input);
  const Shape channels{parts.from.sizes[1]};
  parts.weight = draft.pick_like(genes, DType::kFloat32, channels);
  parts.bias = draft.pick_like(genes, DType::kFloat32, channels);
  parts.mean = draft.add_input(spec::InputKind::kBuffer, DType::kFloat32, channels);
  parts.variance = draft.add_input(spec::InputKind::kBuffer, DType::kFloat32, channels);
  if (writes && parts.from.sizes.rank == 3 && draft.table().least(parts.from.sizes[2]) < 1) {
    return std::nullopt;
  }
  return parts;
}

// A variance that is not negative: seeded buffers may be.
TensorIndex squared(Draft& draft, TensorIndex of) {
  const DrawnTensor from = draft.tensor(of);
  NodeBuilder node(draft, "aten.mul.Tensor");
  node.tensor("self", of).tensor("other", of);
  return node.fresh(from.dtype, from.sizes);
}

// batch_norm and native_batch_norm: in training they update the buffers without saying so.
bool draw_batch_norm(Draft& draft, GeneReader& genes, std::size_t native) {
  const bool trains = genes.chance(60);
  const auto parts = pick_parts(draft, genes, trains);
  if (!parts) return false;
  const TensorIndex variance = trains ? parts->variance : squared(draft, parts->variance);
  NodeBuilder node(draft,
                   native == 1 ? "aten.native_batch_norm.default" : "aten.batch_norm.default");
  node.tensor("input", parts->input).tensor("weight", parts->weight).tensor("bias", parts->bias);
  node.tensor("running_mean", parts->mean).tensor("running_var", variance);
  node.boolean("training", trains).real("momentum", 0.25).real("eps", 1e-3);
  if (native == 0) node.boolean("cudnn_enabled", false);
  node.fresh(DType::kFloat32, parts->from.sizes);
  if (native == 1) {
    const Shape saved = trains ? Shape{parts->from.sizes[1]} : Shape{0};
    node.fresh(DType::kFloat32, saved);
    node.fresh(DType::kFloat32, saved);
  }
  if (trains) {
    draft.note_write(parts->mean);
    draft.note_write(parts->variance);
  }
  return true;
}

bool draw_no_training(Draft& draft, GeneReader& genes, std::size_t) {
  const auto parts = pick_parts(draft, genes, false);
  if (!parts) return false;
  const TensorIndex variance = squared(draft, parts->variance);
  NodeBuilder node(draft, "aten._native_batch_norm_legit_no_training.default");
  node.tensor("input", parts->input).tensor("weight", parts->weight).tensor("bias", parts->bias);
  node.tensor("running_mean", parts->mean).tensor("running_var", variance);
  node.real("momentum", 0.25).real("eps", 1e-3);
  node.fresh(DType::kFloat32, parts->from.sizes);
  node.fresh(DType::kFloat32, Shape{0});
  node.fresh(DType::kFloat32, Shape{0});
  return true;
}

// The form whose schema says that it writes its statistics.
bool draw_legit(Draft& draft, GeneReader& genes, std::size_t) {
  const auto parts = pick_parts(draft, genes, true);
  if (!parts) return false;
  NodeBuilder node(draft, "aten._native_batch_norm_legit.default");
  node.tensor("input", parts->input).tensor("weight", parts->weight).tensor("bias", parts->bias);
  node.tensor("running_mean", parts->mean).tensor("running_var", parts->variance);
  node.boolean("training", true).real("momentum", 0.25).real("eps", 1e-3);
  node.fresh(DType::kFloat32, parts->from.sizes);
  const Shape saved{parts->from.sizes[1]};
  node.fresh(DType::kFloat32, saved);
  node.fresh(DType::kFloat32, saved);
  draft.note_write(parts->mean);
  draft.note_write(parts->variance);
  return true;
}

bool draw_with_update(Draft& draft, GeneReader& genes, std::size_t) {
  const auto parts = pick_parts(draft, genes, true);
  if (!parts) return false;
  NodeBuilder node(draft, "aten._batch_norm_with_update.default");
  node.tensor("input", parts->input).tensor("weight", parts->weight).tensor("bias", parts->bias);
  node.tensor("running_mean", parts->mean).tensor("running_var", parts->variance);
  node.real("momentum", 0.25).real("eps", 1e-3);
  node.fresh(DType::kFloat32, parts->from.sizes);
  const Shape saved{parts->from.sizes[1]};
  node.fresh(DType::kFloat32, saved);
  node.fresh(DType::kFloat32, saved);
  node.fresh(DType::kUInt8, Shape{0});
  draft.note_write(parts->mean);
  draft.note_write(parts->variance);
  return true;
}

// By the statistics of each instance, which leaves no running ones behind.
bool draw_instance_norm(Draft& draft, GeneReader& genes, std::size_t) {
  const auto input = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kFloat32 && tensor.sizes.rank == 3 &&
           is_constant(tensor.sizes[1]) && tensor.sizes[1] > 0 && draft.is_row_major(tensor) &&
           draft.table().least(tensor.sizes[0]) >= 1 && draft.table().least(tensor.sizes[2]) >= 2;
  });
  if (!input) return false;
  const DrawnTensor from = draft.tensor(*input);
  std::optional<TensorIndex> weight;
  if (genes.chance(50)) weight = draft.pick_like(genes, from.dtype, Shape{from.sizes[1]});
  NodeBuilder node(draft, "aten.instance_norm.default");
  node.tensor("input", *input).optional_tensor("weight", weight).none("bias");
  node.none("running_mean").none("running_var").boolean("use_input_stats", true);
  node.real("momentum", 0.25).real("eps", 1e-3).boolean("cudnn_enabled", false);
  node.fresh(from.dtype, from.sizes);
  return true;
}

constexpr DrawnOp kBatchNormRows[] = {
    {"aten.batch_norm", 2, draw_batch_norm, 0},
    {"aten.native_batch_norm", 1, draw_batch_norm, 1},
    {"aten._native_batch_norm_legit_no_training", 1, draw_no_training, 0},
    {"aten._native_batch_norm_legit", 2, draw_legit, 0},
    {"aten._batch_norm_with_update", 1, draw_with_update, 0, 6},
    {"aten.instance_norm", 1, draw_instance_norm, 0, 6}};

}  // namespace

std::span<const DrawnOp> batch_norm_rows() { return kBatchNormRows; }

}  // namespace graphgate::fuzz
