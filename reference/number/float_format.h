// How each floating dtype represents and rounds numbers. The reference's own, from IEEE 754 and the
// OCP 8-bit format; it shares nothing with the other executors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "spec/dtype.h"

namespace graphgate::reference {

// One element's bytes to its exact value, and back with round-to-nearest-even. Rounding to a 16- or
// 8-bit dtype passes through float32 first, as PyTorch's conversion from float64 does.
// float8_e4m3fn has no infinity: what overflows becomes NaN.
[[nodiscard]] double decode_float(const std::byte* bytes, spec::DType dtype);
void encode_float(double value, spec::DType dtype, std::byte* bytes);
// The same for elements `step` bytes apart.
void decode_floats(const std::byte* bytes, std::int64_t step, spec::DType dtype,
                   std::span<double> values);
void encode_floats(std::span<const double> values, spec::DType dtype, std::byte* bytes,
                   std::int64_t step);

// `value` rounded to the nearest element of a floating dtype (ties to even), as a double. Identity
// for float64.
[[nodiscard]] double round_to_dtype(double value, spec::DType dtype);
// The same for a wider value: one rounding into float64 or float32, then as above.
[[nodiscard]] double round_to_dtype(long double value, spec::DType dtype);

// The largest finite element.
[[nodiscard]] double max_finite(spec::DType dtype);
// Half the distance between `value` and the next element: the most that rounding to nearest can
// move a number of this magnitude. Subnormals included; 0 for integer dtypes.
[[nodiscard]] double half_ulp(long double value, spec::DType dtype);
// 2^-p for a format with p significant bits: the largest relative error of one rounding.
[[nodiscard]] double unit_roundoff(spec::DType dtype);
// The dtype that an op on `dtype` computes in: float64 for float64, float32 for the others
// (PyTorch's opmath type).
[[nodiscard]] spec::DType compute_dtype(spec::DType dtype);

}  // namespace graphgate::reference
