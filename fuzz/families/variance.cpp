// Variances and standard deviations, alone or with the mean.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_variance(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = pick_with_size(draft, genes, 1, 2);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  const bool keepdim = genes.chance(40);
  Shape sizes = from.sizes;
  if (keepdim) {
    sizes[dim] = 1;
  } else {
    sizes.erase(dim);
  }
  const bool with_mean = variant >= 2;
  const bool by_dim = genes.chance(40);
  static constexpr const char* kCorrection[] = {"aten.var.correction", "aten.std.correction",
                                                "aten.var_mean.correction",
                                                "aten.std_mean.correction"};
  static constexpr const char* kDim[] = {"aten.var.dim", "aten.std.dim", "aten.var_mean.dim",
                                         "aten.std_mean.dim"};
  const Layout layout = row_major_like(draft, {*self}, sizes);
  NodeBuilder node(draft, (by_dim ? kDim : kCorrection)[variant]);
  node.tensor("self", *self).integers("dim", {dim});
  if (by_dim && genes.chance(40)) node.boolean("unbiased", false);
  if (!by_dim && genes.chance(40)) node.integer("correction", 0);
  if (keepdim) node.boolean("keepdim", true);
  node.fresh(from.dtype, sizes, layout);
  if (with_mean) node.fresh(from.dtype, sizes, layout);
  return true;
}

constexpr DrawnOp kVarianceRows[] = {{"aten.var", 2, draw_variance, 0},
                                     {"aten.std", 1, draw_variance, 1},
                                     {"aten.var_mean", 2, draw_variance, 2},
                                     {"aten.std_mean", 1, draw_variance, 3}};

}  // namespace

std::span<const DrawnOp> variance_rows() { return kVarianceRows; }

}  // namespace graphgate::fuzz
