// The special functions that op bodies call, one set for `double` (eager) and one for Tracked
// (oracle), as functions.h has the elementary ones.
//
// Values are Boost.Math's in long double; what Boost.Math has not (the Hurwitz zeta function, a
// scaled erfc) is in special_functions.cpp. Where PyTorch says something else of a pole or an
// infinity than mathematics does, `exact` says what PyTorch says.
//
// Declared accuracy. PyTorch's CPU kernels are Cephes's (aten/src/ATen/native/Math.h), in float32
// with the coefficients that Cephes has for float64. So they lose a few units in the last place, or
// of the largest term where terms cancel. Cephes documents peak relative errors (IEEE double, in
// units of 2.2e-16): i0 2.6, i0e 2.4, i1 8.6, i1e 9, k0 5.4, k0e 6.3, k1 5, k1e 3.5, ndtri 3.3, psi
// 5.9. Of PyTorch 2.15.0 the largest errors of some hundred random arguments of each function and
// range were compared with mpmath's; the constants here are about half as large again, or Cephes's.
// A constant that depends on the argument has its reason beside it.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "reference/number/functions.h"

namespace graphgate::reference {

// The functions themselves, accurate to far less than a unit in the last place of float64.
namespace exact {
[[nodiscard]] long double lgamma(long double x);
[[nodiscard]] long double digamma(long double x);
[[nodiscard]] long double trigamma(long double x);
// The Hurwitz zeta function: the sum of (q + k)^-s.
[[nodiscard]] long double zeta(long double s, long double q);
// The regularized incomplete gamma functions P(a, x) and Q(a, x).
[[nodiscard]] long double igamma(long double a, long double x);
[[nodiscard]] long double igammac(long double a, long double x);
[[nodiscard]] long double erfinv(long double x);
[[nodiscard]] long double erfcx(long double x);
[[nodiscard]] long double log_ndtr(long double x);
[[nodiscard]] long double ndtri(long double p);
// Modified Bessel functions, those whose names end in e times exp(-|x|) or exp(x).
[[nodiscard]] long double i0(long double x);
[[nodiscard]] long double i0e(long double x);
[[nodiscard]] long double i1(long double x);
[[nodiscard]] long double i1e(long double x);
[[nodiscard]] long double k0(long double x);
[[nodiscard]] long double k0e(long double x);
[[nodiscard]] long double k1(long double x);
[[nodiscard]] long double k1e(long double x);
[[nodiscard]] long double bessel_j0(long double x);
[[nodiscard]] long double bessel_j1(long double x);
[[nodiscard]] long double bessel_y0(long double x);
[[nodiscard]] long double bessel_y1(long double x);
[[nodiscard]] long double airy_ai(long double x);
[[nodiscard]] long double spherical_bessel_j0(long double x);
}  // namespace exact

namespace detail {

// 2^-23 or 2^-52: the distance of 1 from the next number.
template <class P>
double epsilon_of(ArithmeticOf<P> arithmetic) {
  return 2 * unit_roundoff(dtype_of<P>(arithmetic));
}
template <class P>
bool is_double(ArithmeticOf<P> arithmetic) {
  return arithmetic == ArithmeticOf<P>::kFloat64;
}

// `value` +- `moved`, which comes from the argument's radius, accurate to `ulps` of itself and to
// `absolute` besides.
template <class P>
Tracked<P> accurate_to(long double value, double moved, ArithmeticOf<P> arithmetic, double ulps,
                       double absolute = 0) {
  Tracked<P> out = rounded<P>(value, moved, arithmetic, std::max(ulps, function_ulps()));
  if (absolute > 0 && !std::isnan(value)) {
    out.radius = P::combine(out.radius, P::of_rounding(absolute));
  }
  return out;
}

// How far f moves over the radius where its slope is `slope` at most.
template <class P>
double moved_by(const Tracked<P>& x, long double slope) {
  if (x.radius == 0) return 0;
  const double moved = static_cast<double>(std::fabs(slope)) * x.radius;
  return std::isnan(moved) ? kInfinity : moved;
}

template <class P>
long double low_end(const Tracked<P>& x) {
  return x.value - static_cast<long double>(P::kDecisionRadii * x.radius);
}
template <class P>
long double high_end(const Tracked<P>& x) {
  return x.value + static_cast<long double>(P::kDecisionRadii * x.radius);
}
// That of the numbers an executor may have which is nearest to 0, as a magnitude.
template <class P>
long double nearest_to_zero(const Tracked<P>& x) {
  const long double low = low_end(x);
  const long double high = high_end(x);
  return low <= 0 && high >= 0 ? 0 : std::min(std::fabs(low), std::fabs(high));
}

// Whether a pole of the gamma function, 0 or a negative whole number, lies within the radius.
template <class P>
bool may_be_pole(const Tracked<P>& x) {
  if (x.radius == 0 || !(low_end(x) <= 0)) return false;
  return std::floor(low_end(x)) != std::floor(high_end(x)) || std::floor(x.value) == x.value;
}
template <class P>
Tracked<P> open_result(long double value, ArithmeticOf<P> arithmetic) {
  return {value, kInfinity, arithmetic};
}

// Whether `value`, a number of x, is open: e^|x| overflows, or is not far from it. A computation by
// way of that has an infinity, one without it a number.
template <class P>
bool is_open_near_overflow(long double value, const Tracked<P>& x) {
  if (!std::isfinite(value)) return false;
  const long double greatest = static_cast<long double>(max_finite(dtype_of<P>(x.arithmetic)));
  const long double size = std::max(std::fabs(low_end(x)), std::fabs(high_end(x)));
  if (size <= std::log(greatest) - 1) return false;
  return std::fabs(value) <= greatest || x.radius > 0;
}

}  // namespace detail

// GRAPHGATE_EAGER(name): name(double), rounded once.
#define GRAPHGATE_EAGER(name)                                             \
  inline double name(double x) {                                          \
    return static_cast<double>(exact::name(static_cast<long double>(x))); \
  }
// Of two numbers.
#define GRAPHGATE_EAGER_OF_TWO(name)                                            \
  inline double name(double x, double y) {                                      \
    return static_cast<double>(                                                 \
        exact::name(static_cast<long double>(x), static_cast<long double>(y))); \
  }

// Sleef's, which ATen's vectors call: 1.0 ULP for positive arguments, max(1 ULP, 1e-8) and max(1
// ULP, 1e-15) for negative ones (documentation of Sleef_lgammaf_u10 and Sleef_lgamma_u10). CUDA's:
// 6 ULP, but for what is lost between two logarithms by reflection (CUDA C++ Programming Guide,
// "Mathematical Functions": lgammaf outside of -10.001 to -2.264).
GRAPHGATE_EAGER(lgamma)
template <class P>
Tracked<P> lgamma(const Tracked<P>& x) {
  const long double value = exact::lgamma(x.value);
  if (detail::may_be_pole(x)) return detail::open_result<P>(value, x.arithmetic);
  const auto slope = [&](long double at) { return std::fabs(exact::digamma(at)); };
  const double moved =
      x.radius == 0 || std::isinf(x.value)
          ? x.radius
          : detail::moved_by(x, std::max(slope(detail::low_end(x)), slope(detail::high_end(x))));
  const double absolute = detail::is_double<P>(x.arithmetic) ? 1e-15 : 1e-8;
  const bool by_cuda = declared_arithmetic().has_cuda_kernels;
  const double ulps = by_cuda ? 6 : 2;
  if (!(x.value < 0) || !std::isfinite(value)) {
    return detail::accurate_to<P>(value, moved, x.arithmetic, ulps, 0);
  }
  const long double mirrored = exact::lgamma(1 - x.value);
  const auto terms = static_cast<double>(std::fabs(mirrored) + std::fabs(value + mirrored));
  const double cancelled = by_cuda ? ulps * detail::epsilon_of<P>(x.arithmetic) * terms : 0;
  return detail::accurate_to<P>(value, moved, x.arithmetic, ulps, std::max(absolute, cancelled));
}

namespace detail {

// What psi(x) = psi(x + n) - sum of 1/(x + k), up to x + n >= 10, loses for a positive x, in units
// of 2^-p. Each of n additions rounds a partial sum, which is no larger than |psi(x)| + 3, since
// psi(x + n) < 3; the quotients lose as much as one of them. x + k is rounded k times, which moves
// its inverse by k / (x + k) < 1, and the logarithm of the last one by n.
inline long double lost_by_recurrence(long double x, long double value) {
  if (!(x > 0) || x >= 10 || !std::isfinite(value)) return 0;
  const long double steps = std::ceil(10 - x);
  return (steps + 1) * (std::fabs(value) + 3) + 2 * steps;
}

}  // namespace detail

// psi(x) = psi(x + n) - sum of 1/(x + k), whose terms cancel: a few units of the largest term, and
// what its steps round. Below 0 pi / tan(pi x) is taken from psi(1 - x); in float64 the angle is
// rounded, in float32 it is computed in float64.
GRAPHGATE_EAGER(digamma)
template <class P>
Tracked<P> digamma(const Tracked<P>& x) {
  const long double value = exact::digamma(x.value);
  if (detail::may_be_pole(x)) return detail::open_result<P>(value, x.arithmetic);
  const double moved = detail::change(x, value, [](long double v) { return exact::digamma(v); });
  const double epsilon = detail::epsilon_of<P>(x.arithmetic);
  double largest =
      4 + static_cast<double>(detail::lost_by_recurrence(x.value, value)) / 2;  // epsilon: 2^(1-p)
  if (x.value < 0 && std::isfinite(value)) {
    const long double mirrored = exact::digamma(1 - x.value);
    const long double rest = std::fabs(x.value - std::trunc(x.value));
    const long double sine = std::sin(std::numbers::pi_v<long double> * rest);
    largest += static_cast<double>(3 * std::fabs(mirrored) + 3 * std::fabs(value - mirrored));
    largest += static_cast<double>(detail::lost_by_recurrence(1 - x.value, mirrored)) / 2;
    if (detail::is_double<P>(x.arithmetic))
      largest += static_cast<double>(10 * rest / (sine * sine));
  }
  return detail::accurate_to<P>(value, moved, x.arithmetic, 3, epsilon * largest);
}

// Six terms of its recurrence and four of its asymptotic series, whose next one is x^-9 / 30. Below
// 1/2 by reflection, where the sine of a rounded angle is squared.
GRAPHGATE_EAGER(trigamma)
template <class P>
Tracked<P> trigamma(const Tracked<P>& x) {
  const long double value = exact::trigamma(x.value);
  if (detail::may_be_pole(x)) return detail::open_result<P>(value, x.arithmetic);
  const double epsilon = detail::epsilon_of<P>(x.arithmetic);
  const auto slope = [](long double at) { return 2 * exact::zeta(3, at); };
  const double moved = x.radius == 0
                           ? 0
                           : detail::moved_by(x, std::max(std::fabs(slope(detail::low_end(x))),
                                                          std::fabs(slope(detail::high_end(x)))));
  double absolute = 0;
  long double shifted = x.value;
  if (x.value < 0.5L) {
    shifted = 1 - x.value;
    const long double angle = std::numbers::pi_v<long double> * std::fabs(x.value);
    const long double sine = std::fabs(std::sin(angle));
    const auto lost = static_cast<double>(angle / sine) * epsilon;
    const bool is_known = std::isfinite(x.value) && lost < 0.125;
    if (!is_known && x.value != 0 && !std::isnan(x.value)) {
      return detail::open_result<P>(value, x.arithmetic);
    }
    if (x.value != 0) absolute = static_cast<double>(std::fabs(value)) * (4 * lost + 4 * epsilon);
  }
  if (std::isfinite(shifted)) {
    absolute += static_cast<double>(std::pow(shifted + 6, -9.0L) / 30);
    if (x.value < 0.5L) absolute += 12 * epsilon;
  }
  return detail::accurate_to<P>(value, moved, x.arithmetic, 6, absolute);
}

namespace detail {

// Returns what the sum of zeta loses at most in float32, which CUDA's kernel computes it in. At
// each term that is its power (4 ULP: CUDA C++ Programming Guide, powf), what the additions of 1
// have moved its base by, and the partial sum. `q` is no pole.
[[nodiscard]] double lost_by_float_zeta(long double s, long double q);

}  // namespace detail

// Nine terms and more, then Euler and Maclaurin's formula, in float64 for float32 too, but for
// CUDA's. A term's base, q + k, is rounded in float64: s / 2 units of the term. Where q^-s
// underflows there is nothing of the result, and where s (s + 1)... overflows beside it no number.
GRAPHGATE_EAGER_OF_TWO(zeta)
template <class P>
Tracked<P> zeta(const Tracked<P>& s, const Tracked<P>& q) {
  const auto arithmetic = detail::wider<P>(s.arithmetic, q.arithmetic);
  const long double value = exact::zeta(s.value, q.value);
  const bool is_moved = s.radius > 0 || q.radius > 0;
  constexpr long double kLargeOrder = 1e12L;
  const bool may_lack = s.value > kLargeOrder && q.value > 1;
  if (may_lack || (is_moved && (!(detail::low_end(q) > 0) || !(detail::low_end(s) > 1)))) {
    return detail::open_result<P>(value, arithmetic);
  }
  const double from_s =
      detail::change(s, value, [&](long double v) { return exact::zeta(v, q.value); });
  const double from_q =
      detail::change(q, value, [&](long double v) { return exact::zeta(s.value, v); });
  const bool is_double = detail::is_double<P>(arithmetic);
  const double ulps = is_double ? 5 + std::min(static_cast<double>(s.value) / 2, 1e3) : 2;
  const long double underflow = is_double ? 1e-290L : 1e-36L;
  const bool is_lost = q.value > 1 && std::pow(q.value, -s.value) < underflow;
  // Terms of both signs below 0, the first of which is a power in the dtype itself.
  double absolute = is_lost ? static_cast<double>(std::fabs(value)) : 0;
  if (q.value < 0) {
    const auto power = [&](long double base) {
      return static_cast<double>(std::pow(std::fabs(base), -s.value));
    };
    const double largest = power(std::round(q.value) - q.value);
    const double unit = detail::epsilon_of<P>(detail::ArithmeticOf<P>::kFloat64);
    absolute += largest * ulps * unit * (1 + std::fabs(static_cast<double>(q.value)));
    absolute += power(q.value) * detail::epsilon_of<P>(arithmetic);
  }
  if (!is_double && declared_arithmetic().has_cuda_kernels && std::isfinite(value)) {
    absolute += detail::lost_by_float_zeta(s.value, q.value);
  }
  return detail::accurate_to<P>(value, P::combine(from_s, from_q), arithmetic, ulps, absolute);
}

// The same where the first term, q^-s, is held in a 16-bit dtype, and the sum in float32, where
// terms of both signs cancel.
inline double zeta_in(double s, double q, spec::DType /*dtype*/) { return zeta(s, q); }
template <class P>
Tracked<P> zeta_in(const Tracked<P>& s, const Tracked<P>& q, spec::DType dtype) {
  Tracked<P> out = zeta(s, q);
  if (compute_dtype(dtype) == dtype || !std::isfinite(out.value)) return out;
  const long double first = std::pow(std::fabs(q.value), -s.value);
  out.radius = P::combine(out.radius, P::of_rounding(half_ulp(first, dtype)));
  if (q.value < 0) {
    constexpr double kRoundings = 8;  // of the two largest terms, and of the sums that hold them
    const long double largest = std::pow(std::fabs(std::round(q.value) - q.value), -s.value);
    const double lost =
        kRoundings * unit_roundoff(spec::DType::kFloat32) * static_cast<double>(largest);
    out.radius = P::combine(out.radius, P::of_rounding(lost));
  }
  return out;
}

namespace detail {

// Whether x^a e^-x / Gamma(a) is computed with a power of x over a, not from an exponent.
inline bool is_near_order(long double a, long double x) { return std::fabs(a - x) <= 0.4L * a; }

// How many units an executor's x^a e^-x / Gamma(a) may be off: it comes from an exponent, each of
// whose parts is rounded. CUDA's lgamma is 6 ULP off.
inline double incomplete_gamma_ulps(long double a, long double x) {
  if (is_near_order(a, x)) return static_cast<double>(10 + 2 * a);
  const long double of_gamma = declared_arithmetic().has_cuda_kernels ? 6 : 1;
  const long double parts = std::fabs(a * std::log(x)) + x + of_gamma * std::fabs(exact::lgamma(a));
  return static_cast<double>(10 + parts);
}

// What x^a e^-x / Gamma(a) loses, in units of itself, where the power that it is made of is
// subnormal: (x / (a + g - 1/2))^a with the g of Lanczos's formula.
inline double lost_by_subnormal_power(long double a, long double x, spec::DType dtype) {
  constexpr long double kShift = 6.024680040776729583740234375L - 0.5L;
  if (!is_near_order(a, x) || a >= 200 || x >= 200) return 0;
  const long double power = std::exp(a * std::log(x / (a + kShift)));
  return static_cast<double>(half_ulp(0, dtype) / power);
}

// Whether PyTorch computes Q(a, x) as a continued fraction (aten/src/ATen/native/Math.h,
// calc_igammac): not near a large order, where both come from a uniform expansion.
inline bool is_fraction(long double a, long double x) {
  const long double apart = std::fabs(x - a);
  const bool is_uniform = a > 20 && (a < 200 ? apart < 0.3L * a : apart < 4.5L * std::sqrt(a));
  return x > 1.1L && x >= a && !is_uniform;
}

// Returns what each rounding of that fraction moves Q(a, x) by at most, in units of Q. The
// recurrence is p_k = z_k p_(k-1) - y_k p_(k-2), and q_k likewise. It runs until a step moves p_k /
// q_k by `unit` or less. What it leaves out then is the last one. It carries a rounding to the end
// as it carries its solutions: for x near 1 that is a thousand units in sum, over eighty steps.
[[nodiscard]] std::vector<double> lost_by_fraction(long double a, long double x, double unit);

// PyTorch's asymptotic series of large a divides by sqrt(2 pi a) with pi as a float32.
inline double float_pi_error(long double a, long double x) {
  constexpr double kError = 3e-8;  // of pi, relatively, with the factor that the series has
  const long double ratio = x / a;
  const long double exponent = a * (ratio - 1 - std::log(ratio));
  return static_cast<double>(std::exp(-exponent) /
                             std::sqrt(2 * std::numbers::pi_v<long double> * a)) *
         kError;
}

// f is P(a, x), or where `is_upper` Q(a, x).
template <class P, class F>
Tracked<P> incomplete_gamma(const Tracked<P>& a, const Tracked<P>& x, bool is_upper, F f) {
  const auto arithmetic = wider<P>(a.arithmetic, x.arithmetic);
  const long double value = f(a.value, x.value);
  if (std::isnan(value) || !(a.value > 0) || !(x.value > 0) || std::isinf(a.value) ||
      std::isinf(x.value)) {
    const bool is_known = a.radius == 0 && x.radius == 0;
    return {value, is_known ? 0 : kInfinity, arithmetic};
  }
  // 1 / a overflows, or a part of the exponent does.
  const long double most = max_finite(dtype_of<P>(arithmetic));
  const long double parts = high_end(a) * std::fabs(std::log(x.value)) + exact::lgamma(high_end(a));
  if (low_end(a) * most < 4 || parts > most / 4) return open_result<P>(value, arithmetic);
  const double from_a = change(a, value, [&](long double v) { return f(v, x.value); });
  const double from_x = change(x, value, [&](long double v) { return f(a.value, v); });
  const double epsilon = epsilon_of<P>(arithmetic);
  // One is 1 less the other, or a difference of two numbers of about 1.
  const double complement = value > 0.25L || x.value <= 1.1L ? 2 * epsilon : 0;
  const double pi_error =
      is_double<P>(arithmetic) && a.value > 20 ? float_pi_error(a.value, x.value) : 0;
  const double relative = incomplete_gamma_ulps(a.value, x.value);
  // The one whose series or fraction it is may be small beside the other; not P of a small order.
  constexpr long double kSmallOrder = 0.01L;
  const auto smaller = a.value < kSmallOrder ? 1 : static_cast<double>(std::min(value, 1 - value));
  // A power that is about to be subnormal counts as 0.
  const double least = half_ulp(0, dtype_of<P>(arithmetic)) / epsilon;
  const double vanishing =
      value < static_cast<long double>(64 * least) ? static_cast<double>(value) : 0;
  Tracked<P> out = accurate_to<P>(value, P::combine(from_a, from_x), arithmetic, 8,
                                  complement + pi_error + vanishing);
  out.radius = P::combine(out.radius, P::of_rounding(relative * epsilon * smaller));
  const auto upper = static_cast<double>(is_upper ? value : 1 - value);
  const double computed = x.value < a.value ? 1 - upper : upper;
  const double power = lost_by_subnormal_power(a.value, x.value, dtype_of<P>(arithmetic));
  out.radius = P::combine(out.radius, P::of_rounding(power * computed));
  if (is_fraction(a.value, x.value)) {
    for (const double lost : lost_by_fraction(a.value, x.value, epsilon / 2)) {
      out.radius = P::combine(out.radius, P::of_rounding(lost * upper));
    }
  }
  return out;
}

}  // namespace detail

GRAPHGATE_EAGER_OF_TWO(igamma)
template <class P>
Tracked<P> igamma(const Tracked<P>& a, const Tracked<P>& x) {
  return detail::incomplete_gamma(a, x, false,
                                  [](long double u, long double v) { return exact::igamma(u, v); });
}
GRAPHGATE_EAGER_OF_TWO(igammac)
template <class P>
Tracked<P> igammac(const Tracked<P>& a, const Tracked<P>& x) {
  return detail::incomplete_gamma(
      a, x, true, [](long double u, long double v) { return exact::igammac(u, v); });
}

// Two steps of Newton's method with erf.
GRAPHGATE_EAGER(erfinv)
template <class P>
Tracked<P> erfinv(const Tracked<P>& x) {
  return through(x, function_ulps(), [](long double v) { return exact::erfinv(v); });
}

// S. Johnson's Chebyshev polynomials for x > 0, 2 e^(x^2) less that below: x^2 is rounded before
// its exponential is taken.
GRAPHGATE_EAGER(erfcx)
template <class P>
Tracked<P> erfcx(const Tracked<P>& x) {
  const double square = x.value < 0 ? static_cast<double>(x.value * x.value) : 0;
  return through(x, 10 + 1.25 * std::min(square, 1e4),
                 [](long double v) { return exact::erfcx(v); });
}

// log1p(-erfc(t) / 2) of t = x / sqrt(2), of which two factors are rounded: 2 x^2 units of a small
// erfc.
GRAPHGATE_EAGER(log_ndtr)
template <class P>
Tracked<P> log_ndtr(const Tracked<P>& x) {
  const double square = x.value > 0 ? static_cast<double>(x.value * x.value) : 0;
  return through(x, 6 + 2 * std::min(square, 1e4),
                 [](long double v) { return exact::log_ndtr(v); });
}

GRAPHGATE_EAGER(ndtri)
template <class P>
Tracked<P> ndtri(const Tracked<P>& x) {
  return through(x, 5, [](long double v) { return exact::ndtri(v); });
}

// Even, and convex: its slope is largest at the far end. ATen's formula has NaN at infinity, where
// the function is infinite, as CUDA's library gives it to fused kernels: either is right. The same
// holds for i1.
GRAPHGATE_EAGER(i0)
template <class P>
Tracked<P> i0(const Tracked<P>& x) {
  const long double value = exact::i0(x.value);
  const bool is_open = std::isinf(x.value) || detail::is_open_near_overflow(value, x);
  if (is_open) return detail::open_result<P>(value, x.arithmetic);
  const long double slope =
      x.radius == 0
          ? 0
          : exact::i1(std::max(std::fabs(detail::low_end(x)), std::fabs(detail::high_end(x))));
  return detail::accurate_to<P>(value, detail::moved_by(x, slope), x.arithmetic, 6);
}
GRAPHGATE_EAGER(i1)
template <class P>
Tracked<P> i1(const Tracked<P>& x) {
  const long double value = exact::i1(x.value);
  const bool is_open = std::isinf(x.value) || detail::is_open_near_overflow(value, x);
  if (is_open) return detail::open_result<P>(value, x.arithmetic);
  return through(x, 20, [](long double v) { return exact::i1(v); });
}
// Their slopes are largest at 0, and fall from there as i0e - i1e and as x^-3/2.
GRAPHGATE_EAGER(i0e)
template <class P>
Tracked<P> i0e(const Tracked<P>& x) {
  const long double nearest = detail::nearest_to_zero(x);
  const long double slope = x.radius == 0 ? 0 : exact::i0e(nearest) - exact::i1e(nearest);
  return detail::accurate_to<P>(exact::i0e(x.value), detail::moved_by(x, slope), x.arithmetic, 7);
}
// Returns i0e(x) as ATen's kernel has it. In 16 bits it computes a row's last elements in the
// dtype, the others in float32. Of PyTorch 2.15.0 no element of either dtype is off by more than
// 3.2 units of 2^-7 or 2^-10.
inline double i0e_in(double x, spec::DType /*dtype*/) { return i0e(x); }
template <class P>
Tracked<P> i0e_in(const Tracked<P>& x, spec::DType dtype) {
  constexpr double kUnits = 4;
  Tracked<P> out = i0e(x);
  if (compute_dtype(dtype) == dtype || std::isnan(out.value)) return out;
  const double lost = kUnits * 2 * unit_roundoff(dtype) * static_cast<double>(out.value);
  out.radius = P::combine(out.radius, P::of_rounding(lost));
  return out;
}
GRAPHGATE_EAGER(i1e)
template <class P>
Tracked<P> i1e(const Tracked<P>& x) {
  const long double slope =
      0.5L * std::min(1.0L, std::pow(std::max(detail::nearest_to_zero(x), 1e-30L), -1.5L));
  return detail::accurate_to<P>(exact::i1e(x.value), detail::moved_by(x, slope), x.arithmetic, 12);
}

// Monotone, with a pole at 0 and nothing below.
#define GRAPHGATE_DECAYING(name)                                         \
  GRAPHGATE_EAGER(name)                                                  \
  template <class P>                                                     \
  Tracked<P> name(const Tracked<P>& x) {                                 \
    const long double value = exact::name(x.value);                      \
    if (x.radius > 0 && !(detail::low_end(x) > 0)) {                     \
      return detail::open_result<P>(value, x.arithmetic);                \
    }                                                                    \
    return through(x, 12, [](long double v) { return exact::name(v); }); \
  }
GRAPHGATE_DECAYING(k0)
GRAPHGATE_DECAYING(k0e)
GRAPHGATE_DECAYING(k1)
GRAPHGATE_DECAYING(k1e)
#undef GRAPHGATE_DECAYING

namespace detail {

// Returns what PyTorch's rational approximations of Bessel functions leave out. They lack the
// leading coefficients of their denominators, which are 1 in Cephes and not in its tables (p1evl).
// This is (x / 5)^14 and more up to 5, (5 / x)^13 beyond, times a constant that was measured.
inline double bessel_lack(long double x) {
  constexpr long double kSeam = 5;
  const long double size = std::fabs(x);
  if (size <= kSeam) return static_cast<double>(6e-8L * std::pow(size / kSeam, 14.0L));
  return static_cast<double>(3e-6L * std::pow(kSeam / size, 13.0L));
}
// Beyond 5 a cosine is taken of x less a constant, which is rounded.
inline double bessel_phase_error(long double x, double epsilon) {
  const long double size = std::max(std::fabs(x), 1.0L);
  const auto amplitude =
      static_cast<double>(std::sqrt(2 / (std::numbers::pi_v<long double> * size)));
  return amplitude * std::min(2.0, epsilon * static_cast<double>(size));
}

template <class P>
Tracked<P> bessel(const Tracked<P>& x, long double value, long double slope, double terms) {
  const double epsilon = epsilon_of<P>(x.arithmetic);
  if (std::isnan(value)) return {value, x.radius == 0 ? 0 : kInfinity, x.arithmetic};
  const double absolute =
      epsilon * terms + bessel_phase_error(x.value, epsilon) + bessel_lack(x.value);
  return accurate_to<P>(value, moved_by(x, slope), x.arithmetic, 4, x.value == 0 ? 0 : absolute);
}

}  // namespace detail

GRAPHGATE_EAGER(bessel_j0)
template <class P>
Tracked<P> bessel_j0(const Tracked<P>& x) {
  return detail::bessel(x, exact::bessel_j0(x.value), 0.5819L, 3);
}
// The approximation is a multiple of x near 0: relative there.
GRAPHGATE_EAGER(bessel_j1)
template <class P>
Tracked<P> bessel_j1(const Tracked<P>& x) {
  const auto terms = static_cast<double>(std::min(1.0L, std::fabs(x.value)));
  Tracked<P> out = detail::bessel(x, exact::bessel_j1(x.value), 0.5L, 4 * terms);
  if (std::fabs(x.value) < 1) {
    const double moved = detail::moved_by(x, 0.5L);
    // A product with x before one with some 700.
    const double subnormal = 1e3 * half_ulp(0, detail::dtype_of<P>(x.arithmetic));
    const double absolute = x.value == 0 ? 0 : detail::bessel_lack(x.value) + subnormal;
    out = detail::accurate_to<P>(exact::bessel_j1(x.value), moved, x.arithmetic, 6, absolute);
  }
  return out;
}
// Below 5 a sum of a rational function and of log(x) times j0 (or j1, and 1 / x), which cancel.
GRAPHGATE_EAGER(bessel_y0)
template <class P>
Tracked<P> bessel_y0(const Tracked<P>& x) {
  const long double value = exact::bessel_y0(x.value);
  if (x.radius > 0 && !(detail::low_end(x) > 0)) return detail::open_result<P>(value, x.arithmetic);
  const long double slope = 0.64L / detail::low_end(x) + 0.6L;
  return detail::bessel(x, value, slope, 5);
}
GRAPHGATE_EAGER(bessel_y1)
template <class P>
Tracked<P> bessel_y1(const Tracked<P>& x) {
  const long double value = exact::bessel_y1(x.value);
  if (x.radius > 0 && !(detail::low_end(x) > 0)) return detail::open_result<P>(value, x.arithmetic);
  const long double low = detail::low_end(x);
  return detail::bessel(x, value, 0.64L / (low * low) + 1 / low + 0.6L, 6);
}

// Above 2.09 e^-zeta of zeta = 2/3 x^3/2, which is rounded; below -2.09 a sine and a cosine of
// it, times fractions that lack leading coefficients as those of bessel_lack do.
GRAPHGATE_EAGER(airy_ai)
template <class P>
Tracked<P> airy_ai(const Tracked<P>& x) {
  constexpr long double kSeam = 2.09L;
  constexpr long double kLastPositive = 103.892L;  // where PyTorch begins to give 0
  const long double value = exact::airy_ai(x.value);
  const double epsilon = detail::epsilon_of<P>(x.arithmetic);
  if (std::isnan(value)) return {value, x.radius == 0 ? 0 : detail::kInfinity, x.arithmetic};
  const long double size = std::fabs(x.value);
  const long double zeta = size * std::sqrt(size) * 2 / 3;
  const long double far = std::max(std::fabs(detail::low_end(x)), std::fabs(detail::high_end(x)));
  const double moved = detail::moved_by(x, 0.26L + 0.6L * std::pow(far, 0.25L));
  if (size < kSeam + 0.1L) {
    const double lack = x.value < -2.08L ? 6e-6 : 0;
    return detail::accurate_to<P>(value, moved, x.arithmetic, 4, 4 * epsilon + lack);
  }
  if (x.value > 0) {
    // PyTorch divides by 2 x^1/4 e^zeta: 0 where that overflows.
    const auto greatest = static_cast<long double>(max_finite(detail::dtype_of<P>(x.arithmetic)));
    const bool may_overflow = 2 * std::pow(size, 0.25L) * std::exp(zeta) > 0.99L * greatest;
    if (may_overflow || (x.value > kLastPositive && size < kLastPositive + 1))
      return detail::accurate_to<P>(value, moved, x.arithmetic, 4, static_cast<double>(value));
    return detail::accurate_to<P>(value, moved, x.arithmetic,
                                  5 + 2.5 * std::min(static_cast<double>(zeta), 1e4));
  }
  // The angle overflows.
  const auto most = static_cast<long double>(max_finite(detail::dtype_of<P>(x.arithmetic)));
  if (2 * zeta > most / 4) return detail::open_result<P>(value, x.arithmetic);
  const auto amplitude = static_cast<double>(0.6L * std::pow(size, -0.25L));
  const double phase = amplitude * std::min(2.0, 2 * epsilon * static_cast<double>(zeta));
  const auto lack = static_cast<double>(6e-6L * std::pow(2.03L / zeta, 11.0L));
  return detail::accurate_to<P>(value, moved, x.arithmetic, 4, 3 * epsilon + phase + lack);
}

GRAPHGATE_EAGER(spherical_bessel_j0)
template <class P>
Tracked<P> spherical_bessel_j0(const Tracked<P>& x) {
  const long double value = exact::spherical_bessel_j0(x.value);
  return detail::accurate_to<P>(value, detail::moved_by(x, 0.44L), x.arithmetic, 3);
}

#undef GRAPHGATE_EAGER
#undef GRAPHGATE_EAGER_OF_TWO

}  // namespace graphgate::reference
