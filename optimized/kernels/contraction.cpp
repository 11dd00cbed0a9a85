// Products whose shapes are free: linear, matmul (einsum: einsum.cpp).
#include "optimized/analysis/row_rules.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/gemm.h"
#include "optimized/kernels/einsum.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/rows.h"

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

// ---- linalg_cross: component i is a[i + 1] b[i + 2] - a[i + 2] b[i + 1]

void infer_cross(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& other = call.tensor("other");
  const bool fits = self.rank() == other.rank() && self.rank() > 0 && self.dtype == other.dtype &&
                    self.dtype != spec::DType::kBool;
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  if (!fits || self.size(dim) != 3 || other.size(dim) != 3) {
    throw OpError("a cross product of sizes " + print_sizes(self.sizes) + " and " +
                  print_sizes(other.sizes));
  }
  call.make(self.dtype, broadcast_sizes(self.sizes, other.sizes));
}
Launch bind_cross(const Binding& call) {
  const Tensor& result = call.result();
  const Tensor a = broadcast_to(call.tensor("self"), result.sizes);
  const Tensor b = broadcast_to(call.tensor("other"), result.sizes);
  const std::int64_t dim = wrap_dim(call.integer("dim"), result.rank());
  return with_compute(a.dtype, [&]<class C>() {
    std::vector<Launch> steps;
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto part = [&](const Tensor& tensor, std::int64_t ahead) {
        return selected(tensor, dim, (i + ahead) % 3);
      };
      const Tensor out = part(result, 0);
      steps.push_back(launch_tensors<C>(call.listener(), out, a.dtype, element::Multiply(),
                                        part(a, 1), part(b, 2)));
      steps.push_back(launch_tensors<C>(call.listener(), out, a.dtype,
                                        element::AddProduct<C>{static_cast<C>(-1)}, out, part(a, 2),
                                        part(b, 1)));
    }
    return in_turn(std::move(steps));
  });
}

// ---- _trilinear: sums of products of three elements

// The operands at the sizes of all dimensions, kept ones first, and how many of these there are.
struct ThreeFactors {
  std::array<Tensor, 3> factors;
  Sizes sizes;
  std::size_t kept = 0;
};

// Marks the dimensions that a list names.
std::vector<bool> named_dims(const KernelCall& call, const char* name, std::int64_t rank) {
  std::vector<bool> out(at(rank), false);
  for (const std::int64_t dim : wrap_dims(call.integers(name), rank, false)) out[at(dim)] = true;
  return out;
}

ThreeFactors three_factors(const KernelCall& call) {
  constexpr std::array<const char*, 3> kFactors = {"i1", "i2", "i3"};
  constexpr std::array<const char*, 3> kExpand = {"expand1", "expand2", "expand3"};
  const std::int64_t rank =
      call.tensor("i1").rank() + static_cast<std::int64_t>(call.integers("expand1").size());
  ThreeFactors out;
  for (std::size_t i = 0; i < 3; ++i) {
    Tensor factor = call.tensor(kFactors[i]);
    const std::vector<bool> is_new = named_dims(call, kExpand[i], rank);
    for (std::int64_t d = 0; d < rank; ++d) {
      if (is_new[at(d)] && d <= factor.rank()) factor = with_unit_dim(factor, d);
    }
    if (factor.rank() != rank || factor.dtype != call.tensor("i1").dtype) {
      throw OpError("_trilinear: factors of other ranks or dtypes");
    }
    out.factors[i] = std::move(factor);
  }
  if (out.factors[0].dtype == spec::DType::kBool) throw OpError("a product of bool tensors");
  const std::int64_t unroll = call.integer("unroll_dim");
  if (unroll < 0 || unroll >= rank) throw OpError("unroll_dim is " + std::to_string(unroll));
  const std::vector<bool> is_summed = named_dims(call, "sumdim", rank);
  Sizes order;
  for (const bool summed : {false, true}) {
    for (std::int64_t d = 0; d < rank; ++d) {
      if (is_summed[at(d)] == summed) order.push_back(d);
    }
  }
  for (const bool summed : is_summed) out.kept += summed ? 0 : 1;
  const Sizes wide = broadcast_sizes(broadcast_sizes(out.factors[0].sizes, out.factors[1].sizes),
                                     out.factors[2].sizes);
  for (Tensor& factor : out.factors) factor = permuted(broadcast_to(factor, wide), order);
  out.sizes = out.factors[0].sizes;
  return out;
}

void infer_trilinear(Inference& call) {
  const ThreeFactors three = three_factors(call);
  call.make(
      three.factors[0].dtype,
      Sizes(three.sizes.begin(), three.sizes.begin() + static_cast<std::ptrdiff_t>(three.kept)));
}
Launch bind_trilinear(const Binding& call) {
  const ThreeFactors three = three_factors(call);
  std::vector<std::int64_t> summed;
  for (std::size_t d = three.kept; d < three.sizes.size(); ++d) {
    summed.push_back(static_cast<std::int64_t>(d));
  }
  return with_compute(three.factors[0].dtype, [&]<class C>() -> Launch {
    return [a = Rows(three.factors[0], summed), b = Rows(three.factors[1], summed),
            c = Rows(three.factors[2], summed), out = Rows(call.result(), {})] {
      const auto length = static_cast<std::size_t>(a.length());
      std::vector<C> x(length);
      std::vector<C> y(length);
      std::vector<C> z(length);
      for (std::int64_t row = 0; row < out.count(); ++row) {
        if (length > 0) {
          a.load(row, x.data());
          b.load(row, y.data());
          c.load(row, z.data());
        }
        const auto product = [&](std::int64_t i) {
          return multiply(multiply(x[at(i)], y[at(i)]), z[at(i)]);
        };
        out.store_one<C>(row, ordered_sum_of<C>(a.length(), product));
      }
    };
  });
}

}  // namespace

std::span<const Kernel> contraction_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.matmul", infer_matmul, bind_matmul}.rows(row_rules::product),
      Kernel{"aten.linear", infer_linear, bind_linear}
          .rows(row_rules::product)
          .row_major(RowMajorRule::kAlways),
      {"aten._trilinear", infer_trilinear, bind_trilinear},
      {"aten.einsum", infer_einsum, bind_einsum},
      {"aten.linalg_cross", infer_cross, bind_cross},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
