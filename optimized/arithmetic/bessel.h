// Bessel functions of orders 0 and 1, the Airy function Ai, and the scaled modified ones.
//
// Used by: pointwise kernels. IEEE basic operations only, the same bits everywhere. Power
// series are summed in double-double, so that what cancels keeps its last bits; further out stand
// the asymptotic series, and between them, for K, the trapezoidal rule on an integral of positive
// numbers. The float overloads compute in double and round once.
//
// Error of the double functions, measured against long double (functions_special_test.cpp): I and K
// a few ulps; J, Y and Ai absolutely, 4 units of 2^-53 times their amplitude. At infinity J, Y, I
// (but for the scaled ones) and Ai are NaN, as PyTorch's are.
#pragma once

namespace graphgate::optimized {

// I_0 and I_1, and the same times e^-|x|.
[[nodiscard]] double i0(double x);
[[nodiscard]] double i0e(double x);
[[nodiscard]] double i1(double x);
[[nodiscard]] double i1e(double x);
// K_0 and K_1, and the same times e^x: infinite at 0, NaN below.
[[nodiscard]] double k0(double x);
[[nodiscard]] double k0e(double x);
[[nodiscard]] double k1(double x);
[[nodiscard]] double k1e(double x);
[[nodiscard]] double bessel_j0(double x);
[[nodiscard]] double bessel_j1(double x);
// -infinity at 0, NaN below.
[[nodiscard]] double bessel_y0(double x);
[[nodiscard]] double bessel_y1(double x);
// 0 beyond 103.892, as PyTorch's.
[[nodiscard]] double airy_ai(double x);
// sin(x) / x; 0 at infinity.
[[nodiscard]] double spherical_bessel_j0(double x);

inline float i0(float x) { return static_cast<float>(i0(static_cast<double>(x))); }
inline float i0e(float x) { return static_cast<float>(i0e(static_cast<double>(x))); }
inline float i1(float x) { return static_cast<float>(i1(static_cast<double>(x))); }
inline float i1e(float x) { return static_cast<float>(i1e(static_cast<double>(x))); }
inline float k0(float x) { return static_cast<float>(k0(static_cast<double>(x))); }
inline float k0e(float x) { return static_cast<float>(k0e(static_cast<double>(x))); }
inline float k1(float x) { return static_cast<float>(k1(static_cast<double>(x))); }
inline float k1e(float x) { return static_cast<float>(k1e(static_cast<double>(x))); }
inline float bessel_j0(float x) { return static_cast<float>(bessel_j0(static_cast<double>(x))); }
inline float bessel_j1(float x) { return static_cast<float>(bessel_j1(static_cast<double>(x))); }
inline float bessel_y0(float x) { return static_cast<float>(bessel_y0(static_cast<double>(x))); }
inline float bessel_y1(float x) { return static_cast<float>(bessel_y1(static_cast<double>(x))); }
inline float airy_ai(float x) { return static_cast<float>(airy_ai(static_cast<double>(x))); }
inline float spherical_bessel_j0(float x) {
  return static_cast<float>(spherical_bessel_j0(static_cast<double>(x)));
}

}  // namespace graphgate::optimized
