#include "optimized/arithmetic/gamma.h"

#include <cmath>

#include "optimized/arithmetic/double_double.h"
#include "optimized/arithmetic/exponential.h"
#include "optimized/arithmetic/logarithm.h"
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

// sin(pi x) and cos(pi x) up to a common sign, from r = x - nearest integer.
struct PiAngle {
  Pair sine;
  Pair cosine;
};
PiAngle pi_angle(double x) {
  const double r = x - round_half_even(x);
  const bool is_steep = std::fabs(r) > 0.25;
  const double folded = is_steep ? 0.5 - std::fabs(r) : std::fabs(r);
  const Pair angle = multiply(tables::kPi, folded);
  const Pair sine = is_steep ? cos_reduced(angle) : sin_reduced(angle);
  const Pair cosine = is_steep ? sin_reduced(angle) : cos_reduced(angle);
  return {r < 0 ? negate(sine) : sine, cosine};
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

double i0(double x) {
  const double magnitude = std::fabs(x);
  if (!(magnitude < 720)) return x == x ? kInfinity : x;
  if (magnitude <= 40) {  // sum of (x/2)^2k / k!^2: all terms are positive
    const Pair quarter = scale(two_product(x, x), 0.25);
    Pair sum = {1, 0};
    Pair term = {1, 0};
    for (double k = 1; term.high > sum.high * 0x1p-60; k += 1) {
      term = divide(multiply(term, quarter), {k * k, 0});
      sum = add(sum, term);
    }
    return sum.value();
  }
  // exp(x) / sqrt(2 pi x) * (1 + 1/(8x) + 9/(2 (8x)^2) + ...)
  const double unit = 1 / (8 * magnitude);
  double sum = 0;
  double term = 1;
  for (double k = 1; term > 0x1p-60; k += 1) {
    term *= (2 * k - 1) * (2 * k - 1) * unit / k;
    sum += term;
  }
  const ScaledExp e = scaled_exp({magnitude, 0});
  const Pair root = square_root(multiply(scale(tables::kPi, 2), magnitude));
  const Pair value = divide(multiply(significand(e), add({1, 0}, sum)), root);
  return scale_by_exponent(value.high, e.exponent);
}

}  // namespace graphgate::optimized
