#include "optimized/arithmetic/power.h"

#include "optimized/arithmetic/exponential.h"
#include "optimized/arithmetic/logarithm.h"

namespace graphgate::optimized {
namespace {

bool is_integer(double y) { return round_half_even(y) == y; }
// Every double from 2^53 on is an even integer.
bool is_odd_integer(double y) {
  return std::fabs(y) < 0x1p53 && is_integer(y) && !is_integer(0.5 * y);
}

// |x|^y where x is 0 or infinite, or y infinite; y is not 0 and neither is NaN.
double power_at_the_ends(double magnitude, double y) {
  if (std::fabs(y) == kInfinity) {
    if (magnitude == 1) return 1;
    return (magnitude > 1) == (y > 0) ? kInfinity : 0;
  }
  return (magnitude == 0) == (y > 0) ? 0 : kInfinity;
}

}  // namespace

double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  const double magnitude = std::fabs(x);
  const bool is_negative = std::signbit(x) && is_odd_integer(y);
  double result = 0;
  if (magnitude == 0 || magnitude == kInfinity || std::fabs(y) == kInfinity) {
    result = power_at_the_ends(magnitude, y);
  } else {
    if (x < 0 && !is_integer(y)) return kNaN;
    // |log x| >= 2^-53 or 0: a y beyond 2^70 overflows or underflows all the same.
    const Pair exponent = multiply(log_pair({magnitude, 0}), clamp_to(y, 0x1p70));
    const bool is_far = std::fabs(exponent.high) > 1000;
    result = exp_of_pair(is_far ? Pair{clamp_to(exponent.high, 1000), 0} : exponent);
  }
  return is_negative ? -result : result;
}

double hypot(double x, double y) {
  const double first = std::fabs(x);
  const double second = std::fabs(y);
  if (first == kInfinity || second == kInfinity) return kInfinity;
  const double larger = first > second ? first : second;
  const double smaller = first > second ? second : first;
  if (!(smaller > larger * 0x1p-60)) return larger + smaller;  // also NaN and 0
  const double power = larger > 0x1p400 ? 0x1p-600 : (larger < 0x1p-400 ? 0x1p600 : 1.0);
  const Pair wide = two_product(larger * power, larger * power);
  const Pair narrow = two_product(smaller * power, smaller * power);
  return square_root(add(wide, narrow)).value() / power;
}

}  // namespace graphgate::optimized
