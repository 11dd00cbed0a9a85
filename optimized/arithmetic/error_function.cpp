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

}  // namespace graphgate::optimized
