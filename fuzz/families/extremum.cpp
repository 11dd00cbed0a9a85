// The largest and smallest elements, and where they are.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

Shape without(const Shape& sizes, int dim, bool keepdim) {
  Shape out = sizes;
  if (keepdim) {
    out[dim] = 1;
  } else {
    out.erase(dim);
  }
  return out;
}

// What is left of a tensor along one dimension.
struct ReducedShape {
  ReducedShape(Draft& draft, GeneReader& genes, TensorIndex self, bool may_keep)
      : from(draft.tensor(self)),
        dim(draw_dim(genes, from.sizes.rank)),
        keepdim(may_keep && genes.chance(40)),
        sizes(without(from.sizes, dim, keepdim)),
        layout(row_major_like(draft, {self}, sizes)),
        last_place(draft.table().bounds(from.sizes[dim]).most - 1) {}

  DrawnTensor from;
  int dim;
  bool keepdim;
  Shape sizes;
  Layout layout;
  std::int64_t last_place;
};

// amax, amin.
bool draw_values(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return false;
  const ReducedShape to(draft, genes, *self, true);
  NodeBuilder node(draft, variant == 0 ? "aten.amax.default" : "aten.amin.default");
  node.tensor("self", *self).integers("dim", {to.dim});
  if (to.keepdim) node.boolean("keepdim", true);
  node.fresh(to.from.dtype, to.sizes, to.layout);
  return true;
}

// max, min: of all elements, or of one dimension with the places.
bool draw_with_places(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return false;
  if (genes.chance(30)) {
    NodeBuilder node(draft, variant == 0 ? "aten.max.default" : "aten.min.default");
    node.tensor("self", *self).fresh(draft.tensor(*self).dtype, {});
    return true;
  }
  const ReducedShape to(draft, genes, *self, true);
  NodeBuilder node(draft, variant == 0 ? "aten.max.dim" : "aten.min.dim");
  node.tensor("self", *self).integer("dim", to.dim);
  if (to.keepdim) node.boolean("keepdim", true);
  node.fresh(to.from.dtype, to.sizes, to.layout);
  draft.set_range(node.fresh(DType::kInt64, to.sizes, to.layout), {0, to.last_place});
  return true;
}

bool draw_place(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return false;
  const ReducedShape to(draft, genes, *self, false);
  NodeBuilder node(draft, variant == 0 ? "aten.argmax.default" : "aten.argmin.default");
  node.tensor("self", *self).integer("dim", to.dim);
  draft.set_range(node.fresh(DType::kInt64, to.sizes, to.layout), {0, to.last_place});
  return true;
}

bool draw_both(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return false;
  const ReducedShape to(draft, genes, *self, false);
  NodeBuilder node(draft, "aten.aminmax.default");
  node.tensor("self", *self).integer("dim", to.dim);
  node.fresh(to.from.dtype, to.sizes, to.layout);
  node.fresh(to.from.dtype, to.sizes, to.layout);
  return true;
}

constexpr DrawnOp kExtremumRows[] = {
    {"aten.amax", 3, draw_values, 0},     {"aten.amin", 1, draw_values, 1},
    {"aten.max", 3, draw_with_places, 0}, {"aten.min", 2, draw_with_places, 1},
    {"aten.argmax", 2, draw_place, 0},    {"aten.argmin", 1, draw_place, 1},
    {"aten.aminmax", 1, draw_both, 0},
};

}  // namespace

std::span<const DrawnOp> extremum_rows() { return kExtremumRows; }

}  // namespace graphgate::fuzz
