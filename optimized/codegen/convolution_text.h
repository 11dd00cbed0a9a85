// A convolution as a kernel: a thread for each element of the result, which adds up in the order of
// the host's matrix product.
#pragma once

#include "optimized/codegen/work.h"
#include "optimized/geometry/convolution_shape.h"

namespace graphgate::optimized {

// `result` has a batch dimension.
[[nodiscard]] TextWork convolution_text(const ConvolutionShape& shape, const Tensor& result,
                                        const Tensor* bias);

}  // namespace graphgate::optimized
