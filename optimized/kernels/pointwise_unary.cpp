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

// Bools are int64 then: a power of 2 is taken.
spec::DType square_dtype(const KernelCall& call) {
  const spec::DType dtype = common_dtype(call, kAny);
  return dtype == spec::DType::kBool ? spec::DType::kInt64 : dtype;
}
void infer_square(Inference& call) { make_pointwise(call, square_dtype(call), 1); }
Launch bind_square(const Binding& call) {
  const spec::DType dtype = square_dtype(call);
  return with_compute(dtype, [&]<class C>() {
    std::array<Source<C>, 1> self = {Source<C>(call.arguments()[0], dtype)};
    return launch_sources<C>(call.listener(), call.result(), dtype, std::move(self),
                             element::Square());
  });
}

// A real number is its own conjugate; the functional form gives self itself.
void infer_conj_physical(Inference& call) {
  if (call.written_result(0)) return infer_pointwise<kAny>(call);
  call.make_same(call.tensor("self"));
}
Launch bind_conj_physical(const Binding& call) {
  return copy_launch(call.listener(), call.result(), call.tensor("self"));
}

void infer_frexp(Inference& call) {
  const Tensor& self = call.tensor("self");
  const spec::DType dtype = common_dtype(call, kFloat);
  const Sizes strides = strides_like(self, spec::MemoryFormat::kPreserve);
  call.make(dtype, self.sizes, strides);
  call.make(spec::DType::kInt32, self.sizes, strides);
}
// The exponents first: the mantissas may be written over self.
Launch bind_frexp(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& mantissa = call.result(0);
  const Tensor& exponent = call.result(1);
  return with_real(self.dtype, [&]<class C>() -> Launch {
    std::vector<Launch> launches;
    launches.push_back(launch_tensors<C>(call.listener(), exponent, spec::DType::kInt32,
                                         element::ExponentOfTwo(), self));
    launches.push_back(
        launch_tensors<C>(call.listener(), mantissa, self.dtype, element::Mantissa(), self));
    return in_turn(std::move(launches));
  });
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
      Kernel{"aten.conj_physical", infer_conj_physical, bind_conj_physical, Overlap::kSameGeometry}
          .moves("self"),
      {"aten.frexp", infer_frexp, bind_frexp, Overlap::kSameGeometry},
      {"aten.logit", infer_pointwise<kReal>, bind_logit, Overlap::kSameGeometry},
      {"aten.round", infer_round, bind_round, Overlap::kSameGeometry},
      {"aten.square", infer_square, bind_square, Overlap::kSameGeometry},
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
      pointwise_kernel<kReal>("aten.angle", element::Angle()),
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
      pointwise_kernel<kReal>("aten.sinc", element::Sinc()),
      pointwise_kernel<kReal>("aten.sinh", element::Sinh()),
      pointwise_kernel<kReal>("aten.sqrt", element::Sqrt()),
      pointwise_kernel<kReal>("aten.tan", element::Tan()),
      pointwise_kernel<kReal>("aten.tanh", element::Tanh()),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
