// Activation functions. Numbers such as slopes are not rounded to a narrow float: they meet the
// element in the compute type.
#pragma once

#include <cmath>

#include "optimized/arithmetic/formats.h"
#include "optimized/arithmetic/functions.h"

namespace graphgate::optimized::element {

// x, or e^x - 1 scaled, below 0.
template <class C>
struct Elu {
  C negative_scale, scale, input_scale;
  C operator()(C x) const { return x < 0 ? expm1(x * input_scale) * negative_scale : x * scale; }
};

// x times the normal distribution's function: x/2 erfc(-x / sqrt 2) has no cancellation below 0.
struct GeluExact {
  template <class C>
  C operator()(C x) const {
    constexpr double kInverseSqrt2 = 0x1.6a09e667f3bcdp-1;
    const auto wide = static_cast<double>(x);
    return static_cast<C>(0.5 * wide * erfc(-wide * kInverseSqrt2));
  }
};

// (1 + tanh(u)) / 2 is sigmoid(2u).
struct GeluTanh {
  template <class C>
  C operator()(C x) const {
    constexpr double kTwiceSqrt2OverPi = 0x1.9884533d43651p0;
    const auto wide = static_cast<double>(x);
    return static_cast<C>(wide *
                          sigmoid(kTwiceSqrt2OverPi * (wide + 0.044715 * wide * wide * wide)));
  }
};

// min(max(x + 3, 0), 6); NaN stays.
template <class C>
C relu6_of_shifted(C x) {
  const C shifted = x + C(3);
  const C low = shifted < 0 ? C(0) : shifted;
  return low > 6 ? C(6) : low;
}
struct HardSigmoid {
  template <class C>
  C operator()(C x) const {
    return relu6_of_shifted(x) / C(6);
  }
};
struct HardSwish {
  template <class C>
  C operator()(C x) const {
    return x * relu6_of_shifted(x) / C(6);
  }
};

template <class C>
struct HardTanh {
  C low, high;
  C operator()(C x) const {
    if (low != low || high != high) return low + high;  // NaN
    const C raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};

// x, or 0 within the edges; NaN stays.
template <class C>
struct HardShrink {
  C edge;
  C operator()(C x) const { return x >= -edge && x <= edge ? C(0) : x; }
};
// x moved toward 0 by the edge; NaN stays.
template <class C>
struct SoftShrink {
  C edge;
  C operator()(C x) const {
    if (x > edge) return x - edge;
    if (x < -edge) return x + edge;
    return x == x ? C(0) : x;
  }
};

template <class C>
struct LeakyRelu {
  C slope;
  C operator()(C x) const { return x > 0 ? x : x * slope; }
};

// A weight for each element that is not above 0.
struct WeightedRelu {
  template <class C>
  C operator()(C x, C weight) const {
    return x > 0 ? x : weight * x;
  }
};

// The logarithm of the sigmoid: of large numbers it is 0, and no -0.
template <class C>
C log_sigmoid(C x) {
  return x < 0 ? x - log1p_exp(x) : C(0) - log1p_exp(-x);
}
struct LogSigmoid {
  template <class C>
  C operator()(C x) const {
    return log_sigmoid(x);
  }
};
// What log_sigmoid_forward keeps for the gradient.
struct ExpOfMinusAbsolute {
  template <class C>
  C operator()(C x) const {
    return exp(-std::fabs(x));
  }
};

struct GatedLinear {
  template <class C>
  C operator()(C x, C gate) const {
    return x * sigmoid(gate);
  }
};

struct Mish {
  template <class C>
  C operator()(C x) const {
    return x * tanh(log1p_exp(x));
  }
};

struct Relu {
  template <class C>
  C operator()(C x) const {
    return x < 0 ? C(0) : x;
  }
};

struct Silu {
  template <class C>
  C operator()(C x) const {
    return x * sigmoid(x);
  }
};

// silu(x) * up with the roundings of the nodes that a fusion replaces: `Compute` is the format that
// silu computes in, `Own` that of the tensors.
template <class Own>
struct SiluMul {
  template <class C>
  C operator()(C x, C up) const {
    return rounded_in<Own>(x * sigmoid(x)) * up;
  }
};
template <class Compute, class Own>
struct SigmoidMul {
  template <class C>
  C operator()(C x, C up) const {
    const C silu = rounded_in<Compute>(x * rounded_in<Compute>(sigmoid(x)));
    return rounded_in<Own>(silu) * up;
  }
};
// vLLM's silu_and_mul, which divides.
template <class Own>
struct SiluAndMul {
  template <class C>
  C operator()(C x, C up) const {
    return rounded_in<Own>(x / (C(1) + exp(-x))) * up;
  }
};

template <class C>
struct Softplus {
  C beta, threshold;
  C operator()(C x) const {
    const C scaled = x * beta;
    return scaled > threshold ? x : log1p_exp(scaled) / beta;
  }
};

template <class C>
struct Threshold {
  C limit, value;
  C operator()(C x) const { return x <= limit ? value : x; }
};

}  // namespace graphgate::optimized::element
