// sin, cos, tan over the full range, sinc, and the inverse functions asin, acos, atan, atan2.
//
// Used by: pointwise kernels (rotary embeddings above all) and lgamma's reflection. IEEE basic
// operations, integer operations and tables only: the same bits everywhere. The float overloads
// compute in double and round once: error < 0.501 ulp.
//
// Error of the double functions, measured against long double (functions_test.cpp):
//   sin, cos 0.76, tan 0.90, asin, acos, atan, atan2 0.51 ulp.
//
// Special values follow C99 Annex F.
#pragma once

#include <cmath>
#include <cstdint>

#include "optimized/arithmetic/double_double.h"
#include "optimized/arithmetic/logarithm.h"
#include "optimized/arithmetic/tables.h"

namespace graphgate::optimized {

// x = (4n + quadrant) pi/2 + rest, |rest| <= pi/4 (a little more near the edge).
struct Reduced {
  std::uint64_t quadrant = 0;  // in [0, 4)
  Pair rest;
};

// For |x| >= 2^20, finite: multiplies the significand with the bits of 2/pi that matter.
[[nodiscard]] Reduced reduce_huge_angle(double x);

// For |x| < 2^20: pi/2 in four parts; the first three products are exact.
constexpr Reduced reduce_small_angle(double x) {
  const double k = nearest_integer(x * (2 / tables::kPi.high));
  const double first = x - k * tables::kHalfPiParts[0];
  const Pair second = two_sum(first, -k * tables::kHalfPiParts[1]);
  const Pair third = two_sum(second.high, -k * tables::kHalfPiParts[2]);
  const Pair fourth = two_sum(third.high, -k * tables::kHalfPiParts[3]);
  const Pair rest = quick_two_sum(fourth.high, fourth.low + (third.low + second.low));
  return {static_cast<std::uint64_t>(integer_of(k)) & 3, rest};
}

// x finite.
inline Reduced reduce_angle(double x) {
  return std::fabs(x) < 0x1p20 ? reduce_small_angle(x) : reduce_huge_angle(x);
}

// sin and cos of |r| <= pi/4 as pairs good to about 58 bits.
constexpr Pair sin_reduced(Pair r) {
  const double square = r.high * r.high;
  const double tail = polynomial(tables::kSinTail, square) * (square * r.high);
  return quick_two_sum(r.high, tail + r.low * (1.0 - 0.5 * square));
}
constexpr Pair cos_reduced(Pair r) {
  const Pair square = two_product(r.high, r.high);
  const Pair start = quick_two_sum(1.0, -0.5 * square.high);
  const double tail = polynomial(tables::kCosTail, square.high) * (square.high * square.high);
  return quick_two_sum(start.high, start.low + (tail - (r.high * r.low + 0.5 * square.low)));
}

// sin of a reduced angle; add 1 to the quadrant for cos. The sign is the third and fourth
// quadrant's.
constexpr double sin_in_quadrant(Pair rest, std::uint64_t quadrant) {
  const double even = sin_reduced(rest).high;
  const double odd = cos_reduced(rest).high;
  const double magnitude = (quadrant & 1) != 0 ? odd : even;
  return (quadrant & 2) != 0 ? -magnitude : magnitude;
}

// sin and cos of |x| < 2^20: straight-line, for loops that can be vectorised.
constexpr double sin_of_small(double x) {
  const Reduced angle = reduce_small_angle(x);
  return x == 0 ? x : sin_in_quadrant(angle.rest, angle.quadrant);
}
constexpr double cos_of_small(double x) {
  const Reduced angle = reduce_small_angle(x);
  return sin_in_quadrant(angle.rest, angle.quadrant + 1);
}

inline double sin(double x) {
  if (std::fabs(x) < 0x1p20) return sin_of_small(x);
  if (!(std::fabs(x) < kInfinity)) return x - x;
  const Reduced angle = reduce_huge_angle(x);
  return sin_in_quadrant(angle.rest, angle.quadrant);
}

inline double cos(double x) {
  if (std::fabs(x) < 0x1p20) return cos_of_small(x);
  if (!(std::fabs(x) < kInfinity)) return x - x;
  const Reduced angle = reduce_huge_angle(x);
  return sin_in_quadrant(angle.rest, angle.quadrant + 1);
}

inline double tan(double x) {
  if (!(std::fabs(x) < kInfinity)) return x - x;
  const Reduced angle = reduce_angle(x);
  const Pair sine = sin_reduced(angle.rest);
  const Pair cosine = cos_reduced(angle.rest);
  const bool is_odd = (angle.quadrant & 1) != 0;
  const double result = is_odd ? divide(negate(cosine), sine).high : divide(sine, cosine).high;
  return x == 0 ? x : result;
}

// The angle in [0, pi] of the point (x, y), y >= 0, both pairs of like magnitude, not both 0.
[[nodiscard]] Pair angle_of(Pair y, Pair x);

[[nodiscard]] double atan2(double y, double x);
[[nodiscard]] double atan(double x);
[[nodiscard]] double asin(double x);  // NaN outside [-1, 1]
[[nodiscard]] double acos(double x);  // NaN outside [-1, 1]

inline float sin(float x) { return static_cast<float>(sin(static_cast<double>(x))); }
inline float cos(float x) { return static_cast<float>(cos(static_cast<double>(x))); }
inline float tan(float x) { return static_cast<float>(tan(static_cast<double>(x))); }
inline float atan(float x) { return static_cast<float>(atan(static_cast<double>(x))); }
inline float asin(float x) { return static_cast<float>(asin(static_cast<double>(x))); }
inline float acos(float x) { return static_cast<float>(acos(static_cast<double>(x))); }
inline float atan2(float y, float x) {
  return static_cast<float>(atan2(static_cast<double>(y), static_cast<double>(x)));
}

// out[i] = sin(in[i]) or cos(in[i]), 0 <= i < n, with the very bits of the functions above; quicker
// when the whole tile lies below 2^20. C is float or double.
template <class C>
bool is_tile_small(const C* in, int n) {
  int outside = 0;
  for (int i = 0; i < n; ++i) outside |= std::fabs(in[i]) < C(0x1p20) ? 0 : 1;
  return outside == 0;
}
template <class C>
void sin_tile(const C* in, int n, C* out) {
  if (is_tile_small(in, n)) {
    for (int i = 0; i < n; ++i) out[i] = static_cast<C>(sin_of_small(static_cast<double>(in[i])));
  } else {
    for (int i = 0; i < n; ++i) out[i] = sin(in[i]);
  }
}
template <class C>
void cos_tile(const C* in, int n, C* out) {
  if (is_tile_small(in, n)) {
    for (int i = 0; i < n; ++i) out[i] = static_cast<C>(cos_of_small(static_cast<double>(in[i])));
  } else {
    for (int i = 0; i < n; ++i) out[i] = cos(in[i]);
  }
}

// sin(pi x) / (pi x) as PyTorch computes it: pi x is rounded to T first; 1 at 0.
template <class T>
T sinc(T x) {
  const T angle = static_cast<T>(tables::kPi.high) * x;
  return x == 0 ? T{1} : sin(angle) / angle;
}

}  // namespace graphgate::optimized
