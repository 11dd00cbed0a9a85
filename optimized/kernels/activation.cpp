// Activation functions. Numbers such as slopes are not rounded to a narrow float: they meet the
// element in the compute type.
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

constexpr PointwiseSignature kNumber{.operands = 1, .numbers = Numbers::kNotBool};
constexpr PointwiseSignature kHardTanh{
    .operands = 1, .numbers = Numbers::kNotBool, .is_like_self = true};
constexpr PointwiseSignature kFloat{.operands = 1, .numbers = Numbers::kFloating};

template <class C>
C parameter(const Binding& call, std::string_view name) {
  return number_as<C>(call.item(name));
}

Launch bind_elu(const Binding& call) {
  const double alpha = call.real("alpha");
  const double scale = call.real("scale");
  const double input_scale = call.real("input_scale");
  return launch_pointwise<kFloat>(call, [&]<class C>() {
    return element::Elu<C>{static_cast<C>(alpha) * static_cast<C>(scale), static_cast<C>(scale),
                           static_cast<C>(input_scale)};
  });
}

void infer_celu(Inference& call) {
  if (call.real("alpha") == 0) throw OpError("ZeroDivisionError: alpha cannot be 0 for celu");
  infer_pointwise<kFloat>(call);
}

Launch bind_celu(const Binding& call) {
  const double alpha = call.real("alpha");
  return launch_pointwise<kFloat>(call, [&]<class C>() {
    return element::Elu<C>{static_cast<C>(alpha), C(1), static_cast<C>(1 / alpha)};
  });
}

bool wants_tanh(const KernelCall& call) {
  const std::string_view approximate = call.text("approximate");
  if (approximate != "none" && approximate != "tanh") {
    throw OpError("approximate is 'none' or 'tanh', not '" + std::string(approximate) + "'");
  }
  return approximate == "tanh";
}

void infer_gelu(Inference& call) {
  (void)wants_tanh(call);
  infer_pointwise<kFloat>(call);
}

Launch bind_gelu(const Binding& call) {
  if (wants_tanh(call)) {
    return launch_pointwise<kFloat>(call, []<class C>() { return element::GeluTanh(); });
  }
  return launch_pointwise<kFloat>(call, []<class C>() { return element::GeluExact(); });
}

void infer_hardtanh(Inference& call) {
  const Tensor& self = call.tensor("self");
  for (const char* name : {"min_val", "max_val"}) {
    check_number(call.item(name), self.dtype);
    if (self.dtype == spec::DType::kUInt8 && call.real(name) < 0) {
      throw OpError("hardtanh on an unsigned dtype has no negative limits");
    }
  }
  infer_pointwise<kHardTanh>(call);
}

Launch bind_hardtanh(const Binding& call) {
  const spec::DType dtype = call.tensor("self").dtype;
  return launch_pointwise<kHardTanh>(call, [&]<class C>() {
    return element::HardTanh<C>{checked_number<C>(call.item("min_val"), dtype),
                                checked_number<C>(call.item("max_val"), dtype)};
  });
}

Launch bind_leaky_relu(const Binding& call) {
  return launch_pointwise<kFloat>(
      call, [&]<class C>() { return element::LeakyRelu<C>{parameter<C>(call, "negative_slope")}; });
}

Launch bind_softplus(const Binding& call) {
  return launch_pointwise<kFloat>(call, [&]<class C>() {
    return element::Softplus<C>{parameter<C>(call, "beta"), parameter<C>(call, "threshold")};
  });
}

void infer_threshold(Inference& call) {
  for (const char* name : {"threshold", "value"}) {
    const auto dtype = call.tensor("self").dtype;
    if (!spec::is_floating_point(dtype)) check_number(call.item(name), dtype);
  }
  infer_pointwise<kNumber>(call);
}

Launch bind_threshold(const Binding& call) {
  const spec::DType dtype = call.tensor("self").dtype;
  return launch_pointwise<kNumber>(call, [&]<class C>() {
    return element::Threshold<C>{Source<C>(call.item("threshold"), dtype).number,
                                 Source<C>(call.item("value"), dtype).number};
  });
}

}  // namespace

std::span<const Kernel> activation_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      {"aten.celu", infer_celu, bind_celu, kOverlap},
      {"aten.elu", infer_pointwise<kFloat>, bind_elu, kOverlap},
      {"aten.gelu", infer_gelu, bind_gelu, kOverlap},
      pointwise_kernel<kFloat>("aten.hardsigmoid", element::HardSigmoid()),
      pointwise_kernel<kFloat>("aten.hardswish", element::HardSwish()),
      {"aten.hardtanh", infer_hardtanh, bind_hardtanh, kOverlap},
      {"aten.leaky_relu", infer_pointwise<kFloat>, bind_leaky_relu, kOverlap},
      pointwise_kernel<kFloat>("aten.mish", element::Mish()),
      pointwise_kernel<kNumber>("aten.relu", element::Relu()),
      pointwise_kernel<kFloat>("aten.silu", element::Silu()),
      {"aten.softplus", infer_pointwise<kFloat>, bind_softplus, kOverlap},
      {"aten.threshold", infer_threshold, bind_threshold, kOverlap},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
