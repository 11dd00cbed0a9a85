// Bins of numbers, and places among boundaries: what histc and searchsorted ask of one element.
//
// As elements.h, for histogram.cpp and for generated device kernels.
#pragma once

#include <cstdint>

#include "optimized/arithmetic/formats.h"

namespace graphgate::optimized::element {

template <class C>
bool is_finite(C x) {
  return x - x == C(0);
}

// [low, high] in `count` bins of one width.
template <class C>
struct Bins {
  C low, high;
  std::int64_t count;

  // One more on each side of a range that is empty.
  void widen() {
    if (low != high) return;
    low -= C(1);
    high += C(1);
  }
  [[nodiscard]] bool are_finite() const { return is_finite(low) && is_finite(high); }

  // The bin of x; -1 outside of the range, and for NaN. What is too far for the arithmetic counts
  // in the first one.
  std::int64_t operator()(C x) const {
    if (!(x >= low && x <= high)) return -1;
    const C place = (x - low) * static_cast<C>(count) / (high - low);
    const auto bin = truncate_to<std::int64_t>(place);
    if (bin < 0) return 0;
    return bin < count ? bin : count - 1;
  }
};

// The first place in n boundaries that is not less than x, or, on the right, is greater than it. A
// NaN compares as neither, so that it goes to the end.
template <class Row, class C>
std::int64_t place_among(const Row& boundaries, std::int64_t n, C x, bool right) {
  std::int64_t first = 0;
  while (n > 0) {
    const std::int64_t half = n / 2;
    const C boundary = boundaries[first + half];
    const bool is_behind = right ? boundary > x : boundary >= x;
    if (is_behind) {
      n = half;
    } else {
      first += half + 1;
      n -= half + 1;
    }
  }
  return first;
}

}  // namespace graphgate::optimized::element
