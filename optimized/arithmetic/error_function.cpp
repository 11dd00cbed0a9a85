#include "optimized/arithmetic/error_function.h"

#include "optimized/arithmetic/logarithm.h"

namespace graphgate::optimized {
namespace {

// One step of Halley's method for erf(y) = x, y > 0; x close to 1 is compared through erfc.
double improve(double y, double x) {
  const double miss = x > 0.5 ? (1 - x) - erfc(y) : erf(y) - x;
  const double newton = miss / (tables::kTwoOverSqrtPi.high * exp(-y * y));
  return y - newton / (1 + y * newton);
}

}  // namespace

double erfinv(double x) {
  const double magnitude = std::fabs(x);
  if (!(magnitude < 1)) {
    if (magnitude == 1) return std::copysign(kInfinity, x);
    return x == x ? kNaN : x;
  }
  if (magnitude < 0x1p-30) {  // x sqrt(pi) / 2; the cubic term is below the last bit
    return std::copysign(divide({x, 0}, tables::kTwoOverSqrtPi).value(), x);
  }
  // Winitzki's approximation, good to 2e-3, then three steps that cube the error.
  const double log_term = log1p(-magnitude * magnitude);
  const double middle = 2 / (tables::kPi.high * 0.147) + 0.5 * log_term;
  double y = std::sqrt(std::sqrt(middle * middle - log_term / 0.147) - middle);
  for (int step = 0; step < 3; ++step) y = improve(y, magnitude);
  return std::copysign(y, x);
}

double erfcx(double x) {
  if (x != x) return x;
  if (x < -27) return kInfinity;
  if (x < 0.5) return exp_of_pair(two_product(x, x)) * erfc(x);
  if (x <= 30) return erfcx_large(x).high;
  // The asymptotic series (DLMF 7.12.1), whose eighth term is below the last bit.
  const double step = 0.5 / (x * x);
  double sum = 1;
  for (double k = 8; k > 0; k -= 1) sum = 1 - (2 * k - 1) * step * sum;
  return sum * (0.5 * tables::kTwoOverSqrtPi.high) / x;
}

double log_ndtr(double x) {
  const bool is_huge = std::fabs(x) > 0x1p500;
  const Pair root = square_root({0.5, 0});
  const Pair t = is_huge ? Pair{x, 0} : multiply(root, x);
  if (x < -1) return log(0.5 * erfcx(-t.high)) - 0.5 * x * x;
  // What is lost of t changes a small erfc.
  const double slope = tables::kTwoOverSqrtPi.high * exp(-t.high * t.high);
  const double tail = x < 40 ? erfc(t.high) - slope * t.low : 0;
  return x == x ? log1p(-0.5 * tail) : x;
}

double ndtri(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -kInfinity : (p == 1 ? kInfinity : kNaN);
  constexpr double kSqrt2 = 0x1.6a09e667f3bcdp0;
  if (p >= 0.1 && p <= 0.9) return kSqrt2 * erfinv(2 * p - 1);
  const double tail = p < 0.5 ? p : 1 - p;
  // Hastings' approximation, good to 4.5e-4 (Abramowitz and Stegun 26.2.23), then Newton's method
  // on the logarithm.
  const double goal = log(tail);
  const double t = std::sqrt(-2 * goal);
  double y = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                     (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  constexpr double kSqrt2OverPi = 0x1.9884533d43651p-1;
  for (int step = 0; step < 3; ++step) {
    y += (log_ndtr(-y) - goal) * erfcx(y / kSqrt2) / kSqrt2OverPi;
  }
  return p < 0.5 ? -y : y;
}

}  // namespace graphgate::optimized
