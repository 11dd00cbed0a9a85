// Functions of one element: signs, roundings, roots, exponentials, logarithms, trigonometry.
#include "optimized/arithmetic/functions.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

constexpr PointwiseSignature kAny{.operands = 1};
constexpr PointwiseSignature kNumber{.operands = 1, .numbers = Numbers::kNotBool};
constexpr PointwiseSignature kFloat{.operands = 1, .numbers = Numbers::kFloating};
constexpr PointwiseSignature kReal{.operands = 1, .numbers = Numbers::kReal};
constexpr PointwiseSignature kAngle{.operands = 1, .numbers = Numbers::kReal, .is_like_self = true};

void infer_round(Inference& call) {
  if (call.has("decimals")) return infer_pointwise<kFloat>(call);
  infer_pointwise<kNumber>(call);
}

Launch bind_round(const Binding& call) {
  const std::int64_t decimals = call.has("decimals") ? call.integer("decimals") : 0;
  if (decimals == 0) {
    return launch_pointwise<kNumber>(call, []<class C>() { return element::RoundToEven(); });
  }
  const double power = pow(10.0, static_cast<double>(decimals < 0 ? -decimals : decimals));
  if (decimals > 0) {
    return launch_pointwise<kFloat>(
        call, [&]<class C>() { return element::RoundFraction<C>{static_cast<C>(power)}; });
  }
  return launch_pointwise<kFloat>(
      call, [&]<class C>() { return element::RoundWhole<C>{static_cast<C>(power)}; });
}

// log(x / (1 - x)), with x first moved into [eps, 1 - eps], ends of its dtype.
Launch bind_logit(const Binding& call) {
  const auto eps = call.optional_real("eps");
  const spec::DType dtype = common_dtype(call, kReal);
  return launch_pointwise<kReal>(call, [&]<class C>() {
    const auto rounded_to_dtype = [&](double x) { return Source<C>(Item{x}, dtype).number; };
    const C low = rounded_to_dtype(eps.value_or(-kInfinity));
    const C high = rounded_to_dtype(eps ? 1 - static_cast<double>(low) : kInfinity);
    return element::Logit<C>{low, high};
  });
}

}  // namespace

std::span<const Kernel> pointwise_unary_kernels() {
  static const Kernel kKernels[] = {
      {"aten.logit", infer_pointwise<kReal>, bind_logit, Overlap::kSameGeometry},
      {"aten.round", infer_round, bind_round, Overlap::kSameGeometry},
      pointwise_kernel<kNumber>("aten.abs", element::Absolute()),
      pointwise_kernel<kNumber>("aten.ceil", element::Ceil()),
      pointwise_kernel<kNumber>("aten.floor", element::Floor()),
      pointwise_kernel<kFloat>("aten.frac", element::Fraction()),
      pointwise_kernel<kNumber>("aten.neg", element::Negate()),
      pointwise_kernel<kAny>("aten.sgn", element::Sign()),
      pointwise_kernel<kAny>("aten.sign", element::Sign()),
      pointwise_kernel<kNumber>("aten.trunc", element::Truncate()),
      pointwise_kernel<kReal>("aten.acos", element::Acos()),
      pointwise_kernel<kReal>("aten.acosh", element::Acosh()),
      pointwise_kernel<kReal>("aten.asin", element::Asin()),
      pointwise_kernel<kReal>("aten.asinh", element::Asinh()),
      pointwise_kernel<kReal>("aten.atan", element::Atan()),
      pointwise_kernel<kReal>("aten.atanh", element::Atanh()),
      pointwise_kernel<kReal>("aten.cos", element::Cos()),
      pointwise_kernel<kReal>("aten.cosh", element::Cosh()),
      pointwise_kernel<kAngle>("aten.deg2rad", element::DegreesToRadians()),
      pointwise_kernel<kReal>("aten.erf", element::Erf()),
      pointwise_kernel<kReal>("aten.erfc", element::Erfc()),
      pointwise_kernel<kReal>("aten.exp", element::Exp()),
      pointwise_kernel<kReal>("aten.exp2", element::Exp2()),
      pointwise_kernel<kReal>("aten.expm1", element::Expm1()),
      pointwise_kernel<kReal>("aten.log", element::Log()),
      pointwise_kernel<kReal>("aten.log10", element::Log10()),
      pointwise_kernel<kReal>("aten.log1p", element::Log1p()),
      pointwise_kernel<kReal>("aten.log2", element::Log2()),
      pointwise_kernel<kAngle>("aten.rad2deg", element::RadiansToDegrees()),
      pointwise_kernel<kReal>("aten.reciprocal", element::Reciprocal()),
      pointwise_kernel<kReal>("aten.rsqrt", element::Rsqrt()),
      pointwise_kernel<kReal>("aten.sigmoid", element::Sigmoid()),
      pointwise_kernel<kReal>("aten.sin", element::Sin()),
      pointwise_kernel<kReal>("aten.sinh", element::Sinh()),
      pointwise_kernel<kReal>("aten.sqrt", element::Sqrt()),
      pointwise_kernel<kReal>("aten.tan", element::Tan()),
      pointwise_kernel<kReal>("aten.tanh", element::Tanh()),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
