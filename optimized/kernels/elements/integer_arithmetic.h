// Arithmetic of one element where integers wrap around: every compute type, no undefined behaviour.
//
// Used by: the pointwise families and whatever adds or multiplies in a compute type C (float,
// double, int64). Integers are two's complement modulo 2^64; a narrower dtype wraps when it is
// stored. Floats are plain IEEE operations.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace graphgate::optimized {

template <class C>
inline constexpr bool kIsInteger = std::is_integral_v<C>;

template <class C>
constexpr C add(C x, C y) {
  if constexpr (kIsInteger<C>) {
    return static_cast<C>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
  } else {
    return x + y;
  }
}

template <class C>
constexpr C subtract(C x, C y) {
  if constexpr (kIsInteger<C>) {
    return static_cast<C>(static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y));
  } else {
    return x - y;
  }
}

template <class C>
constexpr C multiply(C x, C y) {
  if constexpr (kIsInteger<C>) {
    return static_cast<C>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
  } else {
    return x * y;
  }
}

template <class C>
constexpr C negate(C x) {
  if constexpr (kIsInteger<C>) {
    return static_cast<C>(-static_cast<std::uint64_t>(x));
  } else {
    return -x;
  }
}

// Toward zero; the least value by -1 wraps to itself. y != 0.
constexpr std::int64_t divide_truncated(std::int64_t x, std::int64_t y) {
  return y == -1 ? negate(x) : x / y;
}
// The sign of x. y != 0.
constexpr std::int64_t remainder_truncated(std::int64_t x, std::int64_t y) {
  return y == -1 ? 0 : x % y;
}
// Toward minus infinity. y != 0.
constexpr std::int64_t divide_floored(std::int64_t x, std::int64_t y) {
  const std::int64_t rest = remainder_truncated(x, y);
  return divide_truncated(x, y) - (rest != 0 && (rest < 0) != (y < 0) ? 1 : 0);
}
// The sign of y. y != 0.
constexpr std::int64_t remainder_floored(std::int64_t x, std::int64_t y) {
  const std::int64_t rest = remainder_truncated(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// x to the power of y by squaring, wrapping. Negative y: 1 and -1 have inverses, the rest give 0.
constexpr std::int64_t integer_power(std::int64_t x, std::int64_t y) {
  if (y < 0) {
    if (x == 1) return 1;
    if (x == -1) return y % 2 == 0 ? 1 : -1;
    return 0;
  }
  std::int64_t result = 1;
  for (; y > 0; y /= 2, x = multiply(x, x)) {
    if (y % 2 != 0) result = multiply(result, x);
  }
  return result;
}

}  // namespace graphgate::optimized
