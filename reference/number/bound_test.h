// What tests of bounds share.
#pragma once

#include <cmath>

#include "reference/number/tracked.h"

namespace graphgate::reference {

inline constexpr auto kSingle = Bounded::Arithmetic::kFloat32;

// Whether an executor may have that number.
inline bool holds(const Bounded& bound, double actual) {
  return std::fabs(static_cast<long double>(actual) - bound.value) <=
         static_cast<long double>(bound.radius);
}

}  // namespace graphgate::reference
