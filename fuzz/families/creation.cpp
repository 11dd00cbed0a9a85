// Tensors from nothing: constants, ranges, and empties that later nodes fill.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

void on_main_device(Draft& draft, NodeBuilder& node) {
  if (draft.settings().on_accelerator) node.argument("device", {draft.main_device()});
}

enum Filled : std::size_t { kZeros, kOnes, kFull };

bool draw_filled(Draft& draft, GeneReader& genes, std::size_t variant) {
  const DType dtype = genes.chance(20) ? DType::kInt64 : draft.draw_floating(genes);
  const Shape sizes = draft.draw_shape(genes, 1, 2);
  static constexpr const char* kNames[] = {"aten.zeros.default", "aten.ones.default",
                                           "aten.full.default"};
  NodeBuilder node(draft, kNames[variant]);
  node.sizes("size", sizes);
  const spec::Argument value = draw_scalar(genes, dtype);
  if (variant == kFull) node.argument("fill_value", value);
  node.dtype("dtype", dtype);
  on_main_device(draft, node);
  const TensorIndex made = node.fresh(dtype, sizes);
  if (dtype == DType::kInt64) {
    const std::int64_t number = variant == kZeros  ? 0
                                : variant == kOnes ? 1
                                                   : *value.as<std::int64_t>();
    draft.set_range(made, {number, number});
  }
  return true;
}

bool draw_filled_like(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = draft.pick(genes, [](const DrawnTensor& tensor) {
    return is_computed_float(tensor.dtype) || spec::is_integral(tensor.dtype);
  });
  if (!self) return false;
  const DrawnTensor like = draft.tensor(*self);
  static constexpr const char* kNames[] = {"aten.zeros_like.default", "aten.ones_like.default",
                                           "aten.full_like.default"};
  const Layout layout = preserved_layout(draft, *self);
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", *self);
  if (variant == kFull) node.argument("fill_value", draw_scalar(genes, like.dtype));
  node.fresh(like.dtype, like.sizes, layout);
  return true;
}

bool draw_new_filled(Draft& draft, GeneReader& genes, std::size_t variant) {
  const TensorIndex self = draft.pick_floating(genes);
  const Shape sizes = draft.draw_shape(genes, 1, 2);
  static constexpr const char* kNames[] = {"aten.new_zeros.default", "aten.new_ones.default",
                                           "aten.new_full.default"};
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", self).sizes("size", sizes);
  const DType dtype = draft.tensor(self).dtype;
  if (variant == kFull) node.argument("fill_value", draw_scalar(genes, dtype));
  node.fresh(dtype, sizes);
  return true;
}

// Empties: by sizes, or like another tensor. Something fills them later, or nothing reads them.
bool draw_empty(Draft& draft, GeneReader& genes, std::size_t variant) {
  if (variant == 0) {
    const Shape sizes = draft.draw_shape(genes, 1, 3);
    const DType dtype = draft.draw_floating(genes);
    draft.add_empty(dtype, sizes);
    return true;
  }
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor like = draft.tensor(self);
  TensorIndex made = 0;
  if (variant == 1) {
    const Layout layout = preserved_layout(draft, self);
    NodeBuilder node(draft, "aten.empty_like.default");
    made = node.tensor("self", self).fresh(like.dtype, like.sizes, layout);
  } else if (variant == 2) {
    const Shape sizes = draft.draw_shape(genes, 1, 2);
    NodeBuilder node(draft, "aten.new_empty.default");
    made = node.tensor("self", self).sizes("size", sizes).fresh(like.dtype, sizes);
  } else {
    // Columns first.
    const Shape sizes = draft.draw_shape(genes, 2, 2);
    NodeBuilder node(draft, "aten.empty_permuted.default");
    node.sizes("size", sizes).integers("physical_layout", {1, 0}).dtype("dtype", like.dtype);
    on_main_device(draft, node);
    made = node.fresh(like.dtype, sizes, Layout{true, Shape{1, sizes[0]}});
  }
  draft.storage_of(made).is_unfilled = true;
  return true;
}

bool draw_arange(Draft& draft, GeneReader& genes, std::size_t) {
  static constexpr std::int64_t kStarts[] = {0, 1, -2};
  const Size count = draft.settings().dims[genes.below(draft.settings().dims.size())];
  const std::int64_t start = is_constant(count) ? genes.of(kStarts) : 0;
  const std::int64_t step = is_constant(count) && genes.chance(20) ? 2 : 1;
  const DType dtype = genes.chance(30) ? draft.draw_floating(genes) : DType::kInt64;
  const Shape sizes{count};
  NodeBuilder node(draft, step != 1    ? "aten.arange.start_step"
                          : start != 0 ? "aten.arange.start"
                                       : "aten.arange.default");
  if (step != 1 || start != 0) node.integer("start", start);
  if (is_constant(count)) {
    node.integer("end", start + count * step);
  } else {
    node.size("end", count);
  }
  if (step != 1) node.integer("step", step);
  node.dtype("dtype", dtype);
  on_main_device(draft, node);
  const TensorIndex made = node.fresh(dtype, sizes);
  if (dtype == DType::kInt64) {
    const std::int64_t most = draft.table().bounds(count).most;
    draft.set_range(made, {start, start + (most - 1) * step});
  }
  return true;
}

bool draw_linspace(Draft& draft, GeneReader& genes, std::size_t) {
  static constexpr std::int64_t kCounts[] = {4, 2, 3, 8, 5};
  const std::int64_t steps = genes.of(kCounts);
  const DType dtype = draft.draw_floating(genes);
  NodeBuilder node(draft, "aten.linspace.default");
  node.real("start", -1.0).integer("end", 2).integer("steps", steps).dtype("dtype", dtype);
  on_main_device(draft, node);
  node.fresh(dtype, Shape{static_cast<Size>(steps)});
  return true;
}

bool draw_scalar_tensor(Draft& draft, GeneReader& genes, std::size_t) {
  const DType dtype = draft.draw_floating(genes);
  NodeBuilder node(draft, "aten.scalar_tensor.default");
  const auto number = genes.chance(30) ? draft.pick_number(genes) : std::nullopt;
  if (number) {
    node.value("s", *number);
  } else {
    node.argument("s", draw_scalar(genes, dtype));
  }
  node.dtype("dtype", dtype);
  on_main_device(draft, node);
  node.fresh(dtype, {});
  return true;
}

// tril and triu, in place too.
bool draw_triangle(Draft& draft, GeneReader& genes, std::size_t upper) {
  static const OpForms kForms[] = {forms_of("aten.tril", "default"),
                                   forms_of("aten.triu", "default")};
  const TensorIndex self = draft.pick_floating(genes, 2);
  const DrawnTensor from = draft.tensor(self);
  const bool in_place = draft.may_write(self) && genes.chance(35);
  NodeBuilder node(draft, in_place ? kForms[upper].in_place : kForms[upper].functional);
  node.tensor("self", self);
  if (genes.chance(30)) node.integer("diagonal", genes.chance(50) ? 1 : -1);
  if (in_place) {
    node.written(self);
  } else {
    node.fresh(from.dtype, from.sizes,
               Layout{draft.is_row_major(from), draft.row_major(from.sizes)});
  }
  return true;
}

bool draw_diag_embed(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 1, 2);
  const DrawnTensor from = draft.tensor(self);
  Shape sizes = from.sizes;
  sizes.push(from.sizes[from.sizes.rank - 1]);
  if (!draft.is_small(sizes)) return false;
  NodeBuilder node(draft, "aten.diag_embed.default");
  node.tensor("self", self).fresh(from.dtype, sizes);
  return true;
}

// Columns first.
bool draw_empty_strided(Draft& draft, GeneReader& genes, std::size_t is_new) {
  const Shape sizes = draft.draw_shape(genes, 2, 2);
  const TensorIndex self = draft.pick_floating(genes);
  const DType dtype = draft.tensor(self).dtype;
  const Shape strides{1, sizes[0]};
  NodeBuilder node(draft,
                   is_new == 1 ? "aten.new_empty_strided.default" : "aten.empty_strided.default");
  if (is_new == 1) node.tensor("self", self);
  node.sizes("size", sizes).sizes("stride", strides).dtype("dtype", dtype);
  on_main_device(draft, node);
  const TensorIndex made = node.fresh(dtype, sizes, Layout{true, strides});
  draft.storage_of(made).is_unfilled = true;
  return true;
}

bool draw_logspace(Draft& draft, GeneReader& genes, std::size_t) {
  static constexpr std::int64_t kCounts[] = {4, 2, 3, 8, 5};
  const std::int64_t steps = genes.of(kCounts);
  const DType dtype = draft.draw_floating(genes);
  NodeBuilder node(draft, "aten.logspace.default");
  node.real("start", -1.0).integer("end", 2).integer("steps", steps).real("base", 2.0);
  node.dtype("dtype", dtype);
  on_main_device(draft, node);
  node.fresh(dtype, Shape{static_cast<Size>(steps)});
  return true;
}

constexpr DrawnOp kCreationRows[] = {
    {"aten.empty_strided", 1, draw_empty_strided, 0, 6},
    {"aten.new_empty_strided", 1, draw_empty_strided, 1, 6},
    {"aten.logspace", 1, draw_logspace, 0, 6},
    {"aten.empty", 8, draw_empty, 0},
    {"aten.empty_like", 4, draw_empty, 1},
    {"aten.new_empty", 2, draw_empty, 2},
    {"aten.empty_permuted", 1, draw_empty, 3},
    {"aten.zeros", 3, draw_filled, kZeros},
    {"aten.ones", 2, draw_filled, kOnes},
    {"aten.full", 2, draw_filled, kFull},
    {"aten.zeros_like", 2, draw_filled_like, kZeros},
    {"aten.ones_like", 1, draw_filled_like, kOnes},
    {"aten.full_like", 1, draw_filled_like, kFull},
    {"aten.new_zeros", 1, draw_new_filled, kZeros},
    {"aten.new_ones", 1, draw_new_filled, kOnes},
    {"aten.new_full", 1, draw_new_filled, kFull},
    {"aten.arange", 4, draw_arange, 0},
    {"aten.linspace", 1, draw_linspace, 0},
    {"aten.scalar_tensor", 2, draw_scalar_tensor, 0},
    {"aten.tril", 1, draw_triangle, 0},
    {"aten.triu", 1, draw_triangle, 1},
    {"aten.diag_embed", 1, draw_diag_embed, 0},
};

}  // namespace

std::span<const DrawnOp> creation_rows() { return kCreationRows; }

}  // namespace graphgate::fuzz
