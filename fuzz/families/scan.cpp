// Running sums, products and extremes along a dimension.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_scan(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const OpForms kForms[] = {forms_of("aten.cumsum", "default"),
                                   forms_of("aten.cumprod", "default"),
                                   forms_of("aten.logcumsumexp", "default")};
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  const int dim = draw_dim(genes, from.sizes.rank);
  const bool in_place =
      !kForms[variant].in_place.empty() && draft.may_write(self) && genes.chance(35);
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, in_place ? kForms[variant].in_place : kForms[variant].functional);
  node.tensor("self", self).integer("dim", dim);
  node.written_or_fresh(in_place, self, from.dtype, from.sizes, layout);
  return true;
}

bool draw_running_extreme(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  const Layout layout = row_major_like(draft, {*self}, from.sizes);
  const std::int64_t most = draft.table().bounds(from.sizes[dim]).most - 1;
  NodeBuilder node(draft, variant == 0 ? "aten.cummax.default" : "aten.cummin.default");
  node.tensor("self", *self).integer("dim", dim);
  node.fresh(from.dtype, from.sizes, layout);
  draft.set_range(node.fresh(spec::DType::kInt64, from.sizes, layout), {0, most});
  return true;
}

bool draw_diff(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_with_size(draft, genes, 1, 2);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  Shape sizes = from.sizes;
  sizes[dim] = draft.table().plus(sizes[dim], -1);
  const Layout layout = row_major_like(draft, {*self}, sizes);
  NodeBuilder node(draft, "aten.diff.default");
  node.tensor("self", *self).integer("n", 1).integer("dim", dim).fresh(from.dtype, sizes, layout);
  return true;
}

constexpr DrawnOp kScanRows[] = {
    {"aten.cumsum", 5, draw_scan, 0},
    {"aten.cumprod", 1, draw_scan, 1},
    {"aten.logcumsumexp", 1, draw_scan, 2},
    {"aten.cummax", 1, draw_running_extreme, 0},
    {"aten.cummin", 1, draw_running_extreme, 1},
    {"aten.diff", 1, draw_diff, 0},
};

}  // namespace

std::span<const DrawnOp> scan_rows() { return kScanRows; }

}  // namespace graphgate::fuzz
