// erf, erfc and erfinv, erfcx (e^(x^2) erfc(x)), and the normal distribution's log_ndtr (the
// logarithm of its function) and ndtri (its inverse).
//
// Used by: pointwise kernels (GELU above all). Straight-line apart from erfinv; IEEE basic
// operations only, the same bits everywhere. The float overloads compute in double and round once:
// error < 0.501 ulp.
//
// Error of the double functions, measured against long double (functions_test.cpp):
//   erf 0.83, erfc 1.11, erfinv 1.4 ulp; erfcx and ndtri 2, log_ndtr 2 below 0 and x^2 above.
//
// Special values follow C99 Annex F; erfinv is infinite at +-1 and NaN beyond.
#pragma once

#include <cmath>

#include "optimized/arithmetic/double_double.h"
#include "optimized/arithmetic/exponential.h"
#include "optimized/arithmetic/tables.h"

namespace graphgate::optimized {

// erf(x) / x - 1 for |x| <= 1.
constexpr double erf_slope_small(double x) {
  const double square = x * x;
  const double tail = polynomial_above_constant(tables::kErfTail, square) * square;
  return tables::kErfTail[0] + (tail + tables::kErfTailLow);
}

// erfc for 0.5 <= x <= 30 as a pair of value and exponent of 2: value.value() * 2^exponent.
// exp(-x^2) with x^2 exact, times a function that one polynomial covers, which is erfcx.
struct ScaledErfc {
  Pair value;
  double exponent = 0;
};
constexpr Pair erfcx_large(double x) {
  const double t = (x - 4) / (x + 4);
  const double above = polynomial_above_constant(tables::kErfcScaled, t) * t;
  const Pair start = two_sum(tables::kErfcScaled[0], above);
  const Pair shape = {start.high, start.low + tables::kErfcScaledLow};
  return divide(shape, two_sum(2 * x, 1.0));
}
constexpr ScaledErfc erfc_large(double x) {
  const ScaledExp e = scaled_exp(negate(two_product(x, x)));
  return {multiply(erfcx_large(x), significand(e)), e.exponent};
}

inline double erf(double x) {
  const double magnitude = std::fabs(x);
  const double inside = clamp_to(x, 1);
  const double small = inside + inside * erf_slope_small(inside);
  const ScaledErfc rest = erfc_large(magnitude > 6 ? 6 : magnitude);
  const Pair complement = scale(rest.value, power_of_two(integer_of(rest.exponent)));
  const double large = std::copysign(subtract({1, 0}, complement).high, x);
  return magnitude <= 0.75 ? small : large;
}

inline double erfc(double x) {
  const double magnitude = std::fabs(x);
  const ScaledErfc rest = erfc_large(magnitude < 0.5 ? 0.5 : (magnitude > 30 ? 30 : magnitude));
  const double right = scale_by_exponent(rest.value.high, rest.exponent);
  const double left = 2 - right;
  const double inside = clamp_to(x, 1);
  const Pair start = two_sum(1.0, -inside);
  const double middle = start.high + (start.low - inside * erf_slope_small(inside));
  const double outside = x < 0 ? left : right;
  return magnitude < 0.5 ? middle : outside;
}

[[nodiscard]] double erfinv(double x);
[[nodiscard]] double erfcx(double x);
[[nodiscard]] double log_ndtr(double x);
// Infinite at 0 and 1, NaN outside.
[[nodiscard]] double ndtri(double p);

// One double is enough here: the error stays under 2^-49.
inline float erf(float x) {
  const double wide = static_cast<double>(x);
  const double inside = clamp_to(wide, 1);
  const double small = inside + inside * erf_slope_small(inside);
  const double far = clamp_to(std::fabs(wide), 6);
  const double t = (far - 4) / (far + 4);
  const double large = 1 - exp(-far * far) * polynomial(tables::kErfcScaled, t) / (2 * far + 1);
  const double result = select(std::fabs(wide) <= 0.75, small, std::copysign(large, wide));
  return static_cast<float>(result);
}
inline float erfc(float x) { return static_cast<float>(erfc(static_cast<double>(x))); }
inline float erfinv(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }
inline float erfcx(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }
inline float log_ndtr(float x) { return static_cast<float>(log_ndtr(static_cast<double>(x))); }
inline float ndtri(float p) { return static_cast<float>(ndtri(static_cast<double>(p))); }

}  // namespace graphgate::optimized
