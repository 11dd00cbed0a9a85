// Arithmetic of two and three elements, divisions and powers.
//
// Integer division by 0 is an error of the values, which no element can tell: whoever calls a
// quotient of integers looks at the divisor first (pointwise_division.cpp,
// codegen/text/prelude.cuh).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "optimized/arithmetic/formats.h"
#include "optimized/arithmetic/functions.h"
#include "optimized/kernels/elements/integer_arithmetic.h"

// A callable that computes EXPRESSION of x and y.
#define GRAPHGATE_BINARY_ELEMENT(NAME, EXPRESSION) \
  struct NAME {                                    \
    template <class C>                             \
    auto operator()(C x, C y) const {              \
      return EXPRESSION;                           \
    }                                              \
  };

namespace graphgate::optimized::element {

template <class C>
struct AddScaled {
  C alpha;
  C operator()(C x, C y) const { return add(x, multiply(alpha, y)); }
};
template <class C>
struct SubtractScaled {
  C alpha;
  C operator()(C x, C y) const { return subtract(x, multiply(alpha, y)); }
};
template <class C>
struct SubtractScaledFrom {
  C alpha;
  C operator()(C x, C y) const { return subtract(y, multiply(alpha, x)); }
};
GRAPHGATE_BINARY_ELEMENT(Add, add(x, y))
GRAPHGATE_BINARY_ELEMENT(Subtract, subtract(x, y))
GRAPHGATE_BINARY_ELEMENT(Multiply, multiply(x, y))

// value * (y op z) is added to x; value is not rounded to a narrow float.
template <class C>
struct AddProduct {
  C value;
  C operator()(C x, C y, C z) const { return add(x, multiply(multiply(value, y), z)); }
};
// beta * x + alpha * y * z; with beta 0, x counts for nothing.
template <class C>
struct AddOuter {
  C alpha, beta;
  C operator()(C x, C y, C z) const {
    const C product = multiply(multiply(alpha, y), z);
    return beta == C(0) ? product : add(multiply(beta, x), product);
  }
};
template <class C>
struct AddQuotient {
  C value;
  C operator()(C x, C y, C z) const { return x + value * y / z; }
};

// From the nearer end, so that both ends are met exactly.
struct Interpolate {
  template <class C>
  C operator()(C start, C end, C weight) const {
    const C step = end - start;
    return std::fabs(weight) < C(0.5) ? start + weight * step : end - step * (C(1) - weight);
  }
};
template <class C>
struct InterpolateBy {
  C weight;
  C operator()(C start, C end) const { return Interpolate()(start, end, weight); }
};

struct Power {
  template <class C>
  C operator()(C x, C y) const {
    if constexpr (kIsInteger<C>) {
      return integer_power(x, y);
    } else {
      return pow(x, y);
    }
  }
};

// log(e^x + e^y); equal infinities are themselves.
struct LogAddExp {
  template <class C>
  C operator()(C x, C y) const {
    if (std::isinf(x) && x == y) return x;
    const double high = x > y ? static_cast<double>(x) : static_cast<double>(y);
    const double low = x > y ? static_cast<double>(y) : static_cast<double>(x);
    return static_cast<C>(high + log1p_exp(low - high));
  }
};

// The same of powers of 2.
struct LogAddExp2 {
  template <class C>
  C operator()(C x, C y) const {
    if (std::isinf(x) && x == y) return x;
    const double high = x > y ? static_cast<double>(x) : static_cast<double>(y);
    const double low = x > y ? static_cast<double>(y) : static_cast<double>(x);
    const double above = log1p_exp((low - high) * tables::kLn2.high);
    return static_cast<C>(high + above * tables::kInverseLn2.high);
  }
};

struct XLogY {
  template <class C>
  C operator()(C x, C y) const {
    if (std::isnan(y)) return y;
    return x == 0 ? C(0) : x * log(y);
  }
};

struct XLog1PY {
  template <class C>
  C operator()(C x, C y) const {
    if (std::isnan(y)) return y;
    return x == 0 ? C(0) : x * log1p(y);
  }
};

// x times 2^y, where the power is rounded to a dtype of its own, and then to that of the product.
template <class Power, class Common>
struct ScaleByPower {
  template <class C>
  C operator()(C x, C y) const {
    const C power = rounded_in<Power>(pow(C(2), y));
    return x * rounded_in<Common>(power);
  }
};

// The next number of the format from x toward y.
template <class Format>
struct NextAfter {
  using Number = NumberOf<Format>;
  using Stored = typename Format::Bits;
  using Bits =
      std::conditional_t<std::is_same_v<Stored, double>, std::uint64_t,
                         std::conditional_t<std::is_same_v<Stored, float>, std::uint32_t, Stored>>;
  Number operator()(Number x, Number y) const {
    if (x != x) return x;
    if (y != y || x == y) return y;
    const bool grows = x == 0 || (y > x) == (x > 0);
    const auto bits = std::bit_cast<Bits>(Format::encode(std::fabs(x)));
    const auto next = static_cast<Bits>(grows ? bits + 1 : bits - 1);
    const Number size = Format::decode(std::bit_cast<Stored>(next));
    return std::copysign(size, x == 0 ? y : x);
  }
};

// Euclid's algorithm. The magnitude of a dtype's least number is itself, and so a divisor of it may
// be negative.
template <class C>
C magnitude_beside(C x, C least) {
  return x < 0 && x != least ? negate(x) : x;
}
template <class C>
struct CommonDivisor {
  C least;
  C operator()(C x, C y) const {
    C a = magnitude_beside(x, least);
    C b = magnitude_beside(y, least);
    while (a != 0) {
      const C rest = remainder_truncated(b, a);
      b = a;
      a = rest;
    }
    return b;
  }
};
// The magnitude of a multiple, which wraps in int32 and int64 before it is taken.
template <class C>
struct CommonMultiple {
  C least;
  C operator()(C x, C y) const {
    const C divisor = CommonDivisor<C>{least}(x, y);
    if (divisor == 0) return 0;
    C multiple = multiply(divide_truncated(x, divisor), y);
    if (least == C(-0x80000000LL)) multiple = static_cast<std::int32_t>(multiple);
    return multiple < 0 ? negate(multiple) : multiple;
  }
};

GRAPHGATE_BINARY_ELEMENT(Atan2, atan2(x, y))
GRAPHGATE_BINARY_ELEMENT(CopySign, std::copysign(x, y))
GRAPHGATE_BINARY_ELEMENT(Hypot, hypot(x, y))

struct Heaviside {
  template <class C>
  C operator()(C x, C values) const {
    return x == 0 ? values : static_cast<C>(x > 0);
  }
};

// What brings a norm down to the limit; 1 for one that is not above it.
template <class C>
struct FactorTo {
  C limit;
  C operator()(C norm) const { return norm > limit ? limit / (norm + static_cast<C>(1e-7)) : C(1); }
};

// 1 / sqrt(x + epsilon).
template <class C>
struct RsqrtOfSum {
  C epsilon;
  C operator()(C x) const { return rsqrt(x + epsilon); }
};
struct MultiplyThree {
  template <class C>
  C operator()(C x, C y, C z) const {
    return x * y * z;
  }
};

// An element of a channel, by the channel's running statistics.
template <class C>
struct BatchNorm {
  C epsilon;
  C operator()(C x, C mean, C variance, C weight, C bias) const {
    const C scale = C(1) / std::sqrt(variance + epsilon) * weight;
    return (x - mean) * scale + bias;
  }
};

GRAPHGATE_BINARY_ELEMENT(Divide, x / y)

// Of integers, y != 0.
struct IntegerQuotient {
  std::int64_t operator()(std::int64_t x, std::int64_t y) const { return divide_truncated(x, y); }
};
struct IntegerFlooredQuotient {
  std::int64_t operator()(std::int64_t x, std::int64_t y) const { return divide_floored(x, y); }
};
struct IntegerFmod {
  std::int64_t operator()(std::int64_t x, std::int64_t y) const {
    return remainder_truncated(x, y);
  }
};
struct IntegerRemainder {
  std::int64_t operator()(std::int64_t x, std::int64_t y) const { return remainder_floored(x, y); }
};
// By a count, where 0 counts as 1; integers toward minus infinity.
struct DivideByCount {
  template <class C>
  C operator()(C sum, C count) const {
    const C by = count < C(1) ? C(1) : count;
    if constexpr (kIsInteger<C>) {
      return sum / by - (sum % by < 0 ? 1 : 0);
    } else {
      return sum / by;
    }
  }
};
GRAPHGATE_BINARY_ELEMENT(TruncatedQuotient, std::trunc(x / y))
GRAPHGATE_BINARY_ELEMENT(Remainder, remainder(x, y))
GRAPHGATE_BINARY_ELEMENT(Fmod, fmod(x, y))

// Python's floor division: the quotient of x less its remainder, which is almost whole, taken to
// the whole number next to it. A zero quotient has the sign of x / y.
struct FlooredQuotient {
  template <class C>
  C operator()(C x, C y) const {
    if (y == 0) return x / y;
    const C rest = std::fmod(x, y);
    C quotient = (x - rest) / y;
    if (rest != 0 && (y < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(C(0), x / y);
    const C whole = std::floor(quotient);
    return quotient - whole > C(0.5) ? whole + 1 : whole;
  }
};

}  // namespace graphgate::optimized::element
