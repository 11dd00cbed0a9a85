// Activation functions. Numbers such as slopes are not rounded to a narrow float: they meet the
// element in the compute type.
#include "optimized/arithmetic/functions.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

constexpr PointwiseSignature kNumber{.operands = 1, .numbers = Numbers::kNotBool};
constexpr PointwiseSignature kFloat{.operands = 1, .numbers = Numbers::kFloating};

template <class C>
C parameter(const Binding& call, std::string_view name) {
  return number_as<C>(call.item(name));
}

// x, or e^x - 1 scaled, below 0.
template <class C>
struct Elu {
  C negative_scale, scale, input_scale;
  C operator()(C x) const { return x < 0 ? expm1(x * input_scale) * negative_scale : x * scale; }
};

Launch bind_elu(const Binding& call) {
  const double alpha = call.real("alpha");
  const double scale = call.real("scale");
  const double input_scale = call.real("input_scale");
  return launch_pointwise<kFloat>(call, [&]<class C>() {
    return Elu<C>{static_cast<C>(alpha) * static_cast<C>(scale), static_cast<C>(scale),
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
    return Elu<C>{static_cast<C>(alpha), C(1), static_cast<C>(1 / alpha)};
  });
}

// x times the normal distribution's function: x/2 erfc(-x / sqrt 2) has no cancellation below 0.
double gelu_exact(double x) {
  constexpr double kInverseSqrt2 = 0x1.6a09e667f3bcdp-1;
  return 0.5 * x * erfc(-x * kInverseSqrt2);
}

// (1 + tanh(u)) / 2 is sigmoid(2u).
double gelu_tanh(double x) {
  constexpr double kTwiceSqrt2OverPi = 0x1.9884533d43651p0;
  return x * sigmoid(kTwiceSqrt2OverPi * (x + 0.044715 * x * x * x));
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
    return launch_pointwise<kFloat>(call, []<class C>() {
      return [](C x) { return static_cast<C>(gelu_tanh(static_cast<double>(x))); };
    });
  }
  return launch_pointwise<kFloat>(call, []<class C>() {
    return [](C x) { return static_cast<C>(gelu_exact(static_cast<double>(x))); };
  });
}

// min(max(x + 3, 0), 6); NaN stays.
template <class C>
C relu6_of_shifted(C x) {
  const C shifted = x + C(3);
  const C low = shifted < 0 ? C(0) : shifted;
  return low > 6 ? C(6) : low;
}

void infer_hardtanh(Inference& call) {
  const Tensor& self = call.tensor("self");
  for (const char* name : {"min_val", "max_val"}) {
    check_number(call.item(name), self.dtype);
    if (self.dtype == spec::DType::kUInt8 && call.real(name) < 0) {
      throw OpError("hardtanh on an unsigned dtype has no negative limits");
    }
  }
  infer_pointwise<kNumber>(call);
}

Launch bind_hardtanh(const Binding& call) {
  const spec::DType dtype = call.tensor("self").dtype;
  return launch_pointwise<kNumber>(call, [&]<class C>() {
    return [low = checked_number<C>(call.item("min_val"), dtype),
            high = checked_number<C>(call.item("max_val"), dtype)](C x) {
      if (low != low || high != high) return low + high;  // NaN
      const C raised = x < low ? low : x;
      return raised > high ? high : raised;
    };
  });
}

Launch bind_leaky_relu(const Binding& call) {
  return launch_pointwise<kFloat>(call, [&]<class C>() {
    return [slope = parameter<C>(call, "negative_slope")](C x) { return x > 0 ? x : x * slope; };
  });
}

Launch bind_softplus(const Binding& call) {
  return launch_pointwise<kFloat>(call, [&]<class C>() {
    return [beta = parameter<C>(call, "beta"), threshold = parameter<C>(call, "threshold")](C x) {
      const C scaled = x * beta;
      return scaled > threshold ? x : log1p_exp(scaled) / beta;
    };
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
    return [limit = Source<C>(call.item("threshold"), dtype).number,
            value = Source<C>(call.item("value"), dtype).number](C x) {
      return x <= limit ? value : x;
    };
  });
}

}  // namespace

std::span<const Kernel> activation_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      {"aten.celu", infer_celu, bind_celu, kOverlap},
      {"aten.elu", infer_pointwise<kFloat>, bind_elu, kOverlap},
      {"aten.gelu", infer_gelu, bind_gelu, kOverlap},
      pointwise_kernel<kFloat>("aten.hardsigmoid",
                               []<class C>(C x) { return relu6_of_shifted(x) / C(6); }),
      pointwise_kernel<kFloat>("aten.hardswish",
                               []<class C>(C x) { return x * relu6_of_shifted(x) / C(6); }),
      {"aten.hardtanh", infer_hardtanh, bind_hardtanh, kOverlap},
      {"aten.leaky_relu", infer_pointwise<kFloat>, bind_leaky_relu, kOverlap},
      pointwise_kernel<kFloat>("aten.mish", [](auto x) { return x * tanh(log1p_exp(x)); }),
      pointwise_kernel<kNumber>("aten.relu", []<class C>(C x) { return x < 0 ? C(0) : x; }),
      pointwise_kernel<kFloat>("aten.silu", [](auto x) { return x * sigmoid(x); }),
      {"aten.softplus", infer_pointwise<kFloat>, bind_softplus, kOverlap},
      {"aten.threshold", infer_threshold, bind_threshold, kOverlap},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
