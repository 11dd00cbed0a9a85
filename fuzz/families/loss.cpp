// Losses between numbers, as they are or reduced.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

constexpr std::string_view kLosses[] = {
    "aten.mse_loss",         "aten.l1_loss",
    "aten.smooth_l1_loss",   "aten.huber_loss",
    "aten.soft_margin_loss", "aten.binary_cross_entropy_with_logits",
    "aten.kl_div",           "aten.binary_cross_entropy"};
constexpr std::size_t kOfProbabilities = 7;

TensorIndex computed(Draft& draft, const char* op, TensorIndex of) {
  const DrawnTensor from = draft.tensor(of);
  const Layout layout = row_major_like(draft, {of}, from.sizes);
  NodeBuilder node(draft, op);
  node.tensor("self", of);
  return node.fresh(from.dtype, from.sizes, layout);
}

// Numbers between 0 and 1, and no NaN. At the ends a rounding of a prediction is a step of its
// logarithm to -100, the same for all that are equal: more than the estimate follows.
TensorIndex probabilities(Draft& draft, TensorIndex of) {
  const DrawnTensor from = draft.tensor(of);
  const Layout layout = row_major_like(draft, {of}, from.sizes);
  const TensorIndex sigmoid =
      computed(draft, "aten.sigmoid.default", computed(draft, "aten.nan_to_num.default", of));
  NodeBuilder node(draft, "aten.clamp.default");
  node.tensor("self", sigmoid).real("min", 0.0625).real("max", 0.9375);
  return node.fresh(from.dtype, from.sizes, layout);
}

bool draw_loss(Draft& draft, GeneReader& genes, std::size_t variant) {
  TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const auto target = pick_alike(draft, genes, from);
  if (!target) return false;
  if (variant == kOfProbabilities) self = probabilities(draft, self);
  const std::int64_t reduction = static_cast<std::int64_t>(genes.next() % 3);
  const Layout layout = row_major_like(draft, {self, *target}, from.sizes);
  NodeBuilder node(draft, std::string(kLosses[variant]) + ".default");
  node.tensor("self", self).tensor("target", *target);
  if (reduction != 1) node.integer("reduction", reduction);
  if (reduction == 0) {
    node.fresh(from.dtype, from.sizes, layout);
  } else {
    node.fresh(from.dtype, Shape{});
  }
  return true;
}

}  // namespace

std::span<const DrawnOp> loss_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    std::vector<DrawnOp> rows;
    rows.reserve(std::size(kLosses));
    for (std::uint32_t i = 0; i < std::size(kLosses); ++i) {
      rows.push_back({kLosses[i], 1, draw_loss, i, 6});
    }
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
