// Arithmetic of two and three tensors, and powers. Division has a family of its own.
#include <array>

#include "optimized/arithmetic/functions.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/integer_arithmetic.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr PointwiseSignature kSum{.operands = 2};
constexpr PointwiseSignature kDifference{.operands = 2};
constexpr PointwiseSignature kProduct{.operands = 2, .exact_number = true};
constexpr PointwiseSignature kReal{.operands = 2, .numbers = Numbers::kReal};
constexpr PointwiseSignature kFloats{.operands = 2, .numbers = Numbers::kFloating};
constexpr PointwiseSignature kPower{.operands = 2, .numbers = Numbers::kAny};
constexpr PointwiseSignature kHeaviside{.operands = 2, .all_one_dtype = true};
constexpr PointwiseSignature kLerp{
    .operands = 2, .numbers = Numbers::kFloating, .all_one_dtype = true};
constexpr PointwiseSignature kLerpTensor{
    .operands = 3, .numbers = Numbers::kFloating, .all_one_dtype = true};
constexpr PointwiseSignature kAddcmul{.operands = 3, .numbers = Numbers::kNotBool};
constexpr PointwiseSignature kAddcdiv{.operands = 3, .numbers = Numbers::kFloating};

// alpha must be of the result's category, and fit its dtype.
void check_alpha(const KernelCall& call, DType common) {
  const Item& alpha = call.item("alpha");
  if (alpha.as<bool>() && common != DType::kBool) {
    throw OpError("a bool alpha is only for bool results");
  }
  if (alpha.as<double>() && !spec::is_floating_point(common)) {
    throw OpError("for integer results, alpha must not be a floating point number");
  }
  check_number(alpha, common);
}

void infer_add(Inference& call) {
  check_alpha(call, common_dtype(call, kSum));
  infer_pointwise<kSum>(call);
}

bool is_bool(const Item& item) {
  const auto* tensor = item.as<Tensor>();
  return tensor ? tensor->dtype == DType::kBool : item.as<bool>() != nullptr;
}

void infer_subtract(Inference& call) {
  if (is_bool(call.arguments()[0]) || is_bool(call.arguments()[1])) {
    throw OpError("bool tensors are not subtracted: use ^ or logical_xor");
  }
  check_alpha(call, common_dtype(call, kDifference));
  infer_pointwise<kDifference>(call);
}

// at::rsub(self, other) is sub(other, self): strides go by `other` first.
void infer_subtract_from(Inference& call) {
  const auto* other = call.item("other").as<Tensor>();
  if (!other || is_bool(call.item("self")) || is_bool(call.item("other"))) {
    return infer_subtract(call);
  }
  const DType common = common_dtype(call, kDifference);
  check_alpha(call, common);
  const std::array<const Tensor*, 2> inputs = {other, &call.tensor("self")};
  make_over(call, common, inputs);
}

// f(self, other, alpha), with alpha in the common dtype.
template <class F>
Launch bind_scaled(const Binding& call, F f) {
  const DType common = common_dtype(call, kSum);
  return launch_pointwise<kSum>(call, [&]<class C>() {
    return [f, alpha = checked_number<C>(call.item("alpha"), common)](C x, C y) {
      return f(x, y, alpha);
    };
  });
}

Launch bind_add(const Binding& call) {
  return bind_scaled(call, [](auto x, auto y, auto alpha) { return add(x, multiply(alpha, y)); });
}
Launch bind_subtract(const Binding& call) {
  return bind_scaled(call,
                     [](auto x, auto y, auto alpha) { return subtract(x, multiply(alpha, y)); });
}
Launch bind_subtract_from(const Binding& call) {
  return bind_scaled(call,
                     [](auto x, auto y, auto alpha) { return subtract(y, multiply(alpha, x)); });
}

// value * (tensor1 op tensor2) is added to self; value is not rounded to a narrow float.
template <PointwiseSignature kSignature, class F>
Launch bind_with_value(const Binding& call, F f) {
  return launch_pointwise<kSignature>(call, [&]<class C>() {
    return
        [f, value = number_as<C>(call.item("value"))](C x, C y, C z) { return f(x, y, z, value); };
  });
}

void infer_addcmul(Inference& call) {
  check_number(call.item("value"), common_dtype(call, kAddcmul));
  infer_pointwise<kAddcmul>(call);
}
Launch bind_addcmul(const Binding& call) {
  return bind_with_value<kAddcmul>(call, [](auto x, auto y, auto z, auto value) {
    return add(x, multiply(multiply(value, y), z));
  });
}
Launch bind_addcdiv(const Binding& call) {
  return bind_with_value<kAddcdiv>(
      call, [](auto x, auto y, auto z, auto value) { return x + value * y / z; });
}

// From the nearer end, so that both ends are met exactly.
template <class C>
C interpolate(C start, C end, C weight) {
  const C step = end - start;
  return std::fabs(weight) < C(0.5) ? start + weight * step : end - step * (C(1) - weight);
}

void infer_lerp(Inference& call) {
  if (call.is_tensor("weight")) return infer_pointwise<kLerpTensor>(call);
  infer_pointwise<kLerp>(call);
}
Launch bind_lerp(const Binding& call) {
  if (call.is_tensor("weight")) {
    return launch_pointwise<kLerpTensor>(call, []<class C>() {
      return [](C start, C end, C weight) { return interpolate(start, end, weight); };
    });
  }
  return launch_pointwise<kLerp>(call, [&]<class C>() {
    return [weight = number_as<C>(call.item("weight"))](C start, C end) {
      return interpolate(start, end, weight);
    };
  });
}

bool is_negative(const Item& number) {
  const auto* i = number.as<std::int64_t>();
  return i && *i < 0;
}

void infer_power(Inference& call) {
  const DType common = common_dtype(call, kPower);
  const Item& exponent = call.arguments()[1];
  if (!exponent.as<Tensor>()) {
    if (!spec::is_floating_point(common) && is_negative(exponent)) {
      throw OpError("integers to negative integer powers are not allowed");
    }
    check_number(exponent, common);
  } else if (common == DType::kBool) {
    throw OpError("not implemented for bool");
  }
  if (call.arguments()[0].as<Tensor>()) return infer_pointwise<kPower>(call);
  check_written(call, common);  // a number to the power of a tensor: row-major
  call.make(common, exponent.as<Tensor>()->sizes);
}

template <class C>
C power(C x, C y) {
  if constexpr (kIsInteger<C>) {
    return integer_power(x, y);
  } else {
    return pow(x, y);
  }
}

// Exponents of one half are square roots, which differ from powers at -0 and -infinity; not in
// float16, as ATen has it.
template <class C>
Launch root_launch(const Binding& call, DType common, bool is_inverse) {
  std::array<Source<C>, 1> self = {Source<C>(call.arguments()[0], common)};
  if (is_inverse) {
    return launch_sources<C>(call.result(), common, std::move(self), [](C x) { return rsqrt(x); });
  }
  return launch_sources<C>(call.result(), common, std::move(self),
                           [](C x) { return std::sqrt(x); });
}

Launch bind_power(const Binding& call) {
  const DType common = common_dtype(call, kPower);
  const auto* exponent = call.arguments()[1].as<double>();
  if (exponent && std::fabs(*exponent) == 0.5 && common != DType::kFloat16) {
    return with_real(common,
                     [&]<class C>() { return root_launch<C>(call, common, *exponent < 0); });
  }
  return launch_pointwise<kPower>(call,
                                  []<class C>() { return [](C x, C y) { return power(x, y); }; });
}

// log(e^x + e^y); equal infinities are themselves.
template <class C>
C log_add_exp(C x, C y) {
  if (std::isinf(x) && x == y) return x;
  const double high = x > y ? static_cast<double>(x) : static_cast<double>(y);
  const double low = x > y ? static_cast<double>(y) : static_cast<double>(x);
  return static_cast<C>(high + log1p_exp(low - high));
}

template <class C>
C x_log_y(C x, C y) {
  if (std::isnan(y)) return y;
  return x == 0 ? C(0) : x * log(y);
}

}  // namespace

std::span<const Kernel> pointwise_binary_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      {"aten.add", infer_add, bind_add, kOverlap},
      {"aten.addcdiv", infer_pointwise<kAddcdiv>, bind_addcdiv, kOverlap},
      {"aten.addcmul", infer_addcmul, bind_addcmul, kOverlap},
      {"aten.lerp", infer_lerp, bind_lerp, kOverlap},
      {"aten.pow", infer_power, bind_power, kOverlap},
      {"aten.rsub", infer_subtract_from, bind_subtract_from, kOverlap},
      {"aten.sub", infer_subtract, bind_subtract, kOverlap},
      pointwise_kernel<kProduct>("aten.mul", [](auto x, auto y) { return multiply(x, y); }),
      pointwise_kernel<kReal>("aten.atan2", [](auto y, auto x) { return atan2(y, x); }),
      pointwise_kernel<kReal>("aten.copysign", [](auto x, auto y) { return std::copysign(x, y); }),
      pointwise_kernel<kReal>("aten.xlogy", [](auto x, auto y) { return x_log_y(x, y); }),
      pointwise_kernel<kFloats>("aten.hypot", [](auto x, auto y) { return hypot(x, y); }),
      pointwise_kernel<kFloats>("aten.logaddexp", [](auto x, auto y) { return log_add_exp(x, y); }),
      pointwise_kernel<kHeaviside>(
          "aten.heaviside",
          []<class C>(C x, C values) { return x == 0 ? values : static_cast<C>(x > 0); }),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
