#include "reference/number/partial_roundings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace graphgate::reference {

void PartialRoundings::add(long double term, double radius) {
  has_radius_ = has_radius_ || radius != 0;
  magnitudes_ += std::fabs(term) + static_cast<long double>(radius);
  count_ += 1;
  if (term == 0 || !std::isfinite(term)) return;
  // The value of the term's lowest set bit.
  int exponent = 0;
  const long double fraction = std::frexp(std::fabs(term), &exponent);
  const auto bits = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
  const long double lowest = std::ldexp(1.0L, exponent - 64 + __builtin_ctzll(bits));
  quantum_ = quantum_ == 0 ? lowest : std::min(quantum_, lowest);
}

double PartialRoundings::largest(spec::DType dtype) const {
  if (!std::isfinite(magnitudes_) || magnitudes_ == 0) return 0;
  // Partial sums may exceed the magnitudes by the roundings so far.
  const long double growth = 1 + static_cast<long double>(count_ * unit_roundoff(dtype));
  if (magnitudes_ * growth > static_cast<long double>(max_finite(dtype)))
    return std::numeric_limits<double>::infinity();
  const double exact_spacing = 2 * half_ulp(magnitudes_, dtype);
  if (!has_radius_ && static_cast<long double>(exact_spacing) <= quantum_) return 0;
  return half_ulp(magnitudes_ * growth, dtype);
}

}  // namespace graphgate::reference
