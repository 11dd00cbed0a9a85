// Orthogonal polynomials: their degree is an operand as any other.
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

constexpr PointwiseSignature kOfDegree{.operands = 2, .numbers = Numbers::kReal};

// Physicists' with scale 2, probabilists' with 1.
template <int scale>
Launch bind_hermite(const Binding& call) {
  return launch_pointwise<kOfDegree>(
      call, []<class C>() { return element::Hermite<C>{static_cast<C>(scale)}; });
}

}  // namespace

std::span<const Kernel> orthogonal_polynomial_kernels() {
  using element::Chebyshev;
  using element::ShiftedChebyshev;
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      pointwise_kernel<kOfDegree>("aten.special_chebyshev_polynomial_t",
                                  Chebyshev<element::ChebyshevT>()),
      pointwise_kernel<kOfDegree>("aten.special_chebyshev_polynomial_u",
                                  Chebyshev<element::ChebyshevU>()),
      pointwise_kernel<kOfDegree>("aten.special_chebyshev_polynomial_v",
                                  Chebyshev<element::ChebyshevV>()),
      pointwise_kernel<kOfDegree>("aten.special_chebyshev_polynomial_w",
                                  Chebyshev<element::ChebyshevW>()),
      {"aten.special_hermite_polynomial_h", infer_pointwise<kOfDegree>, bind_hermite<2>, kOverlap},
      {"aten.special_hermite_polynomial_he", infer_pointwise<kOfDegree>, bind_hermite<1>, kOverlap},
      pointwise_kernel<kOfDegree>("aten.special_laguerre_polynomial_l", element::Laguerre()),
      pointwise_kernel<kOfDegree>("aten.special_legendre_polynomial_p", element::Legendre()),
      pointwise_kernel<kOfDegree>("aten.special_shifted_chebyshev_polynomial_t",
                                  ShiftedChebyshev<element::ChebyshevT>()),
      pointwise_kernel<kOfDegree>("aten.special_shifted_chebyshev_polynomial_u",
                                  ShiftedChebyshev<element::ChebyshevU>()),
      pointwise_kernel<kOfDegree>("aten.special_shifted_chebyshev_polynomial_v",
                                  ShiftedChebyshev<element::ChebyshevV>()),
      pointwise_kernel<kOfDegree>("aten.special_shifted_chebyshev_polynomial_w",
                                  ShiftedChebyshev<element::ChebyshevW>()),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
