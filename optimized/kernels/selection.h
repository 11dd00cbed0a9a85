// Kernels that choose among values: clamp, masked_fill, where. Part of the family `comparison`,
// whose table names them.
//
// masked_fill and where move bits where no dtype changes: NaN payloads stay as they are.
#pragma once

#include "optimized/kernel.h"

namespace graphgate::optimized {

// clamp, clamp_min and clamp_max, with numbers or tensors as bounds; either may be missing. Where
// min > max, max wins. NaN wins over everything, but a NaN that is a lone number bound is ignored.
void infer_clamp(Inference& call);
[[nodiscard]] Launch bind_clamp(const Binding& call);

// A row-major copy of self (broadcast with the mask), or self itself in place, with `value` where
// the mask is true. `value` is a number that fits self's dtype, or a tensor without dimensions.
void infer_masked_fill(Inference& call);
[[nodiscard]] Launch bind_masked_fill(const Binding& call);

// where(condition, self, other) with promotion. where(condition) alone is taken apart.
void infer_where(Inference& call);
[[nodiscard]] Launch bind_where(const Binding& call);

}  // namespace graphgate::optimized
