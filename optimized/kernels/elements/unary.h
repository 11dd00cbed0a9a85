// Functions of one element: signs, roundings, roots, exponentials, logarithms, trigonometry.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "optimized/arithmetic/functions.h"
#include "optimized/kernels/elements/integer_arithmetic.h"

// A callable that computes EXPRESSION of x.
#define GRAPHGATE_UNARY_ELEMENT(NAME, EXPRESSION) \
  struct NAME {                                   \
    template <class C>                            \
    C operator()(C x) const {                     \
      return EXPRESSION;                          \
    }                                             \
  };
// The same, where integers are whole already.
#define GRAPHGATE_ROUNDING_ELEMENT(NAME, EXPRESSION) \
  struct NAME {                                      \
    template <class C>                               \
    C operator()(C x) const {                        \
      if constexpr (kIsInteger<C>) {                 \
        return x;                                    \
      } else {                                       \
        return EXPRESSION;                           \
      }                                              \
    }                                                \
  };

namespace graphgate::optimized::element {

inline constexpr double kPi = 0x1.921fb54442d18p1;

struct Identity {
  template <class C>
  C operator()(C x) const {
    return x;
  }
};

// Element i of an arithmetic sequence.
template <class C>
struct Sequence {
  C start, step;
  C operator()(std::int64_t i) const { return add(start, multiply(step, static_cast<C>(i))); }
};

// Element i of `steps` that go from start to end, from the nearer of the two.
template <class C>
C linear_step(C start, C end, std::int64_t steps, std::int64_t i) {
  const C step = steps > 1 ? (end - start) / static_cast<C>(steps - 1) : C(0);
  return i < steps / 2 || steps == 1 ? start + step * static_cast<C>(i)
                                     : end - step * static_cast<C>(steps - 1 - i);
}

struct Absolute {
  template <class C>
  C operator()(C x) const {
    if constexpr (kIsInteger<C>) {
      return x < 0 ? negate(x) : x;
    } else {
      return std::fabs(x);
    }
  }
};

// 0 for NaN and zeros, as in ATen.
struct Sign {
  template <class C>
  C operator()(C x) const {
    return static_cast<C>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
  }
};

// Ties go to the even neighbour.
GRAPHGATE_ROUNDING_ELEMENT(RoundToEven, std::nearbyint(x))
GRAPHGATE_ROUNDING_ELEMENT(Ceil, std::ceil(x))
GRAPHGATE_ROUNDING_ELEMENT(Floor, std::floor(x))
GRAPHGATE_ROUNDING_ELEMENT(Truncate, std::trunc(x))

// To a power of ten: of fractions, and of whole numbers.
template <class C>
struct RoundFraction {
  C scale;
  C operator()(C x) const { return std::nearbyint(x * scale) / scale; }
};
template <class C>
struct RoundWhole {
  C scale;
  C operator()(C x) const { return std::nearbyint(x / scale) * scale; }
};

// log(x / (1 - x)), with x first moved into [low, high].
template <class C>
struct Logit {
  C low, high;
  C operator()(C x) const {
    const C inside = x < low ? low : (x > high ? high : x);
    return log(inside / (C(1) - inside));
  }
};

// 0, pi of what is negative.
struct Angle {
  template <class C>
  C operator()(C x) const {
    if (x != x) return x;
    return x < 0 ? static_cast<C>(kPi) : C(0);
  }
};

// x is mantissa * 2^exponent, with a mantissa in [1/2, 1): of zeros, infinities and NaN the
// exponent is 0, and the mantissa x. Float32 goes by way of double, where it has no subnormal
// numbers.
struct ExponentOfTwo {
  template <class C>
  std::int64_t operator()(C x) const {
    const auto wide = static_cast<double>(x);
    if (wide == 0 || !(std::fabs(wide) < kInfinity)) return 0;
    const bool is_tiny = std::fabs(wide) < 0x1p-1000;
    const auto bits = std::bit_cast<std::uint64_t>(is_tiny ? wide * 0x1p100 : wide);
    return static_cast<std::int64_t>((bits >> 52) & 0x7ff) - (is_tiny ? 1122 : 1022);
  }
};
struct Mantissa {
  template <class C>
  C operator()(C x) const {
    const auto wide = static_cast<double>(x);
    if (wide == 0 || !(std::fabs(wide) < kInfinity)) return x;
    const bool is_tiny = std::fabs(wide) < 0x1p-1000;
    const auto bits = std::bit_cast<std::uint64_t>(is_tiny ? wide * 0x1p100 : wide);
    constexpr std::uint64_t kExponent = std::uint64_t{0x7ff} << 52;
    constexpr std::uint64_t kHalf = std::uint64_t{1022} << 52;
    return static_cast<C>(std::bit_cast<double>((bits & ~kExponent) | kHalf));
  }
};

// x * 2^exponent, rounded once.
struct ScaleByTwo {
  template <class C>
  C operator()(C x, C exponent) const {
    const auto limited = static_cast<std::int64_t>(clamp_to(static_cast<double>(exponent), 4000));
    const double mantissa = Mantissa()(static_cast<double>(x));
    const std::int64_t sum = limited + ExponentOfTwo()(x);
    if (sum < -1021) {
      const std::int64_t rest = sum < -2022 ? -1022 : sum + 1000;
      return static_cast<C>(mantissa * 0x1p-1000 * power_of_two(rest));
    }
    const std::int64_t half = (sum > 1100 ? 1100 : sum) / 2;
    const std::int64_t rest = (sum > 1100 ? 1100 : sum) - half;
    return static_cast<C>(mantissa * power_of_two(half) * power_of_two(rest));
  }
};

GRAPHGATE_UNARY_ELEMENT(Square, multiply(x, x))
GRAPHGATE_UNARY_ELEMENT(Sinc, sinc(x))
GRAPHGATE_UNARY_ELEMENT(Fraction, x - std::trunc(x))
GRAPHGATE_UNARY_ELEMENT(Negate, negate(x))
GRAPHGATE_UNARY_ELEMENT(Acos, acos(x))
GRAPHGATE_UNARY_ELEMENT(Acosh, acosh(x))
GRAPHGATE_UNARY_ELEMENT(Asin, asin(x))
GRAPHGATE_UNARY_ELEMENT(Asinh, asinh(x))
GRAPHGATE_UNARY_ELEMENT(Atan, atan(x))
GRAPHGATE_UNARY_ELEMENT(Atanh, atanh(x))
GRAPHGATE_UNARY_ELEMENT(Cos, cos(x))
GRAPHGATE_UNARY_ELEMENT(Cosh, cosh(x))
GRAPHGATE_UNARY_ELEMENT(DegreesToRadians, (x * static_cast<C>(kPi / 180)))
GRAPHGATE_UNARY_ELEMENT(Erf, erf(x))
GRAPHGATE_UNARY_ELEMENT(Erfc, erfc(x))
GRAPHGATE_UNARY_ELEMENT(Exp, exp(x))
GRAPHGATE_UNARY_ELEMENT(Exp2, exp2(x))
GRAPHGATE_UNARY_ELEMENT(Expm1, expm1(x))
GRAPHGATE_UNARY_ELEMENT(Log, log(x))
GRAPHGATE_UNARY_ELEMENT(Log10, log10(x))
GRAPHGATE_UNARY_ELEMENT(Log1p, log1p(x))
GRAPHGATE_UNARY_ELEMENT(Log2, log2(x))
GRAPHGATE_UNARY_ELEMENT(RadiansToDegrees, (x * static_cast<C>(180 / kPi)))
GRAPHGATE_UNARY_ELEMENT(Reciprocal, C(1) / x)
GRAPHGATE_UNARY_ELEMENT(Rsqrt, rsqrt(x))
GRAPHGATE_UNARY_ELEMENT(Sigmoid, sigmoid(x))
GRAPHGATE_UNARY_ELEMENT(Sin, sin(x))
GRAPHGATE_UNARY_ELEMENT(Sinh, sinh(x))
GRAPHGATE_UNARY_ELEMENT(Sqrt, std::sqrt(x))
GRAPHGATE_UNARY_ELEMENT(Tan, tan(x))
GRAPHGATE_UNARY_ELEMENT(Tanh, tanh(x))

}  // namespace graphgate::optimized::element
