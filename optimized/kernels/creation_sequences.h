// Creation ops whose elements depend on their place: arange, linspace, tril, triu. Part of the
// creation family, which lists these functions in its table; nobody else calls them.
//
// arange counts ceil((end - start) / step) elements in double, or exactly for int64; element i is
// start + step * i in double for f32 and f64, in float for narrower floats, in int64 for integers.
// linspace walks from both ends, so that the last element is `end` itself.
#pragma once

#include "optimized/kernel.h"

namespace graphgate::optimized {

void infer_arange(Inference& call);
[[nodiscard]] Launch bind_arange(const Binding& call);

// start and end may be tensors without dimensions; they are read when the launch runs.
void infer_linspace(Inference& call);
[[nodiscard]] Launch bind_linspace(const Binding& call);
// base to the power of each of such numbers, which are held in the result's dtype (float64 for
// integers).
[[nodiscard]] Launch bind_logspace(const Binding& call);

// tril keeps element [i, j] of each matrix where j - i <= diagonal, triu where j - i >= diagonal.
void infer_triangle(Inference& call);
[[nodiscard]] Launch bind_tril(const Binding& call);
[[nodiscard]] Launch bind_triu(const Binding& call);

}  // namespace graphgate::optimized
