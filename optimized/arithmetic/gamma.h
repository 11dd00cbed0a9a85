// lgamma (log |Gamma|), digamma and the modified Bessel function i0.
//
// Who uses it: pointwise kernels. IEEE basic operations only, the same bits everywhere. The float
// overloads compute in double and round once: error < 0.501 ulp where the double result has its
// full relative precision.
//
// Error of the double functions, measured against long double (functions_test.cpp):
//   lgamma  x > 0: 0.9 ulp; x < 0: absolute, below 2^-52 of the larger of 1 and |lgamma| (next to a
//           zero of lgamma the relative error grows)
//   digamma x > 0: 1 ulp + 2^-58 (its zero is near 1.46); x < 0: absolute next to poles and zeros
//   i0      0.6 ulp
#pragma once

namespace graphgate::optimized {

// +infinity at 0 and the negative integers and at both infinities.
[[nodiscard]] double lgamma(double x);
// PyTorch's poles: digamma(+-0) = -+infinity, NaN at the negative integers and -infinity.
[[nodiscard]] double digamma(double x);
// I_0, even; +infinity beyond about 713.
[[nodiscard]] double i0(double x);

inline float lgamma(float x) { return static_cast<float>(lgamma(static_cast<double>(x))); }
inline float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }
inline float i0(float x) { return static_cast<float>(i0(static_cast<double>(x))); }

}  // namespace graphgate::optimized
