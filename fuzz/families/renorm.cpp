// Parts of a tensor scaled to a norm.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_renorm(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 2);
  const DrawnTensor from = draft.tensor(self);
  NodeBuilder node(draft, "aten.renorm.default");
  node.tensor("self", self).real("p", genes.chance(70) ? 2.0 : 1.0);
  node.integer("dim", draw_dim(genes, from.sizes.rank)).real("maxnorm", 1.5);
  node.fresh(from.dtype, from.sizes);
  return true;
}

constexpr DrawnOp kRenormRows[] = {{"aten.renorm", 1, draw_renorm, 0, 6}};

}  // namespace

std::span<const DrawnOp> renorm_rows() { return kRenormRows; }

}  // namespace graphgate::fuzz
