// Special functions of one element and of two.
#pragma once

#include "optimized/arithmetic/formats.h"
#include "optimized/kernels/elements/binary.h"
#include "optimized/kernels/elements/unary.h"

namespace graphgate::optimized::element {

GRAPHGATE_UNARY_ELEMENT(AiryAi, airy_ai(x))
GRAPHGATE_UNARY_ELEMENT(BesselJ0, bessel_j0(x))
GRAPHGATE_UNARY_ELEMENT(BesselJ1, bessel_j1(x))
GRAPHGATE_UNARY_ELEMENT(BesselY0, bessel_y0(x))
GRAPHGATE_UNARY_ELEMENT(BesselY1, bessel_y1(x))
GRAPHGATE_UNARY_ELEMENT(Digamma, digamma(x))
GRAPHGATE_UNARY_ELEMENT(Erfcx, erfcx(x))
GRAPHGATE_UNARY_ELEMENT(ErfInverse, erfinv(x))
GRAPHGATE_UNARY_ELEMENT(LogGamma, lgamma(x))
GRAPHGATE_UNARY_ELEMENT(LogNormal, log_ndtr(x))
GRAPHGATE_UNARY_ELEMENT(ModifiedBesselI0, i0(x))
GRAPHGATE_UNARY_ELEMENT(ModifiedBesselI1, i1(x))
GRAPHGATE_UNARY_ELEMENT(ModifiedBesselK0, k0(x))
GRAPHGATE_UNARY_ELEMENT(ModifiedBesselK1, k1(x))
GRAPHGATE_UNARY_ELEMENT(NormalInverse, ndtri(x))
GRAPHGATE_UNARY_ELEMENT(ScaledBesselI0, i0e(x))
GRAPHGATE_UNARY_ELEMENT(ScaledBesselI1, i1e(x))
GRAPHGATE_UNARY_ELEMENT(ScaledBesselK0, k0e(x))
GRAPHGATE_UNARY_ELEMENT(ScaledBesselK1, k1e(x))
GRAPHGATE_UNARY_ELEMENT(SphericalBesselJ0, spherical_bessel_j0(x))
GRAPHGATE_UNARY_ELEMENT(Trigamma, trigamma(x))

GRAPHGATE_BINARY_ELEMENT(IncompleteGammaLower, igamma(x, y))
GRAPHGATE_BINARY_ELEMENT(IncompleteGammaUpper, igammac(x, y))
GRAPHGATE_BINARY_ELEMENT(HurwitzZeta, zeta(x, y))

// -x log(x), 0 at 0 and -infinity below.
struct Entropy {
  template <class C>
  C operator()(C x) const {
    if (x != x) return x;
    if (x > 0) return -x * log(x);
    return x == 0 ? C(0) : static_cast<C>(-kInfinity);
  }
};

// Of order >= 2: a factorial, in the dtype and with a sign, times zeta of order + 1.
template <class C>
struct Polygamma {
  C factorial, order;
  C operator()(C x) const { return factorial * zeta(order + C(1), x); }
};

// The logarithm of the multivariate gamma function of dimension `count`, less a constant.
template <class C>
struct MultivariateLogGamma {
  C count, constant;
  C operator()(C x) const {
    double sum = static_cast<double>(constant);
    for (double j = 0; j < static_cast<double>(count); j += 1) {
      sum += lgamma(static_cast<double>(x) - 0.5 * j);
    }
    return static_cast<C>(sum);
  }
};

}  // namespace graphgate::optimized::element
