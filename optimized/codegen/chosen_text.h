// Works whose elements find their places by counting those before them: a block takes all.
#pragma once

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// Where `mask` (at the result's sizes) is not 0, the result takes the next element of `source`, all
// in row-major order. A source that ends before the mask is a fault.
[[nodiscard]] TextWork masked_scatter_text(const Tensor& result, const Tensor& mask,
                                           const Tensor& source);
// Row r of the result, int64, has the coordinates of the r-th element of `self` that is not 0; rows
// beyond them are `fill`.
[[nodiscard]] TextWork nonzero_static_text(const Tensor& result, const Tensor& self,
                                           std::int64_t fill);

}  // namespace graphgate::optimized
