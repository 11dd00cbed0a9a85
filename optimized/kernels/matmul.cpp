// Products of matrices and vectors whose shapes are fixed: mm, bmm, mv, dot, and their forms that
// add. All of them are one Product (gemm.h) over views of the arguments.
#include "optimized/analysis/row_rules.h"
#include "optimized/converted_rows.h"
#include "optimized/gemm.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
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
  };
  return kKernels;
}

}  // namespace graphgate::optimized
