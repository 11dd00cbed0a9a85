// Variances and standard deviations: the mean first, then the squared distances from it.
#include <algorithm>

#include "optimized/kernels/elements/rows.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/reduction_frame.h"

namespace graphgate::optimized {
namespace {

// What is taken off the number of elements: `correction`, or 1 unless `unbiased` is false.
double correction_of(const KernelCall& call) {
  if (const auto correction = call.optional_real("correction")) return *correction;
  return call.boolean_or("unbiased", true) ? 1 : 0;
}

template <bool has_mean>
void infer_variance(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (!spec::is_floating_point(self.dtype)) {
    throw OpError("a variance wants a floating-point input");
  }
  const Dims dims = reduced_dims(call, self);
  const Sizes sizes = reduced_sizes(self, dims, call.boolean_or("keepdim", false));
  call.make(self.dtype, sizes);
  if (has_mean) call.make(self.dtype, sizes);
}

template <bool is_deviation, bool has_mean>
Launch bind_variance(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Dims dims = reduced_dims(call, self);
  const auto count = static_cast<double>(Rows(self, dims).length());
  const double left = std::max(count - correction_of(call), 0.0);
  const auto reduced = [&]<class C>(const Tensor& result, auto function) {
    return reduce_launch<C, C>(call.listener(), result, self, dims, self.dtype, self.dtype,
                               function);
  };
  return with_real(self.dtype, [&]<class C>() -> Launch {
    std::vector<Launch> launches;
    launches.push_back(reduced.template operator()<C>(
        call.result(), element::RowVariance<C, is_deviation>{static_cast<C>(left)}));
    if (has_mean) {
      launches.push_back(reduced.template operator()<C>(call.result(1), element::RowMean<C>()));
    }
    return in_turn(std::move(launches));
  });
}

}  // namespace

std::span<const Kernel> variance_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.var", infer_variance<false>, bind_variance<false, false>}.fuses(
          Fusion::kAlongDim),
      {"aten.std", infer_variance<false>, bind_variance<true, false>},
      {"aten.var_mean", infer_variance<true>, bind_variance<false, true>},
      {"aten.std_mean", infer_variance<true>, bind_variance<true, true>},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
