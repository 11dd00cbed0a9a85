// Double-double arithmetic: a number as the unevaluated sum of two doubles, about 105 bits.
//
// Used by: the elementary functions beside it, where one double would lose the last bits, and
// kernels that accumulate float64. Only + - * / sqrt and integer operations are used, never a fused
// multiply-add, so the bits are the same on every IEEE machine. Build with contraction off
// (-ffp-contract=off). Nothing here branches: loops over these functions can be vectorised.
//
// Invariant of a Pair: |low| <= ulp(high) / 2 after every function that says "normalised".
// Infinities and NaNs come out as some non-finite high word; callers select special values apart.
// The error-free transformations are Dekker's (1971) and Knuth's.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace graphgate::optimized {

struct Pair {
  double high = 0;
  double low = 0;
  // The nearest double.
  [[nodiscard]] constexpr double value() const { return high + low; }
};

// a + b exactly; any order of magnitude.
constexpr Pair two_sum(double a, double b) {
  const double sum = a + b;
  const double from_b = sum - a;
  return {sum, (a - (sum - from_b)) + (b - from_b)};
}

// a + b exactly when |a| >= |b| or a is 0.
constexpr Pair quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// The upper 26 bits of x, so that the product of two such numbers is exact.
constexpr double upper_half(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x7ffffff});
}

// a * b with an error below 2^-105 of it, unless a product of halves underflows.
constexpr Pair two_product(double a, double b) {
  const double product = a * b;
  const double a_high = upper_half(a);
  const double b_high = upper_half(b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  const double error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high);
  return {product, error + a_low * b_low};
}

constexpr Pair negate(Pair a) { return {-a.high, -a.low}; }

// Multiplication by a power of two: exact.
constexpr Pair scale(Pair a, double power) { return {a.high * power, a.low * power}; }

// Sums, normalised; relative error about 2^-104 unless a and b nearly cancel, and then at most
// 2^-104 of the larger operand.
constexpr Pair add(Pair a, double b) {
  const Pair sum = two_sum(a.high, b);
  return quick_two_sum(sum.high, sum.low + a.low);
}
constexpr Pair add(Pair a, Pair b) {
  const Pair high = two_sum(a.high, b.high);
  const Pair low = two_sum(a.low, b.low);
  const Pair first = quick_two_sum(high.high, high.low + low.high);
  return quick_two_sum(first.high, first.low + low.low);
}
constexpr Pair subtract(Pair a, Pair b) { return add(a, negate(b)); }

// Products and quotients, normalised; relative error below 2^-100.
constexpr Pair multiply(Pair a, double b) {
  const Pair product = two_product(a.high, b);
  return quick_two_sum(product.high, product.low + a.low * b);
}
constexpr Pair multiply(Pair a, Pair b) {
  const Pair product = two_product(a.high, b.high);
  return quick_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
constexpr Pair divide(Pair a, Pair b) {
  const double first = a.high / b.high;
  const Pair back = multiply(b, first);
  const double rest = ((a.high - back.high) - back.low) + a.low;
  return quick_two_sum(first, rest / b.high);
}

// The square root, normalised; relative error below 2^-100. 0 gives 0; a must not be negative.
inline Pair square_root(Pair a) {
  const double first = std::sqrt(a.high);
  const Pair back = two_product(first, first);
  const double rest = ((a.high - back.high) - back.low) + a.low;
  return quick_two_sum(first, first == 0 ? 0.0 : rest / (2 * first));
}

// Horner's rule, written out: a loop would stop the loops around it from being vectorised.
template <std::size_t count, std::size_t... steps>
constexpr double horner(const std::array<double, count>& c, double x,
                        std::index_sequence<steps...> /*unused*/) {
  double sum = c[count - 1];
  ((sum = sum * x + c[count - 2 - steps]), ...);
  return sum;
}

// The polynomial with coefficients c (lowest power first) at x.
template <std::size_t count>
constexpr double polynomial(const std::array<double, count>& c, double x) {
  return horner(c, x, std::make_index_sequence<count - 1>());
}

// The same without the constant term, divided by x: c[1] + c[2] x + ...
template <std::size_t count>
constexpr double polynomial_above_constant(const std::array<double, count>& c, double x) {
  return horner(c, x, std::make_index_sequence<count - 2>());
}

// Adding this number rounds |x| < 2^51 to an integer, ties to even; the low bits then hold it.
inline constexpr double kRoundingShift = 0x1.8p52;

// `yes` or `no`, both already computed.
constexpr double select(bool condition, double yes, double no) { return condition ? yes : no; }

// The nearest integer of |x| < 2^51, as a double and as an integer (garbage, but defined, outside).
constexpr double nearest_integer(double x) { return (x + kRoundingShift) - kRoundingShift; }
constexpr std::int64_t integer_of(double integral) {
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(integral + kRoundingShift) -
                                   std::bit_cast<std::uint64_t>(kRoundingShift));
}
constexpr double double_of(std::int64_t small) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(small) +
                               std::bit_cast<std::uint64_t>(kRoundingShift)) -
         kRoundingShift;
}

// The nearest integer of any x, ties to even; NaN and infinities pass. Keeps the sign of 0.
inline double round_half_even(double x) {
  const double magnitude = std::fabs(x);
  return magnitude < 0x1p52 ? std::copysign((magnitude + 0x1p52) - 0x1p52, x) : x;
}

// 2^k for -1022 <= k <= 1023 (garbage, but defined, outside).
constexpr double power_of_two(std::int64_t k) {
  return std::bit_cast<double>((static_cast<std::uint64_t>(k) + 1023) << 52);
}

}  // namespace graphgate::optimized
