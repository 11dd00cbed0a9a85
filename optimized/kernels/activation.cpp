// Activation functions. Numbers such as slopes are not rounded to a narrow float: they meet the
// element in the compute type.
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/selection.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/torch_release.h"

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
  const spec::DType dtype = call.tensor("self").dtype;
  constexpr spec::TorchRelease kLastWithoutNegative{2, 14};
  const bool is_negative = call.real("min_val") < 0 || call.real("max_val") < 0;
  if (dtype == spec::DType::kUInt8 && is_negative && torch_release() <= kLastWithoutNegative) {
    throw OpError("hardtanh on an unsigned dtype has no negative limits");
  }
  check_number(integer_bound(call.item("min_val"), dtype, BoundSide::kBelow), dtype);
  check_number(integer_bound(call.item("max_val"), dtype, BoundSide::kAbove), dtype);
  if (!spec::is_floating_point(dtype) && call.real("min_val") > call.real("max_val")) {
    throw OpError("hardtanh: the lower limit is above the upper one");
  }
  infer_pointwise<kHardTanh>(call);
}

Launch bind_hardtanh(const Binding& call) {
  const spec::DType dtype = call.tensor("self").dtype;
  const Item low = integer_bound(call.item("min_val"), dtype, BoundSide::kBelow);
  const Item high = integer_bound(call.item("max_val"), dtype, BoundSide::kAbove);
  return launch_pointwise<kHardTanh>(call, [&]<class C>() {
    return element::HardTanh<C>{checked_number<C>(low, dtype), checked_number<C>(high, dtype)};
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

// The edge is an element of the dtype.
template <template <class> class Shrink>
Launch bind_shrink(const Binding& call) {
  const spec::DType dtype = call.tensor("self").dtype;
  return launch_pointwise<kFloat>(
      call, [&]<class C>() { return Shrink<C>{checked_number<C>(call.item("lambd"), dtype)}; });
}

void infer_hardshrink(Inference& call) {
  check_number(call.item("lambd"), call.tensor("self").dtype);
  infer_pointwise<kFloat>(call);
}

void infer_softshrink(Inference& call) {
  check_number(call.item("lambd"), call.tensor("self").dtype);
  if (!(call.real("lambd") >= 0)) throw OpError("softshrink moves by no negative number");
  infer_pointwise<kFloat>(call);
}

// Row-major, whatever self is.
void infer_log_sigmoid(Inference& call) {
  const Tensor& self = call.tensor("self");
  (void)common_dtype(call, kFloat);
  call.make(self.dtype, self.sizes);
}
void infer_log_sigmoid_forward(Inference& call) {
  infer_log_sigmoid(call);
  call.make(call.tensor("self").dtype, call.tensor("self").sizes);
}

template <bool has_buffer>
Launch bind_log_sigmoid(const Binding& call) {
  const Tensor& self = call.tensor("self");
  return with_real(self.dtype, [&]<class C>() {
    Launch result =
        launch_tensors<C>(call.listener(), call.result(), self.dtype, element::LogSigmoid(), self);
    if (!has_buffer) return result;
    return in_turn(
        {std::move(result), launch_tensors<C>(call.listener(), call.result(1), self.dtype,
                                              element::ExpOfMinusAbsolute(), self)});
  });
}

// The two halves along `dim`: what is gated, and the gates.
std::array<Tensor, 2> halves_of(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  if (self.rank() == 0) throw OpError("glu wants a dimension to halve");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const std::int64_t size = self.size(dim);
  if (size % 2 != 0) {
    throw OpError("glu halves dimension " + std::to_string(dim) + ", whose size is " +
                  std::to_string(size));
  }
  return {narrowed(self, dim, 0, size / 2), narrowed(self, dim, size / 2, size / 2)};
}

void infer_glu(Inference& call) {
  const std::array<Tensor, 2> halves = halves_of(call);
  const std::array<const Tensor*, 2> inputs = {&halves[0], &halves[1]};
  make_over(call, common_dtype(call, kFloat), inputs);
}

Launch bind_glu(const Binding& call) {
  const auto [gated, gate] = halves_of(call);
  return with_real(gated.dtype, [&, &gated = gated, &gate = gate]<class C>() {
    return launch_tensors<C>(call.listener(), call.result(), gated.dtype, element::GatedLinear(),
                             gated, gate);
  });
}

// In the layout of self, where the result has its sizes.
constexpr PointwiseSignature kWeighted{
    .operands = 2, .numbers = Numbers::kFloating, .all_one_dtype = true};
void infer_prelu(Inference& call) {
  const Tensor& self = call.tensor("self");
  const spec::DType common = common_dtype(call, kWeighted);
  if (broadcast_sizes(self.sizes, call.tensor("weight").sizes) == self.sizes) {
    return make_like_self(call, common);
  }
  make_pointwise(call, common, 2);
}

// One weight, or one for each channel, as a tensor that broadcasts to self.
Tensor channel_weights(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  Tensor weight = call.tensor("weight");
  const std::int64_t channels = self.rank() > 1 ? self.sizes[1] : 1;
  const bool is_one = weight.count() == 1;
  if (weight.rank() > 1 || (!is_one && (self.rank() == 0 || weight.count() != channels))) {
    throw OpError("prelu has one weight, or one for each of " + std::to_string(channels) +
                  " channels");
  }
  const std::int64_t stride = is_one ? 0 : weight.strides[0];
  weight.sizes.assign(self.sizes.size(), 1);
  weight.strides.assign(self.sizes.size(), 0);
  if (!is_one && self.rank() > 1) {
    weight.sizes[1] = channels;
    weight.strides[1] = stride;
  }
  return weight;
}

void infer_channel_prelu(Inference& call) {
  const spec::DType common = common_dtype(call, kWeighted);
  (void)channel_weights(call);
  make_like_self(call, common);
}

Launch bind_channel_prelu(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor weight = channel_weights(call);
  return with_real(self.dtype, [&]<class C>() {
    return launch_tensors<C>(call.listener(), call.result(), self.dtype, element::WeightedRelu(),
                             self, weight);
  });
}

Launch bind_prelu(const Binding& call) {
  return launch_pointwise<kWeighted>(call, []<class C>() { return element::WeightedRelu(); });
}

}  // namespace

std::span<const Kernel> activation_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      {"aten._prelu_kernel", infer_prelu, bind_prelu},
      {"aten.celu", infer_celu, bind_celu, kOverlap},
      {"aten.elu", infer_pointwise<kFloat>, bind_elu, kOverlap},
      {"aten.gelu", infer_gelu, bind_gelu, kOverlap},
      {"aten.glu", infer_glu, bind_glu},
      {"aten.hardshrink", infer_hardshrink, bind_shrink<element::HardShrink>, kOverlap},
      pointwise_kernel<kFloat>("aten.hardsigmoid", element::HardSigmoid()),
      pointwise_kernel<kFloat>("aten.hardswish", element::HardSwish()),
      {"aten.hardtanh", infer_hardtanh, bind_hardtanh, kOverlap},
      {"aten.leaky_relu", infer_pointwise<kFloat>, bind_leaky_relu, kOverlap},
      {"aten.log_sigmoid", infer_log_sigmoid, bind_log_sigmoid<false>},
      {"aten.log_sigmoid_forward", infer_log_sigmoid_forward, bind_log_sigmoid<true>},
      pointwise_kernel<kFloat>("aten.mish", element::Mish()),
      pointwise_kernel<kNumber>("aten.relu", element::Relu()),
      {"aten.prelu", infer_channel_prelu, bind_channel_prelu},
      pointwise_kernel<kFloat>("aten.silu", element::Silu()),
      {"aten.softplus", infer_pointwise<kFloat>, bind_softplus, kOverlap},
      {"aten.softshrink", infer_softshrink, bind_shrink<element::SoftShrink>, kOverlap},
      {"aten.threshold", infer_threshold, bind_threshold, kOverlap},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
