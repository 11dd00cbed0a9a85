// Losses and distances that PyTorch defines by other ops (ATen's Loss.cpp and Distance.cpp).
#include "reference/ops/composition.h"

namespace graphgate::reference {
namespace composite {
namespace {

// A few words for what the steps below are made of.
class Steps {
 public:
  explicit Steps(const Call& call) : run_(call) {}

  [[nodiscard]] TensorRef run(std::string_view op, std::vector<Datum> arguments) const {
    return run_(op, std::move(arguments));
  }
  [[nodiscard]] TensorRef add(const TensorRef& a, const TensorRef& b) const {
    return run("aten.add.Tensor", {{a}, {b}});
  }
  [[nodiscard]] TensorRef add(const TensorRef& a, double b) const {
    return run("aten.add.Scalar", {{a}, {b}});
  }
  [[nodiscard]] TensorRef sub(const TensorRef& a, const TensorRef& b) const {
    return run("aten.sub.Tensor", {{a}, {b}});
  }
  // number - tensor
  [[nodiscard]] TensorRef from(double number, const TensorRef& tensor) const {
    return run("aten.rsub.Scalar", {{tensor}, {number}});
  }
  [[nodiscard]] TensorRef mul(const TensorRef& a, const TensorRef& b) const {
    return run("aten.mul.Tensor", {{a}, {b}});
  }
  [[nodiscard]] TensorRef div(const TensorRef& a, const TensorRef& b) const {
    return run("aten.div.Tensor", {{a}, {b}});
  }
  [[nodiscard]] TensorRef at_least(const TensorRef& tensor, double least) const {
    return run("aten.clamp_min.default", {{tensor}, {least}});
  }
  [[nodiscard]] TensorRef zeros_like(const TensorRef& tensor) const {
    return run("aten.zeros_like.default", {{tensor}});
  }
  [[nodiscard]] TensorRef where(const TensorRef& condition, const TensorRef& yes,
                                const TensorRef& no) const {
    return run("aten.where.self", {{condition}, {yes}, {no}});
  }
  [[nodiscard]] TensorRef sum(const TensorRef& tensor, std::int64_t dim) const {
    return run("aten.sum.dim_IntList", {{tensor}, list_of(Sizes{dim})});
  }

 private:
  Composition run_;
};

// Emits the losses as the argument `reduction` says: 0 as they are, 1 their mean, 2 their sum.
void emit_reduced(Call& call, const Steps& steps, const TensorRef& losses) {
  switch (call.integer("reduction")) {
    case 1:
      return call.emit_datum({steps.run("aten.mean.default", {{losses}})});
    case 2:
      return call.emit_datum({steps.run("aten.sum.default", {{losses}})});
    default:
      return call.emit_datum({losses});
  }
}

// The norm of x1 - x2 + eps along the last dimension.
TensorRef distance(const Steps& steps, const TensorRef& x1, const TensorRef& x2, const Datum& p,
                   double eps, bool keeps) {
  const std::int64_t last = std::max(x1->rank(), x2->rank()) - 1;
  return steps.run("aten.norm.ScalarOpt_dim",
                   {{steps.add(steps.sub(x1, x2), eps)}, p, list_of(Sizes{last}), {keeps}});
}

void pairwise_distance(Call& call) {
  const Steps steps(call);
  call.emit_datum({distance(steps, call.tensor("x1"), call.tensor("x2"), call.datum("p"),
                            call.real("eps"), call.boolean("keepdim"))});
}

// Both are divided by their norms before they are multiplied.
void cosine_similarity(Call& call) {
  const Steps steps(call);
  TensorRef x1 = call.tensor("x1");
  TensorRef x2 = call.tensor("x2");
  const spec::DType common = promote(x1->dtype, x2->dtype);
  if (!spec::is_floating_point(common)) {
    throw OpError("expected common dtype to be floating point");
  }
  const Sizes sizes = broadcast_sizes({x1->sizes, x2->sizes});
  const auto unit = [&](TensorRef x) {
    if (x->dtype != common) x = steps.run("aten.to.dtype", {{x}, {common}});
    x = steps.run("aten.expand.default", {{x}, list_of(sizes)});
    const TensorRef norm =
        steps.run("aten.linalg_vector_norm.default",
                  {{x}, {std::int64_t{2}}, list_of(Sizes{call.integer("dim")}), {true}});
    return steps.div(x, steps.at_least(norm, call.real("eps")));
  };
  call.emit_datum({steps.sum(steps.mul(unit(x1), unit(x2)), call.integer("dim"))});
}

void cosine_embedding_loss(Call& call) {
  constexpr double kEps = 1e-12;
  const Steps steps(call);
  const TensorRef& a = call.tensor("input1");
  const TensorRef& b = call.tensor("input2");
  const TensorRef& target = call.tensor("target");
  const std::int64_t dim = target->rank();
  if (dim > 1) throw OpError("0D or 1D target tensor expected");
  const TensorRef product = steps.sum(steps.mul(a, b), dim);
  const TensorRef square1 = steps.add(steps.sum(steps.mul(a, a), dim), kEps);
  const TensorRef square2 = steps.add(steps.sum(steps.mul(b, b), dim), kEps);
  const TensorRef root = steps.run("aten.sqrt.default", {{steps.mul(square1, square2)}});
  const TensorRef cosine = steps.div(product, root);
  const TensorRef zeros = steps.zeros_like(cosine);
  const TensorRef alike = steps.from(1, cosine);
  const TensorRef other =
      steps.at_least(steps.run("aten.sub.Scalar", {{cosine}, call.datum("margin")}), 0);
  const auto is_target = [&](std::int64_t value) {
    return steps.run("aten.eq.Scalar", {{target}, {value}});
  };
  emit_reduced(
      call, steps,
      steps.add(steps.where(is_target(1), alike, zeros), steps.where(is_target(-1), other, zeros)));
}

void hinge_embedding_loss(Call& call) {
  const Steps steps(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef& target = call.tensor("target");
  const TensorRef zeros = steps.zeros_like(self);
  const TensorRef margin = steps.at_least(steps.from(call.real("margin"), self), 0);
  const auto is_other = [&](std::int64_t value) {
    return steps.run("aten.ne.Scalar", {{target}, {value}});
  };
  emit_reduced(
      call, steps,
      steps.add(steps.where(is_other(1), margin, zeros), steps.where(is_other(-1), self, zeros)));
}

void margin_ranking_loss(Call& call) {
  const Steps steps(call);
  const TensorRef& a = call.tensor("input1");
  const TensorRef& b = call.tensor("input2");
  const TensorRef& target = call.tensor("target");
  if (a->rank() != b->rank() || a->rank() != target->rank()) {
    throw OpError("margin_ranking_loss: all input tensors should have the same dimensions");
  }
  const TensorRef negative = steps.run("aten.neg.default", {{target}});
  const TensorRef distance = steps.mul(negative, steps.sub(a, b));
  emit_reduced(call, steps, steps.at_least(steps.add(distance, call.real("margin")), 0));
}

// exp(x) - target x, or x - target log(x + eps), and Stirling's approximation of target! if `full`.
void poisson_nll_loss(Call& call) {
  constexpr double kTwoPi = 6.283185307179586476925;
  const Steps steps(call);
  const TensorRef& input = call.tensor("input");
  const TensorRef& target = call.tensor("target");
  const auto log = [&](const TensorRef& x) { return steps.run("aten.log.default", {{x}}); };
  TensorRef losses;
  if (call.boolean("log_input")) {
    losses = steps.sub(steps.run("aten.exp.default", {{input}}), steps.mul(target, input));
  } else {
    losses = steps.sub(input, steps.mul(target, log(steps.add(input, call.real("eps")))));
  }
  if (call.boolean("full")) {
    const auto times = [&](const TensorRef& x, double number) {
      return steps.run("aten.mul.Scalar", {{x}, {number}});
    };
    const TensorRef stirling = steps.add(steps.sub(steps.mul(target, log(target)), target),
                                         times(log(times(target, kTwoPi)), 0.5));
    const TensorRef is_small = steps.run("aten.le.Scalar", {{target}, {std::int64_t{1}}});
    losses =
        steps.add(losses, steps.run("aten.masked_fill.Scalar", {{stirling}, {is_small}, {0.0}}));
  }
  emit_reduced(call, steps, losses);
}

void triplet_margin_loss(Call& call) {
  const Steps steps(call);
  const TensorRef& anchor = call.tensor("anchor");
  const TensorRef& positive = call.tensor("positive");
  const TensorRef& negative = call.tensor("negative");
  if (anchor->rank() != positive->rank() || anchor->rank() != negative->rank()) {
    throw OpError("all inputs should have the same dimensions");
  }
  const auto between = [&](const TensorRef& a, const TensorRef& b) {
    return distance(steps, a, b, call.datum("p"), call.real("eps"), false);
  };
  const TensorRef near = between(anchor, positive);
  TensorRef far = between(anchor, negative);
  if (call.boolean("swap")) {
    far = steps.run("aten.minimum.default", {{far}, {between(positive, negative)}});
  }
  emit_reduced(call, steps,
               steps.at_least(steps.sub(steps.add(near, call.real("margin")), far), 0));
}

constexpr OpBody kCompositeLossOps[] = {
    OpBody{"aten.cosine_embedding_loss", cosine_embedding_loss},
    OpBody{"aten.cosine_similarity", cosine_similarity},
    OpBody{"aten.hinge_embedding_loss", hinge_embedding_loss},
    OpBody{"aten.margin_ranking_loss", margin_ranking_loss},
    OpBody{"aten.pairwise_distance", pairwise_distance},
    OpBody{"aten.poisson_nll_loss", poisson_nll_loss},
    OpBody{"aten.triplet_margin_loss", triplet_margin_loss},
};

}  // namespace
}  // namespace composite

std::span<const OpBody> composite_loss_ops() { return composite::kCompositeLossOps; }

}  // namespace graphgate::reference
