// Ops that an inference engine registers: they write arguments and return nothing.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_silu_and_mul(Draft& draft, GeneReader& genes, std::size_t) {
  const auto halved = pick_halved(draft, genes);
  if (!halved) return false;
  NodeBuilder node(draft, "vllm.silu_and_mul.default");
  node.tensor("out", halved->out).tensor("input", halved->input).writes(halved->out);
  return true;
}

bool draw_add_rms_norm(Draft& draft, GeneReader& genes, std::size_t) {
  const auto input = draft.pick(genes, [&](const DrawnTensor& tensor) {
    const int last = tensor.sizes.rank - 1;
    return is_computed_float(tensor.dtype) && tensor.sizes.rank >= 1 && !tensor.overlaps &&
           is_constant(tensor.sizes[last]) && tensor.sizes[last] > 0 && tensor.has_layout;
  });
  if (!input || !draft.may_write(*input)) return false;
  const DrawnTensor from = draft.tensor(*input);
  const auto residual = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == from.dtype && tensor.sizes == from.sizes && !tensor.overlaps &&
           tensor.storage != from.storage;
  });
  if (!residual || !draft.may_write(*residual)) return false;
  const TensorIndex weight =
      draft.pick_like(genes, from.dtype, Shape{from.sizes[from.sizes.rank - 1]});
  if (draft.tensor(weight).storage == from.storage ||
      draft.tensor(weight).storage == draft.tensor(*residual).storage) {
    return false;
  }
  NodeBuilder node(draft, "vllm.fused_add_rms_norm.default");
  node.tensor("input", *input).tensor("residual", *residual).tensor("weight", weight);
  node.real("epsilon", 1e-5).writes(*input).writes(*residual);
  return true;
}

// Attention into an output that was empty until then: what vLLM splits its graphs at.
bool draw_unified_attention(Draft& draft, GeneReader& genes, std::size_t) {
  const AttentionOperands in = draw_attention_operands(draft, genes);
  const TensorIndex output = draft.add_empty(in.dtype, in.sizes);
  NodeBuilder node(draft, "vllm.unified_attention_with_output.default");
  node.tensor("query", in.query).tensor("key", in.key).tensor("value", in.value);
  node.tensor("output", output).text("layer_name", "layer").writes(output);
  return true;
}

constexpr DrawnOp kVllmRows[] = {
    {"vllm.silu_and_mul", 4, draw_silu_and_mul, 0},
    {"vllm.fused_add_rms_norm", 3, draw_add_rms_norm, 0},
    {"vllm.unified_attention_with_output", 4, draw_unified_attention, 0}};

}  // namespace

std::span<const DrawnOp> vllm_rows() { return kVllmRows; }

}  // namespace graphgate::fuzz
