// Elements counted, and looked up in sorted boundaries.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

// Integers 0 and 1: as many counts as are asked for.
bool draw_bincount(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_index(genes, Shape{4}, 2);
  NodeBuilder node(draft, "aten.bincount.default");
  node.tensor("self", self).none("weights").integer("minlength", 4);
  node.fresh(DType::kInt64, Shape{4}, Layout{});
  return true;
}

bool draw_histc(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_plain_float(tensor.dtype) && tensor.sizes.rank >= 1;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  NodeBuilder node(draft, "aten.histc.default");
  node.tensor("self", *self).integer("bins", 4).integer("min", -2).integer("max", 2);
  node.fresh(from.dtype, Shape{4});
  return true;
}

// Boundaries that are sorted: a range of numbers.
bool draw_lookup(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kFloat32 && tensor.sizes.rank >= 1;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  TensorIndex boundaries = 0;
  {
    NodeBuilder node(draft, "aten.linspace.default");
    node.real("start", -1.0).integer("end", 2).integer("steps", 4).dtype("dtype", DType::kFloat32);
    if (draft.settings().on_accelerator) node.argument("device", {draft.main_device()});
    boundaries = node.fresh(DType::kFloat32, Shape{4});
  }
  const Layout layout = row_major_like(draft, {*self}, from.sizes);
  NodeBuilder node(draft, variant == 0 ? "aten.bucketize.Tensor" : "aten.searchsorted.Tensor");
  if (variant == 0) {
    node.tensor("self", *self).tensor("boundaries", boundaries);
  } else {
    node.tensor("sorted_sequence", boundaries).tensor("self", *self);
  }
  if (genes.chance(40)) node.boolean("right", true);
  draft.set_range(node.fresh(DType::kInt64, from.sizes, layout), {0, 4});
  return true;
}

constexpr DrawnOp kHistogramRows[] = {{"aten.bincount", 1, draw_bincount, 0},
                                      {"aten.histc", 1, draw_histc, 0},
                                      {"aten.bucketize", 1, draw_lookup, 0},
                                      {"aten.searchsorted", 1, draw_lookup, 1}};

}  // namespace

std::span<const DrawnOp> histogram_rows() { return kHistogramRows; }

}  // namespace graphgate::fuzz
