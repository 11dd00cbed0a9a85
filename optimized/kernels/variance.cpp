// Variances and standard deviations: the mean first, then the squared distances from it.
#include <cmath>

#include "optimized/arithmetic/sum.h"
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
  return with_real(self.dtype, [&]<class C>() -> Launch {
    const Tensor& means = call.result(has_mean ? 1 : 0);
    return [from = Rows(self, dims), to = Rows(call.result(), {}), to_mean = Rows(means, {}),
            result = call.result(), means, correction = correction_of(call), dtype = self.dtype] {
      std::vector<C> row(static_cast<std::size_t>(from.length()));
      const std::int64_t n = from.length();
      const double left = std::max(static_cast<double>(n) - correction, 0.0);
      for (std::int64_t r = 0; r < to.count(); ++r) {
        from.template load<C>(r, row.data());
        const C mean = ordered_sum(row.data(), n) / static_cast<C>(n);
        const C squares = ordered_sum_of<C>(n, [&](std::int64_t i) {
          const C distance = row[static_cast<std::size_t>(i)] - mean;
          return distance * distance;
        });
        const C variance = squares / static_cast<C>(left);
        store_result<C>(result, to, r, dtype, is_deviation ? std::sqrt(variance) : variance);
        if (has_mean) store_result<C>(means, to_mean, r, dtype, mean);
      }
    };
  });
}

constexpr Kernel kKernels[] = {
    {"aten.var", infer_variance<false>, bind_variance<false, false>},
    {"aten.std", infer_variance<false>, bind_variance<true, false>},
    {"aten.var_mean", infer_variance<true>, bind_variance<false, true>},
    {"aten.std_mean", infer_variance<true>, bind_variance<true, true>},
};

}  // namespace

std::span<const Kernel> variance_kernels() { return kKernels; }

}  // namespace graphgate::optimized
