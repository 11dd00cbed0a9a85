// Sums whose partial sums are rounded to a narrow dtype. Used by sums of what several indices send
// to one element (ops/contributions.h), and of products in several parts (split_sum.h).
#pragma once

#include "reference/number/float_format.h"

namespace graphgate::reference {

// What rounding every partial sum into a narrow dtype may add, in any order. Exact when the terms
// are multiples of one quantum and few enough quanta for the dtype's significand.
class PartialRoundings {
 public:
  void add(long double term, double radius);
  // The most that one of the partial sums can be moved by; 0 when none rounds.
  [[nodiscard]] double largest(spec::DType dtype) const;
  [[nodiscard]] double count() const { return count_; }
  // The sum of the terms' sizes, radii included.
  [[nodiscard]] long double magnitudes() const { return magnitudes_; }

 private:
  long double magnitudes_ = 0;
  long double quantum_ = 0;
  double count_ = 0;
  bool has_radius_ = false;
};

}  // namespace graphgate::reference
