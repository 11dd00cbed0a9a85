// What reductions compute of one row: callables of a row and its length, by name.
//
// As elements.h, for rows: the host passes a row that it has loaded (const C*), a device kernel
// something with an operator[] that loads. Sums go through ordered_sum_of, whose order is the same
// on both; on a device it is a warp that calls these together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/kernels/elements/integer_arithmetic.h"

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
struct RowMeanSquare {
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    return ordered_sum_of<C>(n, [&](std::int64_t i) -> C { return x[i] * x[i]; }) /
           static_cast<C>(n);
  }
};

template <class C>
struct RowNanSum {
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    return ordered_sum_of<C>(n, [&](std::int64_t i) -> C { return x[i] == x[i] ? x[i] : C(0); });
  }
};

template <class C>
struct RowProduct {
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    C product = 1;
    for (std::int64_t i = 0; i < n; ++i) product = multiply(product, static_cast<C>(x[i]));
    return product;
  }
};

// The sum of the squared distances from the mean, divided by `divisor`; or its root.
template <class C, bool is_deviation>
struct RowVariance {
  C divisor;
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    const C mean = RowMean<C>()(x, n);
    const C squares = ordered_sum_of<C>(n, [&](std::int64_t i) -> C {
      const C distance = x[i] - mean;
      return distance * distance;
    });
    const C variance = squares / divisor;
    return is_deviation ? std::sqrt(variance) : variance;
  }
};

template <class C>
struct RowNorm {
  C order;
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    const auto sum_of = [&](auto&& f) {
      return ordered_sum_of<C>(n, [&](std::int64_t i) -> C { return f(x[i]); });
    };
    if (std::isinf(order)) {
      const C sign = order < C(0) ? C(-1) : C(1);
      const C greatest = greatest_of<C>(n, [&](std::int64_t i) { return sign * std::fabs(x[i]); });
      return n == 0 ? C(0) : sign * greatest;
    }
    if (order == C(0)) return sum_of([](C v) { return v != C(0) ? C(1) : C(0); });
    if (order == C(1)) return sum_of([](C v) { return std::fabs(v); });
    if (order == C(2)) return std::sqrt(sum_of([](C v) { return v * v; }));
    const C exponent = order;
    return pow(sum_of([exponent](C v) { return pow(std::fabs(v), exponent); }), C(1) / exponent);
  }
};

// The differences of two rows, as a row: its norm is their distance.
template <class C, class A, class B>
struct Difference {
  const A& a;
  const B& b;
  C operator[](std::int64_t i) const { return a[i] - b[i]; }
};

// The greatest element is taken out first; where it is infinite, nothing is.
template <class C>
struct RowLogSumExp {
  template <class Row>
  C operator()(const Row& x, std::int64_t n) const {
    const C greatest = greatest_of<C>(n, [&](std::int64_t i) -> C { return x[i]; });
    const C shift = std::isinf(greatest) ? C(0) : greatest;
    return log(ordered_sum_of<C>(n, [&](std::int64_t i) -> C { return exp(x[i] - shift); })) +
           shift;
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
