// The gamma function's relatives: lgamma (log |Gamma|), digamma, trigamma, the Hurwitz zeta
// function and the incomplete gamma functions.
//
// Used by: pointwise kernels. IEEE basic operations only, the same bits everywhere. The float
// overloads compute in double and round once: error < 0.501 ulp where the double result has its
// full relative precision.
//
// Error of the double functions, measured against long double (functions_test.cpp):
//   lgamma  x > 0: 0.9 ulp; x < 0: absolute, below 2^-52 of the larger of 1 and |lgamma| (next to a
//           zero of lgamma the relative error grows)
//   digamma x > 0: 1 ulp + 2^-58 (its zero is near 1.46); x < 0: absolute next to poles and zeros
//   trigamma, zeta, igamma, igammac: some ulps; a difference of two numbers where one of the last
//           two is near 0 and is not small by itself
#pragma once

#include "optimized/arithmetic/double_double.h"

namespace graphgate::optimized {

// +infinity at 0 and the negative integers and at both infinities.
[[nodiscard]] double lgamma(double x);
// PyTorch's poles: digamma(+-0) = -+infinity, NaN at the negative integers and -infinity.
[[nodiscard]] double digamma(double x);
// The derivative of digamma. +infinity at 0 and the negative integers, NaN at -infinity.
[[nodiscard]] double trigamma(double x);
// The sum of (q + k)^-s. As PyTorch: infinite for s = 1, NaN below; infinite for q = 0 and negative
// integers, NaN for other negative q unless s is an integer, NaN for infinite q.
[[nodiscard]] double zeta(double s, double q);
// The regularized incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), with PyTorch's
// values at 0 and infinity; NaN for negative arguments.
[[nodiscard]] double igamma(double a, double x);
[[nodiscard]] double igammac(double a, double x);

// sin(pi x) and cos(pi x) up to a common sign.
struct PiAngle {
  Pair sine;
  Pair cosine;
};
[[nodiscard]] PiAngle pi_angle(double x);

inline float lgamma(float x) { return static_cast<float>(lgamma(static_cast<double>(x))); }
inline float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }
inline float trigamma(float x) { return static_cast<float>(trigamma(static_cast<double>(x))); }
inline float zeta(float s, float q) {
  return static_cast<float>(zeta(static_cast<double>(s), static_cast<double>(q)));
}
inline float igamma(float a, float x) {
  return static_cast<float>(igamma(static_cast<double>(a), static_cast<double>(x)));
}
inline float igammac(float a, float x) {
  return static_cast<float>(igammac(static_cast<double>(a), static_cast<double>(x)));
}

}  // namespace graphgate::optimized
