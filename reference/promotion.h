// PyTorch's type promotion, from its documentation ("Tensor Attributes", torch.dtype).
#pragma once

#include <span>

#include "reference/tensor.h"

namespace graphgate::reference {

// The dtype that holds both: the wider of one category, the higher category of two (bool < integer
// < floating < complex). float64 with complex64 gives complex128, float16 with bfloat16 gives
// float32, uint8 with a signed type the next larger signed. Throws OpError for an 8-bit floating
// dtype with any other.
[[nodiscard]] spec::DType promote(spec::DType a, spec::DType b);

// The common dtype of an op's operands, tensors and numbers. Tensors with dimensions decide; a
// tensor without dimensions, and after it a Python number, counts only when its category is higher
// than what the others have. Numbers bring bool, int64, float32 (the default dtype) or complex64;
// beside floating tensors a complex dtype of lower rank is that of their width. Throws Undecidable
// for complex dtypes that are not here (of float16 and bfloat16).
[[nodiscard]] spec::DType result_type(std::span<const Datum> operands);

// One of the 8-bit floating dtypes, which PyTorch does not compute in.
[[nodiscard]] bool is_float8(spec::DType dtype);

// float32 (the default dtype) for integers and bool; floating dtypes as they are.
[[nodiscard]] spec::DType to_floating(spec::DType dtype);

}  // namespace graphgate::reference
