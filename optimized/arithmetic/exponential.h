// exp and its relatives: exp, exp2, expm1, sigmoid, sinh, cosh, tanh.
//
// Used by: pointwise kernels and softmax. One straight-line body for a scalar, a vector lane
// and the tail of a loop, from IEEE basic operations only: the same bits everywhere. The float
// overloads compute in double and round once: error < 0.501 ulp.
//
// Error of the double functions, measured against long double (functions_test.cpp):
//   exp 0.73, exp2 0.74, expm1 0.80, sigmoid 0.75, sinh 0.69, cosh 0.58, tanh 0.65 ulp.
//
// Special values follow C99 Annex F; subnormal results are rounded twice (at most 1 ulp).
#pragma once

#include <cmath>
#include <cstdint>

#include "optimized/arithmetic/double_double.h"
#include "optimized/arithmetic/tables.h"

namespace graphgate::optimized {

// exp(x) = 2^exponent * (1 + minus_one), |minus_one| <= 0.42.
struct ScaledExp {
  double exponent = 0;  // an integer
  Pair minus_one;       // keeps its relative precision when x is tiny
};

// x moved into [-limit, limit]; NaN stays.
constexpr double clamp_to(double x, double limit) {
  const double low = select(x < -limit, -limit, x);
  return select(low > limit, limit, low);
}

// The polynomial step: exp(r) - 1 for |r| <= ln2 / 2.
constexpr Pair exp_minus_one_reduced(Pair r) {
  const double square = r.high * r.high;
  const double tail = polynomial(tables::kExpTail, r.high) * (square * r.high);
  return quick_two_sum(r.high, 0.5 * square + (tail + (r.low + r.high * r.low)));
}

// For |x| <= 2000 or so; x = k ln2 + r.
constexpr ScaledExp scaled_exp(Pair x) {
  const double k = nearest_integer(x.high * tables::kInverseLn2.high);
  const double r_high = x.high - k * tables::kLn2High;  // exact: kLn2High has 42 bits
  const Pair r = two_sum(r_high, x.low - k * tables::kLn2Low);
  return {k, exp_minus_one_reduced(r)};
}

// 2^k * value for integral |k| <= 2040, rounded once where the result is normal.
constexpr double scale_by_exponent(double value, double k) {
  const double half = nearest_integer(k * 0.5);
  return value * power_of_two(integer_of(half)) * power_of_two(integer_of(k - half));
}

// The significand 1 + minus_one as a pair.
constexpr Pair significand(const ScaledExp& e) {
  const Pair sum = quick_two_sum(1.0, e.minus_one.high);
  return quick_two_sum(sum.high, sum.low + e.minus_one.low);
}

// exp of a pair, |x| <= 2000: overflow gives infinity, underflow subnormals and 0.
constexpr double exp_of_pair(Pair x) {
  const ScaledExp e = scaled_exp(x);
  return scale_by_exponent(significand(e).high, e.exponent);
}

// exp(x) - 1 as a pair, |x| <= 700.
constexpr Pair expm1_pair(Pair x) {
  const ScaledExp e = scaled_exp(x);
  const double power = power_of_two(integer_of(e.exponent));
  const Pair whole = two_sum(power, -1.0);
  const Pair sum = two_sum(whole.high, power * e.minus_one.high);
  return quick_two_sum(sum.high, sum.low + (whole.low + power * e.minus_one.low));
}

constexpr double exp(double x) { return exp_of_pair({clamp_to(x, 1000), 0}); }

constexpr double exp2(double x) {
  const double clamped = clamp_to(x, 2000);
  const double k = nearest_integer(clamped);
  const Pair r = multiply(tables::kLn2, clamped - k);
  return scale_by_exponent(significand({k, exp_minus_one_reduced(r)}).high, k);
}

constexpr double expm1(double x) {
  const double small = expm1_pair({clamp_to(x, 700), 0}).high;
  const double result = x > 700 ? exp(x) : small;
  return x == 0 ? x : result;  // keeps -0
}

// 1 / (1 + exp(-x)), through exp(-|x|) so that nothing overflows.
constexpr double sigmoid(double x) {
  const double magnitude = x < 0 ? -x : x;
  const ScaledExp e = scaled_exp({-clamp_to(magnitude, 800), 0});
  const Pair bits = significand(e);
  // Below exp(-600) the denominator is 1 and the result is exp(x) itself, perhaps subnormal.
  const double k = e.exponent < -900 ? -900 : e.exponent;
  const Pair z = scale(bits, power_of_two(static_cast<std::int64_t>(integer_of(k))));
  const Pair numerator = x < 0 ? z : Pair{1, 0};
  const double quotient = divide(numerator, add(z, 1.0)).high;
  return x < -600 ? exp(x) : quotient;
}

// sinh and cosh through e = exp(|x|) or exp(|x|) - 1, halved before it can overflow.
inline double sinh(double x) {
  const double magnitude = std::fabs(x);
  const Pair e = expm1_pair({clamp_to(magnitude, 60), 0});
  const Pair sum = add(e, divide(e, add(e, 1.0)));
  const ScaledExp big = scaled_exp({clamp_to(magnitude, 1000), 0});
  const double large = scale_by_exponent(significand(big).high, big.exponent - 1);
  const double result = magnitude > 40 ? large : 0.5 * sum.high;
  return x == 0 ? x : std::copysign(result, x);
}

inline double cosh(double x) {
  const double magnitude = std::fabs(x);
  const Pair e = add(expm1_pair({clamp_to(magnitude, 60), 0}), 1.0);
  const Pair sum = add(e, divide({1, 0}, e));
  const ScaledExp big = scaled_exp({clamp_to(magnitude, 1000), 0});
  const double large = scale_by_exponent(significand(big).high, big.exponent - 1);
  return magnitude > 40 ? large : 0.5 * sum.high;
}

// tanh(|x|) = e / (e + 2) with e = exp(2|x|) - 1; 1 beyond 20.
inline double tanh(double x) {
  const double magnitude = std::fabs(x);
  const Pair e = expm1_pair({2 * clamp_to(magnitude, 30), 0});
  const double result = divide(e, add(e, 2.0)).high;
  return x == 0 ? x : std::copysign(result, x);
}

// Device programs of fast arithmetic have others of these two (codegen/text/fast_function.cuh).
#ifndef GRAPHGATE_FAST_FUNCTIONS
constexpr float exp(float x) { return static_cast<float>(exp(static_cast<double>(x))); }
// One double is enough: the error stays under 2^-50, far less than float's last bit.
constexpr float sigmoid(float x) {
  const double wide = static_cast<double>(x);
  const double z = exp(select(wide < 0, wide, -wide));
  return static_cast<float>(select(wide < 0, z, 1.0) / (1.0 + z));
}
#endif
constexpr float exp2(float x) { return static_cast<float>(exp2(static_cast<double>(x))); }
constexpr float expm1(float x) { return static_cast<float>(expm1(static_cast<double>(x))); }
inline float sinh(float x) { return static_cast<float>(sinh(static_cast<double>(x))); }
inline float cosh(float x) { return static_cast<float>(cosh(static_cast<double>(x))); }
inline float tanh(float x) {
  const double e = expm1_pair({2 * clamp_to(std::fabs(static_cast<double>(x)), 30), 0}).high;
  return std::copysign(static_cast<float>(e / (e + 2)), x);
}

}  // namespace graphgate::optimized
