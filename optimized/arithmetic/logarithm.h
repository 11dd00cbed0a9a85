// log and its relatives: log, log2, log10, log1p, log1p_exp, asinh, acosh, atanh.
//
// Used by: pointwise kernels, log-softmax, pow and lgamma (through log_pair). One body for
// scalar, lane and tail, IEEE basic operations and one table of 128 rows: the same bits everywhere.
// The float overloads compute in double and round once: error < 0.501 ulp.
//
// Error of the double functions, measured against long double (functions_test.cpp):
//   log1p_exp 0.75 ulp, all others 0.51 ulp.
//
// Special values follow C99 Annex F.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "optimized/arithmetic/double_double.h"
#include "optimized/arithmetic/exponential.h"
#include "optimized/arithmetic/tables.h"

namespace graphgate::optimized {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// log(x) for finite x > 0 (garbage, but defined, otherwise), |x.low| <= ulp(x.high) / 2 or the
// like. Relative error below 2^-65, also next to 1.
//
// x = 2^k m with m in [0.7, 1.42). A row of the table gives c = 1/m to 9 bits, so that r = m c - 1
// is exact in two pieces. Then log x = k ln2 - log c + log(1 + r).
constexpr Pair log_pair(Pair x) {
  const bool is_tiny = x.high < 0x1p-1000;
  const double lift = is_tiny ? 0x1p60 : 1.0;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x.high * lift);
  const std::uint64_t above = bits - tables::kLogTableStart;
  const std::uint64_t exponent = ((above >> 52) ^ 0x800) - 0x800;  // sign-extended from 12 bits
  const double m = std::bit_cast<double>(bits - (exponent << 52));
  // Two steps: the power itself may lie outside the normal range.
  const double half_power = power_of_two(static_cast<std::int64_t>(0 - exponent) / 2);
  const double rest_power = power_of_two(static_cast<std::int64_t>(0 - exponent) -
                                         static_cast<std::int64_t>(0 - exponent) / 2);
  const double m_tail = x.low * lift * half_power * rest_power;
  const double k = double_of(static_cast<std::int64_t>(exponent)) - (is_tiny ? 60.0 : 0.0);
  const tables::LogRow& row = tables::kLogTable[static_cast<std::size_t>((above >> 45) & 127)];

  const double m_high = upper_half(m);
  const Pair r = two_sum(m_high * row.inverse - 1.0, (m - m_high) * row.inverse);
  const double r_low = r.low + m_tail * row.inverse;
  const Pair square = two_product(r.high, r.high);
  const double tail = polynomial(tables::kLogTail, r.high) * (square.high * r.high);
  const double constant = k * tables::kLn2High + row.high;  // exact: multiples of 2^-42
  const double constant_low = k * tables::kLn2Low + row.low;
  const Pair first = two_sum(constant, r.high);
  const Pair second = two_sum(first.high, -0.5 * square.high);
  // d/dr of -r^2/2 spreads r_low; what is left is far below the last bit of `second`.
  const double rest = r_low * (1.0 - r.high) - 0.5 * square.low;
  return quick_two_sum(second.high, (first.low + second.low) + (constant_low + (rest + tail)));
}

// log(1 + t) for t > -1.
constexpr Pair log1p_pair(Pair t) {
  const Pair sum = two_sum(1.0, t.high);
  const Pair general = log_pair(quick_two_sum(sum.high, sum.low + t.low));
  const bool is_small = t.high < 0x1p-30 && t.high > -0x1p-30;
  const Pair small = quick_two_sum(t.high, t.low - 0.5 * t.high * t.high);
  return is_small ? small : general;
}

// What every logarithm does at x <= 0, infinity and NaN; `result` elsewhere.
constexpr double select_log(double x, double result) {
  const double outside = select(x == 0, -kInfinity, select(x < 0, kNaN, x));
  return select(x > 0 && x < kInfinity, result, outside);
}

constexpr double log(double x) { return select_log(x, log_pair({x, 0}).value()); }
constexpr double log2(double x) {
  return select_log(x, multiply(log_pair({x, 0}), tables::kInverseLn2).high);
}
constexpr double log10(double x) {
  return select_log(x, multiply(log_pair({x, 0}), tables::kInverseLn10).high);
}

constexpr double log1p(double x) {
  // Below 2^-54 in magnitude log1p(x) rounds to x (also -0 and subnormals).
  const double result = select_log(1 + x, log1p_pair({x, 0}).value());
  return (x < 0x1p-54 && x > -0x1p-54) ? x : result;
}

// log(1 + exp(x)), for softplus, logaddexp and log-sigmoid; exact in both tails.
constexpr double log1p_exp(double x) {
  const double magnitude = x < 0 ? -x : x;
  const double below = exp(-magnitude);
  const ScaledExp e = scaled_exp({-clamp_to(magnitude, 600), 0});
  const Pair z = scale(significand(e), power_of_two(integer_of(e.exponent)));
  const Pair log_part = log1p_pair(z);
  const double result = x < 0 ? log_part.value() : add(log_part, x).value();
  return magnitude > 40 ? (x < 0 ? below : x) : result;  // NaN passes through `result`
}

// log(|x| + sqrt(x^2 + 1)) = log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))).
inline double asinh(double x) {
  const double magnitude = std::fabs(x);
  const double inside = magnitude > 0x1p30 ? 1.0 : magnitude;
  const Pair square = two_product(inside, inside);
  const Pair fraction = divide(square, add(square_root(add(square, 1.0)), 1.0));
  const double small = log1p_pair(add(fraction, inside)).value();
  const double large = add(log_pair({magnitude, 0}), tables::kLn2).value();
  const double result = magnitude > 0x1p30 ? (magnitude == kInfinity ? magnitude : large) : small;
  return magnitude < 0x1p-28 ? x : std::copysign(result, x);
}

// log1p(t + sqrt(t (t + 2))), t = x - 1; NaN below 1.
inline double acosh(double x) {
  const double inside = x > 0x1p30 ? 2.0 : x;
  const Pair t = two_sum(inside, -1.0);
  const Pair small = log1p_pair(add(t, square_root(multiply(t, add(t, 2.0)))));
  const double large = add(log_pair({x, 0}), tables::kLn2).value();
  const double result = x > 0x1p30 ? (x == kInfinity ? x : large) : small.value();
  return x >= 1 ? (x == 1 ? 0.0 : result) : (x == x ? kNaN : x);
}

// log1p(2|x| / (1 - |x|)) / 2; infinite at 1, NaN beyond.
inline double atanh(double x) {
  const double magnitude = std::fabs(x);
  const Pair ratio = divide({2 * magnitude, 0}, two_sum(1.0, -magnitude));
  const double inside = 0.5 * log1p_pair(ratio).value();
  const double beyond = magnitude == 1 ? kInfinity : (magnitude > 1 ? kNaN : x);
  const double result = magnitude < 1 ? inside : beyond;
  return magnitude < 0x1p-28 ? x : std::copysign(result, x);
}

// log(x) for normal x > 0 in one double, for the float functions: relative error below 2^-50.
constexpr double log_near(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t above = bits - tables::kLogTableStart;
  const std::uint64_t exponent = ((above >> 52) ^ 0x800) - 0x800;  // sign-extended from 12 bits
  const double m = std::bit_cast<double>(bits - (exponent << 52));
  const double k = double_of(static_cast<std::int64_t>(exponent));
  const tables::LogRow& row = tables::kLogTable[static_cast<std::size_t>((above >> 45) & 127)];
  const double m_high = upper_half(m);
  const double r = (m_high * row.inverse - 1.0) + (m - m_high) * row.inverse;
  const double tail = r * r * (r * polynomial(tables::kLogTail, r) - 0.5);
  return (k * tables::kLn2High + row.high) + (r + (tail + (k * tables::kLn2Low + row.low)));
}

// log(1 + z) for 0 <= z <= 1, relative error below 2^-50: what 1 + z loses is added back.
constexpr double log1p_near(double z) {
  const double sum = 1.0 + z;
  return log_near(sum) + (z - (sum - 1.0)) / sum;
}

constexpr float log(float x) {
  return static_cast<float>(select_log(static_cast<double>(x), log_near(static_cast<double>(x))));
}
constexpr float log2(float x) { return static_cast<float>(log2(static_cast<double>(x))); }
constexpr float log10(float x) { return static_cast<float>(log10(static_cast<double>(x))); }
constexpr float log1p(float x) {
  // 1 + x is exact in double from 2^-29 on; below, two terms of the series are enough.
  const double wide = static_cast<double>(x);
  const double general = select_log(1.0 + wide, log_near(1.0 + wide));
  const double small = wide - 0.5 * wide * wide;
  const double result = select(wide < 0x1p-27 && wide > -0x1p-27, small, general);
  return static_cast<float>(select(wide == 0, wide, result));
}
inline float log1p_exp(float x) {
  const double wide = static_cast<double>(x);
  const double z = exp(-std::fabs(wide));
  return static_cast<float>(select(wide < 0, 0.0, wide) + log1p_near(z));
}
inline float asinh(float x) { return static_cast<float>(asinh(static_cast<double>(x))); }
inline float acosh(float x) { return static_cast<float>(acosh(static_cast<double>(x))); }
inline float atanh(float x) { return static_cast<float>(atanh(static_cast<double>(x))); }

}  // namespace graphgate::optimized
