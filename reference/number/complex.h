// Complex<N>: the number that op bodies see for complex dtypes, of two real numbers.
//
// N is a number type of real dtypes (double, Bounded, Sampled). Each part has a value and a radius
// of its own. What implementations may do (docs/bounds.md, "Complex numbers"):
//   products   ac - bd and ad + bc, in any order, with or without fused multiply-adds (Sum);
//   quotients  Smith's algorithm, or one scaled by a power of two: kQuotientRoundings roundings of
//              (|ac| + |bd|) / (cc + dd) for the real part, and alike for the imaginary one (Baudin
//              and Smith, "A robust complex division in Scilab", arXiv 1210.4539: first-order error
//              of both);
//   functions  an error relative to the magnitude of the whole result, not to that of a part, since
//              some compute them by way of polar coordinates or of other functions. glibc's manual
//              ("Known Maximum Errors in Math Functions") has up to 5 ulps of a part; formulas of
//              exponential and logarithm have up to kFunctionRoundings roundings.
// Nobody says what becomes of infinities: C99's annex G makes one infinity of an infinite part,
// plain formulas make NaN of it. A real operand is taken as one with an imaginary part of 0, or as
// it is. Where these differ a result is left open.
#pragma once

#include <complex>
#include <type_traits>

#include "reference/number/functions.h"
#include "reference/number/left_open.h"
#include "reference/number/sum.h"

namespace graphgate::reference {

// In units of the arithmetic's roundoff, of a first-order analysis: the reciprocal of the divisor
// has 4 or 5, the numerator 3, and each of both products one more.
inline constexpr double kQuotientRoundings = 10;
// Of a real divisor: the product or the square of scaled parts, and the quotient.
inline constexpr double kRealQuotientRoundings = 4;
inline constexpr double kFunctionRoundings = 8;

template <class N>
struct Complex {
  using Real = N;
  N re{};
  N im{};
};

namespace detail {

inline bool is_wild(double) { return false; }
template <class P>
bool is_wild(const Tracked<P>& x) {
  return !std::isfinite(x.value) || std::isinf(x.radius);
}
inline bool is_nan_for_certain(double x) { return std::isnan(x); }
template <class P>
bool is_nan_for_certain(const Tracked<P>& x) {
  return is_certain_nan(x);
}

// A part that is 0 in all implementations, of either sign.
inline double of_either_sign(double x) { return x; }
template <class P>
Tracked<P> of_either_sign(const Tracked<P>& x) {
  if (x.value != 0 || x.radius != 0) return x;
  return {x.value, kOpenSign, x.arithmetic};
}

}  // namespace detail

// Whether a part of x is no finite number, or none that the oracle knows. Of eager numbers none is.
template <class N>
[[nodiscard]] bool is_wild(const Complex<N>& x) {
  return detail::is_wild(x.re) || detail::is_wild(x.im);
}
// Whether both parts are NaN in all implementations.
template <class N>
[[nodiscard]] bool is_all_nan(const Complex<N>& x) {
  return detail::is_nan_for_certain(x.re) && detail::is_nan_for_certain(x.im);
}
template <class N>
[[nodiscard]] Complex<N> left_open(const Complex<N>& x) {
  return {left_open(x.re), left_open(x.im)};
}
// A result of operands of which one may be wild: open, unless it is made of NaN alone.
template <class N>
[[nodiscard]] Complex<N> tamed(const Complex<N>& result, bool has_wild, bool has_all_nan) {
  if (!has_wild || (has_all_nan && is_all_nan(result))) return result;
  return left_open(result);
}

template <class N>
Complex<N> operator-(const Complex<N>& x) {
  return {-x.re, -x.im};
}
template <class N>
Complex<N> operator+(const Complex<N>& x, const Complex<N>& y) {
  return {x.re + y.re, x.im + y.im};
}
template <class N>
Complex<N> operator-(const Complex<N>& x, const Complex<N>& y) {
  return {x.re - y.re, x.im - y.im};
}

template <class N>
Complex<N> operator*(const Complex<N>& x, const Complex<N>& y) {
  Sum<N> re;
  re.add_product(x.re, y.re);
  re.add_product(-x.im, y.im);
  Sum<N> im;
  im.add_product(x.re, y.im);
  im.add_product(x.im, y.re);
  return tamed(Complex<N>{re.result(), im.result()}, is_wild(x) || is_wild(y),
               is_all_nan(x) || is_all_nan(y));
}

// z times a real number, which some take as a complex one: then 0 times the other part is added.
template <class N>
Complex<N> times_real(const Complex<N>& z, const N& r) {
  const Complex<N> product{detail::of_either_sign(z.re * r), detail::of_either_sign(z.im * r)};
  return tamed(product, is_wild(z) || detail::is_wild(r),
               is_all_nan(z) || detail::is_nan_for_certain(r));
}

namespace detail {

inline Complex<double> quotient_of(const Complex<double>& x, const Complex<double>& y) {
  const long double a = x.re;
  const long double b = x.im;
  const long double c = y.re;
  const long double d = y.im;
  const long double square = c * c + d * d;
  return {static_cast<double>((a * c + b * d) / square),
          static_cast<double>((b * c - a * d) / square)};
}

// Whether the quotient of exact operands is exact: the divisor is a power of two times 1, -1, i or
// -i, so that every step only moves binary points.
template <class P>
bool is_exact_quotient(const Complex<Tracked<P>>& x, const Complex<Tracked<P>>& y) {
  for (const Tracked<P>* part : {&x.re, &x.im, &y.re, &y.im}) {
    if (part->radius != 0) return false;
  }
  if (y.re.value != 0 && y.im.value != 0) return false;
  int exponent = 0;
  return std::fabs(std::frexp(y.re.value + y.im.value, &exponent)) == 0.5L;
}

template <class P>
Complex<Tracked<P>> quotient_of(const Complex<Tracked<P>>& x, const Complex<Tracked<P>>& y) {
  const long double a = x.re.value;
  const long double b = x.im.value;
  const long double c = y.re.value;
  const long double d = y.im.value;
  const auto arithmetic = wider<P>(wider<P>(x.re.arithmetic, x.im.arithmetic),
                                   wider<P>(y.re.arithmetic, y.im.arithmetic));
  const spec::DType dtype = dtype_of<P>(arithmetic);
  const long double square = c * c + d * d;
  const Complex<Tracked<P>> value{{(a * c + b * d) / square, 0, arithmetic},
                                  {(b * c - a * d) / square, 0, arithmetic}};
  if (is_wild(x) || is_wild(y)) return tamed(value, true, is_all_nan(x) || is_all_nan(y));
  const double off = P::combine(error_of(y.re), error_of(y.im));  // of the divisor
  const auto size = static_cast<double>(std::sqrt(square));
  const double nearest = size - P::kDivisorRadii * off;
  const double least = power_of_two(format_of(dtype).min_exponent);
  const long double most = max_finite(dtype);
  // The reciprocal of a divisor overflows, or the sum of its scaled parts, or the numerator.
  const bool leaves_range = !(nearest >= 2 * least) || std::fabs(c) + std::fabs(d) > most ||
                            std::fabs(a) + std::fabs(b) > most;
  if (leaves_range) return left_open(value);
  const double unit = unit_roundoff(dtype);
  // The reciprocal of a large divisor is subnormal.
  const bool is_by_real = d == 0 && y.im.radius == 0;
  const double roundings =
      (is_by_real ? kRealQuotientRoundings : kQuotientRoundings) + (size * least > 0.25 ? 8 : 0);
  // What underflows: a scaled operand, or the ratio of the divisor's parts, times the dividend.
  const auto reach = static_cast<double>(1 + std::fabs(a) + std::fabs(b));
  const double lost = 4 * half_ulp(0, dtype) * (1 + reach / nearest);
  const auto quotient = static_cast<double>(std::hypot(value.re.value, value.im.value));
  const bool is_exact = is_exact_quotient(x, y);
  const auto part = [&](const Tracked<P>& q, long double terms, double from_a, double from_b) {
    const double grown = (size / nearest) * (size / nearest);
    const double from_x =
        grown * P::combine(scaled(c / square, from_a), scaled(d / square, from_b));
    const double from_y = scaled(quotient, off / nearest);
    const double declared = roundings * unit * static_cast<double>(terms / square) + lost;
    const double radius =
        P::combine(P::combine(from_x, from_y), is_exact ? 0 : P::of_rounding(declared));
    if (q.value == 0 && radius == 0) return of_either_sign(q);
    return rounded<P>(q.value, radius, arithmetic);
  };
  return {part(value.re, std::fabs(a * c) + std::fabs(b * d), error_of(x.re), error_of(x.im)),
          part(value.im, std::fabs(b * c) + std::fabs(a * d), error_of(x.im), error_of(x.re))};
}

}  // namespace detail

template <class N>
Complex<N> operator/(const Complex<N>& x, const Complex<N>& y) {
  return detail::quotient_of(x, y);
}

template <class N>
N abs(const Complex<N>& z) {
  const N size = hypot(z.re, z.im);
  return is_wild(z) && !is_all_nan(z) ? left_open(size) : size;
}
template <class N>
N angle(const Complex<N>& z) {
  const N out = atan2(z.im, z.re);
  return is_wild(z) && !is_all_nan(z) ? left_open(out) : out;
}

// ---- functions

namespace detail {

using Wide = std::complex<long double>;

// What an implementation may be off beside the last rounding of each part, in units of roundoff:
// a function of the operand and the result, both wide.
template <class F, class Error>
Complex<double> through_complex(const Complex<double>& z, F f, Error /*error*/) {
  const Wide out = f(Wide(z.re, z.im));
  return {static_cast<double>(out.real()), static_cast<double>(out.imag())};
}

template <class P, class F, class Error>
Complex<Tracked<P>> through_complex(const Complex<Tracked<P>>& z, F f, Error error) {
  const auto arithmetic = wider<P>(z.re.arithmetic, z.im.arithmetic);
  const spec::DType dtype = dtype_of<P>(arithmetic);
  const Wide at = f(Wide(z.re.value, z.im.value));
  const Complex<Tracked<P>> value{{at.real(), 0, arithmetic}, {at.imag(), 0, arithmetic}};
  if (is_wild(z)) return tamed(value, true, is_all_nan(z));
  const long double size = std::abs(at);
  // An exponential inside overflows before the result does; poles are infinite in many ways.
  const bool leaves_range = !(size <= static_cast<long double>(max_finite(dtype)) / 4);
  if (leaves_range) return left_open(value);
  const double off =
      unit_roundoff(dtype) * static_cast<double>(error(Wide(z.re.value, z.im.value), at)) +
      4 * half_ulp(0, dtype);
  const auto part = [&](long double x, auto part_of) {
    const double from_re =
        change(z.re, x, [&](long double re) { return part_of(f(Wide(re, z.im.value))); });
    const double from_im =
        change(z.im, x, [&](long double im) { return part_of(f(Wide(z.re.value, im))); });
    const double moved = P::combine(from_re, from_im);
    if (!std::isfinite(moved) || !std::isfinite(off))
      return left_open(Tracked<P>(x, 0, arithmetic));
    return rounded<P>(x, P::combine(moved, P::of_rounding(off)), arithmetic);
  };
  return {part(at.real(), [](const Wide& w) { return w.real(); }),
          part(at.imag(), [](const Wide& w) { return w.imag(); })};
}

// A quarter of the largest number of the parts: what passes it inside leaves the result open. Eager
// numbers have none.
inline long double greatest_inside(const Complex<double>& /*z*/) {
  return std::numeric_limits<long double>::infinity();
}
template <class P>
long double greatest_inside(const Complex<Tracked<P>>& z) {
  const auto arithmetic = wider<P>(z.re.arithmetic, z.im.arithmetic);
  return static_cast<long double>(max_finite(dtype_of<P>(arithmetic))) / 4;
}

// Errors relative to the result's size.
struct NormError {
  double roundings = kFunctionRoundings;
  long double beside = 0;  // of a number of this size that the result is made of by subtraction
  long double operator()(const Wide&, const Wide& result) const {
    return static_cast<long double>(roundings) * (std::abs(result) + beside);
  }
};

}  // namespace detail

// GRAPHGATE_COMPLEX(name): of the standard library's function.
#define GRAPHGATE_COMPLEX(name, beside)                        \
  template <class N>                                           \
  Complex<N> name(const Complex<N>& z) {                       \
    return detail::through_complex(                            \
        z, [](const detail::Wide& w) { return std::name(w); }, \
        detail::NormError{kFunctionRoundings, beside});        \
  }
GRAPHGATE_COMPLEX(exp, 0)
GRAPHGATE_COMPLEX(sqrt, 0)
GRAPHGATE_COMPLEX(sin, 0)
GRAPHGATE_COMPLEX(cos, 0)
GRAPHGATE_COMPLEX(tan, 0)
GRAPHGATE_COMPLEX(sinh, 0)
GRAPHGATE_COMPLEX(cosh, 0)
GRAPHGATE_COMPLEX(tanh, 0)
GRAPHGATE_COMPLEX(asin, 0)
GRAPHGATE_COMPLEX(atan, 0)
GRAPHGATE_COMPLEX(asinh, 0)
GRAPHGATE_COMPLEX(atanh, 0)
// By way of pi/2 - asin(z).
GRAPHGATE_COMPLEX(acos, 1.6L)
GRAPHGATE_COMPLEX(acosh, 1.6L)
#undef GRAPHGATE_COMPLEX

// (log|z|, angle). Near |z| = 1 the logarithm has the error of |z|. The logarithm of 0 is minus
// infinity.
template <class N>
Complex<N> log(const Complex<N>& z) {
  return {log(abs(z)), angle(z)};
}

namespace detail {

inline Wide wide_log1p(const Wide& z) {
  const long double x = z.real();
  const long double y = z.imag();
  const long double square = x * (2 + x) + y * y;
  const bool is_small = std::abs(z) < 0.5L;
  return {is_small ? 0.5L * std::log1p(square) : std::log(std::hypot(1 + x, y)),
          std::atan2(y, 1 + x)};
}
inline Wide wide_expm1(const Wide& z) {
  const long double s = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * s * s,
          std::exp(z.real()) * std::sin(z.imag())};
}

}  // namespace detail

// log(1 + z): 1 + z may be rounded first.
template <class N>
Complex<N> log1p(const Complex<N>& z) {
  return detail::through_complex(
      z, detail::wide_log1p, [](const detail::Wide& w, const detail::Wide& out) {
        const long double reach = std::abs(w);
        const long double sum = std::min(1.0L, 2 * reach + reach * reach);
        return kFunctionRoundings * (std::abs(out) + sum);
      });
}
// exp(z) - 1, as PyTorch has it: the difference of both.
template <class N>
Complex<N> expm1(const Complex<N>& z) {
  return detail::through_complex(z, detail::wide_expm1,
                                 [](const detail::Wide&, const detail::Wide& out) {
                                   return kFunctionRoundings * (std::abs(out + 1.0L) + 1);
                                 });
}
// 2^z by way of exp(z log(2)).
template <class N>
Complex<N> exp2(const Complex<N>& z) {
  const auto power = [](const detail::Wide& w) {
    return std::exp(w * std::numbers::ln2_v<long double>);
  };
  return detail::through_complex(z, power, [](const detail::Wide& w, const detail::Wide& out) {
    return (kFunctionRoundings + 2 * std::abs(w)) * std::abs(out);
  });
}
template <class N>
Complex<N> rsqrt(const Complex<N>& z) {
  const auto f = [](const detail::Wide& w) { return 1.0L / std::sqrt(w); };
  return detail::through_complex(z, f, detail::NormError{kFunctionRoundings + kQuotientRoundings});
}
// 1 / (1 + exp(-z)): near its poles the error of the exponential counts.
template <class N>
Complex<N> sigmoid(const Complex<N>& z) {
  const auto f = [](const detail::Wide& w) { return 1.0L / (1.0L + std::exp(-w)); };
  const long double most = detail::greatest_inside(z);
  return detail::through_complex(z, f, [most](const detail::Wide& w, const detail::Wide& out) {
    const long double size = std::abs(out);
    const long double exponential = std::exp(-w.real());
    if (exponential > most) return std::numeric_limits<long double>::infinity();
    return (kFunctionRoundings + kQuotientRoundings) * size * (1 + size * (1 + exponential));
  });
}

namespace detail {

inline Complex<double> power_of(const Complex<double>& x, const Complex<double>& y) {
  const Wide out = std::pow(Wide(x.re, x.im), Wide(y.re, y.im));
  return {static_cast<double>(out.real()), static_cast<double>(out.imag())};
}

template <class P>
Complex<Tracked<P>> power_of(const Complex<Tracked<P>>& x, const Complex<Tracked<P>>& y) {
  const Wide base(x.re.value, x.im.value);
  const Wide exponent(y.re.value, y.im.value);
  const auto error = [&](const Wide& b, const Wide& e, const Wide& out) {
    return (kFunctionRoundings + 4 * std::abs(e * std::log(b))) * std::abs(out);
  };
  // Of a base of 0 implementations have 0, 1 or NaN.
  if (base == Wide(0)) {
    const Complex<Tracked<P>> zero{{0, 0, x.re.arithmetic}, {0, 0, x.re.arithmetic}};
    const bool is_plain = exponent.imag() == 0 && exponent.real() > 0 && y.re.radius == 0 &&
                          y.im.radius == 0 && x.re.radius == 0 && x.im.radius == 0;
    if (!is_plain) return left_open(zero);
    return {of_either_sign(zero.re), of_either_sign(zero.im)};
  }
  if (is_wild(x) || is_wild(y)) {
    const Wide out = std::pow(base, exponent);
    return left_open(
        Complex<Tracked<P>>{{out.real(), 0, x.re.arithmetic}, {out.imag(), 0, x.re.arithmetic}});
  }
  // A reciprocal of a power that overflows, or an exponential that underflows in polar form.
  if (!(std::abs(std::pow(base, exponent)) > 1 / greatest_inside(x))) {
    const Wide value = std::pow(base, exponent);
    return left_open(Complex<Tracked<P>>{{value.real(), 0, x.re.arithmetic},
                                         {value.imag(), 0, x.re.arithmetic}});
  }
  const Complex<Tracked<P>> out = through_complex(
      x, [&](const Wide& b) { return std::pow(b, exponent); },
      [&](const Wide& b, const Wide& value) { return error(b, exponent, value); });
  if (y.re.radius == 0 && y.im.radius == 0) return out;
  const Complex<Tracked<P>> moved = through_complex(
      y, [&](const Wide& e) { return std::pow(base, e); },
      [](const Wide&, const Wide&) { return 0.0L; });
  return {{out.re.value, P::combine(out.re.radius, moved.re.radius), out.re.arithmetic},
          {out.im.value, P::combine(out.im.radius, moved.im.radius), out.im.arithmetic}};
}

}  // namespace detail

// x^y as exp(y log(x)): the error of the exponent is relative to its size.
template <class N>
Complex<N> pow(const Complex<N>& x, const Complex<N>& y) {
  return detail::power_of(x, y);
}

// z / |z|, 0 of 0: by a quotient, or a product with the reciprocal.
template <class N>
Complex<N> sgn(const Complex<N>& z) {
  const Whole is_none = is_zero(z);
  const N size = abs(z);
  const Complex<N> out = z / Complex<N>{size, N(0)};
  if (is_none.undecided) return left_open(out);
  return is_none.value != 0 ? Complex<N>{N(0), N(0)} : out;
}

// ---- comparisons, choices, edges

template <class N>
Whole equal(const Complex<N>& x, const Complex<N>& y) {
  const Whole re = equal(x.re, y.re);
  const Whole im = equal(x.im, y.im);
  // A part that certainly differs decides it.
  const bool differs = (re.value == 0 && !re.undecided) || (im.value == 0 && !im.undecided);
  return differs ? Whole(0) : re & im;
}
template <class N>
Whole is_zero(const Complex<N>& x) {
  const Whole re = is_zero(x.re);
  const Whole im = is_zero(x.im);
  const bool differs = (re.value == 0 && !re.undecided) || (im.value == 0 && !im.undecided);
  return differs ? Whole(0) : re & im;
}
namespace detail {
inline Whole either(Whole a, Whole b) {
  const bool is_certain = (a.value != 0 && !a.undecided) || (b.value != 0 && !b.undecided);
  return is_certain ? Whole(1) : a | b;
}
}  // namespace detail
template <class N>
Whole is_nan(const Complex<N>& x) {
  return detail::either(is_nan(x.re), is_nan(x.im));
}
template <class N>
Whole is_infinite(const Complex<N>& x) {
  return detail::either(is_infinite(x.re), is_infinite(x.im));
}
template <class N>
Complex<N> select(Whole condition, const Complex<N>& a, const Complex<N>& b) {
  return {select(condition, a.re, b.re), select(condition, a.im, b.im)};
}
// The dtype is a complex one: each part rounds to its component's.
template <class N>
Complex<N> round_edge(const Complex<N>& x, spec::DType dtype) {
  return {round_edge(x.re, spec::component_dtype(dtype)),
          round_edge(x.im, spec::component_dtype(dtype))};
}
template <class N>
Complex<N> held_in(const Complex<N>& x, spec::DType dtype) {
  return {held_in(x.re, spec::component_dtype(dtype)), held_in(x.im, spec::component_dtype(dtype))};
}

}  // namespace graphgate::reference
