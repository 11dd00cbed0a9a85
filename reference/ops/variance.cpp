// Variances and standard deviations: the two-pass definition (number/moments.h), 16-bit dtypes in
// float32 with one rounding at the end.
#include <algorithm>
#include <array>

#include "reference/number/moments.h"
#include "reference/registry.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace {

// What is taken from the number of elements: `correction`, or 1 for `unbiased`.
double correction_of(const Call& call) {
  if (call.has("unbiased")) return call.boolean("unbiased") ? 1 : 0;
  return call.has("correction") ? call.real("correction") : 1;
}

enum class Spread { kVariance, kDeviation };

void emit_variance(Call& call, Spread spread, bool with_mean) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  const spec::DType dtype = self.dtype;
  if (!spec::is_floating_point(dtype)) throw OpError("std and var only support floating point");
  const double n = static_cast<double>(reduction.slice_length()) - correction_of(call);
  const double freedom = std::max(0.0, n);
  with_real(call.mode(), [&]<class N>() {
    const auto spread_of = [&](const Slice<N>& slice) {
      const N variance = moments_of<N>(slice).squares / N(freedom);
      return spread == Spread::kVariance ? variance : sqrt(variance);
    };
    emit_slices<N>(call, self, dtype, reduction, dtype, spread_of);
    if (!with_mean) return;
    emit_slices<N>(call, self, dtype, reduction, dtype,
                   [](const Slice<N>& x) { return moments_of<N>(x).mean; });
  });
}

void var(Call& call) { emit_variance(call, Spread::kVariance, false); }
void var_mean(Call& call) { emit_variance(call, Spread::kVariance, true); }
// `std` is a namespace: the body's name says "deviation".
void deviation(Call& call) { emit_variance(call, Spread::kDeviation, false); }
void deviation_mean(Call& call) { emit_variance(call, Spread::kDeviation, true); }

constexpr std::array kVarianceOps = {
    OpBody{"aten.std", deviation},
    OpBody{"aten.std_mean", deviation_mean},
    OpBody{"aten.var", var},
    OpBody{"aten.var_mean", var_mean},
};

}  // namespace

std::span<const OpBody> variance_ops() { return kVarianceOps; }

}  // namespace graphgate::reference
