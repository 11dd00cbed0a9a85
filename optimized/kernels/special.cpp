// Special functions: gamma and zeta functions, those of the normal distribution, Bessel functions.
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

constexpr PointwiseSignature kOfOne{.operands = 1, .numbers = Numbers::kReal};
constexpr PointwiseSignature kOfTwo{.operands = 2, .numbers = Numbers::kReal};
constexpr PointwiseSignature kOfTwoFloats{.operands = 2, .numbers = Numbers::kFloating};

// polygamma(n, self), but polygamma_(self, n): the tensor stands second in one of them.
spec::DType polygamma_dtype(const KernelCall& call) {
  return to_floating(call.tensor("self").dtype);
}

void infer_polygamma(Inference& call) {
  if (call.integer("n") < 0) throw OpError("polygamma(n, x) takes no negative n");
  const Tensor* self = &call.tensor("self");
  make_over(call, polygamma_dtype(call), {&self, 1});
}

template <class C, class F>
Launch launch_on_self(const Binding& call, spec::DType dtype, F f) {
  std::array<Source<C>, 1> self = {Source<C>(call.tensor("self"), dtype)};
  return launch_sources<C>(call.listener(), call.result(), dtype, std::move(self), std::move(f));
}

Launch bind_polygamma(const Binding& call) {
  const spec::DType dtype = polygamma_dtype(call);
  const auto n = static_cast<double>(call.integer("n"));
  return with_real(dtype, [&]<class C>() {
    if (n == 0) return launch_on_self<C>(call, dtype, element::Digamma());
    if (n == 1) return launch_on_self<C>(call, dtype, element::Trigamma());
    // n! as the dtype holds it: there it may be infinite.
    const auto held = [&](double x) { return Source<C>(Item{x}, dtype).number; };
    const C logarithm = held(lgamma(n + 1));
    const C factorial = held(static_cast<double>(exp(logarithm)));
    const bool is_odd = call.integer("n") % 2 != 0;
    return launch_on_self<C>(
        call, dtype, element::Polygamma<C>{is_odd ? factorial : -factorial, static_cast<C>(n)});
  });
}

void infer_mvlgamma(Inference& call) {
  if (call.integer("p") < 1) throw OpError("mvlgamma: p is 1 at least");
  const spec::DType dtype = common_dtype(call, kOfOne);
  check_written(call, dtype);
  call.make(dtype, call.tensor("self").sizes);
}

Launch bind_mvlgamma(const Binding& call) {
  const auto p = static_cast<double>(call.integer("p"));
  const double constant = 0.25 * p * (p - 1) * log(element::kPi);
  return launch_pointwise<kOfOne>(call, [&]<class C>() {
    const C held = Source<C>(Item{constant}, common_dtype(call, kOfOne)).number;
    return element::MultivariateLogGamma<C>{static_cast<C>(p), held};
  });
}

}  // namespace

std::span<const Kernel> special_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      {"aten.mvlgamma", infer_mvlgamma, bind_mvlgamma, kOverlap},
      {"aten.polygamma", infer_polygamma, bind_polygamma, kOverlap},
      pointwise_kernel<kOfOne>("aten.digamma", element::Digamma()),
      pointwise_kernel<kOfOne>("aten.erfinv", element::ErfInverse()),
      pointwise_kernel<kOfOne>("aten.i0", element::ModifiedBesselI0()),
      pointwise_kernel<kOfTwoFloats>("aten.igamma", element::IncompleteGammaLower()),
      pointwise_kernel<kOfTwoFloats>("aten.igammac", element::IncompleteGammaUpper()),
      pointwise_kernel<kOfOne>("aten.lgamma", element::LogGamma()),
      pointwise_kernel<kOfOne>("aten.special_airy_ai", element::AiryAi()),
      pointwise_kernel<kOfOne>("aten.special_bessel_j0", element::BesselJ0()),
      pointwise_kernel<kOfOne>("aten.special_bessel_j1", element::BesselJ1()),
      pointwise_kernel<kOfOne>("aten.special_bessel_y0", element::BesselY0()),
      pointwise_kernel<kOfOne>("aten.special_bessel_y1", element::BesselY1()),
      pointwise_kernel<kOfOne>("aten.special_entr", element::Entropy()),
      pointwise_kernel<kOfOne>("aten.special_erfcx", element::Erfcx()),
      pointwise_kernel<kOfOne>("aten.special_i0e", element::ScaledBesselI0()),
      pointwise_kernel<kOfOne>("aten.special_i1", element::ModifiedBesselI1()),
      pointwise_kernel<kOfOne>("aten.special_i1e", element::ScaledBesselI1()),
      pointwise_kernel<kOfOne>("aten.special_log_ndtr", element::LogNormal()),
      pointwise_kernel<kOfOne>("aten.special_modified_bessel_i0", element::ModifiedBesselI0()),
      pointwise_kernel<kOfOne>("aten.special_modified_bessel_i1", element::ModifiedBesselI1()),
      pointwise_kernel<kOfOne>("aten.special_modified_bessel_k0", element::ModifiedBesselK0()),
      pointwise_kernel<kOfOne>("aten.special_modified_bessel_k1", element::ModifiedBesselK1()),
      pointwise_kernel<kOfOne>("aten.special_ndtri", element::NormalInverse()),
      pointwise_kernel<kOfOne>("aten.special_scaled_modified_bessel_k0", element::ScaledBesselK0()),
      pointwise_kernel<kOfOne>("aten.special_scaled_modified_bessel_k1", element::ScaledBesselK1()),
      pointwise_kernel<kOfOne>("aten.special_spherical_bessel_j0", element::SphericalBesselJ0()),
      pointwise_kernel<kOfTwo>("aten.special_zeta", element::HurwitzZeta()),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
