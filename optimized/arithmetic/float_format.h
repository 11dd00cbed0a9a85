// Float formats and number conversions, as PyTorch 2.11 does them on an x86 CPU.
//
// Used by: load_tile and store_tile, scalar kernels, and fills. All functions are inline,
// nearly branch-free (selects) and free of undefined behaviour, so loops over them vectorise.
//
// Float to narrow float: round to nearest, ties to even, subnormals kept. Overflow: f16, bf16 and
// f8e5m2 give infinity; f8e4m3fn has no infinity and gives NaN from 464 (exclusive: the tie of 448
// and 480 goes to the even 448) on, infinities included. From double, and from integers, the way
// goes through float: two roundings, as in PyTorch. NaN: f16 keeps the sign and the upper payload
// bits and becomes quiet (the F16C instruction); bf16 gives 0x7fc0; f8 gives 0x7f with the sign.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace graphgate::optimized {

namespace float_format_detail {

// |x| (the bits of a float without its sign, finite) as a binary float of `mantissa_bits` and of
// exponent bias `bias`, rounded; too large values run on into the exponents above the greatest.
template <int mantissa_bits, int bias>
constexpr std::uint32_t round_magnitude(std::uint32_t magnitude) {
  constexpr int kShift = 23 - mantissa_bits;
  // Normal result: add half a unit less one, plus the last bit kept; then move the exponent.
  const std::uint32_t odd = magnitude >> kShift & 1;
  const std::uint32_t half = (std::uint32_t{1} << (kShift - 1)) - 1;
  constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - bias) << 23;
  const std::uint32_t normal = (magnitude + half + odd - kRebias) >> kShift;
  // Subnormal result: adding a power of two whose last bit is the format's unit rounds in hardware.
  constexpr std::uint32_t kMagic = static_cast<std::uint32_t>(127 + 1 - bias + kShift) << 23;
  const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(sum) - kMagic;
  constexpr std::uint32_t kSmallestNormal = static_cast<std::uint32_t>(127 + 1 - bias) << 23;
  return magnitude < kSmallestNormal ? subnormal : normal;
}

// The exact float of a narrow float's exponent and mantissa, when it is finite.
template <int mantissa_bits, int bias>
constexpr std::uint32_t widen_magnitude(std::uint32_t magnitude) {
  // As a float the bits mean the value times 2^(bias - 127), also when subnormal.
  constexpr float kLift = std::bit_cast<float>(static_cast<std::uint32_t>(254 - bias) << 23);
  const float scaled = std::bit_cast<float>(magnitude << (23 - mantissa_bits));
  return std::bit_cast<std::uint32_t>(scaled * kLift);
}

inline constexpr std::uint32_t kInfinityBits = 0x7f800000;

}  // namespace float_format_detail

constexpr std::uint16_t float_to_f16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t rounded = float_format_detail::round_magnitude<10, 15>(magnitude);
  const std::uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  const std::uint32_t finite = rounded < 0x7c00 ? rounded : 0x7c00;
  // 2^16 and above: the rounded bits may have run past the format, so the magnitude decides.
  const std::uint32_t number = magnitude >= 0x47800000 ? 0x7c00 : finite;
  const std::uint32_t result = magnitude > float_format_detail::kInfinityBits ? nan : number;
  return static_cast<std::uint16_t>(bits >> 16 & 0x8000) | static_cast<std::uint16_t>(result);
}

constexpr float f16_to_float(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7fffu;
  const std::uint32_t finite = float_format_detail::widen_magnitude<10, 15>(magnitude);
  // A signalling NaN becomes quiet.
  const std::uint32_t quiet = magnitude > 0x7c00 ? 0x400000 : 0;
  const std::uint32_t special = float_format_detail::kInfinityBits | magnitude << 13 | quiet;
  const std::uint32_t result = magnitude >= 0x7c00 ? special : finite;
  return std::bit_cast<float>(result | static_cast<std::uint32_t>(half & 0x8000u) << 16);
}

constexpr std::uint16_t float_to_bf16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const bool is_nan = (bits & 0x7fffffff) > float_format_detail::kInfinityBits;
  return static_cast<std::uint16_t>(is_nan ? 0x7fc0 : rounded);
}

constexpr float bf16_to_float(std::uint16_t brain) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(brain) << 16);
}

constexpr std::uint8_t float_to_f8e4m3fn(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t rounded = float_format_detail::round_magnitude<3, 7>(magnitude);
  // 480 and above; from 464 (exclusive) to 480 the rounding itself gives 0x7f, which is NaN.
  const std::uint32_t result = magnitude >= 0x43f00000 ? 0x7f : rounded;
  return static_cast<std::uint8_t>(result | (bits >> 24 & 0x80));
}

constexpr float f8e4m3fn_to_float(std::uint8_t eighth) {
  const std::uint32_t magnitude = eighth & 0x7fu;
  const std::uint32_t finite = float_format_detail::widen_magnitude<3, 7>(magnitude);
  const std::uint32_t result = magnitude == 0x7f ? 0x7fc00000 : finite;
  return std::bit_cast<float>(result | static_cast<std::uint32_t>(eighth & 0x80u) << 24);
}

constexpr std::uint8_t float_to_f8e5m2(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t rounded = float_format_detail::round_magnitude<2, 15>(magnitude);
  const std::uint32_t number = magnitude >= 0x47800000 ? 0x7c : rounded;
  const std::uint32_t result = magnitude > float_format_detail::kInfinityBits ? 0x7f : number;
  return static_cast<std::uint8_t>(result | (bits >> 24 & 0x80));
}

// f8e5m2 is the upper byte of f16.
constexpr float f8e5m2_to_float(std::uint8_t eighth) {
  return f16_to_float(static_cast<std::uint16_t>(eighth << 8));
}

// Integer `value` modulo 2^bits of Integer: two's complement wrapping.
template <class Integer>
constexpr Integer wrap_to(std::int64_t value) {
  return static_cast<Integer>(static_cast<std::uint64_t>(value));
}

// Returns a float or double as an integer, the way x86 hardware (and so PyTorch there) does it. C++
// leaves it undefined out of range; this does not.
// - int64, int32: truncated toward zero; out of range and NaN give the least value;
// - int16, int8: first to int32 by that rule, then modulo 2^bits (so NaN gives 0);
// - uint8: first to int64 by that rule, then modulo 2^8.
template <class Integer, class Real>
constexpr Integer truncate_to(Real x) {
  if constexpr (sizeof(Integer) == 8 || std::numeric_limits<Integer>::is_signed == false) {
    const bool is_inside = x >= Real(-0x1p63) && x < Real(0x1p63);
    const std::int64_t whole = static_cast<std::int64_t>(is_inside ? x : Real(0));
    return wrap_to<Integer>(is_inside ? whole : std::numeric_limits<std::int64_t>::min());
  } else {
    const bool is_inside = x > Real(-0x1p31) - Real(1) && x < Real(0x1p31);
    // A float cannot tell -2^31 - 1 from -2^31: -2^31 itself gives the least value either way.
    const std::int32_t whole = static_cast<std::int32_t>(is_inside ? x : Real(0));
    return wrap_to<Integer>(is_inside ? whole : std::numeric_limits<std::int32_t>::min());
  }
}

// Any number to bool: not equal to 0, so NaN is true.
template <class Number>
constexpr bool to_bool(Number x) {
  return x != Number(0);
}

}  // namespace graphgate::optimized
