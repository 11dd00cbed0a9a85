// Regions of a tensor replaced: what views written in place become when they are functionalized.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

// The copy is of the whole storage, gaps and offset included.
Layout copied_storage(Draft& draft, TensorIndex self) {
  const DrawnTensor from = draft.tensor(self);
  return {draft.is_row_major(from) && from.offset == 0, draft.row_major(from.sizes)};
}

bool draw_slice_scatter(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_with_size(draft, genes, 1, 2);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  Shape sizes = from.sizes;
  sizes[dim] = draft.table().plus(sizes[dim], -1);
  const TensorIndex source = draft.pick_like(genes, from.dtype, sizes);
  const Layout layout = copied_storage(draft, *self);
  NodeBuilder node(draft, "aten.slice_scatter.default");
  node.tensor("self", *self).tensor("src", source).integer("dim", dim).integer("start", 1);
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

bool draw_select_scatter(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  Shape sizes = from.sizes;
  sizes.erase(dim);
  const TensorIndex source = draft.pick_like(genes, from.dtype, sizes);
  const Layout layout = copied_storage(draft, *self);
  NodeBuilder node(draft, "aten.select_scatter.default");
  node.tensor("self", *self).tensor("src", source).integer("dim", dim);
  node.integer("index", genes.chance(30) ? -1 : 0).fresh(from.dtype, from.sizes, layout);
  return true;
}

bool draw_diagonal_scatter(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [](const DrawnTensor& tensor) {
    return is_computed_float(tensor.dtype) && tensor.sizes.rank == 2 &&
           is_constant(tensor.sizes[0]) && is_constant(tensor.sizes[1]) && tensor.sizes[0] > 0 &&
           tensor.sizes[1] > 0;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const Shape sizes{std::min(from.sizes[0], from.sizes[1])};
  const TensorIndex source = draft.pick_like(genes, from.dtype, sizes);
  const Layout layout = copied_storage(draft, *self);
  NodeBuilder node(draft, "aten.diagonal_scatter.default");
  node.tensor("self", *self).tensor("src", source).fresh(from.dtype, from.sizes, layout);
  return true;
}

bool draw_as_strided_scatter(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    const Size count = draft.elements(tensor.sizes);
    return is_computed_float(tensor.dtype) && is_constant(count) && count >= 4 &&
           tensor.has_layout && tensor.offset == 0 && draft.is_row_major(tensor);
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const Size half = draft.elements(from.sizes) / 2;
  const TensorIndex source = draft.pick_like(genes, from.dtype, Shape{half});
  draft.keep_places();
  NodeBuilder node(draft, "aten.as_strided_scatter.default");
  node.tensor("self", *self).tensor("src", source).integers("size", {half});
  node.integers("stride", {2}).integer("storage_offset", 0);
  node.fresh(from.dtype, from.sizes, row_major_like(draft, {*self}, from.sizes));
  return true;
}

// Two rows of a tensor, and what is put there.
struct PutRows {
  TensorIndex self;
  TensorIndex index;
  TensorIndex values;
};

std::optional<PutRows> pick_put_rows(Draft& draft, GeneReader& genes) {
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return std::nullopt;
  const DrawnTensor from = draft.tensor(*self);
  const TensorIndex index = draft.pick_index(genes, Shape{2}, from.sizes[0]);
  Shape sizes = from.sizes;
  sizes[0] = 2;
  return PutRows{*self, index, draft.pick_like(genes, from.dtype, sizes)};
}

void add_put_rows(NodeBuilder& node, GeneReader& genes, const PutRows& rows) {
  node.tensor("self", rows.self).tensors("indices", {rows.index}).tensor("values", rows.values);
  if (genes.chance(50)) node.boolean("accumulate", true);
}

bool draw_index_put(Draft& draft, GeneReader& genes, std::size_t) {
  static const OpForms kForms = forms_of("aten.index_put", "default");
  const auto rows = pick_put_rows(draft, genes);
  if (!rows) return false;
  const DrawnTensor from = draft.tensor(rows->self);
  const bool is_clear = draft.tensor(rows->values).storage != from.storage &&
                        draft.tensor(rows->index).storage != from.storage;
  const bool in_place = draft.may_write(rows->self) && is_clear && genes.chance(60);
  const Layout layout = row_major_like(draft, {rows->self}, from.sizes);
  NodeBuilder node(draft, in_place ? kForms.in_place : kForms.functional);
  add_put_rows(node, genes, *rows);
  node.written_or_fresh(in_place, rows->self, from.dtype, from.sizes, layout);
  return true;
}

// The source has an element for every place that the mask may choose.
bool draw_masked_scatter(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  const TensorIndex mask = pick_mask(draft, genes, from.sizes);
  const TensorIndex source = draft.pick_like(genes, from.dtype, from.sizes);
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, "aten.masked_scatter.default");
  node.tensor("self", self).tensor("mask", mask).tensor("source", source);
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

bool draw_index_put_impl(Draft& draft, GeneReader& genes, std::size_t is_unsafe) {
  const auto rows = pick_put_rows(draft, genes);
  if (!rows) return false;
  const DrawnTensor from = draft.tensor(rows->self);
  const Layout layout = row_major_like(draft, {rows->self}, from.sizes);
  NodeBuilder node(
      draft, is_unsafe == 1 ? "aten._unsafe_index_put.default" : "aten._index_put_impl.default");
  add_put_rows(node, genes, *rows);
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

// Rows are added where a mask of as many booleans says so.
bool draw_masked_index_put(Draft& draft, GeneReader& genes, std::size_t) {
  const DType dtype = draft.draw_floating(genes);
  const TensorIndex self = draft.pick_like(genes, dtype, Shape{4, 3});
  const TensorIndex mask = pick_mask(draft, genes, Shape{2, 1});
  const TensorIndex index = draft.pick_index(genes, Shape{2}, 4);
  const TensorIndex values = draft.pick_like(genes, dtype, Shape{2, 3});
  const Layout layout = row_major_like(draft, {self}, Shape{4, 3});
  NodeBuilder node(draft, "aten._unsafe_masked_index_put_accumulate.default");
  node.tensor("self", self).tensor("mask", mask).tensors("indices", {index});
  node.tensor("values", values).fresh(dtype, Shape{4, 3}, layout);
  return true;
}

constexpr DrawnOp kRegionScatterRows[] = {
    {"aten._index_put_impl", 1, draw_index_put_impl, 0, 6},
    {"aten._unsafe_index_put", 1, draw_index_put_impl, 1, 6},
    {"aten._unsafe_masked_index_put_accumulate", 1, draw_masked_index_put, 0, 6},
    {"aten.slice_scatter", 3, draw_slice_scatter, 0},
    {"aten.select_scatter", 2, draw_select_scatter, 0},
    {"aten.diagonal_scatter", 1, draw_diagonal_scatter, 0},
    {"aten.as_strided_scatter", 1, draw_as_strided_scatter, 0},
    {"aten.index_put", 4, draw_index_put, 0},
    {"aten.masked_scatter", 1, draw_masked_scatter, 0}};

}  // namespace

std::span<const DrawnOp> region_scatter_rows() { return kRegionScatterRows; }

}  // namespace graphgate::fuzz
