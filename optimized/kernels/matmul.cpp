// Products of matrices and vectors whose shapes are fixed: mm, bmm, mv, dot, and their forms that
// add. All of them are one Product (gemm.h) over views of the arguments.
#include <numeric>

#include "optimized/analysis/row_rules.h"
#include "optimized/converted_rows.h"
#include "optimized/gemm.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/rows.h"
#include "optimized/scratch.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

void require_rank(const Tensor& tensor, std::int64_t rank, std::string_view name) {
  if (tensor.rank() == rank) return;
  throw OpError("'" + std::string(name) + "' must have rank " + std::to_string(rank) +
                ", and has sizes " + print_sizes(tensor.sizes));
}

void require_one_dtype(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype) {
    throw OpError("operands of a product must have one dtype, not " +
                  std::string(spec::torch_name(a.dtype)) + " and " +
                  std::string(spec::torch_name(b.dtype)));
  }
  if (a.dtype == DType::kBool) throw OpError("a product of bool tensors");
}

void require_equal(std::int64_t a, std::int64_t b, const Tensor& left, const Tensor& right) {
  if (a == b) return;
  throw OpError("sizes " + print_sizes(left.sizes) + " and " + print_sizes(right.sizes) +
                " cannot be multiplied");
}

// The names of a call's two factors, and of the tensor that is added.
struct Names {
  std::string_view a, b, added;
};

// The dtype of the result: the overloads with out_dtype name it.
DType product_dtype(const KernelCall& call, const Tensor& a) {
  return call.optional_dtype("out_dtype").value_or(a.dtype);
}

// The parts of a product that all overloads share.
Product start_product(const Binding& call, const Names& names) {
  Product product;
  product.rounds_to = product_dtype(call, call.tensor(names.a));
  product.result = call.result();
  product.a = call.tensor(names.a);
  product.b = call.tensor(names.b);
  if (!names.added.empty()) {
    product.added = broadcast_to(call.tensor(names.added), product.result.sizes);
    product.alpha = call.item("alpha");
    product.beta = call.item("beta");
  }
  return product;
}

// Without terms to add, addmm and addmv multiply by beta as a tensor of the operands' dtype.
void round_beta_of_empty_sum(Product& product) {
  if (!product.added || product.a.size(-1) != 0) return;
  with_compute(product.added->dtype, [&]<class C>() {
    C beta = number_as<C>(product.beta);
    round_values(product.added->dtype, &beta, 1);
    if constexpr (std::is_same_v<C, std::int64_t>) {
      product.beta.value = beta;
    } else {
      product.beta.value = static_cast<double>(beta);
    }
  });
}

void make_result(Inference& call, const Names& names, Sizes sizes) {
  if (!names.added.empty()) {
    const Tensor& added = call.tensor(names.added);
    const DType dtype = product_dtype(call, call.tensor(names.a));
    if (added.dtype != call.tensor(names.a).dtype && added.dtype != dtype) {
      throw OpError("the tensor that is added must have the factors' dtype");
    }
    (void)broadcast_strides(added, sizes);
  }
  const DType dtype = product_dtype(call, call.tensor(names.a));
  call.make(dtype, std::move(sizes));
}

// Matrices, or batches of them (rank 2 or 3).
template <std::int64_t rank, const Names& names>
void infer_matrices(Inference& call) {
  const Tensor& a = call.tensor(names.a);
  const Tensor& b = call.tensor(names.b);
  require_rank(a, rank, names.a);
  require_rank(b, rank, names.b);
  require_one_dtype(a, b);
  require_equal(a.size(-1), b.size(-2), a, b);
  Sizes sizes = {a.size(-2), b.size(-1)};
  if (rank == 3) {
    require_equal(a.size(0), b.size(0), a, b);
    sizes.insert(sizes.begin(), a.size(0));
  }
  make_result(call, names, std::move(sizes));
}

template <const Names& names>
Launch bind_matrices(const Binding& call) {
  Product product = start_product(call, names);
  if (product.result.rank() == 2) round_beta_of_empty_sum(product);
  return product_launch(call.listener(), std::move(product));
}

template <const Names& names>
void infer_matrix_vector(Inference& call) {
  const Tensor& a = call.tensor(names.a);
  const Tensor& b = call.tensor(names.b);
  require_rank(a, 2, names.a);
  require_rank(b, 1, names.b);
  require_one_dtype(a, b);
  require_equal(a.size(1), b.size(0), a, b);
  make_result(call, names, {a.size(0)});
}

template <const Names& names>
Launch bind_matrix_vector(const Binding& call) {
  Product product = start_product(call, names);
  round_beta_of_empty_sum(product);
  product.b = with_unit_dim(product.b, 1);
  product.result = with_unit_dim(product.result, 1);
  if (product.added) product.added = with_unit_dim(*product.added, 1);
  return product_launch(call.listener(), std::move(product));
}

constexpr Names kMm = {"self", "mat2", ""};
constexpr Names kBmm = {"self", "mat2", ""};
constexpr Names kAddmm = {"mat1", "mat2", "self"};
constexpr Names kBaddbmm = {"batch1", "batch2", "self"};
constexpr Names kMv = {"self", "vec", ""};
constexpr Names kAddmv = {"mat", "vec", "self"};
constexpr Names kDot = {"self", "tensor", ""};
constexpr Names kVdot = {"self", "other", ""};
constexpr Names kAddbmm = {"batch1", "batch2", "self"};

template <const Names& names>
void infer_dot(Inference& call) {
  const Tensor& a = call.tensor(names.a);
  const Tensor& b = call.tensor(names.b);
  require_rank(a, 1, names.a);
  require_rank(b, 1, names.b);
  require_one_dtype(a, b);
  require_equal(a.size(0), b.size(0), a, b);
  call.make(a.dtype, {});
}

template <const Names& names>
Launch bind_dot(const Binding& call) {
  Product product = start_product(call, names);
  product.a = with_unit_dim(product.a, 0);
  product.b = with_unit_dim(product.b, 1);
  product.result = with_unit_dim(with_unit_dim(product.result, 0), 0);
  return product_launch(call.listener(), std::move(product));
}

// addbmm adds up the products of all batches: one product over batch and depth together. Both
// factors are copied so that those two dimensions lie in one.
Sizes joined_a(const Tensor& a) { return {a.size(1), a.size(0), a.size(2)}; }

void infer_addbmm(Inference& call) {
  const Tensor& a = call.tensor("batch1");
  const Tensor& b = call.tensor("batch2");
  require_rank(a, 3, "batch1");
  require_rank(b, 3, "batch2");
  require_one_dtype(a, b);
  require_equal(a.size(0), b.size(0), a, b);
  require_equal(a.size(2), b.size(1), a, b);
  make_result(call, kAddbmm, {a.size(1), b.size(2)});
  call.want_workspace(scratch_bytes(a.dtype, joined_a(a)));
  call.want_workspace(scratch_bytes(b.dtype, b.sizes));
}

Launch bind_addbmm(const Binding& call) {
  Product product = start_product(call, kAddbmm);
  std::byte* workspace = call.workspace();
  Tensor a = scratch_tensor(product.a.dtype, joined_a(product.a), workspace);
  Tensor b = scratch_tensor(product.b.dtype, product.b.sizes, workspace);
  Launch copy_a = copy_launch(call.listener(), a, swapped(product.a, 0, 1));
  Launch copy_b = copy_launch(call.listener(), b, product.b);
  a.sizes = {a.size(0), a.size(1) * a.size(2)};
  b.sizes = {b.size(0) * b.size(1), b.size(2)};
  a.strides = row_major_strides(a.sizes);
  b.strides = row_major_strides(b.sizes);
  product.a = std::move(a);
  product.b = std::move(b);
  return in_turn(
      {std::move(copy_a), std::move(copy_b), product_launch(call.listener(), std::move(product))});
}

// addr is pointwise: beta * self + alpha * vec1[i] * vec2[j].
DType addr_dtype(const KernelCall& call) {
  return result_type({&call.item("self"), &call.item("vec1"), &call.item("vec2")});
}

void infer_addr(Inference& call) {
  const Tensor& a = call.tensor("vec1");
  const Tensor& b = call.tensor("vec2");
  require_rank(a, 1, "vec1");
  require_rank(b, 1, "vec2");
  Sizes sizes = {a.size(0), b.size(0)};
  const Tensor self = broadcast_to(call.tensor("self"), sizes);
  const Tensor column = with_unit_dim(a, 1);
  const Tensor row = with_unit_dim(b, 0);
  Sizes strides = pointwise_strides({&self, &column, &row}, sizes);
  call.make(addr_dtype(call), std::move(sizes), std::move(strides));
}

Launch bind_addr(const Binding& call) {
  const DType dtype = addr_dtype(call);
  return with_compute(dtype, [&]<class C>() -> Launch {
    return launch_tensors<C>(
        call.listener(), call.result(), dtype,
        element::AddOuter<C>{number_as<C>(call.item("alpha")), number_as<C>(call.item("beta"))},
        call.tensor("self"), with_unit_dim(call.tensor("vec1"), 1), call.tensor("vec2"));
  });
}

void infer_int_mm(Inference& call) {
  const Tensor& a = call.tensor("self");
  const Tensor& b = call.tensor("mat2");
  require_rank(a, 2, "self");
  require_rank(b, 2, "mat2");
  require_equal(a.size(1), b.size(0), a, b);
  if ((a.dtype != DType::kInt8 && a.dtype != DType::kUInt8) || b.dtype != DType::kInt8) {
    throw OpError("an integer product is of int8 or uint8 with int8");
  }
  call.make(DType::kInt32, {a.size(0), b.size(1)});
}

Launch bind_int_mm(const Binding& call) {
  Product product;
  product.rounds_to = DType::kInt32;
  product.result = call.result();
  product.a = call.tensor("self");
  product.b = call.tensor("mat2");
  return product_launch(call.listener(), std::move(product));
}

bool is_eight_bit_float(DType dtype) {
  return dtype == DType::kFloat8E4M3FN || dtype == DType::kFloat8E5M2;
}

// One scale for a factor, or one for each row of the first and column of the second.
void check_scale(const KernelCall& call, std::string_view name, const Sizes& each) {
  const Tensor& scale = call.tensor(name);
  const bool fits = scale.count() == 1 || scale.sizes == each;
  if (fits && scale.dtype == DType::kFloat32) return;
  throw OpError("'" + std::string(name) + "' has sizes " + print_sizes(scale.sizes) +
                ", not one element or " + print_sizes(each));
}

void infer_scaled_mm(Inference& call) {
  const Tensor& a = call.tensor("self");
  const Tensor& b = call.tensor("mat2");
  require_rank(a, 2, "self");
  require_rank(b, 2, "mat2");
  require_equal(a.size(1), b.size(0), a, b);
  if (!is_eight_bit_float(a.dtype) || !is_eight_bit_float(b.dtype)) {
    throw OpError("a scaled product is of 8-bit floats");
  }
  check_scale(call, "scale_a", {a.size(0), 1});
  check_scale(call, "scale_b", {1, b.size(1)});
  const bool is_one_a = call.tensor("scale_a").count() == 1;
  const bool is_one_b = call.tensor("scale_b").count() == 1;
  if (is_one_a != is_one_b && a.size(0) != 1 && b.size(1) != 1) {
    throw OpError("both factors are scaled as a whole, or both by rows");
  }
  const Tensor* bias = call.optional_tensor("bias");
  if (bias && bias->count() != b.size(1)) throw OpError("a bias has one element per column");
  const DType dtype = product_dtype(call, a);
  if (!spec::is_floating_point(dtype)) throw OpError("a scaled product is no integer");
  call.make(dtype, {a.size(0), b.size(1)});
}

// The factor of a dense or strided matrix.
Factor factor_of_matrix(const Tensor& matrix) {
  return {matrix.dtype, matrix.data(), matrix.strides[0] * matrix.item_bytes(),
          matrix.strides[1] * matrix.item_bytes()};
}

// All elements of a tensor as float32, read when the launch runs.
std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<std::int64_t> dims(at(tensor.rank()));
  std::iota(dims.begin(), dims.end(), 0);
  const Rows rows(tensor, dims);
  std::vector<float> out(at(rows.length()));
  rows.load<float>(0, out.data());
  return out;
}

// The sum of products is scaled behind it, in float32, and then rounded once.
Launch bind_scaled_mm(const Binding& call) {
  const DType dtype = product_dtype(call, call.tensor("self"));
  std::optional<Tensor> bias;
  if (const Tensor* given = call.optional_tensor("bias")) bias = *given;
  std::optional<Tensor> divisor;
  if (const Tensor* given = call.optional_tensor("scale_result")) {
    if (call.has("out_dtype") && is_eight_bit_float(dtype)) divisor = *given;
  }
  return Launch([a = call.tensor("self"), b = call.tensor("mat2"), result = call.result(),
                 scale_a = call.tensor("scale_a"), scale_b = call.tensor("scale_b"),
                 bias = std::move(bias), divisor = std::move(divisor), dtype] {
    const std::vector<float> by_row = floats_of(scale_a);
    const std::vector<float> by_column = floats_of(scale_b);
    const std::vector<float> biases = bias ? floats_of(*bias) : std::vector<float>();
    const float divided_by = divisor ? floats_of(*divisor).front() : 1;
    const std::int64_t item = result.item_bytes();
    gemm<float>(a.size(0), b.size(1), a.size(1), factor_of_matrix(a), factor_of_matrix(b),
                [&](std::int64_t row, std::int64_t column, float* values, int n) {
                  const float row_scale = by_row[by_row.size() == 1 ? 0 : at(row)];
                  for (int i = 0; i < n; ++i) {
                    const std::size_t c = at(column + i);
                    const float scale = by_column[by_column.size() == 1 ? 0 : c];
                    values[i] = values[i] * row_scale * scale;
                    if (bias) values[i] += biases[c];
                    if (divisor) values[i] /= divided_by;
                  }
                  store_rounded<float>(
                      dtype, values, n, result,
                      result.data() + (row * result.strides[0] + column * result.strides[1]) * item,
                      result.strides[1] * item);
                });
  });
}

// What a grouped product cuts into groups.
enum class GroupCut : std::uint8_t { kNothing, kRows, kColumns, kDepth };

GroupCut cut_of(const Tensor& a, const Tensor& b) {
  if (a.rank() == 3) return b.rank() == 3 ? GroupCut::kNothing : GroupCut::kColumns;
  return b.rank() == 3 ? GroupCut::kRows : GroupCut::kDepth;
}

std::int64_t groups_of_product(const KernelCall& call, GroupCut cut) {
  const Tensor& a = call.tensor("self");
  if (cut == GroupCut::kNothing) return a.size(0);
  return call.tensor("offs").size(0);
}

void infer_grouped_product(Inference& call) {
  const Tensor& a = call.tensor("self");
  const Tensor& b = call.tensor("mat2");
  for (const Tensor* factor : {&a, &b}) {
    if (factor->rank() != 2 && factor->rank() != 3) {
      throw OpError("a grouped product is of matrices and batches of them");
    }
  }
  require_one_dtype(a, b);
  const bool is_known =
      a.dtype == DType::kFloat32 || a.dtype == DType::kBFloat16 || a.dtype == DType::kFloat16;
  if (!is_known || product_dtype(call, a) != a.dtype || call.has("bias")) {
    throw OpError("a grouped product is of floats, in their dtype and without a bias");
  }
  require_equal(a.size(-1), b.size(-2), a, b);
  const GroupCut cut = cut_of(a, b);
  if (call.has("offs") != (cut != GroupCut::kNothing)) {
    throw OpError("groups are those of one matrix at least");
  }
  if (cut != GroupCut::kNothing) {
    const Tensor& ends = call.tensor("offs");
    if (ends.rank() != 1 || ends.dtype != DType::kInt32)
      throw OpError("groups end at int32 numbers");
  }
  const std::int64_t groups = groups_of_product(call, cut);
  const bool fits =
      (a.rank() == 2 || a.size(0) == groups) && (b.rank() == 2 || b.size(0) == groups);
  if (!fits) throw OpError("a grouped product has a group for each matrix of a batch");
  Sizes sizes = {a.size(-2), b.size(-1)};
  if (cut == GroupCut::kNothing || cut == GroupCut::kDepth) sizes.insert(sizes.begin(), groups);
  // Rows begin at multiples of 16 bytes.
  const std::int64_t step = 16 / a.item_bytes();
  const std::int64_t width = (b.size(-1) + step - 1) / step * step;
  Sizes strides = {width, 1};
  if (sizes.size() == 3) strides.insert(strides.begin(), a.size(-2) * width);
  call.make(a.dtype, std::move(sizes), std::move(strides));
}

Tensor part_of(Tensor tensor, std::int64_t dim, std::int64_t begin, std::int64_t size) {
  tensor.offset += begin * tensor.strides[at(dim)];
  tensor.sizes[at(dim)] = size;
  return tensor;
}

Tensor matrix_of_group(const Tensor& tensor, std::int64_t group) {
  if (tensor.rank() == 2) return tensor;
  Tensor out = part_of(tensor, 0, group, 1);
  out.sizes.erase(out.sizes.begin());
  out.strides.erase(out.strides.begin());
  return out;
}

// Where groups end is seen when it runs; what belongs to none is zero.
Launch bind_grouped_product(const Binding& call) {
  const Tensor& a = call.tensor("self");
  const Tensor& b = call.tensor("mat2");
  const GroupCut cut = cut_of(a, b);
  std::optional<Rows> ends;
  if (cut != GroupCut::kNothing) ends.emplace(call.tensor("offs"), std::vector<std::int64_t>{0});
  const std::int64_t groups = groups_of_product(call, cut);
  return Launch([a, b, cut, groups, ends = std::move(ends), result = call.result()] {
    std::vector<std::int64_t> last(at(groups), 0);
    if (ends) ends->load<std::int64_t>(0, last.data());
    const std::int64_t most = cut == GroupCut::kRows      ? a.size(0)
                              : cut == GroupCut::kColumns ? b.size(1)
                                                          : a.size(-1);
    std::int64_t begin = 0;
    for (std::int64_t group = 0; group < groups; ++group) {
      Product product;
      product.rounds_to = a.dtype;
      product.a = matrix_of_group(a, group);
      product.b = matrix_of_group(b, group);
      product.result = matrix_of_group(result, group);
      const std::int64_t size = last[at(group)] - begin;
      if (cut != GroupCut::kNothing && (size < 0 || begin + size > most)) {
        throw OpError("groups of a product must end in order, and inside");
      }
      if (cut == GroupCut::kRows) {
        product.a = part_of(product.a, 0, begin, size);
        product.result = part_of(product.result, 0, begin, size);
      } else if (cut == GroupCut::kColumns) {
        product.b = part_of(product.b, 1, begin, size);
        product.result = part_of(product.result, 1, begin, size);
      } else if (cut == GroupCut::kDepth) {
        product.a = part_of(product.a, 1, begin, size);
        product.b = part_of(product.b, 0, begin, size);
      }
      begin += cut == GroupCut::kNothing ? 0 : size;
      if (const Launch launch = product_launch(nullptr, std::move(product)); launch.run) {
        launch.run();
      }
    }
    if (cut != GroupCut::kRows && cut != GroupCut::kColumns) return;
    const std::int64_t dim = cut == GroupCut::kRows ? 0 : 1;
    const Tensor rest = part_of(result, dim, begin, most - begin);
    with_real(rest.dtype, [&]<class C>() {
      const Rows rows(rest, {1});
      const std::vector<C> zeros(at(rows.length()), C(0));
      for (std::int64_t r = 0; r < rows.count(); ++r) rows.store<C>(r, zeros.data());
    });
  });
}

}  // namespace

std::span<const Kernel> matmul_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.mm", infer_matrices<2, kMm>, bind_matrices<kMm>}
          .rows(row_rules::product)
          .row_major(RowMajorRule::kAlways),
      Kernel{"aten.bmm", infer_matrices<3, kBmm>, bind_matrices<kBmm>}
          .rows(row_rules::product)
          .row_major(RowMajorRule::kAlways),
      Kernel{"aten.addmm", infer_matrices<2, kAddmm>, bind_matrices<kAddmm>}
          .rows(row_rules::product)
          .row_major(RowMajorRule::kAlways),
      Kernel{"aten.baddbmm", infer_matrices<3, kBaddbmm>, bind_matrices<kBaddbmm>}.rows(
          row_rules::product),
      Kernel{"aten.mv", infer_matrix_vector<kMv>, bind_matrix_vector<kMv>}.rows(row_rules::product),
      Kernel{"aten.addmv", infer_matrix_vector<kAddmv>, bind_matrix_vector<kAddmv>}.rows(
          row_rules::product),
      {"aten.dot", infer_dot<kDot>, bind_dot<kDot>},
      {"aten.vdot", infer_dot<kVdot>, bind_dot<kVdot>},
      {"aten.addbmm", infer_addbmm, bind_addbmm},
      {"aten.addr", infer_addr, bind_addr, Overlap::kSameGeometry},
      {"aten._grouped_mm", infer_grouped_product, bind_grouped_product},
      {"aten._int_mm", infer_int_mm, bind_int_mm},
      {"aten._scaled_mm", infer_scaled_mm, bind_scaled_mm},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
