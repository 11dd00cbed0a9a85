// Activation functions. All but relu, hardtanh and threshold take floating dtypes only. ATen
// computes 16-bit dtypes in float32, and holds the parameters there too, except where a body says
// otherwise.
#include <array>
#include <numbers>

#include "reference/movement.h"
#include "reference/number/flushed.h"
#include "reference/number/left_open.h"
#include "reference/ops/limits.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

// f over the floating tensor `self`.
template <class F>
void activate(Call& call, F f) {
  require_floating(call, call.tensor("self")->dtype);
  pointwise_real(call, {"self"}, f);
}

// A parameter, as the kernel holds it.
double parameter(const Call& call, std::string_view name) {
  return number<double>(call.datum(name), call.tensor("self")->dtype);
}

// A constant, as the kernel holds it.
double constant(const Call& call, double x) {
  return round_to_dtype(x, compute_dtype(call.tensor("self")->dtype));
}

// x brought into [low, high]; NaN passes through.
template <class N>
N clip(const N& x, const N& low, const N& high) {
  const N raised = select(less(x, low), low, x);
  return select(less(high, raised), high, raised);
}

void silu(Call& call) {
  const spec::DType compute = compute_dtype(call.tensor("self")->dtype);
  activate(call, [compute](auto x) { return divide_by_logistic(x, x, compute); });
}

void mish(Call& call) {
  activate(call, [](auto x) { return x * tanh(log1p(exp(x))); });
}

// x/2 (1 + erf(x/sqrt(2))), which is oneDNN's in bfloat16, or its approximation by tanh (Hendrycks
// and Gimpel, "Gaussian Error Linear Units").
void gelu(Call& call) {
  const std::string_view approximate = call.text("approximate");
  if (approximate == "none") {
    const double factor = constant(call, 1 / std::numbers::sqrt2);
    const spec::DType dtype = call.tensor("self")->dtype;
    return activate(call, [factor, dtype]<class N>(const N& x) {
      return perhaps_flushed(x * 0.5 * (1.0 + short_erf(x * N(factor))), dtype);
    });
  }
  if (approximate != "tanh") throw OpError("approximate argument must be either none or tanh");
  const double beta = constant(call, std::numbers::sqrt2 * (2 / std::sqrt(std::numbers::pi)) * 0.5);
  const double kappa = constant(call, 0.044715);
  activate(call, [=]<class N>(const N& x) {
    const N inner = N(beta) * (x + N(kappa) * (x * x * x));
    return 0.5 * x * (1.0 + tanh(inner));
  });
}

// scale * (x, or alpha * (exp(input_scale * x) - 1) below 0).
void elu_with(Call& call, double below, double above, double inside) {
  activate(call, [=]<class N>(const N& x) {
    return select(less(x, N(0)), expm1(x * N(inside)) * N(below), x * N(above));
  });
}
void elu(Call& call) {
  const double scale = parameter(call, "scale");
  const double below = constant(call, parameter(call, "alpha") * scale);
  elu_with(call, below, scale, parameter(call, "input_scale"));
}
void celu(Call& call) {
  const double alpha = parameter(call, "alpha");
  if (alpha == 0) throw OpError("ZeroDivisionError: alpha cannot be 0 for CELU");
  elu_with(call, alpha, 1, constant(call, 1 / call.real("alpha")));
}

void leaky_relu(Call& call) {
  const double slope = parameter(call, "negative_slope");
  activate(call, [slope]<class N>(const N& x) { return select(less(N(0), x), x, x * N(slope)); });
}

void softplus(Call& call) {
  const double beta = parameter(call, "beta");
  const double threshold = parameter(call, "threshold");
  activate(call, [=]<class N>(const N& x) {
    const N scaled = x * N(beta);
    const N exponential = exp(scaled);
    N out = log1p(exponential) / N(beta);
    // A kernel that takes the logarithm without that exponential has a number there.
    if (!is_finite(exponential) && is_finite(scaled)) out = left_open(out);
    return select(less(N(threshold), scaled), x, out);
  });
}

void hardsigmoid(Call& call) {
  activate(call, []<class N>(const N& x) { return clip(x + 3.0, N(0), N(6)) / 6.0; });
}
void hardswish(Call& call) {
  const spec::DType compute = compute_dtype(call.tensor("self")->dtype);
  activate(call, [compute]<class N>(const N& x) {
    return held_in(x * clip(x + 3.0, N(0), N(6)), compute) / 6.0;  // the product may overflow
  });
}

// -0 stays, or becomes 0: CUDA's kernel gives that.
void relu(Call& call) {
  refuse_bool(call, call.tensor("self")->dtype);
  pointwise(call, {"self"}, []<class N>(const N& x) {
    return covering(select(less(x, N(0)), N(0), x), maximum(x, N(0)));
  });
}

constexpr VersionFact kNegativeForBytes{"hardtanh: bounds of bytes may be negative", {2, 15}};

void hardtanh(Call& call) {
  const spec::DType dtype = call.tensor("self")->dtype;
  refuse_bool(call, dtype);
  const bool is_negative = call.real("min_val") < 0 || call.real("max_val") < 0;
  if (dtype == spec::DType::kUInt8 && is_negative && !holds(kNegativeForBytes)) {
    throw OpError("cannot do hardtanh on an unsigned type with negative limits");
  }
  if (!spec::is_floating_point(dtype) && call.real("min_val") > call.real("max_val")) {
    throw OpError("hardtanh: min_val cannot be greater than max_val");
  }
  const auto clipped = [&]<class N>(const N& x) {
    const N least = bound_number<N>(call, "min_val", dtype);
    const N most = bound_number<N>(call, "max_val", dtype);
    const bool is_void = (is_nan(least) | is_nan(most)).value != 0;
    return is_void ? least + most : clip(x, least, most);
  };
  pointwise(call, {"self"}, clipped, /*like_self=*/true);
}

void threshold(Call& call) {
  const spec::DType dtype = call.tensor("self")->dtype;
  pointwise(call, {"self"}, [&]<class N>(const N& x) {
    const N limit = checked_number<N>(call.datum("threshold"), dtype);
    const Whole below = less(x, limit) | equal(x, limit);
    return select(below, checked_number<N>(call.datum("value"), dtype), x);
  });
}

// x, or 0 within lambd, which the kernel holds in the dtype itself.
void hardshrink(Call& call) {
  const double edge = round_to_dtype(call.real("lambd"), call.tensor("self")->dtype);
  activate(call, [edge]<class N>(const N& x) {
    const Whole is_outside = less(x, N(-edge)) | less(N(edge), x) | is_nan(x);
    return select(is_outside, x, N(0));
  });
}

// x moved toward 0 by lambd, which the kernel holds in the dtype itself. A 0 has either sign: it is
// x times 0 in the kernel's scalar form.
void softshrink(Call& call) {
  const spec::DType dtype = call.tensor("self")->dtype;
  const double lambd = call.real("lambd");
  if (!(lambd >= 0 && lambd <= max_finite(dtype))) throw OpError("lambda must be in range");
  const double edge = round_to_dtype(lambd, dtype);
  activate(call, [edge]<class N>(const N& x) {
    const N zero = maximum(N(0.0), N(-0.0));
    const N below = select(less(x, N(-edge)), x + N(edge), zero);
    return select(is_nan(x), x, select(less(N(edge), x), x - N(edge), below));
  });
}

// The logarithm of the sigmoid, without overflow, and e^-|x| on the way. Both are row-major. CUDA's
// kernel makes no buffer.
template <class N>
N log_of_logistic(const N& x) {
  return minimum(x, N(0)) - log1p(exp(-abs(x)));
}
// CUDA's kernel keeps the order of the dimensions, the CPU's does not.
Sizes log_sigmoid_strides(const Tensor& self) {
  return declared_arithmetic().has_cuda_kernels ? strides_like(self, spec::MemoryFormat::kPreserve)
                                                : Sizes();
}
void log_sigmoid_forward(Call& call) {
  const Tensor& self = *call.tensor("self");
  require_floating(call, self.dtype);
  refuse_float8(call, self.dtype);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(self, self.dtype);
    Array<N> out(self.sizes);
    Array<N> buffer(declared_arithmetic().has_cuda_kernels ? Sizes{0} : self.sizes);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] = log_of_logistic(x[i]);
    for (std::int64_t i = 0; i < buffer.count(); ++i) buffer[i] = exp(-abs(x[i]));
    call.emit(out, self.dtype, log_sigmoid_strides(self));
    call.emit(buffer, self.dtype);
  });
}
void log_sigmoid(Call& call) {
  const Tensor& self = *call.tensor("self");
  require_floating(call, self.dtype);
  refuse_float8(call, self.dtype);
  with_real(call.mode(), [&]<class N>() {
    Array<N> out = load<N>(self, self.dtype);
    for (N& x : out.data) x = log_of_logistic(x);
    call.emit(out, self.dtype, log_sigmoid_strides(self));
  });
}

// The first half along a dimension, times the sigmoid of the second.
void glu(Call& call) {
  const Tensor& self = *call.tensor("self");
  require_floating(call, self.dtype);
  if (self.rank() == 0) throw OpError("glu does not support 0-dimensional tensors");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const std::int64_t size = self.sizes[static_cast<std::size_t>(dim)];
  if (size % 2 != 0) throw OpError("Halving dimension must be even");
  Operands halves;
  for (const std::int64_t start : {std::int64_t{0}, size / 2}) {
    halves.tensors.push_back(narrowed(self, dim, start, size / 2));
    halves.data.push_back({halves.tensors.back()});
  }
  halves.common = self.dtype;
  halves.sizes = halves.tensors.front()->sizes;
  refuse_float8(call, self.dtype);
  const spec::DType compute = compute_dtype(self.dtype);
  with_real(call.mode(), [&]<class N>() {
    emit_formula<N>(call, halves, self.dtype, self.dtype, [compute](const N& x, const N& gate) {
      return divide_by_logistic(x, gate, compute);
    });
  });
}

// x, or weight * x where it is not above 0. The result has the strides of self.
void emit_prelu(Call& call, const TensorRef& weight) {
  const TensorRef& self = call.tensor("self");
  if (weight->dtype != self->dtype) {
    throw OpError("prelu: the weight must have the dtype of the input");
  }
  require_floating(call, self->dtype);
  Operands operands;
  operands.tensors = {self, weight};
  operands.data = {{self}, {weight}};
  operands.common = self->dtype;
  operands.sizes = broadcast_sizes({self->sizes, weight->sizes});
  operands.like_self = operands.sizes == self->sizes;
  refuse_float8(call, operands.common);
  with_real(call.mode(), [&]<class N>() {
    emit_formula<N>(call, operands, operands.common, operands.common,
                    [](const N& x, const N& w) { return select(less(N(0), x), x, w * x); });
  });
}

void prelu_kernel(Call& call) { emit_prelu(call, call.tensor("weight")); }

// One weight, or one for each channel: dimension 1.
void prelu(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Tensor& weight = *call.tensor("weight");
  const std::int64_t count = weight.count();
  const std::int64_t channels = self.rank() > 1 ? self.sizes[1] : 1;
  if (weight.rank() > 1 || (count != 1 && (self.rank() == 0 || count != channels))) {
    throw OpError("prelu: wants one weight, or one for each channel");
  }
  const auto spread = std::make_shared<Tensor>(weight);
  if (self.rank() != weight.rank()) {
    spread->sizes.assign(self.sizes.size(), 1);
    spread->strides.assign(self.sizes.size(), 1);
    if (self.rank() > 1) spread->sizes[1] = count;
    if (self.rank() > 1 && weight.rank() == 1) spread->strides[1] = weight.strides[0];
  }
  emit_prelu(call, spread);
}

constexpr std::array kActivationOps = {
    OpBody{"aten._prelu_kernel", prelu_kernel},
    OpBody{"aten.celu", celu},
    OpBody{"aten.elu", elu},
    OpBody{"aten.gelu", gelu},
    OpBody{"aten.glu", glu},
    OpBody{"aten.hardshrink", hardshrink},
    OpBody{"aten.hardsigmoid", hardsigmoid},
    OpBody{"aten.hardswish", hardswish},
    OpBody{"aten.hardtanh", hardtanh},
    OpBody{"aten.leaky_relu", leaky_relu},
    OpBody{"aten.log_sigmoid", log_sigmoid},
    OpBody{"aten.log_sigmoid_forward", log_sigmoid_forward},
    OpBody{"aten.mish", mish},
    OpBody{"aten.prelu", prelu},
    OpBody{"aten.relu", relu},
    OpBody{"aten.silu", silu},
    OpBody{"aten.softplus", softplus},
    OpBody{"aten.softshrink", softshrink},
    OpBody{"aten.threshold", threshold},
};

}  // namespace

std::span<const OpBody> activation_ops() { return kActivationOps; }

}  // namespace graphgate::reference
