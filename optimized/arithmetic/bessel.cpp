#include "optimized/arithmetic/bessel.h"

#include <cmath>

#include "optimized/arithmetic/double_double.h"
#include "optimized/arithmetic/exponential.h"
#include "optimized/arithmetic/logarithm.h"
#include "optimized/arithmetic/tables.h"
#include "optimized/arithmetic/trigonometric.h"

namespace graphgate::optimized {
namespace {

constexpr double kSmallTerm = 0x1p-62;

// e^x as a pair times a power of 2, and the product of a pair with it.
Pair times_exp(Pair value, Pair x) {
  const ScaledExp e = scaled_exp(x);
  const Pair product = multiply(value, significand(e));
  return {scale_by_exponent(product.high, e.exponent), scale_by_exponent(product.low, e.exponent)};
}

// The sum of z^k / (k! (k + order)!) for order 0 or 1 (DLMF 10.25.2), and the same with each term
// times H(k), or H(k) + H(k + 1), for the functions of the second kind (DLMF 10.8.1, 10.31.1).
struct BesselSeries {
  Pair plain = {1, 0};
  Pair harmonic;
};
BesselSeries bessel_series(double order, Pair z) {
  BesselSeries out;
  Pair term = {1, 0};
  Pair weight = {order, 0};  // H(0) + H(1) is 1
  out.harmonic = weight;
  for (double k = 1; k < 200; k += 1) {
    term = divide(multiply(term, z), {k * (k + order), 0});
    weight = add(weight, divide({1, 0}, {k, 0}));
    if (order != 0) weight = add(weight, divide({1, 0}, {k + 1, 0}));
    out.plain = add(out.plain, term);
    out.harmonic = add(out.harmonic, multiply(term, weight));
    if (std::fabs(term.high) < 0x1p-110 * (1 + std::fabs(out.plain.high))) break;
  }
  return out;
}

// The factors of the asymptotic series: a_k(order) / x^k from the one before (DLMF 10.17.1).
double hankel_factor(double order, double k, double x) {
  const double odd = 2 * k - 1;
  return (4 * order * order - odd * odd) / (8 * k * x);
}
// Their sum, with signs that alternate for `sign` -1.
Pair hankel_sum(double order, double x, double sign) {
  Pair sum = {1, 0};
  double term = 1;
  for (double k = 1; k < 60 && std::fabs(term) > kSmallTerm; k += 1) {
    term *= sign * hankel_factor(order, k, x);
    sum = add(sum, term);
  }
  return sum;
}

// ---- modified functions

constexpr double kFarI = 40;  // where the asymptotic series of I has converged
constexpr double kFarK = 35;

// I(x) for 0 <= x <= 40.
Pair i_series(double order, double x) {
  const Pair series = bessel_series(order, scale(two_product(x, x), 0.25)).plain;
  return order == 0 ? series : multiply(series, 0.5 * x);
}

// The square root of factor * x, where the product may overflow: of x far down, and back.
Pair root_of_product(const Pair& factor, double x) {
  if (x < 0x1p900) return square_root(multiply(factor, x));
  return scale(square_root(multiply(factor, x * 0x1p-600)), 0x1p300);
}

// e^-x I(x) for x >= 0.
Pair scaled_i(double order, double x) {
  if (x <= kFarI) return times_exp(i_series(order, x), {-x, 0});
  return divide(hankel_sum(order, x, -1), root_of_product(scale(tables::kPi, 2), x));
}

// I(x) for x >= 0.
double unscaled_i(double order, double x) {
  if (x <= kFarI) return i_series(order, x).value();
  return x > 720 ? kInfinity : times_exp(scaled_i(order, x), {x, 0}).high;
}

// K by its power series, 0 < x <= 2.
Pair k_series(double order, double x) {
  const BesselSeries series = bessel_series(order, scale(two_product(x, x), 0.25));
  const Pair log_half = subtract(log_pair({x, 0}), tables::kLn2);
  if (order == 0) {
    const Pair factor = negate(add(log_half, tables::kEulerGamma));
    return add(multiply(factor, series.plain), series.harmonic);
  }
  // 1/x + x/2 ((log(x/2) + gamma) sum - harmonic sum / 2)
  const Pair logs = multiply(add(log_half, tables::kEulerGamma), series.plain);
  const Pair inside = subtract(logs, scale(series.harmonic, 0.5));
  return add(divide({1, 0}, {x, 0}), multiply(inside, 0.5 * x));
}

// e^x K(x), the integral of e^(-x (cosh t - 1)) cosh(order t) over t > 0 (DLMF 10.32.9), by the
// trapezoidal rule, whose error is about e^(x - pi^2 / step) (Trefethen and Weideman, SIAM Review
// 56 (2014)): 2 <= x <= 35.
Pair k_integral(double order, double x) {
  constexpr double kStep = 0.125;
  Pair sum = {0.5, 0};
  for (double t = kStep; t < 8; t += kStep) {
    const double half = sinh(0.5 * t);
    const double exponent = 2 * x * half * half;
    if (exponent > 60) break;
    sum = add(sum, exp(-exponent) * (order == 0 ? 1.0 : cosh(order * t)));
  }
  return scale(sum, kStep);
}

// e^x K(x) for x > 0.
Pair scaled_k(double order, double x) {
  if (x <= 2) return times_exp(k_series(order, x), {x, 0});
  if (x <= kFarK) return k_integral(order, x);
  const Pair root = square_root(divide(tables::kHalfPi, {x, 0}));
  return multiply(root, hankel_sum(order, x, 1));
}

double unscaled_k(double order, double x) {
  if (x <= 2) return k_series(order, x).value();
  if (x > 1000) return 0;
  return times_exp(scaled_k(order, x), {-x, 0}).high;
}

// What K is at 0, below, and where it is no number.
double k_outside(double x) {
  if (x == 0) return kInfinity;
  return x == kInfinity ? 0.0 : kNaN;
}
bool is_positive(double x) { return x > 0 && x < kInfinity; }

// ---- J and Y

constexpr double kFarJ = 25;  // where the asymptotic series has converged

struct Oscillation {
  double j = 0;
  double y = 0;
};
// By sqrt(2 / (pi x)) (P cos(chi) -+ Q sin(chi)), chi = x - (2 order + 1) pi / 4 (DLMF 10.17.3).
Oscillation hankel_wave(double order, double x) {
  double even = 1;
  double odd = 0;
  double term = 1;
  for (double k = 1; k < 60 && std::fabs(term) > kSmallTerm; k += 1) {
    term *= hankel_factor(order, k, x);
    const auto quarter = static_cast<int>(k) % 4;
    (quarter % 2 == 0 ? even : odd) += quarter < 2 ? term : -term;
  }
  // sqrt(2) times the cosine and the sine of chi.
  const double sine = sin(x);
  const double cosine = cos(x);
  const double along = order == 0 ? cosine + sine : sine - cosine;
  const double across = order == 0 ? sine - cosine : -sine - cosine;
  const double size = 1 / std::sqrt(tables::kPi.high * x);
  return {size * (even * along - odd * across), size * (even * across + odd * along)};
}

// x > 0 and finite.
Oscillation bessel_wave(double order, double x) {
  if (x > kFarJ) return hankel_wave(order, x);
  const BesselSeries series = bessel_series(order, scale(two_product(x, x), -0.25));
  const Pair logs = add(subtract(log_pair({x, 0}), tables::kLn2), tables::kEulerGamma);
  const Pair two_over_pi = divide({2, 0}, tables::kPi);
  if (order == 0) {
    const Pair inside = subtract(multiply(logs, series.plain), series.harmonic);
    return {series.plain.value(), multiply(two_over_pi, inside).value()};
  }
  const Pair j = multiply(series.plain, 0.5 * x);
  const Pair inside = subtract(multiply(logs, j), multiply(scale(series.harmonic, 0.5), 0.5 * x));
  const Pair whole = subtract(inside, divide({1, 0}, {x, 0}));
  return {j.value(), multiply(two_over_pi, whole).value()};
}

// ---- Airy's

// Ai by its power series (DLMF 9.4.1), -10 <= x <= 6.
double airy_series(double x) {
  const Pair cube = multiply(two_product(x, x), x);
  Pair first = {1, 0};
  Pair second = {x, 0};
  Pair sum_first = first;
  Pair sum_second = second;
  for (double k = 3; k < 300; k += 3) {
    first = divide(multiply(first, cube), {(k - 1) * k, 0});
    second = divide(multiply(second, cube), {k * (k + 1), 0});
    sum_first = add(sum_first, first);
    sum_second = add(sum_second, second);
    if (std::fabs(first.high) < 0x1p-110 && std::fabs(second.high) < 0x1p-110) break;
  }
  return subtract(multiply(tables::kAiryAtZero, sum_first),
                  multiply(tables::kAirySlope, sum_second))
      .value();
}

// 2/3 x^(3/2)
Pair airy_angle(double x) { return divide(scale(multiply(square_root({x, 0}), x), 2), {3, 0}); }

// u_k of DLMF 9.7.2 from the one before, over zeta.
double airy_factor(double k, double zeta) {
  return (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1) * zeta);
}

// By K of order 1/3 (DLMF 9.6.2), x > 6.
double airy_decay(double x) {
  const Pair zeta = airy_angle(x);
  if (zeta.high <= kFarK) {
    const double factor = std::sqrt(x / 3) / tables::kPi.high;
    return times_exp(multiply(k_integral(1.0 / 3, zeta.high), factor), negate(zeta)).high;
  }
  double sum = 1;
  double term = 1;
  for (double k = 1; k < 60 && std::fabs(term) > kSmallTerm; k += 1) {
    term *= -airy_factor(k, zeta.high);
    sum += term;
  }
  const double scaled = sum / (2 * std::sqrt(tables::kPi.high) * std::sqrt(std::sqrt(x)));
  return times_exp({scaled, 0}, negate(zeta)).high;
}

// DLMF 9.7.9, x > 10; the argument's sign is turned.
double airy_wave(double x) {
  const Pair zeta = airy_angle(x);
  if (!(zeta.high < kInfinity)) return kNaN;
  double even = 1;
  double odd = 0;
  double term = 1;
  for (double k = 1; k < 60 && std::fabs(term) > kSmallTerm; k += 1) {
    term *= airy_factor(k, zeta.high);
    const auto quarter = static_cast<int>(k) % 4;
    (quarter % 2 == 0 ? even : odd) += quarter < 2 ? term : -term;
  }
  const double low = zeta.high < 0x1p52 ? zeta.low : 0;
  const double sine = sin(zeta.high) + low * cos(zeta.high);
  const double cosine = cos(zeta.high) - low * sin(zeta.high);
  const double size = 1 / (std::sqrt(2 * tables::kPi.high) * std::sqrt(std::sqrt(x)));
  return size * ((cosine + sine) * even + (sine - cosine) * odd);
}

}  // namespace

double i0(double x) {
  const double size = std::fabs(x);
  return size < kInfinity ? unscaled_i(0, size) : kNaN;
}
double i0e(double x) {
  if (x != x) return x;
  const double size = std::fabs(x);
  return size == kInfinity ? 0.0 : scaled_i(0, size).value();
}
double i1(double x) {
  const double size = std::fabs(x);
  if (!(size < kInfinity)) return kNaN;
  return x < 0 ? -unscaled_i(1, size) : unscaled_i(1, size);
}
double i1e(double x) {
  if (x != x) return x;
  const double size = std::fabs(x);
  const double value = size == kInfinity ? 0.0 : scaled_i(1, size).value();
  return x < 0 ? -value : value;
}

double k0(double x) { return is_positive(x) ? unscaled_k(0, x) : k_outside(x); }
double k1(double x) { return is_positive(x) ? unscaled_k(1, x) : k_outside(x); }
double k0e(double x) { return is_positive(x) ? scaled_k(0, x).value() : k_outside(x); }
double k1e(double x) {
  if (x > 0 && !(1 / x < kInfinity)) return kInfinity;  // 1/x is all there is of it
  return is_positive(x) ? scaled_k(1, x).value() : k_outside(x);
}

double bessel_j0(double x) {
  const double size = std::fabs(x);
  if (!(size < kInfinity)) return kNaN;
  return size == 0 ? 1.0 : bessel_wave(0, size).j;
}
double bessel_j1(double x) {
  const double size = std::fabs(x);
  if (!(size < kInfinity)) return kNaN;
  if (size < 0x1p-500) return 0.5 * x;
  const double value = bessel_wave(1, size).j;
  return x < 0 ? -value : value;
}
double bessel_y0(double x) {
  if (x == 0) return -kInfinity;
  return is_positive(x) ? bessel_wave(0, x).y : kNaN;
}
double bessel_y1(double x) {
  if (x == 0) return -kInfinity;
  if (is_positive(x) && x < 0x1p-500) return -2 / tables::kPi.high / x;
  return is_positive(x) ? bessel_wave(1, x).y : kNaN;
}

double airy_ai(double x) {
  constexpr double kLastPositive = 103.892;
  if (!(std::fabs(x) < kInfinity)) return kNaN;
  if (x > kLastPositive) return 0;
  if (x > 6) return airy_decay(x);
  return x < -10 ? airy_wave(-x) : airy_series(x);
}

double spherical_bessel_j0(double x) {
  if (std::fabs(x) == kInfinity) return 0;
  return std::fabs(x) < 0x1p-30 ? 1 - x * x / 6 : sin(x) / x;
}

}  // namespace graphgate::optimized
