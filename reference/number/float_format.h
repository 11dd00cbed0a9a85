// How each floating dtype represents and rounds numbers. The reference's own, from IEEE 754 and the
// OCP 8-bit format; it shares nothing with the other executors.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/result.h"
#include "spec/dtype.h"

namespace graphgate::reference {

namespace detail {

// `precision` counts the implicit bit; `min_exponent` is that of the smallest normal number.
struct FloatFormat {
  int exponent_bits;
  int precision;
  int min_exponent;
  double max_finite;
  bool has_infinity;
};

inline constexpr FloatFormat kFloat64{11, 53, -1022, std::numeric_limits<double>::max(), true};
inline constexpr FloatFormat kFloat32{8, 24, -126, 3.4028234663852886e38, true};
inline constexpr FloatFormat kFloat16{5, 11, -14, 65504.0, true};
inline constexpr FloatFormat kBFloat16{8, 8, -126, 3.3895313892515355e38, true};
inline constexpr FloatFormat kFloat8E4M3FN{4, 4, -6, 448.0, false};
inline constexpr FloatFormat kFloat8E5M2{5, 3, -14, 57344.0, true};

// Throws OpError. An op whose body asks for the format of an integer is none that PyTorch has a
// kernel of integers for.
[[noreturn]] void refuse_dtype(spec::DType dtype);

inline const FloatFormat& format_of(spec::DType dtype) {
  switch (dtype) {
    case spec::DType::kFloat64:
      return kFloat64;
    case spec::DType::kFloat32:
      return kFloat32;
    case spec::DType::kFloat16:
      return kFloat16;
    case spec::DType::kBFloat16:
      return kBFloat16;
    case spec::DType::kFloat8E4M3FN:
      return kFloat8E4M3FN;
    case spec::DType::kFloat8E5M2:
      return kFloat8E5M2;
    default:
      break;
  }
  refuse_dtype(dtype);
}

// 2^exponent, from 2^-1074 to 2^1023.
inline double power_of_two(int exponent) {
  if (exponent < -1022) return std::ldexp(1.0, exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// That of the leading bit of a finite `value`; at most -1023 for zeros and float64's subnormals;
// 1024 for infinities and NaN.
inline int exponent_of(double value) {
  return static_cast<int>((std::bit_cast<std::uint64_t>(value) >> 52) & 0x7ff) - 1023;
}

}  // namespace detail

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
[[nodiscard]] inline double round_to_dtype(long double value, spec::DType dtype) {
  if (dtype == spec::DType::kFloat64) return static_cast<double>(value);
  const auto single = static_cast<double>(static_cast<float>(value));
  return dtype == spec::DType::kFloat32 ? single : round_to_dtype(single, dtype);
}

// The largest finite element.
[[nodiscard]] inline double max_finite(spec::DType dtype) {
  return detail::format_of(dtype).max_finite;
}
// Half the distance between `value` and the next element: the most that rounding to nearest can
// move a number of this magnitude. Subnormals included; 0 for integer dtypes, and for what is no
// finite float64.
[[nodiscard]] inline double half_ulp(long double value, spec::DType dtype) {
  if (dtype != spec::DType::kFloat32 && !spec::is_floating_point(dtype)) return 0;
  const int exponent = detail::exponent_of(static_cast<double>(value));
  if (exponent == 1024) return 0;
  const detail::FloatFormat& format = detail::format_of(dtype);
  // Half of float64's smallest spacing is no double; the spacing itself bounds it.
  const double half =
      detail::power_of_two(std::max(exponent, format.min_exponent) - format.precision);
  return half > 0 ? half : std::numeric_limits<double>::denorm_min();
}
// 2^-p for a format with p significant bits: the largest relative error of one rounding.
[[nodiscard]] inline double unit_roundoff(spec::DType dtype) {
  return detail::power_of_two(-detail::format_of(dtype).precision);
}
// The dtype that an op on `dtype` computes in: float64 for float64, float32 for the others
// (PyTorch's opmath type).
[[nodiscard]] inline spec::DType compute_dtype(spec::DType dtype) {
  return dtype == spec::DType::kFloat64 ? spec::DType::kFloat64 : spec::DType::kFloat32;
}

}  // namespace graphgate::reference
