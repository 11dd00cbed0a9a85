// Distances between rows as kernels: a warp takes a pair.
#pragma once

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// result [..., i, j] = function(row i of `a` less row j of `b`, length); `a` is [..., i, length]
// and `b` [..., j, length], with the result's leading sizes. `function` is a callable of rows.h.
[[nodiscard]] TextWork distance_text(const Tensor& result, const Tensor& a, const Tensor& b,
                                     const std::string& function);
// The same of rows i < j of one matrix; the pairs in row-major order.
[[nodiscard]] TextWork pair_distance_text(const Tensor& result, const Tensor& self,
                                          const std::string& function);

}  // namespace graphgate::optimized
