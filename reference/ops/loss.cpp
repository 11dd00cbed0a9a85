// Losses between numbers: of a prediction and a target of its sizes, element by element, and their
// gradients. The losses are a tensor of their own before they are summed: 16-bit ones round to the
// dtype there. Many of PyTorch's kernels round 16-bit data after every step, others compute in
// float32: held_in() allows both.
#include "reference/ops/loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "reference/number/left_open.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// A tensor's geometry alone, for the strides of what a composite op makes on the way.
TensorRef shaped(DType dtype, const Sizes& sizes, const Sizes& strides) {
  const auto out = std::make_shared<Tensor>();
  out->dtype = dtype;
  out->sizes = sizes;
  out->strides = strides;
  return out;
}
TensorRef pointwise_shape(const std::vector<TensorRef>& inputs) {
  Sizes sizes;
  for (const TensorRef& input : inputs) broadcast_with(sizes, input->sizes);
  return shaped(inputs.front()->dtype, sizes, pointwise_strides(inputs, sizes));
}

// --- losses of self and target, promoted to one dtype ---

// The losses f(self, target), rounded to `result`.
template <class F>
void emit_promoted(Call& call, const Operands& operands, DType result, const Sizes& strides, F f) {
  require_floating(call, operands.common);
  refuse_float8(call, operands.common);
  with_real(call.mode(), [&]<class N>() {
    Array<N> losses =
        detail::apply_formula<N>(operands, operands.common, f, std::make_index_sequence<2>());
    if (result != operands.common) losses = round_all(std::move(losses), result);
    emit_losses(call, losses, result, strides);
  });
}

void mse_loss(Call& call) {
  const Operands operands = gather_operands(call, {"self", "target"});
  const DType dtype = operands.common;
  emit_promoted(call, operands, dtype, operand_strides(operands), [dtype](auto x, auto y) {
    const auto difference = held_in(x - y, dtype);
    return difference * difference;
  });
}

// z^2 / (2 beta) of a distance z below beta, else z - beta / 2.
void smooth_l1_loss(Call& call) {
  const Operands operands = gather_operands(call, {"self", "target"});
  const DType dtype = operands.common;
  const double beta = call.real("beta");
  if (beta < 0) throw OpError("smooth_l1_loss does not support negative values for beta.");
  emit_promoted(call, operands, dtype, operand_strides(operands),
                [&]<class N>(const N& x, const N& y) {
                  const N edge = held_in(number<N>(call.datum("beta"), dtype), dtype);
                  const N half = held_in(0.5 * edge, dtype);
                  const N z = held_in(abs(x - y), dtype);
                  const N square = held_in(held_in(0.5 * z, dtype) * z, dtype);
                  return select(less(z, edge), beta == 0 ? square : square / edge, z - half);
                });
}

// z^2 / 2 of a distance z up to delta, else delta (z - delta / 2). The result has the dtype of
// self, and its strides where it has its sizes.
void huber_loss(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Operands operands = gather_operands(call, {"self", "target"});
  const DType dtype = operands.common;
  if (!(call.real("delta") > 0)) {
    throw OpError("huber_loss does not support non-positive values for delta.");
  }
  const Sizes strides = operands.sizes == self.sizes
                            ? strides_like(self, spec::MemoryFormat::kPreserve)
                            : operand_strides(operands);
  emit_promoted(call, operands, self.dtype, strides, [&]<class N>(const N& x, const N& y) {
    const N delta = held_in(number<N>(call.datum("delta"), dtype), dtype);
    const N half = held_in(0.5 * delta, dtype);
    const N z = held_in(abs(x - y), dtype);
    const Whole is_near = less(z, delta) | equal(z, delta);
    return select(is_near, held_in(0.5 * z, dtype) * z, delta * held_in(z - half, dtype));
  });
}

// Integers are fine, but have no mean.
void l1_loss(Call& call) {
  const Operands operands = gather_operands(call, {"self", "target"});
  const DType dtype = operands.common;
  refuse_float8(call, dtype);
  refuse_bool(call, dtype);
  const LossReduction reduction = loss_reduction(call);
  const bool is_real = spec::is_floating_point(dtype);
  if (!is_real && reduction == LossReduction::kMean) {
    throw OpError("mean(): input dtype must be floating point");
  }
  with_number(call.mode(), dtype, [&]<class N>() {
    const auto distance = [&](const N& x, const N& y) {
      if constexpr (std::is_same_v<N, Whole>) {
        return abs(Whole(wrap_to((x - y).value, dtype), (x - y).undecided));
      } else {
        return abs(held_in(x - y, dtype));
      }
    };
    const auto losses =
        detail::apply_formula<N>(operands, dtype, distance, std::make_index_sequence<2>());
    if constexpr (std::is_same_v<N, Whole>) {
      if (reduction == LossReduction::kNone) {
        return call.emit(losses, dtype, operand_strides(operands));
      }
      Sum<N> sum;
      for (const N& loss : losses.data) sum.add(loss);
      call.emit(Array<N>(Sizes{}, sum.result()), DType::kInt64);
    } else {
      emit_losses(call, losses, dtype, operand_strides(operands));
    }
  });
}

// x * log(x), 0 at 0.
template <class N>
N times_log(const N& x, DType dtype) {
  return select(is_zero(x), N(0), held_in(x * held_in(log(x), dtype), dtype));
}

// target * (log(target) - self), of a target that may be a logarithm itself.
void kl_div(Call& call) {
  const TensorRef& self = call.tensor("self");
  const TensorRef& target = call.tensor("target");
  for (const TensorRef& tensor : {self, target}) {
    if (!spec::is_floating_point(tensor->dtype)) {
      throw OpError("kl_div: Integral inputs not supported.");
    }
  }
  const bool is_log = call.boolean("log_target");
  const Operands operands = gather_operands(call, {"self", "target"});
  const DType dtype = operands.common;
  const DType own = target->dtype;  // of what is made of the target alone
  const TensorRef of_target = pointwise_shape({target});
  const TensorRef made = pointwise_shape({of_target, pointwise_shape({target, self})});
  emit_promoted(call, operands, dtype, made->strides, [=]<class N>(const N& x, const N& y) {
    // Compiled code rounds no step to 16 bits, in which it may overflow.
    if (is_log) {
      return covering(held_in(exp(y), own) * held_in(y - x, dtype), exp(y) * (y - x));
    }
    const DType wide = compute_dtype(own);
    return covering(times_log(y, own) - held_in(y * x, dtype), times_log(y, wide) - y * x);
  });
}

// --- losses that are made in place of one of their operands ---

// What an in-place step leaves of x, computed in `common`, in a tensor of `dtype`.
template <class N>
N left_in(const N& x, DType common, DType dtype) {
  return common == dtype ? held_in(x, dtype) : round_edge(x, dtype);
}

// Multiplies the losses, of `dtype`, by the optional argument `weight`, in place.
template <class N>
void weigh(const Call& call, Array<N>& losses, DType dtype) {
  const TensorRef weight = call.optional_tensor("weight");
  if (!weight) return;
  const DType common = gather_operands(call, {"self", "weight"}).common;
  const Array<N> factors = broadcast_to(load<N>(*weight, common), losses.sizes);
  for (std::int64_t i = 0; i < losses.count(); ++i) {
    losses[i] = left_in(held_in(losses[i], dtype) * factors[i], common, dtype);
  }
}

// log(1 + exp(-self * target)), all in the dtype of self. A kernel that does not hold the
// exponential there has a number where others have an infinity.
void soft_margin_loss(Call& call) {
  const Tensor& self = *call.tensor("self");
  const DType dtype = self.dtype;
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  const DType common = gather_operands(call, {"self", "target"}).common;
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(self, common);
    const Array<N> y = broadcast_to(load<N>(*call.tensor("target"), common), self.sizes);
    Array<N> losses(self.sizes);
    for (std::int64_t i = 0; i < losses.count(); ++i) {
      const N product = left_in(-x[i] * y[i], common, dtype);
      const N exponential = exp(product);
      losses[i] = covering(log1p(held_in(exponential, dtype)), log1p(exponential));
    }
    emit_losses(call, losses, dtype,
                pointwise_strides(std::array{call.tensor("self")}, self.sizes));
  });
}

// The larger of a logarithm and -100. An executor whose number lies outside of the domain, within
// its error, has -100, too.
constexpr long double kLeastLogarithm = -100;
long double log_or_least(long double x) {
  if (std::isnan(x)) return x;
  return x > 0 ? std::max(std::log(x), kLeastLogarithm) : kLeastLogarithm;
}
long double log_of_rest_or_least(long double x) {
  if (std::isnan(x)) return x;
  return x < 1 ? std::max(std::log1p(-x), kLeastLogarithm) : kLeastLogarithm;
}
double floored_log(double x, long double (*log_of)(long double)) {
  return static_cast<double>(log_of(x));
}
template <class P>
Tracked<P> floored_log(const Tracked<P>& x, long double (*log_of)(long double)) {
  Tracked<P> out = through(x, function_ulps(), log_of);
  // A step of the executor's number to the end of the domain goes all the way to -100.
  const auto reach = static_cast<long double>(P::kDecisionRadii * x.radius);
  const bool may_end =
      log_of(x.value - reach) == kLeastLogarithm || log_of(x.value + reach) == kLeastLogarithm;
  if (reach > 0 && may_end) {
    const auto apart = static_cast<double>(std::fabs(out.value - kLeastLogarithm));
    out.radius = std::max(out.radius, apart);
  }
  return out;
}

// Throws OpError for what is certainly no probability.
template <class N>
void check_probability(const N& x, std::string_view whose) {
  const Whole is_outside = less(x, N(0)) | less(N(1), x) | is_nan(x);
  if (is_outside.value != 0 && !is_outside.undecided) {
    throw OpError("all elements of " + std::string(whose) + " should be between 0 and 1");
  }
}

// The sizes without those of 1.
Sizes squeezed(const Sizes& sizes) {
  Sizes out;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(out),
               [](std::int64_t size) { return size != 1; });
  return out;
}

// -target log(self) - (1 - target) log(1 - self), the logarithms cut off at -100. CUDA's kernel
// asserts that targets are probabilities, too; the CPU's takes any.
void binary_cross_entropy(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Tensor& target = *call.tensor("target");
  const DType dtype = self.dtype;
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  if (target.dtype != dtype) throw OpError("self and target must have one dtype");
  if (squeezed(target.sizes) != squeezed(self.sizes)) {
    throw OpError("self and target must have the same sizes");
  }
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(self, dtype);
    const Array<N> y = load<N>(target, dtype);
    Array<N> losses(self.sizes);
    for (std::int64_t i = 0; i < losses.count(); ++i) {
      check_probability(x[i], "input");
      if (declared_arithmetic().refuses_as_cuda) check_probability(y[i], "target");
      const N log_of_rest = held_in(floored_log(x[i], log_of_rest_or_least), dtype);
      const N log_of_x = held_in(floored_log(x[i], log_or_least), dtype);
      const N negative = held_in(held_in(y[i] - 1.0, dtype) * log_of_rest, dtype);
      losses[i] = negative - held_in(y[i] * log_of_x, dtype);
    }
    weigh(call, losses, dtype);
    emit_losses(call, losses, dtype, strides_like(self, spec::MemoryFormat::kPreserve));
  });
}

// log(1 / (1 + e^-x)), without overflow.
template <class N>
N stable_log_sigmoid(const N& x, DType compute) {
  return minimum(x, N(0)) - log1p(held_in(exp(-abs(x)), compute));
}

// (1 - target) self - log_sigmoid(self), the latter times (pos_weight - 1) target + 1 where there
// is a pos_weight. The result has the dtype and the strides of 1 - target.
void binary_cross_entropy_with_logits(Call& call) {
  const Tensor& self = *call.tensor("self");
  const TensorRef& target = call.tensor("target");
  const TensorRef positive = call.optional_tensor("pos_weight");
  const DType own = self.dtype;
  const DType dtype = target->dtype;
  for (const DType each : {own, dtype}) {
    require_floating(call, each);
    refuse_float8(call, each);
  }
  const DType common = gather_operands(call, {"self", "target"}).common;
  const DType compute = compute_dtype(own);
  with_real(call.mode(), [&]<class N>() {
    Array<N> logs = load<N>(self, own);
    for (N& x : logs.data) x = held_in(stable_log_sigmoid(x, compute), own);
    if (positive) {
      const DType made = gather_operands(call, {"pos_weight", "target"}).common;
      const DType both = promote(own, made);
      const Array<N> p = broadcast_to(load<N>(*positive, positive->dtype), self.sizes);
      const Array<N> y = broadcast_to(load<N>(*target, made), self.sizes);
      for (std::int64_t i = 0; i < logs.count(); ++i) {
        const N more = held_in(p[i] - 1.0, positive->dtype);
        const N factor = held_in(held_in(more * y[i], made) + 1.0, made);
        logs[i] = left_in(logs[i] * factor, both, own);
      }
    }
    const Array<N> x = broadcast_to(load<N>(self, common), target->sizes);
    const Array<N> y = load<N>(*target, dtype);
    logs = broadcast_to(std::move(logs), target->sizes);
    Array<N> losses(target->sizes);
    for (std::int64_t i = 0; i < losses.count(); ++i) {
      const N product = left_in(held_in(1.0 - y[i], dtype) * x[i], common, dtype);
      losses[i] = left_in(product - logs[i], common, dtype);
    }
    weigh(call, losses, dtype);
    const TensorRef number = shaped(dtype, {}, {});
    emit_losses(call, losses, dtype, pointwise_shape({number, target})->strides);
  });
}

constexpr std::array kLossOps = {
    OpBody{"aten.binary_cross_entropy", binary_cross_entropy},
    OpBody{"aten.binary_cross_entropy_with_logits", binary_cross_entropy_with_logits},
    OpBody{"aten.huber_loss", huber_loss},
    OpBody{"aten.kl_div", kl_div},
    OpBody{"aten.l1_loss", l1_loss},
    OpBody{"aten.mse_loss", mse_loss},
    OpBody{"aten.smooth_l1_loss", smooth_l1_loss},
    OpBody{"aten.soft_margin_loss", soft_margin_loss},
};

}  // namespace

std::span<const OpBody> loss_ops() { return kLossOps; }

}  // namespace graphgate::reference
