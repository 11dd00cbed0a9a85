// Comparisons, logic, bits, and choices between elements.
#pragma once

#include <cmath>
#include <cstdint>

#include "optimized/kernels/elements/binary.h"
#include "optimized/kernels/elements/unary.h"

// A callable that tells whether EXPRESSION holds of x.
#define GRAPHGATE_TEST_ELEMENT(NAME, EXPRESSION) \
  struct NAME {                                  \
    template <class C>                           \
    bool operator()(C x) const {                 \
      return EXPRESSION;                         \
    }                                            \
  };

namespace graphgate::optimized::element {

template <class C>
bool is_nan([[maybe_unused]] C x) {
  if constexpr (kIsInteger<C>) {
    return false;
  } else {
    return std::isnan(x);
  }
}

template <class C>
bool is_infinite([[maybe_unused]] C x) {
  if constexpr (kIsInteger<C>) {
    return false;
  } else {
    return std::isinf(x);
  }
}

GRAPHGATE_BINARY_ELEMENT(Equal, x == y)
GRAPHGATE_BINARY_ELEMENT(NotEqual, x != y)
GRAPHGATE_BINARY_ELEMENT(GreaterOrEqual, x >= y)
GRAPHGATE_BINARY_ELEMENT(Greater, x > y)
GRAPHGATE_BINARY_ELEMENT(LessOrEqual, x <= y)
GRAPHGATE_BINARY_ELEMENT(Less, x < y)
GRAPHGATE_BINARY_ELEMENT(LogicalAnd, x != 0 && y != 0)
GRAPHGATE_BINARY_ELEMENT(LogicalOr, x != 0 || y != 0)
GRAPHGATE_BINARY_ELEMENT(LogicalXor, (x != 0) != (y != 0))
GRAPHGATE_BINARY_ELEMENT(BitAnd, (x & y))
GRAPHGATE_BINARY_ELEMENT(BitOr, x | y)
GRAPHGATE_BINARY_ELEMENT(BitXor, x ^ y)
GRAPHGATE_TEST_ELEMENT(IsInfinite, is_infinite(x))
GRAPHGATE_TEST_ELEMENT(IsNan, is_nan(x))
GRAPHGATE_TEST_ELEMENT(IsNegativeInfinite, is_infinite(x) && x < 0)
GRAPHGATE_TEST_ELEMENT(IsPositiveInfinite, is_infinite(x) && x > 0)
GRAPHGATE_TEST_ELEMENT(LogicalNot, x == 0)

// Whether the bit of the sign is set.
struct SignBit {
  template <class C>
  bool operator()(C x) const {
    if constexpr (kIsInteger<C>) {
      return x < 0;
    } else {
      return std::signbit(x);
    }
  }
};

// Of numbers `width` bits wide: a distance that is negative or as large shifts all bits out.
template <class C>
struct ShiftLeft {
  C width;
  C operator()(C x, C distance) const {
    if (distance < 0 || distance >= width) return 0;
    return static_cast<C>(static_cast<std::uint64_t>(x) << distance);
  }
};
template <class C>
struct ShiftRight {
  C width;
  C operator()(C x, C distance) const {
    const bool is_inside = distance >= 0 && distance < width;
    return x >> (is_inside ? distance : 63);
  }
};

// Every bit that `flipped` has: bool has one.
template <class C>
struct BitNot {
  C flipped;
  C operator()(C x) const { return x ^ flipped; }
};

// NaN wins; of equals the second.
GRAPHGATE_BINARY_ELEMENT(Maximum, is_nan(x) || x > y ? x : y)
GRAPHGATE_BINARY_ELEMENT(Minimum, is_nan(x) || x < y ? x : y)
// The same; of equals the first.
GRAPHGATE_BINARY_ELEMENT(MaximumOrFirst, is_nan(x) || !(y > x || is_nan(y)) ? x : y)
GRAPHGATE_BINARY_ELEMENT(MinimumOrFirst, is_nan(x) || !(y < x || is_nan(y)) ? x : y)

// NaN loses.
GRAPHGATE_BINARY_ELEMENT(LargerNumber, is_nan(x) || (!is_nan(y) && y > x) ? y : x)
GRAPHGATE_BINARY_ELEMENT(SmallerNumber, is_nan(x) || (!is_nan(y) && y < x) ? y : x)

// What NaN and the infinities become.
template <class C>
struct Replacements {
  C nan, positive, negative;
  C operator()(C x) const {
    if (is_nan(x)) return nan;
    if (is_infinite(x)) return x > 0 ? positive : negative;
    return x;
  }
};

// x, or the bound that it passes. NaN wins, but with `ignores_nan` not that of the bound.
template <bool ignores_nan>
struct AtLeast {
  template <class C>
  C operator()(C x, C bound) const {
    return x < bound || (bound != bound && !ignores_nan) ? bound : x;
  }
};
template <bool ignores_nan>
struct AtMost {
  template <class C>
  C operator()(C x, C bound) const {
    return x > bound || (bound != bound && !ignores_nan) ? bound : x;
  }
};
struct Clamp {
  template <class C>
  C operator()(C x, C low, C top) const {
    return AtMost<false>()(AtLeast<false>()(x, low), top);
  }
};

struct Select {
  template <class C>
  C operator()(C condition, C yes, C no) const {
    return condition != 0 ? yes : no;
  }
};

}  // namespace graphgate::optimized::element
