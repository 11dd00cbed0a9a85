// What texts of fast arithmetic ask of tensors: dtypes of tensor cores, and rows of whole words.
#pragma once

#include "optimized/tensor.h"

namespace graphgate::optimized {

// Of 16 bits, as tensor cores multiply them.
[[nodiscard]] bool is_half(spec::DType dtype);
// Whether rows of such numbers along the last dimension can be read 16 bytes at a time.
[[nodiscard]] bool has_wide_rows(const Tensor& tensor);
// The stride of a dimension, in bytes.
[[nodiscard]] std::int64_t pitch_of(const Tensor& tensor, std::int64_t dim);

}  // namespace graphgate::optimized
