// Arithmetic of two and three tensors, and powers. Division has a family of its own.
#include <array>
#include <limits>

#include "optimized/arithmetic/format_dispatch.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr PointwiseSignature kSum{.operands = 2};
constexpr PointwiseSignature kDifference{.operands = 2};
constexpr PointwiseSignature kProduct{.operands = 2, .exact_number = true};
constexpr PointwiseSignature kRealPair{.operands = 2, .numbers = Numbers::kReal};
constexpr PointwiseSignature kFloats{.operands = 2, .numbers = Numbers::kFloating};
constexpr PointwiseSignature kEitherNumber{.operands = 2};
constexpr PointwiseSignature kIntegers{.operands = 2, .numbers = Numbers::kIntegral};
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

// Of self, other and alpha, with alpha in the common dtype.
template <template <class> class Scaled>
Launch bind_scaled(const Binding& call) {
  const DType common = common_dtype(call, kSum);
  return launch_pointwise<kSum>(
      call, [&]<class C>() { return Scaled<C>{checked_number<C>(call.item("alpha"), common)}; });
}

// Of self, two tensors and value.
template <PointwiseSignature kSignature, template <class> class WithValue>
Launch bind_with_value(const Binding& call) {
  return launch_pointwise<kSignature>(
      call, [&]<class C>() { return WithValue<C>{number_as<C>(call.item("value"))}; });
}

void infer_addcmul(Inference& call) {
  check_number(call.item("value"), common_dtype(call, kAddcmul));
  infer_pointwise<kAddcmul>(call);
}

void infer_lerp(Inference& call) {
  if (call.is_tensor("weight")) return infer_pointwise<kLerpTensor>(call);
  infer_pointwise<kLerp>(call);
}
Launch bind_lerp(const Binding& call) {
  if (call.is_tensor("weight")) {
    return launch_pointwise<kLerpTensor>(call, []<class C>() { return element::Interpolate(); });
  }
  return launch_pointwise<kLerp>(call, [&]<class C>() {
    return element::InterpolateBy<C>{number_as<C>(call.item("weight"))};
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
  // A number as the exponent is no operand of ATen's TensorIterator.
  if (!exponent.as<Tensor>()) return make_pointwise(call, common, 1);
  if (call.arguments()[0].as<Tensor>()) return infer_pointwise<kPower>(call);
  check_written(call, common);  // a number to the power of a tensor: row-major
  call.make(common, exponent.as<Tensor>()->sizes);
}

// Exponents of one half are square roots, which differ from powers at -0 and -infinity; not in
// float16, as ATen has it.
template <class C>
Launch root_launch(const Binding& call, DType common, bool is_inverse) {
  std::array<Source<C>, 1> self = {Source<C>(call.arguments()[0], common)};
  if (is_inverse) {
    return launch_sources<C>(call.listener(), call.result(), common, std::move(self),
                             element::Rsqrt());
  }
  return launch_sources<C>(call.listener(), call.result(), common, std::move(self),
                           element::Sqrt());
}

Launch bind_power(const Binding& call) {
  const DType common = common_dtype(call, kPower);
  const auto* exponent = call.arguments()[1].as<double>();
  if (exponent && std::fabs(*exponent) == 0.5 && common != DType::kFloat16) {
    return with_real(common,
                     [&]<class C>() { return root_launch<C>(call, common, *exponent < 0); });
  }
  return launch_pointwise<kPower>(call, []<class C>() { return element::Power(); });
}

// In float64, whatever the operands are.
void infer_float_power(Inference& call) {
  const auto* exponent = call.arguments()[1].as<Tensor>();
  if (!exponent) return make_pointwise(call, DType::kFloat64, 1);
  if (!call.arguments()[0].as<Tensor>()) {  // of a number: row-major, as pow's
    check_written(call, DType::kFloat64);
    return call.make(DType::kFloat64, exponent->sizes);
  }
  make_pointwise(call, DType::kFloat64, 2);
}
Launch bind_float_power(const Binding& call) {
  const Item& exponent = call.arguments()[1];
  const Tensor* tensor = exponent.as<Tensor>();
  const double value = tensor ? 0 : number_as<double>(exponent);
  if (std::fabs(value) == 0.5) return root_launch<double>(call, DType::kFloat64, value < 0);
  std::array<Source<double>, 2> sources = {Source<double>(call.arguments()[0], DType::kFloat64),
                                           Source<double>(exponent, DType::kFloat64)};
  return launch_sources<double>(call.listener(), call.result(), DType::kFloat64, std::move(sources),
                                element::Power());
}

// Integers, bool not; with the least number of their dtype.
void infer_divisor(Inference& call) {
  if (common_dtype(call, kIntegers) == DType::kBool) throw OpError("not implemented for bool");
  infer_pointwise<kIntegers>(call);
}
template <template <class> class OfIntegers>
Launch bind_divisor(const Binding& call) {
  const DType dtype = common_dtype(call, kIntegers);
  const std::int64_t bits = 8 * spec::item_size_bytes(dtype);
  const std::int64_t least =
      dtype == DType::kUInt8 ? 0 : std::numeric_limits<std::int64_t>::min() >> (64 - bits);
  return launch_pointwise<kIntegers>(call, [least]<class C>() { return OfIntegers<C>{least}; });
}

// self * 2^other. Of a floating self and an integer, which is cut to 32 bits, it is one step. Else
// the power is a row-major tensor of its own dtype, float32 of integers, and the product is mul's.
bool scales_by_integers(const KernelCall& call) {
  return spec::is_floating_point(call.tensor("self").dtype) &&
         !spec::is_floating_point(call.tensor("other").dtype);
}
struct LdExp {
  Tensor power;  // without elements
  DType common = DType::kFloat32;
};
LdExp ldexp_of(const KernelCall& call) {
  LdExp out;
  out.power.dtype = to_floating(call.tensor("other").dtype);
  out.power.sizes = call.tensor("other").sizes;
  out.power.strides = spec::contiguous_strides(out.power.sizes);
  const Item self{call.tensor("self")};
  const Item power{out.power};
  out.common = result_type({&self, &power, nullptr});
  return out;
}
void infer_ldexp(Inference& call) {
  if (scales_by_integers(call)) {
    if (call.tensor("other").dtype == DType::kBool) throw OpError("not implemented for bool");
    return infer_pointwise<kFloats>(call);
  }
  const LdExp ldexp = ldexp_of(call);
  const std::array<const Tensor*, 2> inputs = {&call.tensor("self"), &ldexp.power};
  make_over(call, ldexp.common, inputs);
}
Launch bind_ldexp(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& other = call.tensor("other");
  if (scales_by_integers(call)) {
    const DType dtype = common_dtype(call, kFloats);
    return with_real(dtype, [&]<class C>() {
      std::array<Source<C>, 2> sources = {Source<C>(self, dtype), Source<C>(other, DType::kInt32)};
      return launch_sources<C>(call.listener(), call.result(), dtype, std::move(sources),
                               element::ScaleByTwo());
    });
  }
  const LdExp ldexp = ldexp_of(call);
  const DType dtype = ldexp.power.dtype;
  const DType common = ldexp.common;
  const bool is_double = dtype == DType::kFloat64 || common == DType::kFloat64;
  // A power of one element keeps the compute type's digits, as mul has it.
  const DType compute = common == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  return with_real(is_double ? DType::kFloat64 : DType::kFloat32, [&]<class C>() {
    return with_float_format(dtype, [&]<class Power>() {
      return with_float_format(other.count() == 1 ? compute : common, [&]<class Common>() {
        std::array<Source<C>, 2> sources = {Source<C>(self, common), Source<C>(other, dtype)};
        return launch_sources<C>(call.listener(), call.result(), common, std::move(sources),
                                 element::ScaleByPower<Power, Common>());
      });
    });
  });
}

Launch bind_nextafter(const Binding& call) {
  return with_float_format(common_dtype(call, kFloats), [&]<class Format>() {
    using C = NumberOf<Format>;
    const DType dtype = common_dtype(call, kFloats);
    std::array<Source<C>, 2> sources = {Source<C>(call.arguments()[0], dtype),
                                        Source<C>(call.arguments()[1], dtype)};
    return launch_sources<C>(call.listener(), call.result(), dtype, std::move(sources),
                             element::NextAfter<Format>());
  });
}

}  // namespace

std::span<const Kernel> pointwise_binary_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      Kernel{"aten.add", infer_add, bind_scaled<element::AddScaled>, kOverlap}.row_numbers(),
      {"aten.addcdiv", infer_pointwise<kAddcdiv>, bind_with_value<kAddcdiv, element::AddQuotient>,
       kOverlap},
      {"aten.addcmul", infer_addcmul, bind_with_value<kAddcmul, element::AddProduct>, kOverlap},
      {"aten.float_power", infer_float_power, bind_float_power, kOverlap},
      {"aten.gcd", infer_divisor, bind_divisor<element::CommonDivisor>, kOverlap},
      {"aten.lcm", infer_divisor, bind_divisor<element::CommonMultiple>, kOverlap},
      {"aten.ldexp", infer_ldexp, bind_ldexp, kOverlap},
      {"aten.lerp", infer_lerp, bind_lerp, kOverlap},
      {"aten.nextafter", infer_pointwise<kFloats>, bind_nextafter, kOverlap},
      {"aten.pow", infer_power, bind_power, kOverlap},
      {"aten.rsub", infer_subtract_from, bind_scaled<element::SubtractScaledFrom>, kOverlap},
      {"aten.sub", infer_subtract, bind_scaled<element::SubtractScaled>, kOverlap},
      pointwise_kernel<kProduct>("aten.mul", element::Multiply()),
      pointwise_kernel<kRealPair>("aten.atan2", element::Atan2()),
      pointwise_kernel<kRealPair>("aten.copysign", element::CopySign()),
      pointwise_kernel<kRealPair>("aten.special_xlog1py", element::XLog1PY()),
      pointwise_kernel<kRealPair>("aten.xlogy", element::XLogY()),
      pointwise_kernel<kFloats>("aten.hypot", element::Hypot()),
      pointwise_kernel<kFloats>("aten.logaddexp", element::LogAddExp()),
      pointwise_kernel<kFloats>("aten.logaddexp2", element::LogAddExp2()),
      pointwise_kernel<kEitherNumber>("aten.fmax", element::LargerNumber()),
      pointwise_kernel<kEitherNumber>("aten.fmin", element::SmallerNumber()),
      pointwise_kernel<kHeaviside>("aten.heaviside", element::Heaviside()),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
