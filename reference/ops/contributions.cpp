#include "reference/ops/contributions.h"

#include <algorithm>
#include <cmath>

namespace graphgate::reference {

Combining reduction_of(std::string_view name) {
  if (name == "sum" || name == "add") return Combining::kSum;
  if (name == "prod" || name == "multiply") return Combining::kProduct;
  if (name == "mean") return Combining::kMean;
  if (name == "amax") return Combining::kLargest;
  if (name == "amin") return Combining::kSmallest;
  throw OpError("reduce argument must be either sum, prod, mean, amax or amin, got " +
                std::string(name));
}

namespace detail {

Whole wrapped(Whole x, spec::DType dtype) { return {wrap_to(x.value, dtype), x.undecided}; }

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
  if (magnitudes_ * growth > static_cast<long double>(max_finite(dtype))) return kInfinity;
  const double exact_spacing = 2 * half_ulp(magnitudes_, dtype);
  if (!has_radius_ && static_cast<long double>(exact_spacing) <= quantum_) return 0;
  return half_ulp(magnitudes_ * growth, dtype);
}

}  // namespace detail

void accumulate(Mode mode, Tensor& target, const std::vector<Picked>& picked, const Tensor& source,
                const std::vector<std::int64_t>& source_positions, const Accumulation& how) {
  with_number(mode, target.dtype, [&]<class N>() {
    const Array<N> elements = load<N>(source, target.dtype);
    std::vector<N> terms;
    terms.reserve(source_positions.size());
    for (const std::int64_t position : source_positions) terms.push_back(elements[position]);
    accumulate(target, picked, terms, how);
  });
}

}  // namespace graphgate::reference
