// Gradients of activation functions: PyTorch has kernels for them. Here they are comparisons and
// products in float32 (float64 of such), rounded once.
#include <limits>

#include "optimized/analysis/composite.h"
#include "optimized/promotion.h"

namespace graphgate::optimized {
namespace slopes {
namespace {

using spec::Argument;
using spec::DType;
using Values = std::vector<Argument>;

DType wide(DType dtype) { return dtype == DType::kFloat64 ? dtype : DType::kFloat32; }

// The gradient and the input (or the result) of an activation, widened, and what is made of them.
class Slope {
 public:
  Slope(Parts& parts, std::string_view gradient, std::string_view input) : parts_(parts) {
    dtype = promote(parts.tensor(gradient).dtype, parts.tensor(input).dtype);
    if (!spec::is_floating_point(dtype)) throw OpError("a gradient wants a floating dtype");
    g = widened(gradient);
    x = widened(input);
  }
  explicit Slope(Parts& parts) : Slope(parts, "grad_output", "self") {}

  Argument widened(std::string_view name) {
    return parts_.tensor(name).dtype == wide(dtype)
               ? parts_[name]
               : parts_.run("aten.to.dtype", {parts_[name], {wide(dtype)}});
  }

  // Where the input is below or above a number, or at it. PyTorch's kernels have the gradient as
  // their first operand: so it comes first here, and the result lies as it does.
  Argument is_below(double limit) { return bound(limit, "aten.gt.Tensor"); }
  Argument is_not_above(double limit) { return bound(limit, "aten.ge.Tensor"); }
  Argument is_above(double limit) { return bound(limit, "aten.lt.Tensor"); }
  Argument is_within(double low, double high) {
    return parts_.run("aten.bitwise_and.Tensor", {is_above(low), is_below(high)});
  }
  Argument is_beyond(double low, double high) {
    return parts_.run("aten.bitwise_or.Tensor", {is_below(low), is_above(high)});
  }

  Argument times(const Argument& a, const Argument& b) {
    return parts_.run("aten.mul.Tensor", {a, b});
  }
  Argument times(const Argument& a, double b) { return parts_.run("aten.mul.Scalar", {a, {b}}); }
  Argument plus(const Argument& a, const Argument& b) {
    return parts_.run("aten.add.Tensor", {a, b});
  }
  Argument plus(const Argument& a, double b) { return parts_.run("aten.add.Scalar", {a, {b}}); }
  // 1 - a.
  Argument rest(const Argument& a) { return parts_.run("aten.rsub.Scalar", {a, {1.0}}); }
  Argument over(const Argument& a, const Argument& b) {
    return parts_.run("aten.div.Tensor", {a, b});
  }
  Argument run(std::string_view op, const Argument& a) {
    return parts_.run("aten." + std::string(op) + ".default", {a});
  }
  Argument choose(const Argument& condition, const Argument& yes, const Argument& no) {
    return parts_.run("aten.where.self", {condition, yes, no});
  }
  // A number of the operands' width in place of a tensor.
  Argument number(double value) {
    return parts_.run("aten.new_full.default", {g, integers_argument({}), {value}});
  }

  // The same, rounded.
  Argument rounded(const Argument& value) {
    return dtype == wide(dtype) ? value : parts_.run("aten.to.dtype", {value, {dtype}});
  }
  Values result(const Argument& value) { return {rounded(value)}; }

  DType dtype;  // that of the result
  Argument g;
  Argument x;

 private:
  Argument bound(double limit, std::string_view comparison) {
    return parts_.run(comparison, {parts_.run("aten.full_like.default", {g, {limit}}), x});
  }

  Parts& parts_;
};

// ATen's iterator has the input before the gradient, which shows in the strides.
Values of_leak(Parts& parts, double slope) {
  if (parts.boolean("self_is_result") && slope < 0) {
    throw OpError("a negative slope leaves no sign in the result of leaky_relu");
  }
  Slope of(parts);
  const Argument is_high = parts.run("aten.gt.Scalar", {of.x, {std::int64_t{0}}});
  return of.result(of.choose(is_high, of.g, of.times(of.g, slope)));
}
Values of_leaky_relu(Parts& parts) { return of_leak(parts, parts.real("negative_slope")); }

Values of_rrelu(Parts& parts) {
  if (!parts.boolean("training")) {
    return of_leak(parts, (parts.real("lower") + parts.real("upper")) / 2);
  }
  return {parts.run("aten.mul.Tensor", {parts["noise"], parts["grad_output"]})};
}

// The slope of alpha (exp(x) - 1), with its scales, by x or by the result.
Values of_elu(Parts& parts) {
  const bool is_result = parts.boolean("is_result");
  if (is_result && parts.real("alpha") < 0) {
    throw OpError("a negative alpha leaves no sign in the result of elu");
  }
  Slope of(parts, "grad_output", "self_or_result");
  const double depth = parts.real("alpha") * parts.real("scale");
  // In the order of PyTorch's kernels, as a product of some factors may overflow.
  const double input_scale = parts.real("input_scale");
  const Argument scaled = of.times(of.g, input_scale);
  const Argument low =
      is_result ? of.times(scaled, of.plus(of.x, depth))
                : of.times(of.times(scaled, depth), of.run("exp", of.times(of.x, input_scale)));
  const Argument high = of.times(of.g, parts.real("scale"));
  return of.result(of.choose(of.is_not_above(0), low, high));
}

Values of_hardtanh(Parts& parts) {
  Slope of(parts);
  const Argument inside = of.is_within(parts.real("min_val"), parts.real("max_val"));
  return of.result(of.choose(inside, of.g, of.number(0)));
}

Values of_hardsigmoid(Parts& parts) {
  Slope of(parts);
  return of.result(of.choose(of.is_within(-3, 3), of.times(of.g, 1.0 / 6), of.number(0)));
}

Values of_hardswish(Parts& parts) {
  Slope of(parts);
  const Argument third = parts.run("aten.div.Scalar", {of.x, {3.0}});
  const Argument middle = of.times(of.g, of.plus(third, 0.5));
  const Argument high = of.choose(of.is_below(3), middle, of.g);
  return of.result(of.choose(of.is_not_above(-3), of.number(0), high));
}

Values of_shrink(Parts& parts, std::string_view gradient) {
  Slope of(parts, gradient, "self");
  const double limit = parts.real("lambd");
  return of.result(of.choose(of.is_beyond(-limit, limit), of.g, of.number(0)));
}
Values of_hardshrink(Parts& parts) { return of_shrink(parts, "grad_out"); }
Values of_softshrink(Parts& parts) { return of_shrink(parts, "grad_output"); }

Values of_softplus(Parts& parts) {
  Slope of(parts);
  const Argument scaled = of.times(of.x, parts.real("beta"));
  const Argument e = of.run("exp", scaled);
  const Argument low = of.over(of.times(of.g, e), of.plus(e, 1));
  const Argument edge = parts.run("aten.full_like.default", {of.g, {parts.real("threshold")}});
  return of.result(of.choose(parts.run("aten.lt.Tensor", {edge, scaled}), of.g, low));
}

// The result lies as the gradient does. A buffer without elements is CUDA's.
Values of_log_sigmoid(Parts& parts) {
  Slope of(parts);
  const Argument e = parts.tensor("buffer").count() > 0
                         ? of.widened("buffer")
                         : of.run("exp", of.run("neg", of.run("abs", of.x)));
  const Argument share = of.over(e, of.plus(e, 1));
  return of.result(of.times(of.g, of.choose(of.is_below(0), of.rest(share), share)));
}

Values of_logit(Parts& parts) {
  Slope of(parts);
  const bool clamps = parts.has("eps") && parts.real("eps") >= 0;
  const double low = clamps ? parts.real("eps") : 0;
  const double outside = clamps ? 0 : std::numeric_limits<double>::quiet_NaN();
  const Argument inside = of.over(of.g, of.times(of.x, of.rest(of.x)));
  return of.result(of.choose(of.is_beyond(low, 1 - low), of.number(outside), inside));
}

Values of_mish(Parts& parts) {
  Slope of(parts);
  const Argument t = of.run("tanh", of.run("log1p", of.run("exp", of.x)));
  const Argument s = of.run("sigmoid", of.x);
  const Argument bend = of.times(of.times(of.x, s), of.rest(of.times(t, t)));
  return of.result(of.times(of.g, of.plus(t, bend)));
}

Values of_prelu(Parts& parts) {
  Slope of(parts);
  const Argument w = of.widened("weight");
  const Argument is_high = parts.run("aten.gt.Scalar", {of.x, {std::int64_t{0}}});
  const Argument of_input = of.choose(is_high, of.g, of.times(w, of.g));
  const Argument of_weight = of.choose(is_high, of.number(0), of.times(of.x, of.g));
  return {of.rounded(of_input), of.rounded(of_weight)};
}

constexpr CompositeOp kCompositeSlopes[] = {
    {"aten._prelu_kernel_backward", of_prelu},
    {"aten.elu_backward", written_where_asked<of_elu>},
    {"aten.hardshrink_backward", written_where_asked<of_hardshrink>},
    {"aten.hardsigmoid_backward", written_where_asked<of_hardsigmoid>},
    {"aten.hardswish_backward", written_where_asked<of_hardswish>},
    {"aten.hardtanh_backward", written_where_asked<of_hardtanh>},
    {"aten.leaky_relu_backward", written_where_asked<of_leaky_relu>},
    {"aten.log_sigmoid_backward", written_where_asked<of_log_sigmoid>},
    {"aten.logit_backward", written_where_asked<of_logit>},
    {"aten.mish_backward", written_where_asked<of_mish>},
    {"aten.rrelu_with_noise_backward", written_where_asked<of_rrelu>},
    {"aten.softplus_backward", written_where_asked<of_softplus>},
    {"aten.softshrink_backward", written_where_asked<of_softshrink>},
};

}  // namespace
}  // namespace slopes

std::span<const CompositeOp> composite_slopes() { return slopes::kCompositeSlopes; }

}  // namespace graphgate::optimized
