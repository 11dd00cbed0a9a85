// Matrix products as kernels: tiles of 16 x 16 elements, each accumulated over k in the order of
// gemm.h, which depends on k alone.
#pragma once

#include "optimized/codegen/work.h"
#include "optimized/gemm.h"

namespace graphgate::optimized {

[[nodiscard]] TextWork product_text(const Product& product);

// Rows ends[g - 1] to ends[g] of `a` [m, k] times weights[g] [k, n], a thread for each element;
// rows beyond the last end are 0. Ends that do not ascend within rows are a fault.
[[nodiscard]] TextWork grouped_product_text(const Tensor& result, const Tensor& a,
                                            const Tensor& weights, const Tensor& ends);

}  // namespace graphgate::optimized
