// pow, rsqrt, hypot, and the exact remainders: fmod (C's) and remainder (Python's).
//
// Used by: pointwise kernels. IEEE basic operations only (std::fmod is exact by definition),
// the same bits everywhere; the float overloads compute in double and round once: error < 0.501
// ulp.
//
// Error of the double functions, measured against long double (functions_test.cpp):
//   pow 0.69, rsqrt 0.51, hypot 0.51 ulp (0.75 where the result is subnormal); fmod and remainder
//   are exact apart from remainder's last addition, which rounds once.
#pragma once

#include <cmath>

#include "optimized/arithmetic/double_double.h"

namespace graphgate::optimized {

// All special cases of C99 Annex F: pow(x, 0) = pow(1, y) = 1 even for NaN; a negative x with a y
// that is no integer gives NaN.
[[nodiscard]] double pow(double x, double y);
inline float pow(float x, float y) {
  return static_cast<float>(pow(static_cast<double>(x), static_cast<double>(y)));
}

// 1 / sqrt(x); +-0 gives +-infinity, infinity 0, below 0 NaN.
inline double rsqrt(double x) {
  if (!(x > 0 && x <= 0x1.fffffffffffffp1023)) return 1 / std::sqrt(x);
  const double lift = x < 0x1p-800 ? 0x1p300 : 1.0;  // no part of a product may underflow
  const Pair root = square_root({x * lift * lift, 0});
  return divide({1, 0}, root).value() * lift;
}
inline float rsqrt(float x) { return static_cast<float>(rsqrt(static_cast<double>(x))); }

// sqrt(x^2 + y^2) without overflow on the way; infinite where either is, also beside a NaN.
[[nodiscard]] double hypot(double x, double y);
inline float hypot(float x, float y) {
  return static_cast<float>(hypot(static_cast<double>(x), static_cast<double>(y)));
}

// C's fmod: the sign of x; exact. y = 0 or infinite x gives NaN.
template <class T>
T fmod(T x, T y) {
  return std::fmod(x, y);
}

// Python's and PyTorch's remainder: the sign of y; a zero result keeps fmod's sign, as PyTorch's.
template <class T>
T remainder(T x, T y) {
  const T rest = std::fmod(x, y);
  return (rest != 0 && (y < 0) != (rest < 0)) ? rest + y : rest;
}

}  // namespace graphgate::optimized
