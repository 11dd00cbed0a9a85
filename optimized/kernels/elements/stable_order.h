// The stable order of a row: where each entry belongs, and medians. In it no two entries are equal,
// so that it has one answer, however it is found.
//
// As order.h, for sorting.cpp and for generated device kernels.
#pragma once

#include "optimized/kernels/elements/order.h"

namespace graphgate::optimized::element {

// Places break ties: the stable order, in which no two entries are equal.
template <class Before>
struct Stable {
  template <class E>
  bool operator()(const E& a, const E& b) const {
    return Before()(a, b) || (!Before()(b, a) && a.place < b.place);
  }
};

// Entries of rows are sorted in runs, each of neighbours; twice as long ones come of two.
inline constexpr std::int64_t kRun = 32;

// The place of entry i among those of its run of kRun, in a row of n.
template <class Row, class Before>
std::int64_t place_in_run(const Row& x, std::int64_t n, std::int64_t i, Before) {
  const std::int64_t first = i / kRun * kRun;
  const std::int64_t last = first + kRun < n ? first + kRun : n;
  const auto own = x[i];
  std::int64_t place = first;
  for (std::int64_t j = first; j < last; ++j) {
    if (j != i && Stable<Before>()(x[j], own)) ++place;
  }
  return place;
}

// Returns the place of entry i where the run that it is in, of `run` entries, and its sibling
// become one, in a row of n. As many of the sibling come before it as it follows there. Of equal
// ones those of the first run come first.
template <class Row, class Before>
std::int64_t place_in_merged(const Row& x, std::int64_t n, std::int64_t i, std::int64_t run,
                             Before before) {
  const std::int64_t own_first = i / run * run;
  const bool is_second = i / run % 2 != 0;
  const std::int64_t sibling = is_second ? own_first - run : own_first + run;
  const auto own = x[i];
  std::int64_t low = sibling < n ? sibling : n;
  std::int64_t high = sibling + run < n ? sibling + run : n;
  const std::int64_t first = low;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const bool is_before = is_second ? !before(own, x[middle]) : before(x[middle], own);
    if (is_before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const std::int64_t begin = is_second ? sibling : own_first;
  return begin + (i - own_first) + (low - first);
}

// The lower one in the middle of so many numbers.
constexpr std::int64_t lower_middle(std::int64_t numbers) {
  return numbers == 0 ? 0 : (numbers - 1) / 2;
}

// The lower median of n entries in stable order, n > 0: of its numbers alone, or the first NaN
// where there is one.
template <bool ignores_nan>
struct Median {
  template <class Row>
  std::int64_t operator()(const Row& x, std::int64_t n) const {
    std::int64_t numbers = 0;  // NaNs stand last
    for (std::int64_t end = n; numbers < end;) {
      const std::int64_t middle = numbers + (end - numbers) / 2;
      if (x[middle].value == x[middle].value) {
        numbers = middle + 1;
      } else {
        end = middle;
      }
    }
    if (!ignores_nan && numbers < n) return numbers;
    return lower_middle(numbers);
  }
};

}  // namespace graphgate::optimized::element
