// Gradients of activation functions: of the incoming gradient g, and the input or the output.
#pragma once

#include <cmath>

#include "optimized/arithmetic/functions.h"

namespace graphgate::optimized::element {

struct SigmoidGradient {
  template <class C>
  C operator()(C g, C y) const {
    return g * ((C(1) - y) * y);
  }
};

struct TanhGradient {
  template <class C>
  C operator()(C g, C y) const {
    return g * (C(1) - y * y);
  }
};

// The sigmoid of -x is what is left of that of x.
struct SiluGradient {
  template <class C>
  C operator()(C g, C x) const {
    const C s = sigmoid(x);
    return g * (s * (C(1) + x * sigmoid(-x)));
  }
};

// The normal distribution's function, which has no cancellation below 0 as half of an erfc, and x
// times its density.
struct GeluExactGradient {
  template <class C>
  C operator()(C g, C x) const {
    constexpr double kInverseSqrt2 = 0x1.6a09e667f3bcdp-1;
    constexpr double kInverseSqrtTwoPi = 0x1.9884533d43651p-2;
    const auto wide = static_cast<double>(x);
    const double below = 0.5 * erfc(-wide * kInverseSqrt2);
    const double density = exp(wide * wide * -0.5) * kInverseSqrtTwoPi;
    return static_cast<C>(static_cast<double>(g) * (below + wide * density));
  }
};

// In the compute type: where the square of x overflows, there is no number.
struct GeluTanhGradient {
  template <class C>
  C operator()(C g, C x) const {
    constexpr C kSqrt2OverPi = static_cast<C>(0x1.9884533d43651p-1);
    constexpr C kCubic = static_cast<C>(0.044715);
    const C squared = x * x;
    const C t = tanh(kSqrt2OverPi * (x + kCubic * squared * x));
    const C inner = kSqrt2OverPi + C(3) * kSqrt2OverPi * kCubic * squared;
    return g * (C(0.5) * (C(1) + t) + C(0.5) * x * ((C(1) - t * t) * inner));
  }
};

// g, or 0 up to the limit.
template <class C>
struct ThresholdGradient {
  C limit;
  C operator()(C x, C g) const { return x <= limit ? C(0) : g; }
};

template <class C>
struct MaskedScale {
  C scale;
  C operator()(C g, C mask) const { return g * mask * scale; }
};

// Of a softmax y, along whose dimension g y adds up to `sum`.
struct SoftmaxGradient {
  template <class C>
  C operator()(C g, C y, C sum) const {
    return (g - sum) * y;
  }
};
// Of the logarithm y of one, along whose dimension g adds up to `sum`.
struct LogSoftmaxGradient {
  template <class C>
  C operator()(C g, C y, C sum) const {
    return g - exp(y) * sum;
  }
};

}  // namespace graphgate::optimized::element
