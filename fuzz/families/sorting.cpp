// Sorted elements, the first few, and those in the middle.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

enum Kind : std::size_t { kSort, kStable, kTopk, kKth, kMedian, kNanMedian };

bool draw_sorted(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = pick_with_size(draft, genes, 1, 2);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  const std::int64_t most = draft.table().bounds(from.sizes[dim]).most - 1;
  const bool takes_all = (variant == kMedian || variant == kNanMedian) && genes.chance(30);
  if (takes_all) {
    NodeBuilder node(draft, variant == kMedian ? "aten.median.default" : "aten.nanmedian.default");
    node.tensor("self", *self).fresh(from.dtype, {});
    return true;
  }
  Shape sizes = from.sizes;
  if (variant == kTopk) sizes[dim] = 2;
  if (variant >= kKth) sizes.erase(dim);
  static constexpr const char* kNames[] = {"aten.sort.default", "aten.sort.stable",
                                           "aten.topk.default", "aten.kthvalue.default",
                                           "aten.median.dim",   "aten.nanmedian.dim"};
  const Layout layout = row_major_like(draft, {*self}, sizes);
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", *self);
  if (variant == kStable) node.boolean("stable", true);
  if (variant == kTopk || variant == kKth) node.integer("k", 2);
  node.integer("dim", dim);
  if (variant <= kStable && genes.chance(50)) node.boolean("descending", true);
  if (variant == kTopk && genes.chance(50)) node.boolean("largest", false);
  node.fresh(from.dtype, sizes, layout);
  draft.set_range(node.fresh(spec::DType::kInt64, sizes, layout), {0, most});
  return true;
}

bool draw_mode(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_index(genes, Shape{2, 4}, 3);
  const int dim = draw_dim(genes, 2);
  const Shape sizes{dim == 0 ? 4 : 2};
  const Bounds range = draft.range(self);
  NodeBuilder node(draft, "aten.mode.default");
  node.tensor("self", self).integer("dim", dim);
  draft.set_range(node.fresh(spec::DType::kInt64, sizes), range);
  draft.set_range(node.fresh(spec::DType::kInt64, sizes), {0, dim == 0 ? 1 : 3});
  return true;
}

constexpr DrawnOp kSortingRows[] = {{"aten.mode", 1, draw_mode, 0, 6},
                                    {"aten.sort", 3, draw_sorted, kSort},
                                    {"aten.sort.stable", 1, draw_sorted, kStable},
                                    {"aten.topk", 3, draw_sorted, kTopk},
                                    {"aten.kthvalue", 1, draw_sorted, kKth},
                                    {"aten.median", 1, draw_sorted, kMedian},
                                    {"aten.nanmedian", 1, draw_sorted, kNanMedian}};

}  // namespace

std::span<const DrawnOp> sorting_rows() { return kSortingRows; }

}  // namespace graphgate::fuzz
