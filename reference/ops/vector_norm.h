// Norms of vectors, which are lists of numbers that can be walked through. Called by reduction.cpp
// and renorm.cpp.
#pragma once

#include <cmath>
#include <limits>

#include "reference/number/functions.h"
#include "reference/number/sum.h"

namespace graphgate::reference {

template <class N, class Numbers>
[[nodiscard]] N largest_magnitude(const Numbers& slice) {
  N out = 0;
  for (const N& x : slice) out = maximum(out, abs(x));
  return out;
}

template <class N, class Numbers>
[[nodiscard]] N smallest_magnitude(const Numbers& slice) {
  N out = std::numeric_limits<double>::infinity();
  for (const N& x : slice) out = minimum(out, abs(x));
  return out;
}

// (sum |x|^order)^(1/order), and its limits.
template <class N, class Numbers>
[[nodiscard]] N norm_of(const Numbers& slice, double order) {
  if (order == std::numeric_limits<double>::infinity()) return largest_magnitude<N>(slice);
  if (order == -std::numeric_limits<double>::infinity()) return smallest_magnitude<N>(slice);
  Sum<N> total;
  for (const N& x : slice) {
    if (order == 0)
      total.add(select(is_zero(x), N(0), N(1)));
    else if (order == 1)
      total.add(abs(x));
    else if (order == 2)
      total.add_product(x, x);
    else
      total.add(pow(abs(x), N(order)));
  }
  if (order == 0 || order == 1) return total.result();
  return order == 2 ? sqrt(total.result()) : pow(total.result(), N(1 / order));
}

}  // namespace graphgate::reference
