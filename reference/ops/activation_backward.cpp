// Gradients of activation functions, of dropout and of softmax. 16-bit data is computed in float32
// and rounded once.
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include "reference/layout.h"
#include "reference/number/flushed.h"
#include "reference/number/left_open.h"
#include "reference/number/sum.h"
#include "reference/pointwise.h"
#include "reference/registry.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// f over the incoming gradient and what `second` names, which promote to a floating dtype.
template <class F>
void through_gradient(Call& call, std::string_view second, F f) {
  const Operands operands = gather_operands(call, {"grad_output", second});
  require_floating(call, operands.common);
  refuse_float8(call, operands.common);
  with_real(call.mode(), [&]<class N>() {
    emit_formula<N>(call, operands, operands.common, operands.common, f);
  });
}
// The dtype that these kernels compute in.
DType gradient_compute(const Call& call, std::string_view second) {
  return compute_dtype(gather_operands(call, {"grad_output", second}).common);
}

// PyTorch's CPU kernel rounds every step to the dtype. Its decomposition, which Inductor compiles,
// makes the slope first: of an `output` that no sigmoid has made one of the two may overflow.
void sigmoid_backward(Call& call) {
  const DType dtype = gather_operands(call, {"grad_output", "output"}).common;
  through_gradient(call, "output", [dtype]<class N>(const N& g, const N& y) {
    const N by_steps = held_in(g * held_in(1.0 - y, dtype), dtype) * y;
    return covering(by_steps, g * (y * (1.0 - y)));
  });
}

// CUDA's kernel computes in the dtype, and rounds every step.
void tanh_backward(Call& call) {
  const DType dtype = gather_operands(call, {"grad_output", "output"}).common;
  const bool rounds = declared_arithmetic().has_cuda_kernels;
  through_gradient(call, "output", [dtype, rounds]<class N>(const N& g, const N& y) {
    const auto step = [&](const N& x) { return rounds ? held_in(x, dtype) : x; };
    return g * step(1.0 - step(y * y));
  });
}

// g s (1 + x (1 - s)), of the sigmoid s of x.
void silu_backward(Call& call) {
  const DType compute = gradient_compute(call, "self");
  through_gradient(call, "self", [compute]<class N>(const N& g, const N& x) {
    const N s = divide_by_logistic(N(1), x, compute);
    return g * s * (1.0 + x * (1.0 - s));
  });
}

// Of x times the normal distribution's function: that function, and x times its density.
void gelu_backward(Call& call) {
  const std::string_view approximate = call.text("approximate");
  const DType compute = gradient_compute(call, "self");
  const auto constant = [compute](double x) { return round_to_dtype(x, compute); };
  if (approximate == "none") {
    const double inverse_root = constant(1 / std::numbers::sqrt2);
    const double density = constant(0.5 * std::numbers::sqrt2 / std::sqrt(std::numbers::pi));
    const DType dtype = call.tensor("self")->dtype;
    return through_gradient(call, "self", [=]<class N>(const N& g, const N& x) {
      const N below = 0.5 * (1.0 + short_erf(x * N(inverse_root)));
      return perhaps_flushed(g * (below + x * (exp(x * x * -0.5) * N(density))), dtype);
    });
  }
  if (approximate != "tanh") throw OpError("approximate argument must be either none or tanh");
  const double beta = constant(std::numbers::sqrt2 * (2 / std::sqrt(std::numbers::pi)) * 0.5);
  const double kappa = constant(0.044715);
  through_gradient(call, "self", [=]<class N>(const N& g, const N& x) {
    const N square = x * x;
    const N t = tanh(N(beta) * (x + N(kappa) * (square * x)));
    const N slope = N(beta) * (1.0 + 3.0 * (N(kappa) * square));
    return g * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * slope);
  });
}

// The gradient where self is above the threshold or NaN, else 0. Integers are fine; floats compare
// with the threshold as the compute dtype holds it.
void threshold_backward(Call& call) {
  const Operands operands = gather_operands(call, {"self", "grad_output"});
  const DType dtype = operands.common;
  refuse_bool(call, dtype);
  refuse_float8(call, dtype);
  with_number(call.mode(), dtype, [&]<class N>() {
    const N limit = number<N>(call.datum("threshold"), dtype);
    emit_formula<N>(call, operands, dtype, dtype, [&](const N& x, const N& g) {
      return select(less(x, limit) | equal(x, limit), N(0), g);
    });
  });
}

// grad_output * mask * scale: the scale makes floats of integers. Compiled code rounds no product
// to 16 bits, in which it may overflow. CUDA's kernel makes a tensor of the format that the
// gradient suggests, the CPU's is a formula.
void native_dropout_backward(Call& call) {
  const Operands operands = gather_operands(call, {"grad_output", "mask"});
  const DType dtype = to_floating(operands.common);
  refuse_float8(call, dtype);
  with_real(call.mode(), [&]<class N>() {
    const N scale = number<N>(call.datum("scale"), compute_dtype(dtype));
    auto scaled = [&](const N& g, const N& mask) {
      return covering(held_in(g * mask, dtype) * scale, g * (mask * scale));
    };
    const Tensor& gradient = *call.tensor("grad_output");
    if (!declared_arithmetic().has_cuda_kernels || gradient.sizes != operands.sizes) {
      return emit_formula<N>(call, operands, dtype, dtype, scaled);
    }
    emit_formula_as<N, 2>(call, operands, dtype, dtype,
                          strides_like(gradient, suggested_format(gradient)), scaled);
  });
}

// --- softmax ---

// The result's dtype: that of the gradient, but for a 16-bit input whose softmax was float32.
DType softmax_input_dtype(const Call& call) {
  const Tensor& grad = *call.tensor("grad_output");
  const Tensor& output = *call.tensor("output");
  require_floating(call, grad.dtype);
  refuse_float8(call, grad.dtype);
  if (grad.dtype != output.dtype) throw OpError("grad_output and output must have one dtype");
  if (grad.sizes != output.sizes) throw OpError("grad_output and output must have one size");
  const DType asked = call.optional_dtype("input_dtype").value_or(grad.dtype);
  return grad.dtype == DType::kFloat32 && compute_dtype(asked) != asked ? asked : grad.dtype;
}

// f(gradients, outputs) -> results, for every line along `dim`.
template <class F>
void emit_softmax_gradient(Call& call, F f) {
  const DType dtype = softmax_input_dtype(call);
  const Tensor& grad = *call.tensor("grad_output");
  const std::int64_t dim = wrap_dim(call.integer("dim"), grad.rank());
  with_real(call.mode(), [&]<class N>() {
    const Tensor& output = *call.tensor("output");
    const bool is_safe = call.reads_before_writing(output, grad.sizes);
    const TensorRef apart = is_safe ? nullptr : copy_of(output);
    LineReader<N> outputs(apart ? *apart : output, dim, grad.dtype);
    emit_lines<N>(call, grad, grad.dtype, dim, line_length(grad, dim), dtype,
                  [&](std::span<const N> g) { return f(g, outputs.next()); });
  });
}

// (g - sum(g y)) y, as PyTorch's kernels have it or multiplied out.
template <class N>
std::vector<N> softmax_gradient(std::span<const N> g, std::span<const N> y) {
  Sum<N> sum;
  for (std::size_t i = 0; i < g.size(); ++i) sum.add_product(g[i], y[i]);
  const N total = sum.result();
  std::vector<N> out;
  out.reserve(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    out.push_back(covering((g[i] - total) * y[i], g[i] * y[i] - y[i] * total));
  }
  return out;
}

// g y - y sum(g y), where g y is a tensor of its own, rounded to the dtype.
template <class N>
std::vector<N> softmax_gradient_by_cuda(std::span<const N> g, std::span<const N> y, DType dtype) {
  std::vector<N> out;
  out.reserve(g.size());
  Sum<N> sum;
  for (std::size_t i = 0; i < g.size(); ++i) {
    out.push_back(held_in(g[i] * y[i], dtype));
    sum.add(out.back());
  }
  const N total = sum.result();
  for (std::size_t i = 0; i < g.size(); ++i) out[i] = out[i] - y[i] * total;
  return out;
}

void softmax_backward_data(Call& call) {
  const DType dtype = call.tensor("grad_output")->dtype;
  const bool by_cuda = declared_arithmetic().has_cuda_kernels;
  emit_softmax_gradient(call, [=]<class N>(std::span<const N> g, std::span<const N> y) {
    return by_cuda ? softmax_gradient_by_cuda(g, y, dtype) : softmax_gradient(g, y);
  });
}

// g - e^y sum(g).
void log_softmax_backward_data(Call& call) {
  emit_softmax_gradient(call, []<class N>(std::span<const N> g, std::span<const N> y) {
    Sum<N> sum;
    for (const N& x : g) sum.add(x);
    const N total = sum.result();
    std::vector<N> out;
    out.reserve(g.size());
    for (std::size_t i = 0; i < g.size(); ++i) out.push_back(g[i] - fast_exp(y[i]) * total);
    return out;
  });
}

constexpr std::array kActivationBackwardOps = {
    OpBody{"aten._log_softmax_backward_data", log_softmax_backward_data},
    OpBody{"aten._softmax_backward_data", softmax_backward_data},
    OpBody{"aten.gelu_backward", gelu_backward},
    OpBody{"aten.native_dropout_backward", native_dropout_backward},
    OpBody{"aten.sigmoid_backward", sigmoid_backward},
    OpBody{"aten.silu_backward", silu_backward},
    OpBody{"aten.tanh_backward", tanh_backward},
    OpBody{"aten.threshold_backward", threshold_backward},
};

}  // namespace

std::span<const OpBody> activation_backward_ops() { return kActivationBackwardOps; }

}  // namespace graphgate::reference
