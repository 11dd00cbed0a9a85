// Random draws: their numbers are open, and with them whatever is computed of them. So the rows are
// light: a program in which everything is random tells nothing.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

// rand and randn, by sizes.
bool draw_random_sized(Draft& draft, GeneReader& genes, std::size_t is_normal) {
  const DType dtype = draft.draw_floating(genes);
  const Shape sizes = draft.draw_shape(genes, 1, 2);
  NodeBuilder node(draft, is_normal == 1 ? "aten.randn.default" : "aten.rand.default");
  node.sizes("size", sizes).dtype("dtype", dtype);
  if (draft.settings().on_accelerator) node.argument("device", {draft.main_device()});
  node.fresh(dtype, sizes);
  return true;
}

bool draw_random_like(Draft& draft, GeneReader& genes, std::size_t is_normal) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor like = draft.tensor(self);
  const Layout layout = preserved_layout(draft, self);
  NodeBuilder node(draft, is_normal == 1 ? "aten.randn_like.default" : "aten.rand_like.default");
  node.tensor("self", self).fresh(like.dtype, like.sizes, layout);
  return true;
}

// Indices that nobody knows, but for their range.
bool draw_randint(Draft& draft, GeneReader& genes, std::size_t) {
  static constexpr std::int64_t kHighs[] = {2, 3, 4};
  const std::int64_t high = genes.of(kHighs);
  const Shape sizes = draft.draw_shape(genes, 1, 2);
  NodeBuilder node(draft, "aten.randint.low");
  node.integer("low", 0).integer("high", high).sizes("size", sizes);
  if (draft.settings().on_accelerator) node.argument("device", {draft.main_device()});
  draft.set_range(node.fresh(DType::kInt64, sizes), {0, high - 1});
  return true;
}

bool draw_bernoulli(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor like = draft.tensor(self);
  NodeBuilder node(draft, "aten.bernoulli.p");
  node.tensor("self", self).real("p", genes.chance(20) ? 1.0 : 0.5);
  node.fresh(like.dtype, like.sizes);
  return true;
}

// Written in place.
enum InPlaceDraw : std::size_t { kUniform, kNormal, kExponential };
bool draw_random_in_place(Draft& draft, GeneReader& genes, std::size_t variant) {
  static constexpr const char* kNames[] = {"aten.uniform_.default", "aten.normal_.default",
                                           "aten.exponential_.default"};
  const TensorIndex self = draft.pick_floating(genes);
  if (!draft.may_write(self)) return false;
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", self).written(self);
  return true;
}

// Whether no size may be 0.
bool has_elements(Draft& draft, const DrawnTensor& tensor) {
  for (int d = 0; d < tensor.sizes.rank; ++d) {
    if (draft.table().bounds(tensor.sizes[d]).least < 1) return false;
  }
  return true;
}

// In training, or as in training where nothing is said.
bool draw_native_dropout(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  // PyTorch makes the mask of no elements in the input's dtype, and its decomposition does not.
  if (!has_elements(draft, from)) return false;
  const Layout layout = preserved_layout(draft, self);
  const bool trains = genes.chance(70);
  NodeBuilder node(draft, "aten.native_dropout.default");
  node.tensor("input", self).real("p", 0.25).boolean("train", trains);
  node.fresh(from.dtype, from.sizes, layout);
  node.fresh(DType::kBool, from.sizes, layout);
  return true;
}

// Dropouts in training, of elements or of features; of no elements they hand on what they were
// given.
enum TrainedDropout : std::size_t { kPlain, kAlpha, kFeature, kFeatureAlpha };
bool draw_trained_dropout(Draft& draft, GeneReader& genes, std::size_t variant) {
  static constexpr const char* kNames[] = {"aten.dropout.default", "aten.alpha_dropout.default",
                                           "aten.feature_dropout.default",
                                           "aten.feature_alpha_dropout.default"};
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  const bool is_by_feature = variant == kFeature || variant == kFeatureAlpha;
  if (!has_elements(draft, from) || (is_by_feature && from.sizes.rank < 2)) return false;
  // The layout of the result depends on where dimensions of size 1 stand.
  if (is_by_feature && !draft.is_contiguous(from)) return false;
  const Layout layout = preserved_layout(draft, self);
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("input", self).real("p", 0.25).boolean("train", true);
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

// Whole numbers below an end, in a tensor of any floating dtype.
bool draw_random_below(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  if (!draft.may_write(self)) return false;
  NodeBuilder node(draft, "aten.random_.to");
  node.tensor("self", self).integer("to", genes.chance(50) ? 2 : 100).written(self);
  return true;
}

constexpr DrawnOp kRandomRows[] = {
    {"aten.rand", 1, draw_random_sized, 0, 6},
    {"aten.randn", 1, draw_random_sized, 1, 6},
    {"aten.rand_like", 1, draw_random_like, 0, 6},
    {"aten.randn_like", 1, draw_random_like, 1, 6},
    {"aten.randint", 1, draw_randint, 0, 6},
    {"aten.bernoulli", 1, draw_bernoulli, 0, 6},
    {"aten.uniform", 1, draw_random_in_place, kUniform, 6},
    {"aten.normal", 1, draw_random_in_place, kNormal, 6},
    {"aten.exponential", 1, draw_random_in_place, kExponential, 6},
    {"aten.native_dropout", 1, draw_native_dropout, 0, 6},
    {"aten.dropout", 1, draw_trained_dropout, kPlain, 7},
    {"aten.alpha_dropout", 1, draw_trained_dropout, kAlpha, 7},
    {"aten.feature_dropout", 1, draw_trained_dropout, kFeature, 7},
    {"aten.feature_alpha_dropout", 1, draw_trained_dropout, kFeatureAlpha, 7},
    {"aten.random", 1, draw_random_below, 0, 7},
};

}  // namespace

std::span<const DrawnOp> random_rows() { return kRandomRows; }

}  // namespace graphgate::fuzz
