// Products of matrices and vectors.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

// A matrix to begin with: [rows, inner].
TensorIndex first_factor(Draft& draft, GeneReader& genes, int rank) {
  return draft.pick_floating(genes, rank, rank);
}

Size draw_columns(Draft& draft, GeneReader& genes) {
  const auto& dims = draft.settings().dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Size size = dims[genes.below(dims.size())];
    if (is_constant(size)) return size;
  }
  return 4;
}

// Two matrices, or batches of them, that can be multiplied.
struct Factors {
  Factors(Draft& draft, GeneReader& genes, int rank)
      : a(first_factor(draft, genes, rank)),
        first(draft.tensor(a)),
        columns(draw_columns(draft, genes)) {
    Shape second = first.sizes;
    second[rank - 2] = first.sizes[rank - 1];
    second[rank - 1] = columns;
    b = draft.pick_like(genes, first.dtype, second);
    sizes = first.sizes;
    sizes[rank - 1] = columns;
    second_storage = draft.tensor(b).storage;
  }
  // Whether a tensor shares no storage with either.
  [[nodiscard]] bool are_apart_from(const DrawnTensor& tensor) const {
    return tensor.storage != first.storage && tensor.storage != second_storage;
  }

  TensorIndex a;
  DrawnTensor first;  // a
  Size columns;
  TensorIndex b = 0;
  Shape sizes;  // of the product
  std::uint16_t second_storage = 0;
};

void maybe_scale(NodeBuilder& node, GeneReader& genes) {
  if (genes.chance(15)) node.real("beta", 0.5);
  if (genes.chance(15)) node.integer("alpha", 2);
}

// mm, bmm: out= forms write a target apart from both operands.
bool draw_product(Draft& draft, GeneReader& genes, std::size_t rank) {
  const Factors of(draft, genes, static_cast<int>(rank));
  if (genes.chance(10)) {
    const auto target = draft.pick_out(genes.next(), of.first.dtype, of.sizes);
    if (target && of.are_apart_from(draft.tensor(*target))) {
      NodeBuilder node(draft, rank == 2 ? "aten.mm.out" : "aten.bmm.out");
      node.tensor("self", of.a).tensor("mat2", of.b).tensor("out", *target).written(*target);
      return true;
    }
  }
  NodeBuilder node(draft, rank == 2 ? "aten.mm.default" : "aten.bmm.default");
  node.tensor("self", of.a).tensor("mat2", of.b).fresh(of.first.dtype, of.sizes);
  return true;
}

// addmm and baddbmm; in place where the sum has the full shape.
bool draw_sum_of_product(Draft& draft, GeneReader& genes, std::size_t rank) {
  const Factors of(draft, genes, static_cast<int>(rank));
  const auto target = draft.pick_target(genes, of.first.dtype, of.sizes);
  const bool is_apart = target && of.are_apart_from(draft.tensor(*target));
  const bool in_place = is_apart && genes.chance(40);
  TensorIndex sum = in_place ? *target : 0;
  if (!in_place) {
    const auto found = draft.pick_broadcast(genes, of.first.dtype, of.sizes);
    sum = found ? *found : draft.pick_like(genes, of.first.dtype, Shape{of.columns});
  }
  const char* const name = rank == 2
                               ? (in_place ? "aten.addmm_.default" : "aten.addmm.default")
                               : (in_place ? "aten.baddbmm_.default" : "aten.baddbmm.default");
  NodeBuilder node(draft, name);
  node.tensor("self", sum)
      .tensor(rank == 2 ? "mat1" : "batch1", of.a)
      .tensor(rank == 2 ? "mat2" : "batch2", of.b);
  maybe_scale(node, genes);
  if (in_place) {
    node.written(sum);
  } else {
    node.fresh(of.first.dtype, of.sizes);
  }
  return true;
}

bool draw_matrix_vector(Draft& draft, GeneReader& genes, std::size_t adds) {
  const TensorIndex a = first_factor(draft, genes, 2);
  const DrawnTensor first = draft.tensor(a);
  const TensorIndex b = draft.pick_like(genes, first.dtype, Shape{first.sizes[1]});
  const Shape sizes{first.sizes[0]};
  if (adds == 0) {
    NodeBuilder node(draft, "aten.mv.default");
    node.tensor("self", a).tensor("vec", b).fresh(first.dtype, sizes);
    return true;
  }
  const TensorIndex sum = draft.pick_like(genes, first.dtype, sizes);
  const bool is_apart = draft.tensor(sum).storage != first.storage &&
                        draft.tensor(sum).storage != draft.tensor(b).storage;
  const bool in_place = is_apart && draft.may_write(sum) && genes.chance(40);
  NodeBuilder node(draft, in_place ? "aten.addmv_.default" : "aten.addmv.default");
  node.tensor("self", sum).tensor("mat", a).tensor("vec", b);
  maybe_scale(node, genes);
  if (in_place) {
    node.written(sum);
  } else {
    node.fresh(first.dtype, sizes);
  }
  return true;
}

bool draw_outer(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex a = first_factor(draft, genes, 1);
  const DrawnTensor first = draft.tensor(a);
  const TensorIndex b = draft.pick_like(genes, first.dtype, Shape{draw_columns(draft, genes)});
  const Shape sizes{first.sizes[0], draft.tensor(b).sizes[0]};
  const TensorIndex sum = draft.pick_like(genes, first.dtype, sizes);
  NodeBuilder node(draft, "aten.addr.default");
  node.tensor("self", sum).tensor("vec1", a).tensor("vec2", b);
  maybe_scale(node, genes);
  // It goes element by element: the result takes the strides of what is added.
  const bool is_known = draft.is_row_major(draft.tensor(sum));
  node.fresh(first.dtype, sizes, Layout{is_known, draft.row_major(sizes)});
  return true;
}

bool draw_inner(Draft& draft, GeneReader& genes, std::size_t conjugates) {
  const TensorIndex a = first_factor(draft, genes, 1);
  const DrawnTensor first = draft.tensor(a);
  const TensorIndex b = draft.pick_like(genes, first.dtype, first.sizes);
  NodeBuilder node(draft, conjugates == 0 ? "aten.dot.default" : "aten.vdot.default");
  node.tensor("self", a).tensor(conjugates == 0 ? "tensor" : "other", b).fresh(first.dtype, {});
  return true;
}

bool draw_sum_of_batches(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex a = first_factor(draft, genes, 3);
  const DrawnTensor first = draft.tensor(a);
  const Size columns = draw_columns(draft, genes);
  const TensorIndex b =
      draft.pick_like(genes, first.dtype, Shape{first.sizes[0], first.sizes[2], columns});
  const Shape sizes{first.sizes[1], columns};
  const TensorIndex sum = draft.pick_like(genes, first.dtype, sizes);
  NodeBuilder node(draft, "aten.addbmm.default");
  node.tensor("self", sum).tensor("batch1", a).tensor("batch2", b);
  maybe_scale(node, genes);
  node.fresh(first.dtype, sizes);
  return true;
}

// Bytes, summed in int32.
bool draw_byte_product(Draft& draft, GeneReader& genes, std::size_t) {
  const auto is_bytes = [](const DrawnTensor& tensor) {
    const bool fits = tensor.dtype == spec::DType::kInt8 || tensor.dtype == spec::DType::kUInt8;
    return fits && tensor.sizes.rank == 2;
  };
  auto a = draft.pick(genes, is_bytes);
  if (!a) a = draft.add_input(genes, spec::DType::kInt8, draft.draw_shape(genes, 2, 2));
  const Size inner = draft.tensor(*a).sizes[1];
  const Size columns = draw_columns(draft, genes);
  const TensorIndex b = draft.pick_like(genes, spec::DType::kInt8, Shape{inner, columns});
  const Shape sizes{draft.tensor(*a).sizes[0], columns};
  NodeBuilder node(draft, "aten._int_mm.default");
  node.tensor("self", *a).tensor("mat2", b).fresh(spec::DType::kInt32, sizes);
  return true;
}

// Factors that are cast to 8-bit floats, with a scale for each.
bool draw_scaled_product(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex a = first_factor(draft, genes, 2);
  const DrawnTensor first = draft.tensor(a);
  const Size columns = draw_columns(draft, genes);
  const TensorIndex b = draft.pick_like(genes, first.dtype, Shape{first.sizes[1], columns});
  const auto narrowed = [&](TensorIndex factor) {
    const Shape sizes = draft.tensor(factor).sizes;
    const Layout layout = preserved_layout(draft, factor);
    NodeBuilder node(draft, "aten._to_copy.default");
    node.tensor("self", factor).dtype("dtype", spec::DType::kFloat8E4M3FN);
    return node.fresh(spec::DType::kFloat8E4M3FN, sizes, layout);
  };
  const TensorIndex narrow_a = narrowed(a);
  const TensorIndex narrow_b = narrowed(b);
  const TensorIndex scale_a = draft.add_filled(spec::DType::kFloat32, {}, 1 + genes.next() % 3);
  const TensorIndex scale_b = draft.add_filled(spec::DType::kFloat32, {}, 1 + genes.next() % 3);
  static constexpr spec::DType kResults[] = {spec::DType::kFloat32, spec::DType::kBFloat16,
                                             spec::DType::kFloat16};
  const spec::DType dtype = kResults[genes.next() % std::size(kResults)];
  std::optional<TensorIndex> bias;
  if (genes.chance(30)) bias = draft.pick_like(genes, spec::DType::kFloat32, Shape{columns});
  NodeBuilder node(draft, "aten._scaled_mm.default");
  node.tensor("self", narrow_a).tensor("mat2", narrow_b);
  node.tensor("scale_a", scale_a).tensor("scale_b", scale_b).optional_tensor("bias", bias);
  node.dtype("out_dtype", dtype).fresh(dtype, Shape{first.sizes[0], columns});
  return true;
}

// Batches, each matrix a group of its own.
bool draw_grouped_product(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex a = first_factor(draft, genes, 3);
  const DrawnTensor first = draft.tensor(a);
  if (first.dtype == spec::DType::kFloat64 || !is_computed_float(first.dtype)) return false;
  const Size columns = draw_columns(draft, genes);
  const TensorIndex b =
      draft.pick_like(genes, first.dtype, Shape{first.sizes[0], first.sizes[2], columns});
  NodeBuilder node(draft, "aten._grouped_mm.default");
  node.tensor("self", a).tensor("mat2", b);
  node.fresh(first.dtype, Shape{first.sizes[0], first.sizes[1], columns}, Layout{});
  return true;
}

constexpr DrawnOp kMatmulRows[] = {
    {"aten.mm", 12, draw_product, 2},
    {"aten.bmm", 4, draw_product, 3},
    {"aten.addmm", 8, draw_sum_of_product, 2},
    {"aten.baddbmm", 2, draw_sum_of_product, 3},
    {"aten.mv", 3, draw_matrix_vector, 0},
    {"aten.addmv", 2, draw_matrix_vector, 1},
    {"aten.addr", 1, draw_outer, 0},
    {"aten.dot", 2, draw_inner, 0},
    {"aten.vdot", 1, draw_inner, 1},
    {"aten.addbmm", 1, draw_sum_of_batches, 0},
    {"aten._int_mm", 1, draw_byte_product, 0, 6},
    {"aten._scaled_mm", 1, draw_scaled_product, 0, 6},
    {"aten._grouped_mm", 1, draw_grouped_product, 0, 6},
};

}  // namespace

std::span<const DrawnOp> matmul_rows() { return kMatmulRows; }

}  // namespace graphgate::fuzz
