// Composite losses and distances.
#include <algorithm>

#include "optimized/analysis/composite.h"
#include "optimized/promotion.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using Values = std::vector<Argument>;

// reduction: 0 none, 1 mean, 2 sum.
Values reduce_losses(Parts& parts, const Argument& losses) {
  const std::int64_t reduction = parts.integer("reduction");
  if (reduction == 1) return {parts.run("aten.mean.default", {losses})};
  if (reduction == 2) return {parts.run("aten.sum.default", {losses})};
  return {losses};
}

Argument binary(Parts& parts, std::string_view op, const Argument& a, const Argument& b) {
  return parts.run(op, {a, b});
}
Argument sum_of(Parts& parts, const Argument& a, const Argument& b) {
  return binary(parts, "aten.add.Tensor", a, b);
}
Argument difference_of(Parts& parts, const Argument& a, const Argument& b) {
  return binary(parts, "aten.sub.Tensor", a, b);
}
Argument product_of(Parts& parts, const Argument& a, const Argument& b) {
  return binary(parts, "aten.mul.Tensor", a, b);
}
Argument no_less_than_zero(Parts& parts, const Argument& value) {
  return parts.run("aten.clamp_min.default", {value, {0.0}});
}
// Where target is `value`: `yes`, else zeros. Where it is not, the other way round.
Argument where_target(Parts& parts, bool is_equal, std::int64_t value, const Argument& yes,
                      const Argument& zeros) {
  const Argument condition =
      parts.run(is_equal ? "aten.eq.Scalar" : "aten.ne.Scalar", {parts["target"], {value}});
  return parts.run("aten.where.self", {condition, yes, zeros});
}

Argument norm_of_difference(Parts& parts, const Argument& a, const Argument& b, bool keeps) {
  const std::int64_t last = std::max(parts.of(a).rank(), parts.of(b).rank()) - 1;
  const Argument shifted = parts.run("aten.add.Scalar", {difference_of(parts, a, b), parts["eps"]});
  return parts.run("aten.norm.ScalarOpt_dim",
                   {shifted, parts["p"], integers_argument({last}), {keeps}});
}

Values pairwise(Parts& parts) {
  return {norm_of_difference(parts, parts["x1"], parts["x2"], parts.boolean("keepdim"))};
}

Values cosine(Parts& parts) {
  const Tensor x1 = parts.tensor("x1");
  const Tensor x2 = parts.tensor("x2");
  const spec::DType common = promote(x1.dtype, x2.dtype);
  if (!spec::is_floating_point(common)) throw OpError("expected floating point");
  const Sizes sizes = broadcast_sizes(x1.sizes, x2.sizes);
  const Argument dim = parts["dim"];
  const auto direction = [&](std::string_view name, spec::DType dtype) {
    Argument x = parts[name];
    if (dtype != common) x = parts.run("aten.to.dtype", {x, {common}});
    x = parts.run("aten.expand.default", {x, integers_argument(sizes)});
    const Argument norm =
        parts.run("aten.linalg_vector_norm.default",
                  {x, {std::int64_t{2}}, integers_argument({parts.integer("dim")}), {true}});
    const Argument length = parts.run("aten.clamp_min.default", {norm, parts["eps"]});
    return parts.run("aten.div.Tensor", {x, length});
  };
  const Argument a = direction("x1", x1.dtype);
  const Argument product = product_of(parts, a, direction("x2", x2.dtype));
  return {parts.run("aten.sum.dim_IntList", {product, integers_argument({parts.integer("dim")})})};
}

Values cosine_embedding(Parts& parts) {
  const std::int64_t dim = parts.tensor("target").rank();
  if (dim > 1) throw OpError("the target must be a number or a vector");
  const Argument a = parts["input1"];
  const Argument b = parts["input2"];
  const auto summed = [&](const Argument& x, const Argument& y) {
    return parts.run("aten.sum.dim_IntList", {product_of(parts, x, y), integers_argument({dim})});
  };
  const auto square = [&](const Argument& x) {
    return parts.run("aten.add.Scalar", {summed(x, x), {1e-12}});
  };
  const Argument dot = summed(a, b);
  const Argument square_a = square(a);
  const Argument length = parts.run("aten.sqrt.default", {product_of(parts, square_a, square(b))});
  const Argument similarity = parts.run("aten.div.Tensor", {dot, length});
  const Argument zeros = parts.run("aten.zeros_like.default", {similarity});
  const Argument far = parts.run("aten.rsub.Scalar", {similarity, {std::int64_t{1}}});
  const Argument near =
      no_less_than_zero(parts, parts.run("aten.sub.Scalar", {similarity, parts["margin"]}));
  const Argument alike = where_target(parts, true, 1, far, zeros);
  return reduce_losses(parts, sum_of(parts, alike, where_target(parts, true, -1, near, zeros)));
}

Values hinge_embedding(Parts& parts) {
  const Argument zeros = parts.run("aten.zeros_like.default", {parts["self"]});
  const Argument margin =
      no_less_than_zero(parts, parts.run("aten.rsub.Scalar", {parts["self"], parts["margin"]}));
  const Argument other = where_target(parts, false, 1, margin, zeros);
  return reduce_losses(parts,
                       sum_of(parts, other, where_target(parts, false, -1, parts["self"], zeros)));
}

Values margin_ranking(Parts& parts) {
  const std::int64_t rank = parts.tensor("input1").rank();
  if (rank != parts.tensor("input2").rank() || rank != parts.tensor("target").rank()) {
    throw OpError("all tensors must have as many dimensions");
  }
  const Argument sign = parts.run("aten.neg.default", {parts["target"]});
  const Argument gap = difference_of(parts, parts["input1"], parts["input2"]);
  const Argument loss =
      parts.run("aten.add.Scalar", {product_of(parts, sign, gap), parts["margin"]});
  return reduce_losses(parts, no_less_than_zero(parts, loss));
}

Values poisson_nll(Parts& parts) {
  const Argument input = parts["input"];
  const Argument target = parts["target"];
  Argument losses;
  if (parts.boolean("log_input")) {
    const Argument rate = parts.run("aten.exp.default", {input});
    losses = difference_of(parts, rate, product_of(parts, target, input));
  } else {
    const Argument shifted = parts.run("aten.add.Scalar", {input, parts["eps"]});
    const Argument log = parts.run("aten.log.default", {shifted});
    losses = difference_of(parts, input, product_of(parts, target, log));
  }
  if (parts.boolean("full")) {
    constexpr double kTwoPi = 2 * 3.14159265358979323846;
    const Argument log = parts.run("aten.log.default", {target});
    const Argument main = difference_of(parts, product_of(parts, target, log), target);
    const Argument circle = parts.run("aten.mul.Scalar", {target, {kTwoPi}});
    const Argument half =
        parts.run("aten.mul.Scalar", {parts.run("aten.log.default", {circle}), {0.5}});
    const Argument stirling = sum_of(parts, main, half);
    const Argument is_small = parts.run("aten.le.Scalar", {target, {std::int64_t{1}}});
    losses =
        sum_of(parts, losses, parts.run("aten.masked_fill.Scalar", {stirling, is_small, {0.0}}));
  }
  return reduce_losses(parts, losses);
}

Values triplet_margin(Parts& parts) {
  const std::int64_t rank = parts.tensor("anchor").rank();
  if (rank != parts.tensor("positive").rank() || rank != parts.tensor("negative").rank()) {
    throw OpError("all tensors must have as many dimensions");
  }
  const auto between = [&](std::string_view a, std::string_view b) {
    return norm_of_difference(parts, parts[a], parts[b], false);
  };
  const Argument near = between("anchor", "positive");
  Argument far = between("anchor", "negative");
  if (parts.boolean("swap")) {
    far = parts.run("aten.minimum.default", {far, between("positive", "negative")});
  }
  const Argument wanted = parts.run("aten.add.Scalar", {near, parts["margin"]});
  return reduce_losses(parts, no_less_than_zero(parts, difference_of(parts, wanted, far)));
}

constexpr CompositeOp kCompositeLosses[] = {
    {"aten.cosine_embedding_loss", cosine_embedding},
    {"aten.cosine_similarity", cosine},
    {"aten.hinge_embedding_loss", hinge_embedding},
    {"aten.margin_ranking_loss", margin_ranking},
    {"aten.pairwise_distance", pairwise},
    {"aten.poisson_nll_loss", poisson_nll},
    {"aten.triplet_margin_loss", triplet_margin},
};

}  // namespace

std::span<const CompositeOp> composite_losses() { return kCompositeLosses; }

}  // namespace graphgate::optimized
