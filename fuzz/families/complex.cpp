// Complex numbers: made of floats and taken apart again, arithmetic and products.
//
// Other families never meet a complex tensor, but for views: Draft::pick passes them over.
#include <algorithm>

#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

constexpr int kSince = 7;

DType complex_of(DType dtype) {
  return dtype == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

// A complex tensor; an input of the program where there is none.
TensorIndex pick_complex(Draft& draft, GeneReader& genes, int least_rank = 0,
                         int most_rank = kMostRank) {
  const auto found = draft.pick_of_any_dtype(genes, [&](const DrawnTensor& tensor) {
    return spec::is_complex(tensor.dtype) && tensor.sizes.rank >= least_rank &&
           tensor.sizes.rank <= most_rank;
  });
  if (found) return *found;
  const int least = std::max(1, least_rank);
  const DType dtype = complex_of(draft.settings().dtypes.front());
  return draft.add_input(genes, dtype,
                         draft.draw_shape(genes, least, std::clamp(2, least, most_rank)));
}

// A number that a complex tensor is multiplied with, or that is added to it.
spec::Argument draw_complex_scalar(GeneReader& genes, DType dtype) {
  static constexpr double kParts[] = {0.0, 2.0, -1.0, 0.5, 1.0, -0.25};
  const std::uint32_t gene = genes.next();
  if (gene % 4 == 3) return draw_scalar(genes, spec::component_dtype(dtype));
  const std::uint32_t rest = gene / 4;
  return {spec::ComplexNumber{kParts[rest % std::size(kParts)],
                              kParts[(rest / std::size(kParts) + 1) % std::size(kParts)]}};
}

// complex, polar: two floats of one dtype make one number.
bool draw_made(Draft& draft, GeneReader& genes, std::size_t is_polar) {
  const auto first =
      draft.pick(genes, [](const DrawnTensor& tensor) { return is_plain_float(tensor.dtype); });
  if (!first) return false;
  const DrawnTensor from = draft.tensor(*first);
  const TensorIndex second = draft.pick_like(genes, from.dtype, from.sizes);
  const TensorIndex operands[] = {*first, second};
  const Layout layout = pointwise_layout(draft, operands, from.sizes, 0);
  NodeBuilder node(draft, is_polar == 1 ? "aten.polar.default" : "aten.complex.default");
  node.tensor(is_polar == 1 ? "abs" : "real", *first)
      .tensor(is_polar == 1 ? "angle" : "imag", second);
  node.fresh(complex_of(from.dtype), from.sizes, layout);
  return true;
}

// Pairs of floats seen as numbers. Sizes of another last dimension are split first.
bool draw_view_as_complex(Draft& draft, GeneReader& genes, std::size_t) {
  const auto found = draft.pick(genes, [&](const DrawnTensor& tensor) {
    const int last = tensor.sizes.rank - 1;
    return is_plain_float(tensor.dtype) && last >= 0 && last + 1 < kMostRank &&
           is_constant(tensor.sizes[last]) && tensor.sizes[last] >= 2 &&
           tensor.sizes[last] % 2 == 0 && tensor.has_layout && !tensor.overlaps &&
           tensor.offset == 0 && tensor.strides == draft.row_major(tensor.sizes);
  });
  if (!found) return false;
  TensorIndex pairs = *found;
  Shape sizes = draft.tensor(pairs).sizes;
  Size& last = sizes[sizes.rank - 1];
  if (last != 2) {
    last = last / 2;
    sizes.push(2);
    NodeBuilder node(draft, "aten.view.default");
    node.tensor("self", pairs).sizes("size", sizes);
    pairs = node.view(pairs, sizes, draft.row_major(sizes), 0);
  }
  sizes.erase(sizes.rank - 1);
  draft.keep_places();
  NodeBuilder node(draft, "aten.view_as_complex.default");
  node.tensor("self", pairs);
  node.view_as(pairs, complex_of(draft.tensor(pairs).dtype), sizes, draft.row_major(sizes), 0);
  return true;
}

enum Parts : std::size_t { kBoth = 0, kReal = 1, kImaginary = 2 };

// view_as_real, real, imag: floats over the same storage, each number two of them.
bool draw_parts(Draft& draft, GeneReader& genes, std::size_t parts) {
  const TensorIndex self = pick_complex(draft, genes, 0, kMostRank - 1);
  // PyTorch shows no pairs of a tensor that it only marks as conjugated, and its parts are views.
  if (draft.storage_of(self).is_conjugated) return false;
  const DrawnTensor from = draft.tensor(self);
  SizeTable& table = draft.table();
  Shape sizes = from.sizes;
  Shape strides = from.strides;
  for (int d = 0; d < strides.rank; ++d) strides[d] = table.product(strides[d], 2);
  Size offset = table.product(from.offset, 2);
  if (parts == kBoth) {
    sizes.push(2);
    strides.push(1);
  }
  if (parts == kImaginary) offset = table.plus(offset, 1);
  constexpr const char* kOps[] = {"aten.view_as_real.default", "aten.real.default",
                                  "aten.imag.default"};
  NodeBuilder node(draft, kOps[parts]);
  node.tensor("self", self);
  node.view_as(self, spec::component_dtype(from.dtype), sizes, strides, offset);
  return true;
}

struct BinaryRow {
  std::string_view name;
  std::uint32_t weight = 4;
  bool has_alpha = false;
};
constexpr BinaryRow kBinary[] = {
    {"aten.mul", 10}, {"aten.add", 6, true}, {"aten.sub", 3, true}, {"aten.div", 1}};

// Of two complex tensors, or one and floats of its parts' dtype, or one and a number.
bool draw_binary(Draft& draft, GeneReader& genes, std::size_t variant) {
  const BinaryRow& row = kBinary[variant];
  const TensorIndex first = pick_complex(draft, genes);
  const DType dtype = draft.tensor(first).dtype;
  const OpForms forms = forms_of(row.name, "Tensor");
  const std::uint32_t form = genes.next() % 8;
  const auto rest = [&](NodeBuilder& node) {
    if (row.has_alpha && form == 5) {
      node.argument("alpha", spec::Argument{spec::ComplexNumber{0.5, -1}});
    }
  };
  if (form >= 6) {
    const spec::Argument number = draw_complex_scalar(genes, dtype);
    add_pointwise(draft, genes, forms, {{"self", first}}, dtype, 1,
                  [&](NodeBuilder& node) { node.argument("other", number); });
    return true;
  }
  const DType other = form == 4 ? spec::component_dtype(dtype) : dtype;
  const Shape sizes = draft.tensor(first).sizes;
  auto second = draft.pick_broadcast(genes, other, sizes);
  if (!second) second = draft.pick_like(genes, other, sizes);
  add_pointwise(draft, genes, forms, {{"self", first}, {"other", *second}}, dtype, 0, rest);
  return true;
}

struct UnaryRow {
  std::string_view name;
  std::uint32_t weight = 2;
  bool is_real = false;  // floats are the result
};
constexpr UnaryRow kUnary[] = {{"aten.abs", 4, true}, {"aten.angle", 2, true},
                               {"aten.neg", 2},       {"aten.conj_physical", 4},
                               {"aten.exp", 1},       {"aten.clone", 2}};

bool draw_unary(Draft& draft, GeneReader& genes, std::size_t variant) {
  const UnaryRow& row = kUnary[variant];
  const TensorIndex self = pick_complex(draft, genes);
  const DrawnTensor from = draft.tensor(self);
  const DType dtype = row.is_real ? spec::component_dtype(from.dtype) : from.dtype;
  const Layout layout = row_major_like(draft, {self}, from.sizes);
  NodeBuilder node(draft, std::string(row.name) + ".default");
  node.tensor("self", self).fresh(dtype, from.sizes, layout);
  return true;
}

// Conjugated numbers may lie where the others do, or apart: so neither are written.
bool draw_conjugate(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick_of_any_dtype(genes, [&](const DrawnTensor& tensor) {
    return spec::is_complex(tensor.dtype) && draft.is_row_major(tensor) && tensor.offset == 0;
  });
  if (!self || draft.storage_of(*self).writes > 0 || draft.storage_of(*self).is_state) return false;
  draft.storage_of(*self).may_be_written = false;
  NodeBuilder node(draft, "aten._conj.default");
  node.tensor("self", *self);
  // A tensor that is only marked lies where this one does, and a copy does not.
  draft.keep_places();
  DrawnStorage& conjugated = draft.storage_of(node.copy_of(*self));
  conjugated.may_be_written = false;
  conjugated.is_conjugated = true;
  return true;
}

// sum, mean over one dimension, or all.
bool draw_sum(Draft& draft, GeneReader& genes, std::size_t is_mean) {
  const TensorIndex self = pick_complex(draft, genes, 1);
  const DrawnTensor from = draft.tensor(self);
  const std::uint32_t form = genes.next() % 4;
  const int dim = draw_dim(genes, from.sizes.rank);
  if (draft.table().least(draft.elements(from.sizes)) == 0) return false;
  if (form == 0) {
    NodeBuilder node(draft, is_mean == 1 ? "aten.mean.default" : "aten.sum.default");
    node.tensor("self", self).fresh(from.dtype, {});
    return true;
  }
  Shape sizes = from.sizes;
  if (form == 1) sizes[dim] = 1;
  if (form != 1) sizes.erase(dim);
  NodeBuilder node(draft, is_mean == 1 ? "aten.mean.dim" : "aten.sum.dim_IntList");
  node.tensor("self", self).integers("dim", {dim});
  if (form == 1) node.boolean("keepdim", true);
  node.fresh(from.dtype, sizes, Layout{draft.is_row_major(from), draft.row_major(sizes)});
  return true;
}

bool draw_product(Draft& draft, GeneReader& genes, std::size_t rank) {
  const int dims = static_cast<int>(rank);
  const TensorIndex first = pick_complex(draft, genes, dims, dims);
  const DrawnTensor from = draft.tensor(first);
  const Size columns = 3;
  Shape second = from.sizes;
  second[dims - 2] = from.sizes[dims - 1];
  second[dims - 1] = columns;
  const TensorIndex other = draft.pick_like(genes, from.dtype, second);
  Shape sizes = from.sizes;
  sizes[dims - 1] = columns;
  NodeBuilder node(draft, rank == 2 ? "aten.mm.default" : "aten.bmm.default");
  node.tensor("self", first).tensor("mat2", other).fresh(from.dtype, sizes);
  return true;
}

bool draw_joined(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex first = pick_complex(draft, genes, 1);
  const DrawnTensor from = draft.tensor(first);
  const TensorIndex second = draft.pick_like(genes, from.dtype, from.sizes);
  const int dim = draw_dim(genes, from.sizes.rank);
  Shape sizes = from.sizes;
  sizes[dim] = draft.table().sum(sizes[dim], sizes[dim]);
  const bool is_known = draft.is_row_major(from) && draft.is_row_major(draft.tensor(second));
  NodeBuilder node(draft, "aten.cat.default");
  node.tensors("tensors", {first, second}).integer("dim", dim);
  node.fresh(from.dtype, sizes, Layout{is_known, draft.row_major(sizes)});
  return true;
}

bool draw_chosen(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex first = pick_complex(draft, genes);
  const DrawnTensor from = draft.tensor(first);
  const TensorIndex second = draft.pick_like(genes, from.dtype, from.sizes);
  const TensorIndex mask = pick_mask(draft, genes, from.sizes);
  const TensorIndex operands[] = {mask, first, second};
  const Layout layout = pointwise_layout(draft, operands, from.sizes, 0);
  NodeBuilder node(draft, "aten.where.self");
  node.tensor("condition", mask).tensor("self", first).tensor("other", second);
  node.fresh(from.dtype, from.sizes, layout);
  return true;
}

bool draw_compared(Draft& draft, GeneReader& genes, std::size_t is_ne) {
  const TensorIndex first = pick_complex(draft, genes);
  const DrawnTensor from = draft.tensor(first);
  const TensorIndex second = draft.pick_like(genes, from.dtype, from.sizes);
  const TensorIndex operands[] = {first, second};
  const Layout layout = pointwise_layout(draft, operands, from.sizes, 0);
  NodeBuilder node(draft, is_ne == 1 ? "aten.ne.Tensor" : "aten.eq.Tensor");
  node.tensor("self", first).tensor("other", second).fresh(DType::kBool, from.sizes, layout);
  return true;
}

bool draw_full(Draft& draft, GeneReader& genes, std::size_t) {
  const DType dtype = complex_of(draft.settings().dtypes.front());
  const Shape sizes = draft.draw_shape(genes, 1, 2);
  if (!draft.is_small(sizes)) return false;
  const spec::Argument number = draw_complex_scalar(genes, dtype);
  NodeBuilder node(draft, "aten.full.default");
  node.sizes("size", sizes).argument("fill_value", number).dtype("dtype", dtype);
  if (draft.settings().on_accelerator) node.argument("device", {draft.main_device()});
  node.fresh(dtype, sizes);
  return true;
}

// Whether a program may have complex numbers: few do, since not every judge and device takes them,
// and those that do have more than one.
bool may_hold_complex(const Draft& draft, GeneReader& genes) {
  const bool holds =
      std::any_of(draft.tensors().begin(), draft.tensors().end(),
                  [](const DrawnTensor& tensor) { return spec::is_complex(tensor.dtype); });
  return genes.chance(10) || holds;
}

template <auto kDraw>
bool seldom(Draft& draft, GeneReader& genes, std::size_t variant) {
  return may_hold_complex(draft, genes) && kDraw(draft, genes, variant);
}

std::vector<DrawnOp> make_complex_rows() {
  std::vector<DrawnOp> rows = {
      {"aten.view_as_complex", 8, seldom<draw_view_as_complex>, 0},
      {"aten.view_as_real", 6, seldom<draw_parts>, kBoth},
      {"aten.real", 3, seldom<draw_parts>, kReal},
      {"aten.imag", 3, seldom<draw_parts>, kImaginary},
      {"aten.complex", 3, seldom<draw_made>, 0},
      {"aten.polar", 3, seldom<draw_made>, 1},
      {"aten._conj", 2, seldom<draw_conjugate>, 0},
      {"aten.sum", 2, seldom<draw_sum>, 0},
      {"aten.mean", 1, seldom<draw_sum>, 1},
      {"aten.mm", 2, seldom<draw_product>, 2},
      {"aten.bmm", 1, seldom<draw_product>, 3},
      {"aten.cat", 2, seldom<draw_joined>, 0},
      {"aten.where", 1, seldom<draw_chosen>, 0},
      {"aten.eq", 1, seldom<draw_compared>, 0},
      {"aten.ne", 1, seldom<draw_compared>, 1},
      {"aten.full", 1, seldom<draw_full>, 0},
  };
  for (const DrawnOp& row : rows_of(kBinary, seldom<draw_binary>)) rows.push_back(row);
  for (const DrawnOp& row : rows_of(kUnary, seldom<draw_unary>)) rows.push_back(row);
  for (DrawnOp& row : rows) row.since = kSince;
  return rows;
}

}  // namespace

std::span<const DrawnOp> complex_rows() {
  static const std::vector<DrawnOp> kRows = make_complex_rows();
  return kRows;
}

}  // namespace graphgate::fuzz
