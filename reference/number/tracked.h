// Tracked: the number that op bodies see for floating dtypes in an oracle run.
//
// A Tracked is a value in wide arithmetic (long double: 64 significant bits or more) and a radius:
// how far a right executor's number may lie from it. Each operation adds what one rounding of the
// declared arithmetic can contribute; a number whose inputs are exact and whose result the format
// can hold has radius 0, so exact data stays exact. Two policies share the rules:
//   WorstCase  radii add up: no executor that follows the declared arithmetic can lie outside;
//   RootSumSquare  radii are standard deviations of independent errors, added in square: the
//              multiple that a judge allows follows from its false-alarm rate.
// Sources: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., ch. 2-3 (the rounding
// model, gamma_n) for the first; Higham and Mary, "A new approach to probabilistic rounding error
// analysis", SIAM J. Sci. Comput. 41 (2019) for the second.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "reference/number/arithmetic.h"
#include "reference/number/float_format.h"
#include "reference/number/whole.h"

namespace graphgate::reference {

struct WorstCase {
  static double combine(double a, double b) { return a + b; }
  // The radius of a rounding error of at most `most`.
  static double of_rounding(double most) { return most; }
  // The radius after a function with steps of at most `size`: `jump` is how far the far end of the
  // radius lands, away() in how many radii the nearest edge lies.
  template <class Away>
  static double of_step(double jump, double /*radius*/, double /*size*/, Away /*away*/) {
    return jump;
  }
  // How many radii apart two numbers must lie for their order to be certain.
  static constexpr double kDecisionRadii = 1;
  // How many radii from zero a divisor must lie.
  static constexpr double kDivisorRadii = 1;
  // How many radii a judge allows.
  static constexpr double kAllowedRadii = 1;
};

struct RootSumSquare {
  // Of an exact number the other alone, which is what hypot gives. Squares that neither overflow
  // nor underflow give the same but for an ulp, in a fraction of the time.
  static double combine(double a, double b) {
    if (b == 0) return std::fabs(a);
    if (a == 0) return std::fabs(b);
    const double square = a * a + b * b;
    return square > 0x1p-900 && square < 0x1p900 ? std::sqrt(square) : std::hypot(a, b);
  }
  // A rounding error spread evenly over [-most, most] has this standard deviation.
  static double of_rounding(double most) { return most * 0.57735026918962576; }
  // With probability p an executor's number lies beyond the edge. Its mean is p of the step away.
  // Around that its tails are no larger than those of a normal error of sqrt((1 - 2p) / (2 log((1 -
  // p) / p))) of the step. Source: Kearns and Saul, "Large deviation methods for approximate
  // probabilistic inference", UAI 1998. So the jumps of many terms of a sum are held, too. A single
  // one is, however rare.
  template <class Away>
  static double of_step(double /*jump*/, double radius, double size, Away away) {
    const double p = 0.5 * std::erfc(away() / std::numbers::sqrt2);
    const double odds = std::log((1 - p) / p);
    const double tails = odds > 0x1p-10 ? std::sqrt((1 - 2 * p) / (2 * odds)) : 0.5;
    return combine(radius, size * std::max(p + tails, 1 / kAllowedRadii));
  }
  static constexpr double kDecisionRadii = 8;
  // One rounding, spread evenly, moves a number by at most 1.74 deviations: so far from zero lies
  // what underflows. More would open quotients that no executor's divisor makes zero.
  static constexpr double kDivisorRadii = 1.75;
  // A judge allows at least so many: the tail beyond has a probability of 2e-9. The product of two
  // errors has to hold for errors as large.
  static constexpr double kAllowedRadii = 6;
};

template <class Policy>
struct Tracked;

namespace detail {
// What the operators below do; the definitions follow the class.
template <class P>
Tracked<P> plus(const Tracked<P>& a, const Tracked<P>& b);
template <class P>
Tracked<P> times(const Tracked<P>& a, const Tracked<P>& b);
template <class P>
Tracked<P> divided(const Tracked<P>& a, const Tracked<P>& b);
template <class P>
bool is_close_call(const Tracked<P>& a, const Tracked<P>& b);
template <class P>
Tracked<P> extremum(const Tracked<P>& a, const Tracked<P>& b, bool take_a);
template <class P>
Tracked<P> chosen(Whole condition, const Tracked<P>& a, const Tracked<P>& b);
}  // namespace detail

template <class Policy>
struct Tracked {
  using PolicyType = Policy;
  long double value = 0;
  double radius = 0;
  // What each operation rounds to: float32 or float64. Constants are kNone and take the other
  // operand's.
  enum class Arithmetic : unsigned char { kNone, kFloat32, kFloat64 } arithmetic = {};

  Tracked() = default;
  Tracked(double constant)
      : value(constant) {}  // NOLINT: implicit, so that bodies read as formulas
  Tracked(long double v, double r, Arithmetic a) : value(v), radius(r), arithmetic(a) {}

  friend Tracked operator-(const Tracked& a) { return {-a.value, a.radius, a.arithmetic}; }
  friend Tracked operator+(const Tracked& a, const Tracked& b) { return detail::plus(a, b); }
  friend Tracked operator-(const Tracked& a, const Tracked& b) { return detail::plus(a, -b); }
  friend Tracked operator*(const Tracked& a, const Tracked& b) { return detail::times(a, b); }
  friend Tracked operator/(const Tracked& a, const Tracked& b) { return detail::divided(a, b); }
  friend Tracked abs(const Tracked& a) { return {std::fabs(a.value), a.radius, a.arithmetic}; }

  // Comparisons give 0 or 1, undecided when the radii leave the order open.
  friend Whole less(const Tracked& a, const Tracked& b) {
    return {a.value < b.value, detail::is_close_call(a, b)};
  }
  friend Whole equal(const Tracked& a, const Tracked& b) {
    return {a.value == b.value, detail::is_close_call(a, b)};
  }
  friend Whole is_zero(const Tracked& a) { return equal(a, Tracked(0.0)); }
  friend Whole is_nan(const Tracked& a) { return {std::isnan(a.value), std::isinf(a.radius)}; }

  // `a` where the condition holds, else `b`; an undecided condition widens the radius to reach
  // both.
  friend Tracked select(Whole condition, const Tracked& a, const Tracked& b) {
    return detail::chosen(condition, a, b);
  }

  // The larger and the smaller; NaN if either is.
  friend Tracked maximum(const Tracked& a, const Tracked& b) {
    return detail::extremum(a, b, std::isnan(a.value) || a.value > b.value);
  }
  friend Tracked minimum(const Tracked& a, const Tracked& b) {
    return detail::extremum(a, b, std::isnan(a.value) || a.value < b.value);
  }
};

using Bounded = Tracked<WorstCase>;
using Sampled = Tracked<RootSumSquare>;

namespace detail {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A distance as a radius: the difference of two float64 numbers may have more digits than one.
inline double rounded_up(long double distance) {
  const auto nearest = static_cast<double>(distance);
  const bool is_less = static_cast<long double>(nearest) < distance;
  return is_less ? std::nextafter(nearest, kInfinity) : nearest;
}

template <class P>
using ArithmeticOf = typename Tracked<P>::Arithmetic;

template <class P>
spec::DType dtype_of(ArithmeticOf<P> arithmetic) {
  return arithmetic == ArithmeticOf<P>::kFloat64 ? spec::DType::kFloat64 : spec::DType::kFloat32;
}

// The radius of a zero whose sign is open. Only those learn of it who divide by it or take its
// sign. Of two zeros either is the larger (x86's maxps takes the second, PTX's max the positive).
inline constexpr double kOpenSign = std::numeric_limits<double>::denorm_min();

// Whether the radius of a number says no more than that. Below float32's numbers it does after
// functions too; in float64 numbers that are not zero have radii as small.
template <class P>
bool is_open_sign(const Tracked<P>& x) {
  constexpr double kBelowFloat32 = 0x1p-600;
  if (x.arithmetic == ArithmeticOf<P>::kFloat64) return x.value == 0 && x.radius == kOpenSign;
  return x.radius > 0 && x.radius < kBelowFloat32;
}

// How far an executor's number may lie away: nowhere, where its sign alone is open.
template <class P>
double error_of(const Tracked<P>& x) {
  return is_open_sign(x) ? 0 : x.radius;
}

// The radius of an exact number: of a zero that may have either sign, kOpenSign.
inline double zero_radius(bool is_either_zero) { return is_either_zero ? kOpenSign : 0; }

template <class P>
ArithmeticOf<P> wider(ArithmeticOf<P> a, ArithmeticOf<P> b) {
  return std::max(a, b);
}

inline bool holds(long double value, spec::DType dtype) {
  return static_cast<long double>(round_to_dtype(value, dtype)) == value;
}

// Whether an executor may have a number beyond the largest finite element. That element itself
// masks scores: what is added to it, or was rounded off, is too little to change it.
template <class P>
bool may_pass(long double value, double radius, long double most) {
  if (std::fabs(value) == most) return static_cast<long double>(radius) > most;
  return std::fabs(value) + static_cast<long double>(P::kDecisionRadii * radius) > most;
}

// A number that may: infinity, the largest element, or open, as what an executor may have lies
// beyond, before or across the point where rounding turns to infinity. Nothing where all of it
// rounds as smaller numbers do.
template <class P>
std::optional<Tracked<P>> overflowed(long double value, double radius, ArithmeticOf<P> arithmetic,
                                     spec::DType dtype) {
  const long double most = max_finite(dtype);
  const long double threshold = most + static_cast<long double>(half_ulp(most, dtype));
  const auto reach = static_cast<long double>(P::kDecisionRadii * radius);
  if (std::fabs(value) - reach >= threshold) {
    const auto beyond = static_cast<long double>(round_to_dtype(value, dtype));
    return Tracked<P>{beyond, 0, arithmetic};
  }
  if (std::fabs(value) + reach >= threshold) return Tracked<P>{value, kInfinity, arithmetic};
  if (std::fabs(value) <= most) return std::nullopt;
  return Tracked<P>{std::copysign(most, value), radius, arithmetic};
}

template <class P>
bool is_approximate(ArithmeticOf<P> arithmetic) {
  return arithmetic == ArithmeticOf<P>::kFloat32 && declared_arithmetic().approximates;
}

// How far a number moves that may count as zero of its sign: nothing, but for what may be subnormal
// in approximate arithmetic.
template <class P>
double flushed(long double value, double radius, ArithmeticOf<P> arithmetic) {
  constexpr long double kLeastNormal = 0x1p-126L;
  if (!is_approximate<P>(arithmetic)) return 0;
  const long double size = std::fabs(value);
  const auto r = static_cast<long double>(radius);
  return size - r < kLeastNormal ? static_cast<double>(std::min(size + r, kLeastNormal)) : 0;
}

// A number that an operation reads or makes, where that may be as zero.
template <class P>
Tracked<P> or_flushed(const Tracked<P>& x) {
  if (!is_approximate<P>(x.arithmetic)) return x;
  const double moved = flushed<P>(x.value, x.radius, x.arithmetic);
  if (moved == 0) return x;
  return {x.value, P::combine(x.radius, P::of_rounding(moved)), x.arithmetic};
}

// Returns whether a number lies so far from 0 and from the ends of float32 that nothing has to be
// asked of it but how wide a rounding is. Then it is no NaN, no infinity, not subnormal, and its
// radius says more than an open sign and reaches to none of these.
[[gnu::always_inline]] inline bool is_ordinary(double value, double radius) {
  const double size = std::fabs(value);
  const bool is_known = radius == 0 || (radius > 0x1p-600 && radius < 0x1p110);
  return size > 0x1p-100 && size < 0x1p120 && is_known;
}

// An ordinary number that a rounding moves by at most `ulps` of a format with float32's exponents.
template <class P>
[[gnu::always_inline]] inline Tracked<P> moved_by_rounding(long double value, double radius,
                                                           ArithmeticOf<P> arithmetic,
                                                           int precision, double ulps) {
  const auto reach = static_cast<double>(std::fabs(value) + static_cast<long double>(radius));
  const double error = 2 * ulps * power_of_two(exponent_of(reach) - precision);
  return {value, P::combine(radius, P::of_rounding(error)), arithmetic};
}

// rounded() of any number.
template <class P>
Tracked<P> rounded_in_general(long double value, double radius, ArithmeticOf<P> arithmetic,
                              double ulps) {
  // NaN, or open: another operand of the radius has a number.
  if (std::isnan(value)) return {value, radius == kInfinity ? radius : 0, arithmetic};
  if (arithmetic == ArithmeticOf<P>::kNone) return {value, radius, arithmetic};
  if (std::isinf(value)) return {value, radius == kInfinity ? radius : 0, arithmetic};
  const spec::DType dtype = dtype_of<P>(arithmetic);
  const long double most = max_finite(dtype);
  if (may_pass<P>(value, radius, most)) {
    if (const auto out = overflowed<P>(value, radius, arithmetic, dtype)) return *out;
  }
  if (is_open_sign<P>({value, radius, arithmetic})) {
    if (value == 0) return {value, kOpenSign, arithmetic};
    radius = 0;
  }
  if (radius == 0 && ulps <= 0.5 && holds(value, dtype)) {
    return or_flushed<P>({value, 0, arithmetic});
  }
  const long double reach = std::fabs(value) + static_cast<long double>(radius);
  const double error = 2 * ulps * half_ulp(std::min(reach, most), dtype);
  return or_flushed<P>({value, P::combine(radius, P::of_rounding(error)), arithmetic});
}

// Closes an operation: `value` +- `radius` before rounding into `arithmetic`. `ulps` is the
// declared accuracy of the operation; 0.5 is correct rounding. Most numbers take the short way,
// which comes to the same.
template <class P>
[[gnu::always_inline]] inline Tracked<P> rounded(long double value, double radius,
                                                 ArithmeticOf<P> arithmetic, double ulps = 0.5) {
  const bool is_short = arithmetic == ArithmeticOf<P>::kFloat32 &&
                        is_ordinary(static_cast<double>(value), radius) &&
                        !declared_arithmetic().approximates;
  if (!is_short) return rounded_in_general<P>(value, radius, arithmetic, ulps);
  if (radius == 0 && ulps <= 0.5 && static_cast<long double>(static_cast<float>(value)) == value) {
    return {value, 0, arithmetic};
  }
  return moved_by_rounding<P>(value, radius, arithmetic, kFloat32.precision, ulps);
}

// Of quotients and square roots.
template <class P>
double quotient_ulps(ArithmeticOf<P> arithmetic) {
  constexpr double kApproximateUlps = 2;
  return is_approximate<P>(arithmetic) ? kApproximateUlps : 0.5;
}

// The largest change of f over value +- radius. Where one of value and what an executor may have
// instead is outside of the domain it is infinite: an executor may find itself on the other side.
template <class P, class F>
double change(const Tracked<P>& x, long double at_value, F f) {
  if (x.radius == 0) return 0;
  if (std::isnan(x.value)) return x.radius;
  // Open: it may be no number, of which a bounded function makes none either.
  if (std::isinf(x.radius)) return kInfinity;
  const long double r = x.radius;
  double most = 0;
  for (const long double end : {f(x.value - r), f(x.value + r)}) {
    const auto moved = static_cast<double>(std::fabs(end - at_value));
    if (!std::isnan(moved)) most = std::max(most, moved);
  }
  const auto reach = static_cast<long double>(P::kDecisionRadii) * r;
  for (const long double end : {f(x.value - reach), f(x.value + reach)}) {
    if (std::isnan(end) != std::isnan(at_value)) return kInfinity;
  }
  // Infinite at both ends of the reach, an even function is least inside of it: cosh at 0.
  if (std::isinf(at_value) && std::fabs(x.value) <= reach && std::isfinite(f(0.0L))) {
    return kInfinity;
  }
  // A domain that lies inside of the reach, [-1, 1] of atanh, holds 0.
  if (std::isnan(at_value) && std::fabs(x.value) < reach && !std::isnan(f(0.0L))) return kInfinity;
  return most;
}

}  // namespace detail

// f(x) for a function that is monotone near x, accurate to `ulps` of its result.
template <class P, class F>
Tracked<P> through(const Tracked<P>& x, double ulps, F f) {
  const long double value = f(x.value);
  return detail::rounded<P>(value, detail::change(x, value, f), x.arithmetic, ulps);
}

namespace detail {

template <class P>
bool is_certain_nan(const Tracked<P>& x) {
  return std::isnan(x.value) && x.radius == 0;
}

// What two operands add to a result. Numbers that agree in all bits of their wide values come from
// one number: their errors are no independent ones, they are equal, and add up.
template <class P>
double joined(const Tracked<P>& a, const Tracked<P>& b, double from_a, double from_b) {
  const bool is_one = std::fabs(a.value) == std::fabs(b.value);
  return is_one ? from_a + from_b : P::combine(from_a, from_b);
}

template <class P>
Tracked<P> plus(const Tracked<P>& a, const Tracked<P>& b) {
  if (a.radius == 0 && b.radius == 0) {
    return rounded<P>(a.value + b.value, 0, wider<P>(a.arithmetic, b.arithmetic));
  }
  const bool is_nan = is_certain_nan(a) || is_certain_nan(b);
  const long double value = a.value + b.value;
  double radius = is_nan ? 0 : joined(a, b, error_of(a), error_of(b));
  if (radius == 0) radius = zero_radius(value == 0 && (is_open_sign(a) || is_open_sign(b)));
  return rounded<P>(value, radius, wider<P>(a.arithmetic, b.arithmetic));
}

// |x| * r where an exact factor (r == 0) contributes nothing even when x is infinite. What is there
// does not underflow to nothing: a radius of 0 says that a number is exact.
inline double scaled(long double x, double r) {
  if (r == 0) return 0;
  const double out = static_cast<double>(std::fabs(x)) * r;
  return out == 0 && x != 0 ? std::numeric_limits<double>::denorm_min() : out;
}

// The radius of a product, before its rounding.
template <class P>
double product_radius(const Tracked<P>& a, const Tracked<P>& b) {
  if (is_certain_nan(a) || is_certain_nan(b)) return 0;
  const double from_a = scaled(b.value, error_of(a));
  const double from_b = scaled(a.value, error_of(b));
  const double from_both = P::kAllowedRadii * error_of(a) * error_of(b);
  const double radius = P::combine(joined(a, b, from_a, from_b), from_both);
  return std::isnan(radius) ? kInfinity : radius;
}

template <class P>
bool may_be_zero(const Tracked<P>& x, double radii = P::kDecisionRadii) {
  const auto reach = static_cast<long double>(radii * x.radius);
  return x.value == 0 || !(std::fabs(x.value) > reach);
}

// Whether an executor's number may be positive or negative.
template <class P>
bool has_open_sign(const Tracked<P>& x) {
  return x.radius > 0 && may_be_zero(x);
}

template <class P>
Tracked<P> times(const Tracked<P>& a, const Tracked<P>& b) {
  const long double value = a.value * b.value;
  const auto arithmetic = wider<P>(a.arithmetic, b.arithmetic);
  if (a.radius == 0 && b.radius == 0) return rounded<P>(value, 0, arithmetic);
  double radius = product_radius(a, b);
  const bool is_either_zero = value == 0 && (has_open_sign(a) || has_open_sign(b));
  if (radius == 0) radius = zero_radius(is_either_zero);
  return rounded<P>(value, radius, arithmetic);
}

template <class P>
Tracked<P> divided(const Tracked<P>& a, const Tracked<P>& b) {
  const long double value = a.value / b.value;
  const auto arithmetic = wider<P>(a.arithmetic, b.arithmetic);
  const double ulps = quotient_ulps<P>(arithmetic);
  if (a.radius == 0 && b.radius == 0) return rounded<P>(value, 0, arithmetic, ulps);
  if (may_be_zero(b, P::kDivisorRadii)) return {value, kInfinity, arithmetic};
  const auto low = static_cast<double>(std::fabs(b.value)) - b.radius;  // the nearest b to zero
  const double from_a = error_of(a) / low;
  const double from_b = scaled(value, b.radius / low);
  const bool is_nan = is_certain_nan(a) || is_certain_nan(b);
  double radius = is_nan ? 0 : P::combine(from_a, from_b);
  if (radius == 0) radius = zero_radius(value == 0 && has_open_sign(a));
  // What is open stays open, over an infinity too.
  return rounded<P>(value, std::isnan(radius) ? kInfinity : radius, arithmetic, ulps);
}

template <class P>
bool is_close_call(const Tracked<P>& a, const Tracked<P>& b) {
  if (a.radius == 0 && b.radius == 0) return false;
  const double radius = P::combine(error_of(a), error_of(b));
  const auto reach = static_cast<long double>(P::kDecisionRadii * radius);
  return radius > 0 && !(std::fabs(a.value - b.value) > reach);
}

template <class P>
Tracked<P> chosen(Whole condition, const Tracked<P>& a, const Tracked<P>& b) {
  const Tracked<P>& taken = condition.value != 0 ? a : b;
  double radius = taken.radius;
  if (condition.undecided) {
    radius = std::max(a.radius, b.radius);
    if (a.value != b.value) radius += static_cast<double>(std::fabs(a.value - b.value));
    if (std::isnan(radius)) radius = kInfinity;
  }
  return {taken.value, radius, wider<P>(a.arithmetic, b.arithmetic)};
}

template <class P>
Tracked<P> extremum(const Tracked<P>& a, const Tracked<P>& b, bool take_a) {
  const Tracked<P>& taken = take_a || std::isnan(a.value) ? a : b;
  const bool close = is_close_call(a, b) && !std::isnan(taken.value);
  double radius = close ? std::max(a.radius, b.radius) : taken.radius;
  const bool are_of_open_sign = is_open_sign(a) || is_open_sign(b);
  const bool are_zeros = a.value == 0 && b.value == 0;
  if (are_zeros && (are_of_open_sign || std::signbit(a.value) != std::signbit(b.value))) {
    radius = std::max(radius, kOpenSign);
  }
  return {taken.value, radius, wider<P>(a.arithmetic, b.arithmetic)};
}

}  // namespace detail

}  // namespace graphgate::reference
