// Scans along rows as kernels: a thread takes a row, for each element depends on those before it.
#pragma once

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// Rows of `self` along `dim`, read as `dtype`; `scan` (a type of kernels/elements/scans.h) gives
// each element of the result, which is rounded to `dtype`.
[[nodiscard]] TextWork scan_text(const Tensor& result, const Tensor& self, std::int64_t dim,
                                 spec::DType dtype, const std::string& scan);

// What cummax and cummin do: `scan` is a RunningExtreme. Elements are moved bit by bit.
[[nodiscard]] TextWork running_extreme_text(const Tensor& values, const Tensor& places,
                                            const Tensor& self, std::int64_t dim,
                                            const std::string& scan);

}  // namespace graphgate::optimized
