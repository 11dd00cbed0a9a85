// One number into every element of a tensor.
//
// Used by: creation (full, zeros, diag_embed), joining and padding for what no input covers.
#pragma once

#include <array>

#include "optimized/kernel.h"

namespace graphgate::optimized {

// The bytes of one element; only the first item_size_bytes(dtype) count.
using Element = std::array<std::byte, 16>;

// Returns a Python number as an element of `dtype`, by Scalar.to's rules. Throws OpError where an
// integer dtype or float32 does not hold it (NaN and infinity in integers among them). u8 takes
// [-255, 255], negative ints modulo 256. Narrower floats round to infinity or NaN instead. Only
// complex dtypes hold a number whose imaginary part is not 0.
[[nodiscard]] Element element_of(const Item& number, spec::DType dtype);

// Writes `element`, of the target's dtype, everywhere in `target`.
[[nodiscard]] Launch fill_launch(const DeviceListener* listener, const Tensor& target,
                                 const Element& element);

}  // namespace graphgate::optimized
