// Scaled dot product attention.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

bool draw_attention(Draft& draft, GeneReader& genes, std::size_t flash) {
  const DType dtype = flash == 1 ? DType::kFloat32 : draft.draw_floating(genes);
  const auto& dims = draft.settings().dims;
  const Size length = dims[genes.below(dims.size())];
  const Shape sizes{1, 2, length, 4};
  if (draft.table().least(length) < 1) return false;
  const TensorIndex query = draft.pick_like(genes, dtype, sizes);
  const TensorIndex key = draft.pick_like(genes, dtype, sizes);
  const TensorIndex value = draft.pick_like(genes, dtype, sizes);
  const bool is_causal = genes.chance(40);
  std::optional<TensorIndex> mask;
  if (flash == 0 && !is_causal && genes.chance(40)) {
    mask = draft.pick_like(genes, dtype, Shape{length, length});
  }
  NodeBuilder node(draft, flash == 1 ? "aten._scaled_dot_product_flash_attention_for_cpu.default"
                                     : "aten.scaled_dot_product_attention.default");
  node.tensor("query", query).tensor("key", key).tensor("value", value);
  if (flash == 0) node.optional_tensor("attn_mask", mask);
  node.real("dropout_p", 0.0).boolean("is_causal", is_causal);
  node.fresh(dtype, sizes, Layout{});
  if (flash == 1) node.fresh(DType::kFloat32, Shape{1, 2, length}, Layout{});
  return true;
}

constexpr DrawnOp kAttentionRows[] = {
    {"aten.scaled_dot_product_attention", 3, draw_attention, 0},
    {"aten._scaled_dot_product_flash_attention_for_cpu", 1, draw_attention, 1}};

}  // namespace

std::span<const DrawnOp> attention_rows() { return kAttentionRows; }

}  // namespace graphgate::fuzz
