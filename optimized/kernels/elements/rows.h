// What reductions compute of one row: callables of a row and its length, by name.
//
// As elements.h, for rows: the host passes a row that it has loaded (const C*), a device kernel
// something with an operator[] that loads. Sums go through ordered_sum_of, whose order is the same
// on both; on a device it is a warp that calls these together.
#pragma once

#include <cmath>
#include <cstdint>

#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/sum.h"

namespace graphgate::optimized::element {

// x to the power of 2, as pow has it.
inline double square_by_power(double x) { return pow(x, 2.0); }
// pow in double is within an ulp of the square, which is exact: only next to a tie of two floats
// does it matter which.
inline float square_by_power(float x) {
  const double square = static_cast<double>(x) * static_cast<double>(x);
  const auto low = static_cast<float>(square * (1 - 0x1p-51));
  const auto high = static_cast<float>(square * (1 + 0x1p-51));
  return low == high ? high : pow(x, 2.0F);
}

template <class C>
struct RowSum {
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    return ordered_sum_of<C>(n, [&](std::int64_t i) -> C { return x[i]; });
  }
};

template <class C>
struct RowMean {
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    return RowSum<C>()(x, n) / static_cast<C>(n);
  }
};

template <class C>
struct RowNanSum {
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    return ordered_sum_of<C>(n, [&](std::int64_t i) -> C { return x[i] == x[i] ? x[i] : C(0); });
  }
};

// How many are not 0.
template <class C>
struct RowCount {
  template <class Row>
  std::int64_t operator()(const Row& x, std::int64_t n) const {
    return ordered_sum_of<std::int64_t>(
        n, [&](std::int64_t i) -> std::int64_t { return x[i] != C(0) ? 1 : 0; });
  }
};
template <class C>
struct RowAll {
  template <class Row>
  std::int64_t operator()(const Row& x, std::int64_t n) const {
    return RowCount<C>()(x, n) == n ? 1 : 0;
  }
};
template <class C>
struct RowAny {
  template <class Row>
  std::int64_t operator()(const Row& x, std::int64_t n) const {
    return RowCount<C>()(x, n) != 0 ? 1 : 0;
  }
};

}  // namespace graphgate::optimized::element
