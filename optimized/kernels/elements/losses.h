// Losses of a prediction x and its target y.
#pragma once

#include <cmath>

#include "optimized/arithmetic/functions.h"
#include "optimized/kernels/elements/activations.h"

namespace graphgate::optimized::element {

struct SquaredError {
  template <class C>
  C operator()(C x, C y) const {
    return (x - y) * (x - y);
  }
};
struct AbsoluteError {
  template <class C>
  C operator()(C x, C y) const {
    return std::fabs(x - y);
  }
};

// A square below `edge`, a line from there on.
template <class C>
struct SmoothError {
  C edge;
  C operator()(C x, C y) const {
    const C distance = std::fabs(x - y);
    return distance < edge ? C(0.5) * distance * distance / edge : distance - C(0.5) * edge;
  }
};
template <class C>
struct HuberError {
  C edge;
  C operator()(C x, C y) const {
    const C distance = std::fabs(x - y);
    return distance <= edge ? C(0.5) * distance * distance : edge * (distance - C(0.5) * edge);
  }
};

// y (log y - x), of x that is a logarithm; y log y is 0 at 0.
struct Divergence {
  template <class C>
  C operator()(C x, C y) const {
    return (y == 0 ? C(0) : y * log(y)) - y * x;
  }
};
// The same of a y that is a logarithm, too.
struct DivergenceOfLogs {
  template <class C>
  C operator()(C x, C y) const {
    return exp(y) * (y - x);
  }
};

// The exponential overflows as it does for who makes a tensor of it.
struct SoftMargin {
  template <class C>
  C operator()(C x, C y) const {
    return log1p(exp(-(x * y)));
  }
};

// Of a probability x; logarithms end at -100.
template <class C>
C cross_entropy(C x, C y) {
  const C log_x = log(x);
  const C log_rest = log1p(-x);
  return (y - C(1)) * (log_rest > C(-100) ? log_rest : C(-100)) -
         y * (log_x > C(-100) ? log_x : C(-100));
}

// Of a logit x; the loss counts `weight` times.
struct LogitCrossEntropy {
  template <class C>
  C operator()(C x, C y, C weight) const {
    return ((C(1) - y) * x - log_sigmoid(x)) * weight;
  }
};
// The same, where positives count `positive` times.
struct WeightedLogitCrossEntropy {
  template <class C>
  C operator()(C x, C y, C weight, C positive) const {
    const C factor = (positive - C(1)) * y + C(1);
    return ((C(1) - y) * x - log_sigmoid(x) * factor) * weight;
  }
};

}  // namespace graphgate::optimized::element
