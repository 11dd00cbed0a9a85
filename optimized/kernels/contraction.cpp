// Products whose shapes are free: linear, matmul (einsum: einsum.cpp).
#include "optimized/analysis/row_rules.h"
#include "optimized/gemm.h"
#include "optimized/kernels/einsum.h"
#include "optimized/kernels/families.h"

namespace graphgate::optimized {
namespace {

// The geometry of a product of two tensors of any rank, as matrices.
struct Shapes {
  Tensor a, b;  // [..., m, k] and [..., k, n], of one rank
  Sizes full;   // [..., m, n]
  Sizes sizes;  // the same without the dimensions that vectors lack
  bool is_a_vector = false;
  bool is_b_vector = false;
};

Tensor with_rank(Tensor tensor, std::int64_t rank) {
  while (tensor.rank() < rank) tensor = with_unit_dim(std::move(tensor), 0);
  return tensor;
}

Shapes shapes_of(const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) throw OpError("operands of a product want dimensions");
  if (a.dtype != b.dtype) {
    throw OpError("operands of a product must have one dtype, not " +
                  std::string(spec::torch_name(a.dtype)) + " and " +
                  std::string(spec::torch_name(b.dtype)));
  }
  if (a.dtype == spec::DType::kBool) throw OpError("a product of bool tensors");
  Shapes out;
  out.is_a_vector = a.rank() == 1;
  out.is_b_vector = b.rank() == 1;
  out.a = out.is_a_vector ? with_unit_dim(a, 0) : a;
  out.b = out.is_b_vector ? with_unit_dim(b, 1) : b;
  if (out.a.size(-1) != out.b.size(-2)) {
    throw OpError("sizes " + print_sizes(a.sizes) + " and " + print_sizes(b.sizes) +
                  " cannot be multiplied");
  }
  const std::int64_t rank = std::max(out.a.rank(), out.b.rank());
  out.a = with_rank(std::move(out.a), rank);
  out.b = with_rank(std::move(out.b), rank);
  out.full = broadcast_sizes({out.a.sizes.begin(), out.a.sizes.end() - 2},
                             {out.b.sizes.begin(), out.b.sizes.end() - 2});
  out.sizes = out.full;
  out.full.insert(out.full.end(), {out.a.size(-2), out.b.size(-1)});
  if (!out.is_a_vector) out.sizes.push_back(out.a.size(-2));
  if (!out.is_b_vector) out.sizes.push_back(out.b.size(-1));
  return out;
}

// A tensor of `shapes.sizes` with the dimensions that vectors lack.
Tensor as_matrices(const Shapes& shapes, Tensor tensor) {
  if (shapes.is_b_vector) tensor = with_unit_dim(tensor, tensor.rank());
  if (shapes.is_a_vector) tensor = with_unit_dim(tensor, tensor.rank() - 1);
  return tensor;
}

Launch bind_shapes(const Binding& call, const Shapes& shapes, const Tensor* added) {
  Product product;
  product.rounds_to = shapes.a.dtype;
  product.result = as_matrices(shapes, call.result());
  product.a = shapes.a;
  product.b = shapes.b;
  if (added) product.added = as_matrices(shapes, broadcast_to(*added, shapes.sizes));
  return product_launch(call.listener(), std::move(product));
}

void infer_matmul(Inference& call) {
  Shapes shapes = shapes_of(call.tensor("self"), call.tensor("other"));
  call.make(shapes.a.dtype, std::move(shapes.sizes));
}

Launch bind_matmul(const Binding& call) {
  return bind_shapes(call, shapes_of(call.tensor("self"), call.tensor("other")), nullptr);
}

Shapes linear_shapes(const KernelCall& call) {
  const Tensor& weight = call.tensor("weight");
  if (weight.rank() > 2) throw OpError("the weight of linear has rank 2 or 1");
  return shapes_of(call.tensor("input"), weight.rank() == 2 ? swapped(weight, 0, 1) : weight);
}

void infer_linear(Inference& call) {
  Shapes shapes = linear_shapes(call);
  if (const Tensor* bias = call.optional_tensor("bias")) {
    if (bias->dtype != shapes.a.dtype) throw OpError("the bias must have the input's dtype");
    (void)broadcast_strides(*bias, shapes.sizes);
  }
  call.make(shapes.a.dtype, std::move(shapes.sizes));
}

Launch bind_linear(const Binding& call) {
  return bind_shapes(call, linear_shapes(call), call.optional_tensor("bias"));
}

}  // namespace

std::span<const Kernel> contraction_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.matmul", infer_matmul, bind_matmul}.rows(row_rules::product),
      Kernel{"aten.linear", infer_linear, bind_linear}
          .rows(row_rules::product)
          .row_major(RowMajorRule::kAlways),
      {"aten.einsum", infer_einsum, bind_einsum},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
