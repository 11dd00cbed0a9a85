// Elements written by index, into a copy or in place.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

// A node of such an op in one of its two forms: `begin(node)` adds the arguments behind self.
template <class Arguments>
void add_form(Draft& draft, GeneReader& genes, const OpForms& forms, TensorIndex self,
              std::initializer_list<TensorIndex> operands, Arguments&& arguments) {
  const DrawnTensor from = draft.tensor(self);
  bool is_clear = true;
  for (const TensorIndex operand : operands) {
    is_clear = is_clear && draft.tensor(operand).storage != from.storage;
  }
  const bool in_place =
      !forms.in_place.empty() && draft.may_write(self) && is_clear && genes.chance(55);
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, in_place ? forms.in_place : forms.functional);
  node.tensor("self", self);
  arguments(node);
  node.written_or_fresh(in_place, self, from.dtype, from.sizes, layout);
}

enum AlongDim : std::size_t { kAdd, kCopy, kFill, kReduce };

// index_add, index_copy, index_fill, index_reduce: whole slices, by an index of one dimension.
bool draw_along_dim(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const OpForms kForms[] = {
      forms_of("aten.index_add", "default"), forms_of("aten.index_copy", "default"),
      forms_of("aten.index_fill", "int_Scalar"), forms_of("aten.index_reduce", "default")};
  const auto self = pick_with_size(draft, genes, 1, 1);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  const TensorIndex index = draft.pick_index(genes, Shape{2}, from.sizes[dim]);
  if (variant == kFill) {
    add_form(draft, genes, kForms[variant], *self, {index}, [&](NodeBuilder& node) {
      node.integer("dim", dim).tensor("index", index).real("value", 0.5);
    });
    return true;
  }
  Shape sizes = from.sizes;
  sizes[dim] = 2;
  const TensorIndex source = draft.pick_like(genes, from.dtype, sizes);
  add_form(draft, genes, kForms[variant], *self, {index, source}, [&](NodeBuilder& node) {
    node.integer("dim", dim).tensor("index", index).tensor("source", source);
    if (variant == kReduce) node.text("reduce", genes.chance(50) ? "amin" : "amax");
    if (variant == kAdd && genes.chance(25)) node.integer("alpha", 2);
  });
  return true;
}

enum Scatter : std::size_t { kSource, kValue, kScatterAdd, kScatterReduce };

// scatter, scatter_add, scatter_reduce: element by element.
bool draw_scatter(Draft& draft, GeneReader& genes, std::size_t variant) {
  static const OpForms kForms[] = {
      forms_of("aten.scatter", "src"), forms_of("aten.scatter", "value"),
      forms_of("aten.scatter_add", "default"), forms_of("aten.scatter_reduce", "two")};
  const auto self = pick_with_size(draft, genes, 1, 2);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  Shape sizes = from.sizes;
  sizes[dim] = 2;
  const TensorIndex index = draft.pick_index(genes, sizes, from.sizes[dim]);
  if (variant == kValue) {
    add_form(draft, genes, kForms[variant], *self, {index}, [&](NodeBuilder& node) {
      node.integer("dim", dim).tensor("index", index).real("value", 0.5);
    });
    return true;
  }
  const TensorIndex source = draft.pick_like(genes, from.dtype, sizes);
  add_form(draft, genes, kForms[variant], *self, {index, source}, [&](NodeBuilder& node) {
    node.integer("dim", dim).tensor("index", index).tensor("src", source);
    if (variant == kScatterReduce) node.text("reduce", genes.chance(50) ? "amax" : "sum");
  });
  return true;
}

// put: by places in the flattened tensor.
bool draw_put(Draft& draft, GeneReader& genes, std::size_t) {
  static const OpForms kForms = forms_of("aten.put", "default");
  const auto self = pick_with_size(draft, genes, 1, 2);
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const TensorIndex index = draft.pick_index(genes, Shape{2}, 2);
  const TensorIndex source = draft.pick_like(genes, from.dtype, Shape{2});
  add_form(draft, genes, kForms, *self, {index, source}, [&](NodeBuilder& node) {
    node.tensor("index", index).tensor("source", source).boolean("accumulate", true);
  });
  return true;
}

constexpr DrawnOp kScatterRows[] = {{"aten.index_add", 3, draw_along_dim, kAdd},
                                    {"aten.index_copy", 4, draw_along_dim, kCopy},
                                    {"aten.index_fill", 2, draw_along_dim, kFill},
                                    {"aten.index_reduce", 1, draw_along_dim, kReduce},
                                    {"aten.scatter", 3, draw_scatter, kSource},
                                    {"aten.scatter.value", 1, draw_scatter, kValue},
                                    {"aten.scatter_add", 2, draw_scatter, kScatterAdd},
                                    {"aten.scatter_reduce", 1, draw_scatter, kScatterReduce},
                                    {"aten.put", 1, draw_put, 0}};

}  // namespace

std::span<const DrawnOp> scatter_rows() { return kScatterRows; }

}  // namespace graphgate::fuzz
