#include "optimized/arithmetic/gamma.h"

#include <cmath>

#include "optimized/arithmetic/double_double.h"
#include "optimized/arithmetic/error_function.h"
#include "optimized/arithmetic/exponential.h"
#include "optimized/arithmetic/logarithm.h"
#include "optimized/arithmetic/power.h"
#include "optimized/arithmetic/tables.h"
#include "optimized/arithmetic/trigonometric.h"

namespace graphgate::optimized {
namespace {

constexpr double kFarEnough = 16;  // from here on the asymptotic series have converged

// t * p(t) with the constant of p to two doubles.
template <class Array>
double times_polynomial(const Array& p, double p_low, double t) {
  const Pair sum = two_sum(p[0], polynomial_above_constant(p, t) * t);
  return multiply(Pair{sum.high, sum.low + p_low}, t).high;
}

// log Gamma(z) for z >= 16: (z - 1/2) log z - z + log(2 pi)/2 + series.
Pair stirling(Pair z) {
  const double inverse = 1 / z.high;
  const double series = inverse * polynomial(tables::kStirling, inverse * inverse);
  const Pair main = subtract(multiply(add(z, -0.5), log_pair(z)), z);
  return add(add(main, tables::kHalfLogTwoPi), series);
}

// log Gamma(x) for x > 0 as a pair; absolute error about 2^-60.
Pair log_gamma_positive(Pair x) {
  if (x.high > 0x1p60) {
    const Pair slope = add(log_pair(x), -1.0);
    const Pair part = multiply(scale(slope, 0x1p-20), x.high);
    const double whole = part.high * 0x1p20;
    return {whole, whole == kInfinity ? 0 : part.low * 0x1p20};
  }
  Pair z = x;
  Pair product = {1, 0};
  while (z.high < kFarEnough) {
    product = multiply(product, z);
    z = add(z, 1.0);
  }
  return subtract(stirling(z), log_pair(product));
}

bool is_whole(double x) { return round_half_even(x) == x; }

// digamma for x > 0: log z - 1/(2z) - series, less the sum of 1/(x+i).
Pair digamma_positive(Pair x) {
  Pair z = x;
  Pair sum;
  while (z.high < kFarEnough) {
    sum = add(sum, divide({1, 0}, z));
    z = add(z, 1.0);
  }
  const Pair inverse = divide({1, 0}, z);
  const double square = inverse.high * inverse.high;
  const double series = square * polynomial(tables::kDigammaTail, square);
  const Pair main = subtract(log_pair(z), scale(inverse, 0.5));
  return subtract(add(main, -series), sum);
}

}  // namespace

PiAngle pi_angle(double x) {
  const double r = x - round_half_even(x);
  const bool is_steep = std::fabs(r) > 0.25;
  const double folded = is_steep ? 0.5 - std::fabs(r) : std::fabs(r);
  const Pair angle = multiply(tables::kPi, folded);
  const Pair sine = is_steep ? cos_reduced(angle) : sin_reduced(angle);
  const Pair cosine = is_steep ? sin_reduced(angle) : cos_reduced(angle);
  return {r < 0 ? negate(sine) : sine, cosine};
}

double lgamma(double x) {
  if (x != x) return x;
  if (std::fabs(x) == kInfinity || (x <= 0 && is_whole(x))) return kInfinity;
  if (std::fabs(x) < 0x1p-60) return -log(std::fabs(x));
  if (std::fabs(x - 1) <= 0.25) {
    return times_polynomial(tables::kLogGammaAtOne, tables::kLogGammaAtOneLow, x - 1);
  }
  if (std::fabs(x - 2) <= 0.25) {
    return times_polynomial(tables::kLogGammaAtTwo, tables::kLogGammaAtTwoLow, x - 2);
  }
  if (x > 0) return log_gamma_positive({x, 0}).value();
  const Pair sine = pi_angle(x).sine;
  const Pair reflected = divide(tables::kPi, sine.high < 0 ? negate(sine) : sine);
  return subtract(log_pair(reflected), log_gamma_positive(two_sum(1.0, -x))).value();
}

double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x == kInfinity || x != x) return x;
  if (x > 0x1p60) return log(x);
  if (std::fabs(x) < 0x1p-60) return -1 / x;
  if (x > 0) return digamma_positive({x, 0}).value();
  if (is_whole(x)) return kNaN;
  const PiAngle angle = pi_angle(x);
  const Pair cotangent = divide(multiply(tables::kPi, angle.cosine), angle.sine);
  return subtract(digamma_positive(two_sum(1.0, -x)), cotangent).value();
}

double trigamma(double x) {
  if (x == kInfinity || x != x) return x != x ? x : 0.0;
  if (x == -kInfinity) return kNaN;
  if (x > 0) return zeta(2.0, x);
  if (is_whole(x)) return kInfinity;
  const Pair ratio = divide(tables::kPi, pi_angle(x).sine);
  return subtract(multiply(ratio, ratio), {zeta(2.0, 1 - x), 0}).value();
}

double zeta(double s, double q) {
  if (s == 1) return kInfinity;
  if (s < 1) return kNaN;
  if (q <= 0 && is_whole(q)) return kInfinity;
  if (q <= 0 && !is_whole(s)) return kNaN;
  if (s != s || q != q || q == kInfinity) return kNaN;
  if (q < 0) {  // the terms of negative bases are a difference of two such sums
    const double rest = -q - std::floor(-q);
    const double sign = std::fmod(s, 2.0) == 1 ? -1 : 1;
    if (zeta(s, rest) == kInfinity) return sign * kInfinity;
    return sign * (zeta(s, rest) - zeta(s, 1 - q)) + zeta(s, 1 - rest);
  }
  // First terms by themselves, until the rest is a series that converges (Euler and Maclaurin's
  // formula, DLMF 2.10.1): its terms shrink as ((s + 2k) / (2 pi base))^2.
  const double far = kFarEnough + s;
  double base = q;
  Pair sum;
  for (double k = 1; base < far; k += 1) {
    const double term = pow(base, -s);
    if (std::fabs(term) == kInfinity) return term;
    sum = add(sum, term);
    if (base > 1 && std::fabs(term) <= 0x1p-60 * std::fabs(sum.high)) return sum.value();
    base = q + k;
  }
  const double power = pow(base, -s);
  sum = add(sum, pow(base, 1 - s) / (s - 1));
  sum = add(sum, 0.5 * power);
  double rising = s * power / base;
  constexpr std::size_t kTerms = 14;
  for (std::size_t k = 0; k < kTerms; ++k) {
    const double term = tables::kBernoulli[k] * rising;
    sum = add(sum, term);
    if (std::fabs(term) <= 0x1p-60 * std::fabs(sum.high)) break;
    const double step = static_cast<double>(2 * k + 1);
    rising *= (s + step) / base * ((s + step + 1) / base);
  }
  return sum.value();
}

namespace {

// log(1 + t) - t for t > -1, which is about -t^2/2.
double log1p_less(double t) {
  if (std::fabs(t) < 0x1p-10) {
    const double tail = 1.0 / 3 - t * (0.25 - t * (0.2 - t * (1.0 / 6 - t * (1.0 / 7 - t / 8))));
    return -t * t * (0.5 - t * tail);
  }
  return subtract(log1p_pair({t, 0}), {t, 0}).value();
}

// log Gamma(1 + a) for 0 <= a <= 1/4, relatively accurate.
double log_gamma_above_one(double a) {
  return times_polynomial(tables::kLogGammaAtOne, tables::kLogGammaAtOneLow, a);
}

// x^a e^-x / Gamma(a + 1), a > 0, x > 0.
double incomplete_factor(double a, double x) {
  if (a >= kFarEnough) {
    // Stirling's formula: e^(a (log(1 + t) - t)) / sqrt(2 pi a) with t = (x - a) / a.
    const double t = (x - a) / a;
    const double inverse = 1 / a;
    const double series = inverse * polynomial(tables::kStirling, inverse * inverse);
    const Pair logs = subtract(log_pair({x, 0}), log_pair({a, 0}));
    const double far = add(multiply(logs, a), two_sum(a, -x)).value();
    const double exponent = std::fabs(t) < 0.5 ? a * log1p_less(t) : far;
    return exp(exponent - series) / std::sqrt(2 * tables::kPi.high * a);
  }
  const Pair power = multiply(log_pair({x, 0}), a);
  const Pair gamma =
      a <= 0.25 ? Pair{log_gamma_above_one(a), 0} : log_gamma_positive(two_sum(a, 1.0));
  const Pair exponent = subtract(subtract(power, {x, 0}), gamma);
  if (exponent.high < -1000) return 0;
  return exp_of_pair(exponent);
}

// P for x not much larger than a: all terms are positive (DLMF 8.7.1).
double lower_series(double a, double x) {
  double sum = 1;
  double term = 1;
  for (double n = 1; term > 0x1p-56 * sum; n += 1) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * incomplete_factor(a, x);
}

// Q for x larger than a and than 1, by its continued fraction (DLMF 8.9.2) in Lentz's way.
double upper_fraction(double a, double x) {
  double b = x + 1 - a;
  double c = 0x1p900;
  double d = 1 / b;
  double value = d;
  for (double n = 1; n < 1e7; n += 1) {
    const double numerator = n * (a - n);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    const double step = c * d;
    value *= step;
    if (std::fabs(step - 1) < 0x1p-53) break;
  }
  return value * a * incomplete_factor(a, x);
}

// The same from its end, for a < 1 and x > 1, where so many steps are enough: fewer roundings add
// up.
double upper_fraction_backward(double a, double x) {
  constexpr double kSteps = 160;
  double rest = x + 1 - a + 2 * kSteps;
  for (double n = kSteps; n > 0; n -= 1) rest = x - 1 - a + 2 * n - n * (n - a) / rest;
  return a * incomplete_factor(a, x) / rest;
}

// Q for small x and a: 1 - x^a / Gamma(1 + a), less a series of both signs (DLMF 8.7.1).
double upper_small(double a, double x) {
  const double gamma = a <= 0.25 ? log_gamma_above_one(a) : lgamma(1 + a);
  const double exponent = a * log(x) - gamma;
  double sum = 0;
  double power = 1;
  for (double n = 1; n < 60; n += 1) {
    power *= -x / n;
    const double term = power / (a + n);
    sum += term;
    if (std::fabs(term) < 0x1p-60 * std::fabs(sum)) break;
  }
  return -expm1(exponent) - exp(exponent) * a * sum;
}

// Q for large a near x: Temme's uniform expansion (DLMF 8.12.3 to 8.12.10), of which two terms are
// enough beyond kUniform. `sign` -1: P.
constexpr double kUniform = 1e6;
double temme_uniform(double a, double x, double sign) {
  const double t = (x - a) / a;
  const double half_square = t > -1 ? -log1p_less(t) : kInfinity;
  const double eta = std::copysign(std::sqrt(2 * half_square), t);
  const double normal = 0.5 * erfc(sign * eta * std::sqrt(0.5 * a));
  const double weight = exp(-a * half_square) / std::sqrt(2 * tables::kPi.high * a);
  if (weight == 0) return normal;
  const double first =
      -1.0 / 3 + eta * (1.0 / 12 - eta * (2.0 / 135 - eta * (1.0 / 864 + eta / 2835)));
  const double second = -1.0 / 540 - eta / 288;
  return normal + sign * weight * (first + second / a);
}

// What both are at the edges: whether it decides, and P there.
struct GammaEdge {
  bool decides = true;
  double lower = 0;
};
GammaEdge gamma_edge(double a, double x) {
  if (x < 0 || a < 0) return {true, kNaN};
  if (a == 0) return {true, x > 0 ? 1.0 : kNaN};
  if (x == 0) return {true, 0};
  if (a == kInfinity) return {true, x == kInfinity ? kNaN : 0.0};
  if (x == kInfinity) return {true, 1};
  if (a != a || x != x) return {true, kNaN};
  return {false, 0};
}

}  // namespace

double igamma(double a, double x) {
  const GammaEdge edge = gamma_edge(a, x);
  if (edge.decides) return edge.lower;
  if (a > kUniform) return temme_uniform(a, x, -1);
  return x >= a + 1 && x > 1 ? 1 - igammac(a, x) : lower_series(a, x);
}

double igammac(double a, double x) {
  const GammaEdge edge = gamma_edge(a, x);
  if (edge.decides) return 1 - edge.lower;
  if (a > kUniform) return temme_uniform(a, x, 1);
  if (a < 1 && x > 1.1 && x < 2) return upper_fraction_backward(a, x);
  if (a < 1 && x < 2) {
    const bool is_lower_small = x <= 0.5 ? -0.4 / log(x) < a : x * 1.1 < a;
    return is_lower_small ? 1 - lower_series(a, x) : upper_small(a, x);
  }
  return x < a + 1 ? 1 - lower_series(a, x) : upper_fraction(a, x);
}

}  // namespace graphgate::optimized
