// Matrix products as kernels: tiles of 16 x 16 elements, each accumulated over k in the order of
// gemm.h, which depends on k alone.
#pragma once

#include "optimized/device/work.h"
#include "optimized/gemm.h"

namespace graphgate::optimized {

[[nodiscard]] TextWork product_text(const Product& product);

}  // namespace graphgate::optimized
