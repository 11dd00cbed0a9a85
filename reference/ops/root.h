// 1/sqrt(x) as rsqrt and pow(x, -0.5) compute it: one body for both families.
#pragma once

#include "reference/number/functions.h"

namespace graphgate::reference {

// One function in float32 and float64; 16-bit dtypes hold the root in `dtype` before the division.
// Covers kernels that do not, too: their result differs by less than that rounding.
template <class N>
[[nodiscard]] N reciprocal_root(const N& x, spec::DType dtype) {
  return compute_dtype(dtype) == dtype ? rsqrt(x) : 1.0 / held_in(sqrt(x), dtype);
}

}  // namespace graphgate::reference
