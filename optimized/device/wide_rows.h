// What texts of fast arithmetic ask of tensors: dtypes of tensor cores, and rows of whole words.
#pragma once

#include <string>

#include "optimized/tensor.h"

namespace graphgate::optimized {

[[nodiscard]] inline std::string text_of(std::int64_t number) { return std::to_string(number); }
// Of 16 bits, as tensor cores multiply them.
[[nodiscard]] bool is_half(spec::DType dtype);
// Whether rows of such numbers along the last dimension can be read 16 bytes at a time.
[[nodiscard]] bool has_wide_rows(const Tensor& tensor);
// The stride of a dimension, in bytes.
[[nodiscard]] std::int64_t pitch_of(const Tensor& tensor, std::int64_t dim);

}  // namespace graphgate::optimized
