// Orthogonal polynomials of x, of a degree that is cut to a whole number; 0 for negative degrees.
//
// Each is its three-term recurrence in the compute type, as PyTorch has it: what overflows on the
// way is a NaN soon. Chebyshev's have angles instead inside of (-1, 1), where the degree is not
// small.
#pragma once

#include <cmath>
#include <cstdint>

#include "optimized/arithmetic/float_format.h"
#include "optimized/arithmetic/functions.h"

namespace graphgate::optimized::element {

// Chebyshev's at 1 and -1, over their ends at angles, and their recurrence's first polynomial:
// x + x + kFirst, or x itself.
struct ChebyshevT {
  static constexpr std::int64_t kLastByRecurrence = 6, kLastByRecurrenceShifted = 6;
  template <class C>
  static C first(C x) {
    return x;
  }
  template <class C>
  static C at_one(C /*n*/) {
    return C(1);
  }
  template <class C>
  static C at_minus_one(C /*n*/) {
    return C(1);
  }
  template <class C>
  static C by_angle(C angle, C n) {
    return cos(n * angle);
  }
};
struct ChebyshevU {
  static constexpr std::int64_t kLastByRecurrence = 8, kLastByRecurrenceShifted = 6;
  template <class C>
  static C first(C x) {
    return x + x;
  }
  template <class C>
  static C at_one(C n) {
    return n + C(1);
  }
  template <class C>
  static C at_minus_one(C n) {
    return n + C(1);
  }
  template <class C>
  static C by_angle(C angle, C n) {
    return sin((n + C(1)) * angle) / sin(angle);
  }
};
struct ChebyshevV {
  static constexpr std::int64_t kLastByRecurrence = 8, kLastByRecurrenceShifted = 6;
  template <class C>
  static C first(C x) {
    return x + x - C(1);
  }
  template <class C>
  static C at_one(C /*n*/) {
    return C(1);
  }
  template <class C>
  static C at_minus_one(C n) {
    return n + n + C(1);
  }
  template <class C>
  static C by_angle(C angle, C n) {
    return cos((n + C(0.5)) * angle) / cos(angle / C(2));
  }
};
struct ChebyshevW {
  static constexpr std::int64_t kLastByRecurrence = 8, kLastByRecurrenceShifted = 4;
  template <class C>
  static C first(C x) {
    return x + x + C(1);
  }
  template <class C>
  static C at_one(C n) {
    return n + n + C(1);
  }
  template <class C>
  static C at_minus_one(C /*n*/) {
    return C(1);
  }
  template <class C>
  static C by_angle(C angle, C n) {
    return sin((n + C(0.5)) * angle) / sin(angle / C(2));
  }
};

template <class Kind>
struct Chebyshev {
  static constexpr std::int64_t kLastByRecurrence = Kind::kLastByRecurrence;
  template <class C>
  C operator()(C x, C degree) const {
    return at(x, degree, kLastByRecurrence);
  }
  template <class C>
  static C at(C x, C degree, std::int64_t last_by_recurrence) {
    const auto n = truncate_to<std::int64_t>(degree);
    const C whole = static_cast<C>(n);
    if (n < 0) return C(0);
    if (x == C(1)) return Kind::at_one(whole);
    if (x == C(-1)) return n % 2 == 0 ? Kind::at_minus_one(whole) : -Kind::at_minus_one(whole);
    if (n > last_by_recurrence && std::fabs(x) < C(1)) return Kind::by_angle(acos(x), whole);
    if (n == 0) return C(1);
    C before = 1;
    C last = Kind::first(x);
    for (std::int64_t k = 1; k < n && last == last; ++k) {
      const C next = (x + x) * last - before;
      before = last;
      last = next;
    }
    return last;
  }
};
// At 2x - 1.
template <class Kind>
struct ShiftedChebyshev {
  template <class C>
  C operator()(C x, C degree) const {
    return Chebyshev<Kind>::at(x + x - C(1), degree, Kind::kLastByRecurrenceShifted);
  }
};

// p(k + 1) = scale (x p(k) - k p(k - 1)); NaN for degrees that PyTorch does not compute.
template <class C>
struct Hermite {
  C scale;
  C operator()(C x, C degree) const {
    const auto n = truncate_to<std::int64_t>(degree);
    if (n < 0) return C(0);
    if (n > (sizeof(C) == 8 ? 512 : 128)) return static_cast<C>(kNaN);
    C before = 1;
    C last = n == 0 ? C(1) : scale * x;
    for (std::int64_t k = 1; k < n; ++k) {
      const C next = scale * x * last - scale * static_cast<C>(k) * before;
      before = last;
      last = next;
    }
    return last;
  }
};

struct Laguerre {
  template <class C>
  C operator()(C x, C degree) const {
    const auto n = truncate_to<std::int64_t>(degree);
    if (n < 0) return C(0);
    if (n == 0 || x == 0) return C(1);
    C before = 1;
    C last = C(1) - x;
    for (std::int64_t k = 1; k < n && last == last; ++k) {
      const C weight = static_cast<C>(k);
      const C next = ((weight + weight + (C(1) - x)) * last - weight * before) / (weight + C(1));
      before = last;
      last = next;
    }
    return last;
  }
};

struct Legendre {
  template <class C>
  C operator()(C x, C degree) const {
    const auto n = truncate_to<std::int64_t>(degree);
    if (n < 0) return C(0);
    if (x == C(1) || n == 0) return C(1);
    if (x == C(-1)) return n % 2 == 0 ? C(1) : C(-1);
    C before = 1;
    C last = x;
    for (std::int64_t k = 1; k < n && last == last; ++k) {
      const C weight = static_cast<C>(k);
      const C next = ((weight + weight + C(1)) * x * last - weight * before) / (weight + C(1));
      before = last;
      last = next;
    }
    return last;
  }
};

}  // namespace graphgate::optimized::element
