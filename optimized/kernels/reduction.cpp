// Sums, products, tests and norms along dimensions.
//
// A row is added up in an order that its length fixes (arithmetic/sum.h). The `dtype` argument
// converts the input first.
#include <array>

#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/elements/rows.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/reduction_frame.h"
#include "optimized/promotion.h"
#include "optimized/scratch.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

const Tensor& self_of(const KernelCall& call) { return call.tensor("self"); }

// The dtype in which a sum or product computes: integers widen to int64.
DType sum_dtype(const KernelCall& call) {
  if (const auto dtype = call.optional_dtype("dtype")) return *dtype;
  if (const Tensor* out = call.written_result(0)) return out->dtype;
  const DType dtype = self_of(call).dtype;
  return spec::is_floating_point(dtype) ? dtype : DType::kInt64;
}

DType floating_dtype(const KernelCall& call) {
  const DType dtype = call.optional_dtype("dtype").value_or(self_of(call).dtype);
  if (!spec::is_floating_point(dtype)) {
    throw OpError("the op wants a floating-point dtype, not " +
                  std::string(spec::torch_name(dtype)));
  }
  return dtype;
}

void make_reduced(Inference& call, DType dtype, bool empty_is_none = false) {
  const Tensor& self = self_of(call);
  const Dims dims = reduced_dims(call, self, empty_is_none);
  call.make(dtype, reduced_sizes(self, dims, call.boolean_or("keepdim", false)));
}

void infer_sum(Inference& call) { make_reduced(call, sum_dtype(call)); }

template <class C, class F>
Launch bind_reduction(const Binding& call, DType dtype, F f) {
  const Tensor& self = self_of(call);
  return reduce_launch<C, C>(call.listener(), call.result(), self, reduced_dims(call, self), dtype,
                             dtype, std::move(f));
}

Launch bind_sum(const Binding& call) {
  const DType dtype = sum_dtype(call);
  return with_compute(
      dtype, [&]<class C>() { return bind_reduction<C>(call, dtype, element::RowSum<C>()); });
}

Launch bind_nansum(const Binding& call) {
  const DType dtype = sum_dtype(call);
  return with_compute(
      dtype, [&]<class C>() { return bind_reduction<C>(call, dtype, element::RowNanSum<C>()); });
}

Launch bind_prod(const Binding& call) {
  const DType dtype = sum_dtype(call);
  return with_compute(
      dtype, [&]<class C>() { return bind_reduction<C>(call, dtype, element::RowProduct<C>()); });
}

void infer_mean(Inference& call) { make_reduced(call, floating_dtype(call)); }

// A mean in 16 bits reads its input as float32: at::mean converts, sums, divides, and rounds last.
Launch bind_mean(const Binding& call) {
  const DType dtype = floating_dtype(call);
  const DType read_as = spec::item_size_bytes(dtype) < 4 ? DType::kFloat32 : dtype;
  const Tensor& self = self_of(call);
  return with_real(dtype, [&]<class C>() {
    return reduce_launch<C, C>(call.listener(), call.result(), self, reduced_dims(call, self),
                               read_as, dtype, element::RowMean<C>());
  });
}

// all and any give bool, or uint8 for uint8. An empty list of dimensions reduces none.
void infer_test(Inference& call) {
  const bool is_byte = self_of(call).dtype == DType::kUInt8;
  make_reduced(call, is_byte ? DType::kUInt8 : DType::kBool, true);
}

template <bool is_all>
Launch bind_test(const Binding& call) {
  const Tensor& self = self_of(call);
  const Dims dims = reduced_dims(call, self, true);
  return with_compute(self.dtype, [&]<class C>() {
    using Test = std::conditional_t<is_all, element::RowAll<C>, element::RowAny<C>>;
    return reduce_launch<C, std::int64_t>(call.listener(), call.result(), self, dims, self.dtype,
                                          DType::kBool, Test());
  });
}

void infer_count_nonzero(Inference& call) { make_reduced(call, DType::kInt64); }

Launch bind_count_nonzero(const Binding& call) {
  const Tensor& self = self_of(call);
  return with_compute(self.dtype, [&]<class C>() {
    return reduce_launch<C, std::int64_t>(call.listener(), call.result(), self,
                                          reduced_dims(call, self), self.dtype, DType::kInt64,
                                          element::RowCount<C>());
  });
}

// The order of a norm; None counts as 2.
double norm_order(const KernelCall& call) {
  return call.optional_real(call.has("ord") ? "ord" : "p").value_or(2);
}

void infer_norm(Inference& call) {
  const Tensor& self = self_of(call);
  const DType dtype = floating_dtype(call);
  if (!spec::is_floating_point(self.dtype)) throw OpError("a norm wants a floating-point input");
  const double order = norm_order(call);
  const Dims dims = reduced_dims(call, self);
  std::int64_t length = 1;
  for (const std::int64_t d : dims) length *= self.size(d);
  if (length == 0 && (order < 0 || order == kInfinity)) {
    throw OpError("a norm of this order has no value for no elements");
  }
  make_reduced(call, dtype);
}

Launch bind_norm(const Binding& call) {
  const DType dtype = floating_dtype(call);
  return with_real(dtype, [&]<class C>() {
    return bind_reduction<C>(call, dtype, element::RowNorm<C>{static_cast<C>(norm_order(call))});
  });
}

// The norm of a difference, which is a tensor of its own: in the workspace.
constexpr PointwiseSignature kDifferences{.operands = 2, .numbers = Numbers::kFloating};

Sizes difference_sizes(const KernelCall& call) {
  return broadcast_sizes(call.tensor("self").sizes, call.tensor("other").sizes);
}

void infer_dist(Inference& call) {
  const DType dtype = common_dtype(call, kDifferences);
  const Sizes sizes = difference_sizes(call);
  const double order = call.real("p");
  if (checked_count(sizes) == 0 && (order < 0 || order == kInfinity)) {
    throw OpError("a norm of this order has no value for no elements");
  }
  call.want_workspace(scratch_bytes(dtype, sizes));
  call.make(dtype, {});
}

Launch bind_dist(const Binding& call) {
  const DType dtype = common_dtype(call, kDifferences);
  std::byte* workspace = call.workspace();
  const Tensor differences = scratch_tensor(dtype, difference_sizes(call), workspace);
  return with_real(dtype, [&]<class C>() {
    return in_turn(
        {launch_sources<C>(call.listener(), differences, dtype,
                           std::array<Source<C>, 2>{Source<C>(call.tensor("self"), dtype),
                                                    Source<C>(call.tensor("other"), dtype)},
                           element::Subtract()),
         reduce_launch<C, C>(call.listener(), call.result(), differences,
                             wrap_dims({}, differences.rank(), true), dtype, dtype,
                             element::RowNorm<C>{static_cast<C>(call.real("p"))})});
  });
}

void infer_logsumexp(Inference& call) { make_reduced(call, to_floating(self_of(call).dtype)); }

Launch bind_logsumexp(const Binding& call) {
  const DType dtype = to_floating(self_of(call).dtype);
  return with_real(
      dtype, [&]<class C>() { return bind_reduction<C>(call, dtype, element::RowLogSumExp<C>()); });
}

// The sum of the diagonal.
Tensor diagonal_of(const Tensor& self) {
  if (self.rank() != 2) throw OpError("trace wants a matrix, not " + print_sizes(self.sizes));
  Tensor out = self;
  out.sizes = {std::min(self.sizes[0], self.sizes[1])};
  out.strides = {self.strides[0] + self.strides[1]};
  return out;
}

void infer_trace(Inference& call) {
  (void)diagonal_of(self_of(call));
  call.make(sum_dtype(call), {});
}

Launch bind_trace(const Binding& call) {
  const DType dtype = sum_dtype(call);
  return with_compute(dtype, [&]<class C>() {
    return reduce_launch<C, C>(call.listener(), call.result(), diagonal_of(self_of(call)), {0},
                               dtype, dtype, element::RowSum<C>());
  });
}

}  // namespace

std::span<const Kernel> reduction_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.sum", infer_sum, bind_sum}
          .fuses(Fusion::kAlongDim)
          .row_major(RowMajorRule::kAlways),
      {"aten.nansum", infer_sum, bind_nansum},
      {"aten.prod", infer_sum, bind_prod},
      Kernel{"aten.mean", infer_mean, bind_mean}
          .fuses(Fusion::kAlongDim)
          .row_major(RowMajorRule::kAlways),
      {"aten.all", infer_test, bind_test<true>},
      {"aten.any", infer_test, bind_test<false>},
      {"aten.count_nonzero", infer_count_nonzero, bind_count_nonzero},
      {"aten.norm", infer_norm, bind_norm},
      {"aten.linalg_vector_norm", infer_norm, bind_norm},
      {"aten.dist", infer_dist, bind_dist},
      {"aten.logsumexp", infer_logsumexp, bind_logsumexp},
      {"aten.trace", infer_trace, bind_trace},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
