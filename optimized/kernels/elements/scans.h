// What goes along a row, element by element: running sums, products and extrema.
//
// As rows.h, for scan.cpp and for generated device kernels: each is a state of its own, and gives
// what the elements so far come to.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/sum.h"

namespace graphgate::optimized::element {

template <class C>
struct RunningSum {
  internal::Accumulator<C> running = 0;
  C operator()(C x) {
    running += static_cast<internal::Accumulator<C>>(x);
    return static_cast<C>(running);
  }
};

template <class C>
struct RunningProduct {
  internal::Accumulator<C> running = 1;
  C operator()(C x) {
    running *= static_cast<internal::Accumulator<C>>(x);
    return static_cast<C>(running);
  }
};

// log(exp(a) + exp(b)). Equal infinities stay as they are.
template <class C>
C log_add_exp(C a, C b) {
  if (a != a || b != b) return a + b;
  const C greater = a < b ? b : a;
  const C lesser = b < a ? b : a;
  if (greater == lesser && std::fabs(greater) == std::numeric_limits<C>::infinity()) return greater;
  return log1p(exp(lesser - greater)) + greater;
}

template <class C>
struct RunningLogSumExp {
  C running = -std::numeric_limits<C>::infinity();
  C operator()(C x) { return running = log_add_exp(running, x); }
};

// The greatest or least element so far, and where it stands. Of equal ones the last counts; a NaN
// stays, and the last NaN counts.
template <class C, bool greatest>
struct RunningExtreme {
  C value = 0;
  std::int64_t place = -1;  // before the first
  void take(C x, std::int64_t i) {
    const bool wins = x != x || (value == value && (greatest ? x >= value : x <= value));
    if (place >= 0 && !wins) return;
    value = x;
    place = i;
  }
};

}  // namespace graphgate::optimized::element
