// A convolution as a kernel: a thread for each element of the result, which adds up in the order of
// the host's matrix product.
#pragma once

#include <optional>

#include "optimized/device/work.h"
#include "optimized/kernels/convolution_shape.h"

namespace graphgate::optimized {

// `result` has a batch dimension. Nothing for transposed ones.
[[nodiscard]] std::optional<TextWork> convolution_text(const ConvolutionShape& shape,
                                                       const Tensor& result, const Tensor* bias);

}  // namespace graphgate::optimized
