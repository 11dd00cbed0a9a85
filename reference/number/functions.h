// The elementary functions that op bodies call, one set for `double` (eager) and one for Tracked
// (oracle), so that a body is written once.
//
// Declared accuracy. Correctly rounded: + - * / sqrt. The transcendental functions are declared at
// 2 ULP (the vector mathematics library that PyTorch uses on CPUs states 1.0 for each of them).
// They are declared at 5 where CUDA's kernels run: the most that is stated there for a function
// here (erfc in float64; tan and erfc in float32 have 4). Source: CUDA C++ Programming Guide,
// appendix "Mathematical Functions". pow is declared at kPowUlps (CUDA's powf).
#pragma once

#include <cmath>
#include <numbers>

#include "reference/number/arithmetic.h"
#include "reference/number/steps.h"
#include "reference/number/tracked.h"

namespace graphgate::reference {

[[nodiscard]] inline double function_ulps() {
  return declared_arithmetic().has_cuda_kernels ? 5 : 2;
}
inline constexpr double kPowUlps = 4;

inline double abs(double x) { return std::fabs(x); }
inline Whole less(double a, double b) { return a < b; }
inline Whole equal(double a, double b) { return a == b; }
inline Whole is_nan(double x) { return std::isnan(x); }
inline Whole is_zero(double x) { return x == 0; }
inline double select(Whole condition, double a, double b) { return condition.value != 0 ? a : b; }
inline double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
inline double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }

namespace detail {
// Of an exponential as a power of two: the rounded exponent x * log2(e), and the rounded factor,
// each move the result by a relative 2^-24 |x|, which is up to |x| ulps. 0 where nobody goes that
// way.
template <class P>
double exp_ulps(const Tracked<P>& x) {
  if (!is_approximate<P>(x.arithmetic) || !std::isfinite(x.value)) return 0;
  return 2 + 2 * (static_cast<double>(std::fabs(x.value)) + x.radius);
}

// change() of the exponential `at_value`. It is a number everywhere, and moves most upwards: the
// lower end is looked at where that may be lost in roundings.
template <class P>
double change_of_exp(const Tracked<P>& x, long double at_value) {
  if (x.radius == 0) return 0;
  if (std::isnan(x.value)) return x.radius;
  if (std::isinf(x.radius)) return kInfinity;
  const long double r = x.radius;
  const auto reach = static_cast<long double>(P::kDecisionRadii) * r;
  if (std::isinf(at_value) && std::fabs(x.value) <= reach) return kInfinity;
  const auto moved_to = [&](long double end) {
    const auto moved = static_cast<double>(std::fabs(std::exp(end) - at_value));
    return std::isnan(moved) ? 0 : moved;
  };
  const double up = moved_to(x.value + r);
  constexpr double kClearlyUp = 0x1p-30;
  return x.radius > kClearlyUp ? up : std::max(up, moved_to(x.value - r));
}

template <class P>
Tracked<P> exp_accurate_to(const Tracked<P>& x, double ulps) {
  const long double value = std::exp(x.value);
  return rounded<P>(value, change_of_exp(x, value), x.arithmetic, std::max(ulps, exp_ulps(x)));
}
}  // namespace detail

inline double exp(double x) { return std::exp(x); }
template <class P>
Tracked<P> exp(const Tracked<P>& x) {
  return detail::exp_accurate_to(x, function_ulps());
}

// GRAPHGATE_FUNCTION(name): name(double) and name(Tracked) from the standard library's function.
#define GRAPHGATE_FUNCTION(name, ulps)                                   \
  inline double name(double x) { return std::name(x); }                  \
  template <class P>                                                     \
  Tracked<P> name(const Tracked<P>& x) {                                 \
    return through(x, ulps, [](long double v) { return std::name(v); }); \
  }
GRAPHGATE_FUNCTION(sqrt, detail::quotient_ulps<P>(x.arithmetic))
GRAPHGATE_FUNCTION(exp2, function_ulps())
GRAPHGATE_FUNCTION(expm1, function_ulps())
GRAPHGATE_FUNCTION(log, function_ulps())
GRAPHGATE_FUNCTION(log2, function_ulps())
GRAPHGATE_FUNCTION(log10, function_ulps())
GRAPHGATE_FUNCTION(log1p, function_ulps())
GRAPHGATE_FUNCTION(asin, function_ulps())
GRAPHGATE_FUNCTION(acos, function_ulps())
GRAPHGATE_FUNCTION(atan, function_ulps())
GRAPHGATE_FUNCTION(tanh, function_ulps())
GRAPHGATE_FUNCTION(asinh, function_ulps())
GRAPHGATE_FUNCTION(acosh, function_ulps())
GRAPHGATE_FUNCTION(atanh, function_ulps())
GRAPHGATE_FUNCTION(erf, function_ulps())
GRAPHGATE_FUNCTION(erfc, function_ulps())
#undef GRAPHGATE_FUNCTION

// sinh and cosh by way of exp(|x|)/2, whose exponential overflows up to log(2) before the result
// does: there infinity is as right as the value, and the radius says so.
#define GRAPHGATE_HYPERBOLIC(name)                                                            \
  inline double name(double x) { return std::name(x); }                                       \
  template <class P>                                                                          \
  Tracked<P> name(const Tracked<P>& x) {                                                      \
    Tracked<P> out = through(x, function_ulps(), [](long double v) { return std::name(v); }); \
    const long double most = max_finite(detail::dtype_of<P>(x.arithmetic));                   \
    const long double size = std::fabs(out.value);                                            \
    if (size > most / 2 && std::isfinite(size)) out.radius = detail::kInfinity;               \
    return out;                                                                               \
  }
GRAPHGATE_HYPERBOLIC(sinh)
GRAPHGATE_HYPERBOLIC(cosh)
#undef GRAPHGATE_HYPERBOLIC

// erf in float32 by the rational approximation 7.1.26 of Abramowitz and Stegun, Handbook of
// Mathematical Functions: 1.5e-7 at most, plus ten roundings of terms no larger than 1. It is what
// vectorized kernels use; its error near 0 is absolute, not relative.
inline constexpr double kShortErfError = 1.5e-7 + 10 * 0x1p-24;
inline double short_erf(double x) { return std::erf(x); }
template <class P>
Tracked<P> short_erf(const Tracked<P>& x) {
  Tracked<P> out = erf(x);
  const bool single = detail::dtype_of<P>(x.arithmetic) == spec::DType::kFloat32;
  if (single && !std::isnan(out.value)) {
    out.radius = P::combine(out.radius, P::of_rounding(kShortErfError));
  }
  return out;
}

// sin and cos are not monotone, and move by at most the radius; an infinity has neither.
#define GRAPHGATE_WAVE(name)                                                            \
  inline double name(double x) { return std::name(x); }                                 \
  template <class P>                                                                    \
  Tracked<P> name(const Tracked<P>& x) {                                                \
    const double most = std::isinf(x.radius) ? x.radius : std::min(x.radius, 2.0);      \
    return detail::rounded<P>(std::name(x.value), most, x.arithmetic, function_ulps()); \
  }
GRAPHGATE_WAVE(sin)
GRAPHGATE_WAVE(cos)
#undef GRAPHGATE_WAVE

// Open where an executor's operand may lie beyond a pole, at odd multiples of pi/2.
inline double tan(double x) { return std::tan(x); }
template <class P>
Tracked<P> tan(const Tracked<P>& x) {
  const Tracked<P> out = through(x, function_ulps(), [](long double v) { return std::tan(v); });
  if (x.radius == 0 || std::isnan(out.value)) return out;
  const auto branch = [](long double v) {
    return std::floor(v / std::numbers::pi_v<long double> + 0.5L);
  };
  const long double reach =
      static_cast<long double>(P::kDecisionRadii) * static_cast<long double>(x.radius);
  const bool is_open = branch(x.value - reach) != branch(x.value + reach);
  return is_open ? Tracked<P>{out.value, detail::kInfinity, out.arithmetic} : out;
}

// Functions with jumps. `nearbyint` rounds halves to even.
#define GRAPHGATE_STEPS(name)                                               \
  inline double name(double x) { return std::name(x); }                     \
  template <class P>                                                        \
  Tracked<P> name(const Tracked<P>& x) {                                    \
    return through_steps(x, 1, [](long double v) { return std::name(v); }); \
  }
GRAPHGATE_STEPS(floor)
GRAPHGATE_STEPS(ceil)
GRAPHGATE_STEPS(trunc)
GRAPHGATE_STEPS(nearbyint)
#undef GRAPHGATE_STEPS

// A function with jumps that takes halves down: what is left of a floored quotient.
inline double round_half_down(double x) {
  const double below = std::floor(x);
  return x - below > 0.5 ? below + 1 : below;
}
template <class P>
Tracked<P> round_half_down(const Tracked<P>& x) {
  return through_steps(x, 1, [](long double v) {
    const long double below = std::floor(v);
    return v - below > 0.5L ? below + 1 : below;
  });
}

// Whole numbers are their own roundings.
inline Whole floor(Whole x) { return x; }
inline Whole ceil(Whole x) { return x; }
inline Whole trunc(Whole x) { return x; }
inline Whole nearbyint(Whole x) { return x; }

inline Whole is_infinite(double x) { return std::isinf(x); }
inline Whole is_infinite(Whole x) { return {0, x.undecided}; }
template <class P>
Whole is_infinite(const Tracked<P>& x) {
  return {std::isinf(x.value), std::isinf(x.radius)};
}

// The magnitude of x with the sign of y. A sign that y's radius leaves open widens the result to
// both signs.
inline double copysign(double x, double y) { return std::copysign(x, y); }
template <class P>
Tracked<P> copysign(const Tracked<P>& x, const Tracked<P>& y) {
  const long double value = std::copysign(x.value, y.value);
  // Nobody says which sign the NaN of an operation has.
  const bool open = std::isnan(y.value) ||
                    (y.radius > 0 &&
                     std::fabs(y.value) <= static_cast<long double>(P::kDecisionRadii * y.radius));
  const double reach = open ? 2 * static_cast<double>(std::fabs(x.value)) : 0;
  return {value, x.radius + reach, detail::wider<P>(x.arithmetic, y.arithmetic)};
}

// 1/sqrt(x), rounded as one function.
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
template <class P>
Tracked<P> rsqrt(const Tracked<P>& x) {
  return through(x, function_ulps(), [](long double v) { return 1 / std::sqrt(v); });
}

// exp as softmax and attention kernels compute it in float32: PyTorch's CPU kernels call a vector
// exp declared at 20 ULP (its name is exp_u20).
inline constexpr double kFastExpUlps = 20;
inline double fast_exp(double x) { return std::exp(x); }
template <class P>
Tracked<P> fast_exp(const Tracked<P>& x) {
  const bool is_wide = x.arithmetic == Tracked<P>::Arithmetic::kFloat64;
  return detail::exp_accurate_to(x, is_wide ? function_ulps() : kFastExpUlps);
}

namespace detail {
// f(a, b) at the corners of both radii.
template <class P, class F>
Tracked<P> through_two(const Tracked<P>& a, const Tracked<P>& b, double ulps, F f) {
  const long double value = f(a.value, b.value);
  const double from_a = change(a, value, [&](long double v) { return f(v, b.value); });
  const double from_b = change(b, value, [&](long double v) { return f(a.value, v); });
  return rounded<P>(value, P::combine(from_a, from_b), wider<P>(a.arithmetic, b.arithmetic), ulps);
}
}  // namespace detail

inline double pow(double x, double y) { return std::pow(x, y); }
template <class P>
Tracked<P> pow(const Tracked<P>& x, const Tracked<P>& y) {
  Tracked<P> out = detail::through_two(x, y, kPowUlps,
                                       [](long double a, long double b) { return std::pow(a, b); });
  const auto reach = static_cast<long double>(P::kDecisionRadii * x.radius);
  // A negative power has a pole at 0, and an executor's base may lie on either side.
  if (x.radius > 0 && y.value < 0 && std::fabs(x.value) <= reach) out.radius = detail::kInfinity;
  return out;
}
// Powers of integers wrap; a negative power of anything but 1 and -1 is 0.
inline Whole pow(Whole base, Whole exponent) {
  const bool undecided = base.undecided || exponent.undecided;
  if (exponent.value < 0) {
    const bool odd = exponent.value % 2 != 0;
    if (base.value == -1) return {odd ? -1 : 1, undecided};
    return {base.value == 1 ? 1 : 0, undecided};
  }
  Whole power = 1;
  Whole factor = base.value;
  for (std::int64_t left = exponent.value; left != 0; left >>= 1) {
    if ((left & 1) != 0) power = power * factor;
    factor = factor * factor;
  }
  return {power.value, undecided};
}

inline double hypot(double x, double y) { return std::hypot(x, y); }
template <class P>
Tracked<P> hypot(const Tracked<P>& x, const Tracked<P>& y) {
  return detail::through_two(x, y, function_ulps(),
                             [](long double a, long double b) { return std::hypot(a, b); });
}
inline double atan2(double y, double x) { return std::atan2(y, x); }
template <class P>
Tracked<P> atan2(const Tracked<P>& y, const Tracked<P>& x) {
  Tracked<P> out = detail::through_two(
      y, x, function_ulps(), [](long double a, long double b) { return std::atan2(a, b); });
  // Left of zero it is pi above the axis and -pi below: farthest apart not where y is farthest from
  // its value, but where it is nearest to zero.
  const bool may_be_left = x.value < 0 || detail::may_be_zero(x);
  const bool is_open = detail::has_open_sign(y) || detail::has_open_sign(x);
  constexpr double kTurn = 6.2831853071795864769 * (1 + 0x1p-20);
  if (detail::may_be_zero(y) && may_be_left && is_open) out.radius = std::max(out.radius, kTurn);
  return out;
}

// C's fmod: exact for exact operands. A quotient that the radii leave open may be off by |y|.
// Vectorized kernels reduce x by multiples of y that come from x / y: where that quotient overflows
// the arithmetic the remainder is open (SLEEF's fmod gives NaN there).
inline double fmod(double x, double y) { return std::fmod(x, y); }
template <class P>
Tracked<P> fmod(const Tracked<P>& x, const Tracked<P>& y) {
  const long double value = std::fmod(x.value, y.value);
  const auto arithmetic = detail::wider<P>(x.arithmetic, y.arithmetic);
  const long double most = max_finite(detail::dtype_of<P>(arithmetic));
  if (std::isfinite(value) && std::fabs(x.value / y.value) > most) {
    return {value, detail::kInfinity, arithmetic};
  }
  if (x.radius == 0 && y.radius == 0) return {value, 0, arithmetic};
  if (detail::may_be_zero(y, P::kDivisorRadii) || std::isinf(x.radius) || std::isinf(y.radius)) {
    return {value, detail::kInfinity, arithmetic};
  }
  const Tracked<P> quotient = trunc(x / y);
  if (detail::error_of(quotient) != 0) {
    const double most_rest = static_cast<double>(std::fabs(y.value)) + y.radius;
    return {value, most_rest, arithmetic};
  }
  return {value, P::combine(x.radius, detail::scaled(quotient.value, y.radius)), arithmetic};
}

namespace detail {
// The rounding error of a number that comes out as the same one whatever its own error is; infinite
// where it may come out as several. A score beside a mask of the lowest number is that number
// again; that it might be off by half a unit in the last place would leave open whether it is
// infinite.
template <class P>
double rounding_by_one_way(const Tracked<P>& x, spec::DType dtype) {
  const auto reach = static_cast<long double>(P::kDecisionRadii * x.radius);
  const double rounded = round_to_dtype(x.value, dtype);
  const bool is_one = round_to_dtype(x.value - reach, dtype) == rounded &&
                      round_to_dtype(x.value + reach, dtype) == rounded;
  return is_one ? static_cast<double>(std::fabs(x.value - static_cast<long double>(rounded)))
                : kInfinity;
}
}  // namespace detail

// An edge between nodes: the executor rounds to `dtype`, the oracle keeps the wide value and
// counts the rounding.
inline double round_edge(double x, spec::DType dtype) { return round_to_dtype(x, dtype); }
template <class P>
Tracked<P> round_edge(const Tracked<P>& x, spec::DType dtype) {
  if (dtype == spec::DType::kFloat32 &&
      detail::is_ordinary(static_cast<double>(x.value), x.radius)) {
    if (x.radius == 0 && detail::holds(x.value, dtype)) return x;
    return detail::moved_by_rounding<P>(x.value, x.radius, x.arithmetic, detail::kFloat32.precision,
                                        0.5);
  }
  if (std::isnan(x.value) || (std::isinf(x.value) && x.radius == 0)) return x;
  const auto most = static_cast<long double>(max_finite(dtype));
  if (detail::may_pass<P>(x.value, x.radius, most)) {
    // Infinity, or as wide as it was computed.
    const bool is_beyond = std::fabs(x.value) > most;
    if (is_beyond && declared_arithmetic().keeps_wide && dtype != compute_dtype(dtype)) {
      return {x.value, detail::kInfinity, x.arithmetic};
    }
    if (const auto out = detail::overflowed<P>(x.value, x.radius, x.arithmetic, dtype)) return *out;
  }
  const bool is_zero = x.value == 0 && detail::is_open_sign(x);
  if (is_zero || (x.radius == 0 && detail::holds(x.value, dtype))) return x;
  const auto reach = std::fabs(x.value) + static_cast<long double>(x.radius);
  double error = half_ulp(std::min(reach, most), dtype);
  // By way of float32: two roundings.
  const bool is_twice = x.arithmetic == Tracked<P>::Arithmetic::kFloat64 &&
                        dtype != spec::DType::kFloat64 && dtype != spec::DType::kFloat32;
  if (is_twice) error += half_ulp(std::min(reach, most), spec::DType::kFloat32);
  // Elsewhere half a unit in the last place is no step to infinity.
  if (std::fabs(x.value) > most / 2 && !is_twice) {
    error = std::min(error, detail::rounding_by_one_way(x, dtype));
  }
  return {x.value, P::combine(x.radius, P::of_rounding(error)), x.arithmetic};
}

// Returns an intermediate of a kernel that holds it in `dtype` before a step or a comparison. Eager
// values are rounded. Tracked ones counted their rounding to float32 or float64 already, and add
// one only for the narrower dtypes.
inline double held_in(double x, spec::DType dtype) { return round_to_dtype(x, dtype); }
// Beyond the largest number of a narrow dtype the value is left open: it is infinite to who holds
// it there, and to who computes the whole op in float32 it is not.
template <class P>
Tracked<P> held_in(const Tracked<P>& x, spec::DType dtype) {
  if (compute_dtype(dtype) == dtype) return x;
  const bool is_beyond =
      std::isfinite(x.value) && std::fabs(x.value) > static_cast<long double>(max_finite(dtype));
  if (is_beyond) return {x.value, detail::kInfinity, x.arithmetic};
  return round_edge(x, dtype);
}

// Whether an executor may have less than the smallest normal number of `dtype`, or zero.
template <class P>
bool may_be_subnormal(const Tracked<P>& x, spec::DType dtype) {
  const long double least = detail::power_of_two(detail::format_of(dtype).min_exponent);
  return std::fabs(x.value) - static_cast<long double>(P::kDecisionRadii * x.radius) < least;
}

namespace detail {
// The radius of a / (1 + e^-x) where e^-x may be anything from next to nothing to many times what
// it is. Taken as a quotient that is open: a radius has two sides, and the divisor's would reach
// over 0. But it is 1 at least, and the quotient rises with x alone.
template <class P>
double wide_logistic_radius(const Tracked<P>& a, const Tracked<P>& x, spec::DType compute) {
  const auto logistic = [](long double v) { return 1 / (1 + std::exp(-v)); };
  const long double r = x.radius;
  double roundings = 0;  // relative
  for (const long double end : {x.value - r, x.value + r}) {
    const Tracked<P> divisor = 1.0 + held_in(exp(-Tracked<P>(end, 0, x.arithmetic)), compute);
    const Tracked<P> quotient = Tracked<P>(1.0) / divisor;
    // Nothing is left of the quotient where the exponential overflows.
    const bool is_lost = !(quotient.value > 0);
    const double lost = is_lost ? 1 : quotient.radius / static_cast<double>(quotient.value);
    roundings = std::max(roundings, lost);
  }
  const auto reach = static_cast<double>(std::fabs(a.value)) + a.radius;
  const auto most = static_cast<double>(logistic(x.value + r));
  const double from_x = reach * change(x, logistic(x.value), logistic);
  return P::combine(P::combine(a.radius * most, from_x), reach * most * roundings);
}
}  // namespace detail

// a / (1 + e^-x), as sigmoid and silu have it. Held in `compute` (float32, float64), the
// exponential overflows before the quotient is 0: who divides by that infinity gets 0, who goes
// around it (e^x / (1 + e^x)) the small number. Either is right. So is who multiplies a with the
// sigmoid, which may be subnormal where the product is not.
inline double divide_by_logistic(double a, double x, spec::DType compute) {
  return a / (1.0 + held_in(exp(-x), compute));
}
template <class P>
Tracked<P> divide_by_logistic(const Tracked<P>& a, const Tracked<P>& x, spec::DType compute) {
  const Tracked<P> exponential = held_in(exp(-x), compute);
  const Tracked<P> divisor = 1.0 + exponential;
  Tracked<P> out = a / divisor;
  if (!std::isfinite(x.value) || !std::isfinite(a.value)) return out;
  const bool is_known = std::isfinite(x.radius) && std::isfinite(a.radius);
  if (std::isinf(out.radius) && is_known) {
    out.radius = detail::wide_logistic_radius(a, x, compute);
  }
  const long double reach = std::fabs(a.value) + static_cast<long double>(a.radius);
  const double lost = half_ulp(0, compute) * static_cast<double>(reach);
  if (std::isinf(exponential.value)) {
    const long double most = std::exp(x.value + static_cast<long double>(x.radius));
    const double small = static_cast<double>(reach * most) * (1 + 0x1p-20);
    out.radius = std::max(out.radius, small + half_ulp(0, compute) + lost);
  } else if (may_be_subnormal(1.0 / divisor, compute)) {
    out.radius = P::combine(out.radius, P::of_rounding(lost));
  }
  return out;
}

// Returns x^-2 as 1 / x^2 with the square held in `between`, which overflows before the quotient is
// 0. A kernel that divides by that infinity gets 0. One that goes around it (a power, the square of
// 1 / x) gets the small number. Either is right.
inline double inverse_square(double x, spec::DType between) {
  return 1.0 / held_in(x * x, between);
}
template <class P>
Tracked<P> inverse_square(const Tracked<P>& x, spec::DType between) {
  const Tracked<P> square = held_in(x * x, between);
  Tracked<P> out = 1.0 / square;
  if (std::isinf(square.value) && std::isfinite(x.value)) {
    const long double nearest = std::fabs(x.value) - static_cast<long double>(x.radius);
    const auto most = static_cast<double>(1 / (nearest * nearest));
    out.radius = std::max(out.radius, most + 2 * kPowUlps * half_ulp(most, between));
  }
  return out;
}

// An edge of a number that the executor holds up to an unknown common factor (the weights of a
// softmax before they are normalized): the rounding is relative.
inline double round_scaled_edge(double x, spec::DType dtype) { return round_to_dtype(x, dtype); }
template <class P>
Tracked<P> round_scaled_edge(const Tracked<P>& x, spec::DType dtype) {
  const double reach = static_cast<double>(std::fabs(x.value)) + x.radius;
  const double error = unit_roundoff(dtype) * reach + half_ulp(0, dtype);
  return {x.value, P::combine(x.radius, P::of_rounding(error)), x.arithmetic};
}

// An explicit cast: the oracle rounds as the executor does, where that has to.
inline double cast(double x, spec::DType dtype) { return round_to_dtype(x, dtype); }
template <class P>
Tracked<P> cast(const Tracked<P>& x, spec::DType dtype) {
  if (declared_arithmetic().keeps_wide) return round_edge(x, dtype);
  const long double far =
      std::fabs(x.value) + static_cast<long double>(P::kDecisionRadii * x.radius);
  const double step = 2 * half_ulp(std::min<long double>(far, max_finite(dtype)), dtype);
  return through_steps(x, step, [dtype](long double v) {
    return static_cast<long double>(round_to_dtype(v, dtype));
  });
}

// A real number to a whole one, toward zero. NaN, infinities and what 64 bits cannot hold have no
// defined result; they give the smallest 64-bit integer, as x86 does.
inline Whole to_whole(long double x) {
  const bool fits = x >= -9223372036854775808.0L && x < 9223372036854775808.0L;
  return fits ? static_cast<std::int64_t>(x) : std::numeric_limits<std::int64_t>::min();
}
inline Whole to_whole(double x) { return to_whole(static_cast<long double>(x)); }
template <class P>
Whole to_whole(const Tracked<P>& x) {
  const Tracked<P> whole = trunc(x);
  Whole out = to_whole(whole.value);
  out.undecided = whole.radius != 0;
  return out;
}

}  // namespace graphgate::reference
