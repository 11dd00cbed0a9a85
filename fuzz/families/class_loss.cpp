// Losses of scores for classes.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

struct Scores {
  TensorIndex self = 0;
  DrawnTensor from;
  TensorIndex target = 0;
  std::optional<TensorIndex> weight;
};

// Scores [rows, classes] with a target for each row, and a weight for each class, or none.
std::optional<Scores> pick_scores(Draft& draft, GeneReader& genes) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_plain_float(tensor.dtype) && tensor.sizes.rank == 2 &&
           draft.table().least(tensor.sizes[0]) >= 1 && draft.table().least(tensor.sizes[1]) >= 1;
  });
  if (!self) return std::nullopt;
  Scores scores;
  scores.self = *self;
  scores.from = draft.tensor(*self);
  scores.target = draft.pick_index(genes, Shape{scores.from.sizes[0]}, scores.from.sizes[1]);
  if (draft.tensor(scores.target).dtype != DType::kInt64) return std::nullopt;
  if (genes.chance(40)) {
    scores.weight = draft.pick_like(genes, scores.from.dtype, Shape{scores.from.sizes[1]});
  }
  return scores;
}

bool draw_likelihood(Draft& draft, GeneReader& genes, std::size_t) {
  const auto scores = pick_scores(draft, genes);
  if (!scores) return false;
  const std::int64_t reduction = static_cast<std::int64_t>(genes.next() % 3);
  NodeBuilder node(draft, "aten.nll_loss_forward.default");
  node.tensor("self", scores->self).tensor("target", scores->target);
  node.optional_tensor("weight", scores->weight).integer("reduction", reduction);
  node.integer("ignore_index", genes.chance(30) ? 0 : -100);
  node.fresh(scores->from.dtype, reduction == 0 ? Shape{scores->from.sizes[0]} : Shape{});
  node.fresh(scores->from.dtype, Shape{});
  return true;
}

bool draw_likelihood_gradient(Draft& draft, GeneReader& genes, std::size_t) {
  const auto scores = pick_scores(draft, genes);
  if (!scores) return false;
  const bool is_sum = genes.chance(50);
  const Shape sizes = is_sum ? Shape{} : Shape{scores->from.sizes[0]};
  const TensorIndex gradient = draft.pick_like(genes, scores->from.dtype, sizes);
  const TensorIndex total = draft.add_filled(scores->from.dtype, Shape{}, 2);
  NodeBuilder node(draft, "aten.nll_loss_backward.default");
  node.tensor("grad_output", gradient).tensor("self", scores->self);
  node.tensor("target", scores->target).optional_tensor("weight", scores->weight);
  node.integer("reduction", is_sum ? 1 + static_cast<std::int64_t>(genes.next() % 2) : 0);
  node.integer("ignore_index", -100).tensor("total_weight", total);
  node.fresh(scores->from.dtype, scores->from.sizes);
  return true;
}

bool draw_multi_margin(Draft& draft, GeneReader& genes, std::size_t) {
  const auto scores = pick_scores(draft, genes);
  if (!scores) return false;
  const std::int64_t reduction = static_cast<std::int64_t>(genes.next() % 3);
  NodeBuilder node(draft, "aten.multi_margin_loss.default");
  node.tensor("self", scores->self).tensor("target", scores->target);
  node.integer("p", genes.chance(50) ? 2 : 1).integer("margin", 1);
  node.optional_tensor("weight", scores->weight).integer("reduction", reduction);
  node.fresh(scores->from.dtype, reduction == 0 ? Shape{scores->from.sizes[0]} : Shape{});
  return true;
}

bool draw_multilabel_margin(Draft& draft, GeneReader& genes, std::size_t) {
  const auto scores = pick_scores(draft, genes);
  if (!scores) return false;
  const Shape sizes = scores->from.sizes;
  const TensorIndex target = draft.pick_index(genes, sizes, sizes[1]);
  if (draft.tensor(target).dtype != DType::kInt64) return false;
  const std::int64_t reduction = static_cast<std::int64_t>(genes.next() % 3);
  NodeBuilder node(draft, "aten.multilabel_margin_loss_forward.default");
  node.tensor("self", scores->self).tensor("target", target).integer("reduction", reduction);
  node.fresh(scores->from.dtype, reduction == 0 ? Shape{sizes[0]} : Shape{});
  node.fresh(scores->from.dtype, sizes);
  return true;
}

constexpr DrawnOp kClassLossRows[] = {
    {"aten.nll_loss_forward", 1, draw_likelihood, 0, 6},
    {"aten.nll_loss_backward", 1, draw_likelihood_gradient, 0, 6},
    {"aten.multi_margin_loss", 1, draw_multi_margin, 0, 6},
    {"aten.multilabel_margin_loss_forward", 1, draw_multilabel_margin, 0, 6}};

}  // namespace

std::span<const DrawnOp> class_loss_rows() { return kClassLossRows; }

}  // namespace graphgate::fuzz
