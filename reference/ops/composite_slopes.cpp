// Gradients of activation functions that PyTorch has kernels for, and that the optimized executor
// makes of others. 16-bit data is computed in float32 and rounded once.
#include <array>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "reference/layout.h"
#include "reference/number/left_open.h"
#include "reference/ops/composition.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace slopes {
namespace {

using spec::DType;

// f over what `names` names, in the order in which PyTorch's iterator has it; all promote to one
// floating dtype.
template <class F>
void through_slope(Call& call, std::initializer_list<std::string_view> names, F f) {
  const Operands operands = gather_operands(call, names);
  require_floating(call, operands.common);
  refuse_float8(call, operands.common);
  with_real(call.mode(), [&]<class N>() {
    emit_formula<N>(call, operands, operands.common, operands.common, f);
  });
}
template <class F>
void through_gradient(Call& call, F f) {
  through_slope(call, {"grad_output", "self"}, f);
}

// The dtype that the kernel of these operands computes in.
DType compute_of(Call& call, std::string_view gradient) {
  return compute_dtype(gather_operands(call, {gradient, "self"}).common);
}

// An argument as a kernel of `compute` holds it.
double constant(const Call& call, std::string_view name, DType compute) {
  return round_to_dtype(call.real(name), compute);
}

// The gradient where `keeps` is true, and 0 elsewhere. NaN is inside to some loops of PyTorch's
// kernels, and to others it is not.
template <class N>
N kept(const Whole& keeps, const N& g, const N& x) {
  const N out = select(keeps, g, N(0));
  return select(is_nan(x), left_open(out), out);
}

// The gradient where self is above 0, else (NaN, too) its product with the slope. A result has the
// sign of its input where the slope is not negative.
void leaky_relu_slope(Call& call, const Datum& slope) {
  const Operands operands = gather_operands(call, {"self", "grad_output"});
  const DType dtype = operands.common;
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  if (call.boolean("self_is_result") && *slope.as<double>() < 0) {
    throw OpError("in-place leakyReLu backward calculation is triggered with a negative slope");
  }
  with_real(call.mode(), [&]<class N>() {
    const N factor = number<N>(slope, compute_dtype(dtype));
    emit_formula<N>(call, operands, dtype, dtype,
                    [&](const N& x, const N& g) { return select(less(N(0), x), g, g * factor); });
  });
}
void leaky_relu_backward(Call& call) { leaky_relu_slope(call, {call.real("negative_slope")}); }

// The noise holds the slopes that training drew. Without training the slope is their middle.
void rrelu_with_noise_backward(Call& call) {
  if (!call.boolean("training")) {
    return leaky_relu_slope(call, {(call.real("lower") + call.real("upper")) / 2});
  }
  through_slope(call, {"noise", "grad_output"},
                []<class N>(const N& slope, const N& g) { return slope * g; });
}

// Of scale * x above 0, and of scale * alpha * (exp(input_scale x) - 1) elsewhere, by the input or
// by the result.
void elu_backward(Call& call) {
  const Operands operands = gather_operands(call, {"grad_output", "self_or_result"});
  const DType dtype = operands.common;
  const DType compute = compute_dtype(dtype);
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  const bool is_result = call.boolean("is_result");
  if (is_result && call.real("alpha") < 0) {
    throw OpError("In-place elu backward calculation is triggered with a negative slope");
  }
  with_real(call.mode(), [&]<class N>() {
    const N scale = number<N>(call.datum("scale"), compute);
    const N input_scale = number<N>(call.datum("input_scale"), compute);
    // The kernels multiply two rounded numbers; the decomposition rounds their product.
    const N low = covering(number<N>(call.datum("alpha"), compute) * scale,
                           number<N>({call.real("alpha") * call.real("scale")}, compute));
    emit_formula<N>(call, operands, dtype, dtype, [&](const N& g, const N& x) {
      const N scaled = g * input_scale;
      const N below = is_result ? scaled * (x + low) : scaled * low * exp(x * input_scale);
      const N out = select(less(N(0), x), g * scale, below);
      // NaN is above 0 to some loops of PyTorch's kernel, and to others it is not.
      return select(is_nan(x), left_open(out), out);
    });
  });
}

void hardtanh_backward(Call& call) {
  const DType compute = compute_of(call, "grad_output");
  const double low = constant(call, "min_val", compute);
  const double high = constant(call, "max_val", compute);
  through_gradient(call, [=]<class N>(const N& g, const N& x) {
    return kept(less(N(low), x) & less(x, N(high)), g, x);
  });
}

// PyTorch's kernels have the sixth in float32, for float64, too.
void hardsigmoid_backward(Call& call) {
  const double slope = round_to_dtype(1.0 / 6, DType::kFloat32);
  through_gradient(call, [slope]<class N>(const N& g, const N& x) {
    const N inside = covering(g * N(slope), g / 6.0);
    return select(less(N(-3), x) & less(x, N(3)), inside, N(0));
  });
}

void hardswish_backward(Call& call) {
  through_gradient(call, []<class N>(const N& g, const N& x) {
    const N middle = g * (x / 3.0 + 0.5);
    const Whole is_low = less(x, N(-3)) | equal(x, N(-3));
    const N out = select(is_low, N(0), select(less(x, N(3)), middle, g));
    return select(is_nan(x), left_open(out), out);
  });
}

// Of hardshrink and softshrink. The limit is held in the operands' own dtype.
void shrink_backward(Call& call, std::string_view gradient) {
  const double limit = constant(call, "lambd", gather_operands(call, {gradient, "self"}).common);
  through_slope(call, {gradient, "self"}, [limit]<class N>(const N& g, const N& x) {
    return kept(less(x, N(-limit)) | less(N(limit), x), g, x);
  });
}
void hardshrink_backward(Call& call) { shrink_backward(call, "grad_out"); }
void softshrink_backward(Call& call) { shrink_backward(call, "grad_output"); }

// g e / (e + 1) of e = exp(beta x), and the gradient where beta x is above the threshold.
void softplus_backward(Call& call) {
  const DType compute = compute_of(call, "grad_output");
  const double beta = constant(call, "beta", compute);
  const double threshold = constant(call, "threshold", compute);
  through_gradient(call, [=]<class N>(const N& g, const N& x) {
    const N scaled = x * N(beta);
    const N e = held_in(exp(scaled), compute);
    const N low = held_in(g * e, compute) / (e + 1.0);
    return select(less(N(threshold), scaled), g, low);
  });
}

// By the buffer, which holds exp(-|x|). CUDA's kernel makes that itself.
void log_sigmoid_backward(Call& call) {
  const bool has_buffer =
      !declared_arithmetic().has_cuda_kernels && call.tensor("buffer")->count() > 0;
  const auto slope = []<class N>(const N& g, const N& x, const N& e) {
    const Whole is_low = less(x, N(0));
    const N most = select(is_low, N(1), N(0));
    const N sign = select(is_low, N(1), N(-1));
    return g * (most - sign * (e / (1.0 + e)));
  };
  if (!has_buffer) {
    return through_gradient(
        call, [slope]<class N>(const N& g, const N& x) { return slope(g, x, exp(-abs(x))); });
  }
  through_slope(call, {"grad_output", "self", "buffer"}, slope);
}

// g / (x (1 - x)), and 0 where the input was clamped to [eps, 1 - eps]. Without eps it is NaN
// outside of [0, 1], and infinite at its ends. Every step is rounded to the dtype.
void logit_backward(Call& call) {
  const DType dtype = gather_operands(call, {"grad_output", "self"}).common;
  const DType compute = compute_dtype(dtype);
  const bool clamps = call.has("eps") && call.real("eps") >= 0;
  const double low = clamps ? constant(call, "eps", compute) : 0;
  const double high = clamps ? round_to_dtype(1 - low, compute) : 1;
  const double outside = clamps ? 0 : std::numeric_limits<double>::quiet_NaN();
  through_gradient(call, [=]<class N>(const N& g, const N& x) {
    const N inside = g / held_in(x * held_in(1.0 - x, dtype), dtype);
    const Whole is_end = equal(x, N(0)) | equal(x, N(1));
    const N ends =
        clamps ? inside : select(is_end, g * N(std::numeric_limits<double>::infinity()), inside);
    return select(less(x, N(low)) | less(N(high), x), N(outside), ends);
  });
}

// g (t + x s (1 - t t)) of t = tanh(log(1 + exp(x))) and the sigmoid s.
void mish_backward(Call& call) {
  const DType compute = compute_of(call, "grad_output");
  through_gradient(call, [compute]<class N>(const N& g, const N& x) {
    const N t = tanh(log1p(held_in(exp(x), compute)));
    const N s = divide_by_logistic(N(1), x, compute);
    return g * (t + x * s * (1.0 - t * t));
  });
}

// What leaks of an element that is not above 0 has the weight as its slope, and the weight the
// element.
void prelu_kernel_backward(Call& call) {
  const Operands operands = gather_operands(call, {"self", "weight", "grad_output"});
  const DType dtype = operands.common;
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  with_real(call.mode(), [&]<class N>() {
    emit_formula<N>(call, operands, dtype, dtype, [](const N& x, const N& w, const N& g) {
      return select(less(N(0), x), g, w * g);
    });
    emit_formula<N>(call, operands, dtype, dtype, [](const N& x, const N&, const N& g) {
      return select(less(N(0), x), N(0), x * g);
    });
  });
}

constexpr std::array kSlopeOps = {
    OpBody{"aten._prelu_kernel_backward", prelu_kernel_backward},
    OpBody{"aten.elu_backward", elu_backward},
    OpBody{"aten.hardshrink_backward", hardshrink_backward},
    OpBody{"aten.hardsigmoid_backward", hardsigmoid_backward},
    OpBody{"aten.hardswish_backward", hardswish_backward},
    OpBody{"aten.hardtanh_backward", hardtanh_backward},
    OpBody{"aten.leaky_relu_backward", leaky_relu_backward},
    OpBody{"aten.log_sigmoid_backward", log_sigmoid_backward},
    OpBody{"aten.logit_backward", logit_backward},
    OpBody{"aten.mish_backward", mish_backward},
    OpBody{"aten.rrelu_with_noise_backward", rrelu_with_noise_backward},
    OpBody{"aten.softplus_backward", softplus_backward},
    OpBody{"aten.softshrink_backward", softshrink_backward},
};

}  // namespace
}  // namespace slopes

std::span<const OpBody> composite_slope_ops() { return slopes::kSlopeOps; }

}  // namespace graphgate::reference
