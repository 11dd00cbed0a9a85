// Elements taken by index, or by a mask: some of these have sizes that only data decide.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

Size draw_count(Draft& draft, GeneReader& genes) {
  const auto& dims = draft.settings().dims;
  return dims[genes.below(dims.size())];
}

bool draw_index_select(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  const Size count = draw_count(draft, genes);
  const TensorIndex index = draft.pick_index(genes, Shape{count}, from.sizes[dim]);
  Shape sizes = from.sizes;
  sizes[dim] = count;
  const Layout layout = row_major_like(draft, {*self}, sizes);
  NodeBuilder node(draft, "aten.index_select.default");
  node.tensor("self", *self).integer("dim", dim).tensor("index", index);
  node.fresh(from.dtype, sizes, layout);
  return true;
}

bool draw_embedding(Draft& draft, GeneReader& genes, std::size_t) {
  const auto weight = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_computed_float(tensor.dtype) && tensor.sizes.rank == 2 &&
           draft.table().least(tensor.sizes[0]) >= 1;
  });
  if (!weight) return false;
  const DrawnTensor from = draft.tensor(*weight);
  const Size count = draw_count(draft, genes);
  const TensorIndex index = draft.pick_index(genes, Shape{count}, from.sizes[0]);
  const Shape sizes{count, from.sizes[1]};
  NodeBuilder node(draft, "aten.embedding.default");
  node.tensor("weight", *weight).tensor("indices", index);
  node.fresh(from.dtype, sizes, row_major_like(draft, {*weight}, sizes));
  return true;
}

bool draw_gather(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  Shape sizes = from.sizes;
  if (genes.chance(40)) sizes[dim] = 2;
  const TensorIndex index = draft.pick_index(genes, sizes, from.sizes[dim]);
  NodeBuilder node(draft, "aten.gather.default");
  node.tensor("self", *self).integer("dim", dim).tensor("index", index);
  node.fresh(from.dtype, sizes, row_major_like(draft, {*self, index}, sizes));
  return true;
}

// One index for the leading dimension, or one for each of the first two.
bool draw_index(Draft& draft, GeneReader& genes, std::size_t is_unsafe) {
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const bool two = from.sizes.rank >= 2 && genes.chance(40);
  const Size count = draw_count(draft, genes);
  std::vector<TensorIndex> indices = {draft.pick_index(genes, Shape{count}, from.sizes[0])};
  if (two) indices.push_back(draft.pick_index(genes, Shape{count}, from.sizes[1]));
  Shape sizes = from.sizes;
  sizes[0] = count;
  if (two) sizes.erase(1);
  NodeBuilder node(draft, is_unsafe == 1 ? "aten._unsafe_index.Tensor" : "aten.index.Tensor");
  node.tensor("self", *self).tensors("indices", indices);
  node.fresh(from.dtype, sizes, row_major_like(draft, {*self}, sizes));
  return true;
}

bool draw_take(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_with_size(draft, genes, 1, 2);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const Size count = draw_count(draft, genes);
  const TensorIndex index = draft.pick_index(genes, Shape{count}, 2);
  NodeBuilder node(draft, "aten.take.default");
  node.tensor("self", *self).tensor("index", index).fresh(from.dtype, Shape{count});
  return true;
}

bool draw_repeat_interleave(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  const int dim = draw_dim(genes, from.sizes.rank);
  Shape sizes = from.sizes;
  sizes[dim] = draft.table().product(2, sizes[dim]);
  if (!draft.is_small(sizes)) return false;
  NodeBuilder node(draft, "aten.repeat_interleave.self_int");
  node.tensor("self", self).integer("repeats", 2).integer("dim", dim);
  node.fresh(from.dtype, sizes, row_major_like(draft, {self}, sizes));
  return true;
}

// nonzero, and what it finds looked up: the count is a symbol of its own.
bool draw_nonzero(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank == 1 && is_computed_float(tensor.dtype) &&
           !draft.table().is_unbacked(tensor.sizes[0]);
  });
  if (!self || draft.unbacked() >= 2) return false;
  const DrawnTensor from = draft.tensor(*self);
  const std::int64_t most = draft.table().bounds(from.sizes[0]).most;
  const TensorIndex mask = pick_mask(draft, genes, from.sizes);
  const DrawnTensor masks = draft.tensor(mask);
  if (!(masks.sizes == from.sizes)) return false;
  const Size count = draft.add_unbacked({0, most});
  TensorIndex found = 0;
  {
    NodeBuilder node(draft, "aten.nonzero.default");
    node.tensor("self", mask);
    found = node.fresh(DType::kInt64, Shape{count, 1}, Layout{});
    draft.set_range(found, {0, draft.table().least(from.sizes[0]) - 1});
  }
  TensorIndex places = 0;
  {
    NodeBuilder node(draft, "aten.squeeze.dim");
    node.tensor("self", found).integer("dim", 1);
    places = node.view(found, Shape{count}, Shape{1}, 0);
  }
  if (!genes.chance(70)) return true;
  NodeBuilder node(draft, "aten.index_select.default");
  node.tensor("self", *self).integer("dim", 0).tensor("index", places);
  node.fresh(from.dtype, Shape{count});
  return true;
}

bool draw_masked_select(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  if (draft.unbacked() >= 2) return false;
  for (int d = 0; d < from.sizes.rank; ++d) {
    if (draft.table().is_unbacked(from.sizes[d])) return false;
  }
  const TensorIndex mask = pick_mask(draft, genes, from.sizes);
  const std::int64_t most = draft.table().bounds(draft.elements(from.sizes)).most;
  const Size count = draft.add_unbacked({0, most});
  NodeBuilder node(draft, "aten.masked_select.default");
  node.tensor("self", self).tensor("mask", mask).fresh(from.dtype, Shape{count});
  return true;
}

bool draw_nonzero_static(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1, 2);
  const DrawnTensor from = draft.tensor(self);
  NodeBuilder node(draft, "aten.nonzero_static.default");
  node.tensor("self", self).integer("size", 3).integer("fill_value", -1);
  node.fresh(DType::kInt64, Shape{3, from.sizes.rank}, Layout{});
  return true;
}

bool draw_masked_index(Draft& draft, GeneReader& genes, std::size_t) {
  const DType dtype = draft.draw_floating(genes);
  const TensorIndex self = draft.pick_like(genes, dtype, Shape{4, 3});
  const TensorIndex mask = pick_mask(draft, genes, Shape{2, 1});
  const TensorIndex index = draft.pick_index(genes, Shape{2}, 4);
  NodeBuilder node(draft, "aten._unsafe_masked_index.default");
  node.tensor("self", self).tensor("mask", mask).tensors("indices", {index});
  node.argument("fill", draw_scalar(genes, dtype)).fresh(dtype, Shape{2, 3});
  return true;
}

constexpr DrawnOp kIndexingRows[] = {{"aten._unsafe_index", 1, draw_index, 1, 6},
                                     {"aten._unsafe_masked_index", 1, draw_masked_index, 0, 6},
                                     {"aten.index_select", 4, draw_index_select, 0},
                                     {"aten.embedding", 3, draw_embedding, 0},
                                     {"aten.gather", 3, draw_gather, 0},
                                     {"aten.index", 4, draw_index, 0},
                                     {"aten.take", 1, draw_take, 0},
                                     {"aten.repeat_interleave", 1, draw_repeat_interleave, 0},
                                     {"aten.nonzero", 2, draw_nonzero, 0},
                                     {"aten.masked_select", 1, draw_masked_select, 0},
                                     {"aten.nonzero_static", 1, draw_nonzero_static, 0}};

}  // namespace

std::span<const DrawnOp> indexing_rows() { return kIndexingRows; }

}  // namespace graphgate::fuzz
