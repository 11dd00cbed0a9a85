// Functions of one element: signs, roundings, roots, exponentials, logarithms, trigonometry.
#include "optimized/arithmetic/functions.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/integer_arithmetic.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

constexpr PointwiseSignature kAny{.operands = 1};
constexpr PointwiseSignature kNumber{.operands = 1, .numbers = Numbers::kNotBool};
constexpr PointwiseSignature kFloat{.operands = 1, .numbers = Numbers::kFloating};
constexpr PointwiseSignature kReal{.operands = 1, .numbers = Numbers::kReal};

constexpr double kPi = 0x1.921fb54442d18p1;

template <class C>
C magnitude(C x) {
  if constexpr (kIsInteger<C>) {
    return x < 0 ? negate(x) : x;
  } else {
    return std::fabs(x);
  }
}

// 0 for NaN and zeros, as in ATen.
template <class C>
C sign_of(C x) {
  return static_cast<C>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
}

// Integers are whole already.
template <class C, class F>
C rounded(C x, F f) {
  if constexpr (kIsInteger<C>) {
    return x;
  } else {
    return f(x);
  }
}

// Ties go to the even neighbour.
template <class C>
C round_to_even(C x) {
  return rounded(x, [](auto y) { return std::nearbyint(y); });
}

void infer_round(Inference& call) {
  if (call.has("decimals")) return infer_pointwise<kFloat>(call);
  infer_pointwise<kNumber>(call);
}

Launch bind_round(const Binding& call) {
  const std::int64_t decimals = call.has("decimals") ? call.integer("decimals") : 0;
  if (decimals == 0) {
    return launch_pointwise<kNumber>(
        call, []<class C>() { return [](C x) { return round_to_even(x); }; });
  }
  const double power = pow(10.0, static_cast<double>(decimals < 0 ? -decimals : decimals));
  return launch_pointwise<kFloat>(call, [&]<class C>() {
    return [scale = static_cast<C>(power), is_fraction = decimals > 0](C x) {
      return is_fraction ? std::nearbyint(x * scale) / scale : std::nearbyint(x / scale) * scale;
    };
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
    return [low, high](C x) {
      const C inside = x < low ? low : (x > high ? high : x);
      return log(inside / (C(1) - inside));
    };
  });
}

}  // namespace

std::span<const Kernel> pointwise_unary_kernels() {
  static const Kernel kKernels[] = {
      {"aten.logit", infer_pointwise<kReal>, bind_logit, Overlap::kSameGeometry},
      {"aten.round", infer_round, bind_round, Overlap::kSameGeometry},
      pointwise_kernel<kNumber>("aten.abs", [](auto x) { return magnitude(x); }),
      pointwise_kernel<kNumber>(
          "aten.ceil", []<class C>(C x) { return rounded(x, [](C y) { return std::ceil(y); }); }),
      pointwise_kernel<kNumber>(
          "aten.floor", []<class C>(C x) { return rounded(x, [](C y) { return std::floor(y); }); }),
      pointwise_kernel<kFloat>("aten.frac", [](auto x) { return x - std::trunc(x); }),
      pointwise_kernel<kNumber>("aten.neg", [](auto x) { return negate(x); }),
      pointwise_kernel<kAny>("aten.sgn", [](auto x) { return sign_of(x); }),
      pointwise_kernel<kAny>("aten.sign", [](auto x) { return sign_of(x); }),
      pointwise_kernel<kNumber>(
          "aten.trunc", []<class C>(C x) { return rounded(x, [](C y) { return std::trunc(y); }); }),
      pointwise_kernel<kReal>("aten.acos", [](auto x) { return acos(x); }),
      pointwise_kernel<kReal>("aten.acosh", [](auto x) { return acosh(x); }),
      pointwise_kernel<kReal>("aten.asin", [](auto x) { return asin(x); }),
      pointwise_kernel<kReal>("aten.asinh", [](auto x) { return asinh(x); }),
      pointwise_kernel<kReal>("aten.atan", [](auto x) { return atan(x); }),
      pointwise_kernel<kReal>("aten.atanh", [](auto x) { return atanh(x); }),
      pointwise_kernel<kReal>("aten.cos", [](auto x) { return cos(x); }),
      pointwise_kernel<kReal>("aten.cosh", [](auto x) { return cosh(x); }),
      pointwise_kernel<kReal>("aten.deg2rad",
                              []<class C>(C x) { return x * static_cast<C>(kPi / 180); }),
      pointwise_kernel<kReal>("aten.erf", [](auto x) { return erf(x); }),
      pointwise_kernel<kReal>("aten.erfc", [](auto x) { return erfc(x); }),
      pointwise_kernel<kReal>("aten.exp", [](auto x) { return exp(x); }),
      pointwise_kernel<kReal>("aten.exp2", [](auto x) { return exp2(x); }),
      pointwise_kernel<kReal>("aten.expm1", [](auto x) { return expm1(x); }),
      pointwise_kernel<kReal>("aten.log", [](auto x) { return log(x); }),
      pointwise_kernel<kReal>("aten.log10", [](auto x) { return log10(x); }),
      pointwise_kernel<kReal>("aten.log1p", [](auto x) { return log1p(x); }),
      pointwise_kernel<kReal>("aten.log2", [](auto x) { return log2(x); }),
      pointwise_kernel<kReal>("aten.rad2deg",
                              []<class C>(C x) { return x * static_cast<C>(180 / kPi); }),
      pointwise_kernel<kReal>("aten.reciprocal", []<class C>(C x) { return C(1) / x; }),
      pointwise_kernel<kReal>("aten.rsqrt", [](auto x) { return rsqrt(x); }),
      pointwise_kernel<kReal>("aten.sigmoid", [](auto x) { return sigmoid(x); }),
      pointwise_kernel<kReal>("aten.sin", [](auto x) { return sin(x); }),
      pointwise_kernel<kReal>("aten.sinh", [](auto x) { return sinh(x); }),
      pointwise_kernel<kReal>("aten.sqrt", [](auto x) { return std::sqrt(x); }),
      pointwise_kernel<kReal>("aten.tan", [](auto x) { return tan(x); }),
      pointwise_kernel<kReal>("aten.tanh", [](auto x) { return tanh(x); }),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
