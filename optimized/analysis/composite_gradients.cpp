// Gradients of losses, of norms, of what picks parts and of embeddings: PyTorch has kernels for
// them. Here they are sums and products in float32 (float64 of such), rounded once.
#include <algorithm>

#include "optimized/analysis/composite.h"
#include "optimized/promotion.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace gradients {
namespace {

using spec::Argument;
using spec::DType;
using Values = std::vector<Argument>;

Argument minus(Parts& parts, const Argument& a, const Argument& b) {
  return parts.run("aten.sub.Tensor", {a, b});
}
Argument times(Parts& parts, const Argument& a, const Argument& b) {
  return parts.run("aten.mul.Tensor", {a, b});
}
Argument cast(Parts& parts, const Argument& value, DType dtype) {
  if (parts.of(value).dtype == dtype) return value;
  return parts.run("aten.to.dtype", {value, {dtype}});
}
Argument contiguous(Parts& parts, const Argument& value) {
  return parts.run("aten.contiguous.default", {value});
}
DType wide(DType dtype) { return dtype == DType::kFloat64 ? dtype : DType::kFloat32; }

void require_floats(DType dtype) {
  if (!spec::is_floating_point(dtype)) throw OpError("a gradient wants a floating dtype");
}

// ---- losses

struct LossParts {
  DType dtype;
  Argument gradient;
  Argument difference;  // of the prediction and the target
  double share;         // of one loss in the result: one, or one over their number
};

LossParts loss_parts(Parts& parts) {
  const Tensor self = parts.tensor("self");
  const Tensor target = parts.tensor("target");
  const Tensor gradient = parts.tensor("grad_output");
  const DType dtype = promote(promote(self.dtype, target.dtype), gradient.dtype);
  require_floats(dtype);
  Sizes sizes = broadcast_sizes(self.sizes, target.sizes);
  if (broadcast_sizes(sizes, gradient.sizes) != self.sizes) {
    throw OpError("the gradient of a loss has the sizes of the prediction");
  }
  const std::int64_t reduction = parts.integer("reduction");
  if (reduction < 0 || reduction > 2) throw OpError("reduction is 0, 1 or 2");
  const Argument g = cast(parts, parts["grad_output"], wide(dtype));
  const Argument x = cast(parts, parts["self"], wide(dtype));
  const Argument difference = minus(parts, x, cast(parts, parts["target"], wide(dtype)));
  return {dtype, g, difference, reduction == 1 ? 1 / static_cast<double>(self.count()) : 1};
}

// In the order of PyTorch's kernels, as the product of two of the three factors may overflow. The
// share is one number, rounded once.
Values of_mse_loss(Parts& parts) {
  const LossParts loss = loss_parts(parts);
  const Argument scaled = parts.run("aten.mul.Scalar", {loss.difference, {2 * loss.share}});
  return {contiguous(parts, cast(parts, times(parts, scaled, loss.gradient), loss.dtype))};
}

// The slope grows with the difference up to beta, where it is 1 or -1. The order is that of
// PyTorch's decomposition.
Values of_smooth_l1_loss(Parts& parts) {
  const LossParts loss = loss_parts(parts);
  const Argument beta = parts["beta"];
  const Argument shared = parts.run("aten.mul.Scalar", {loss.gradient, {loss.share}});
  const Argument steep = times(parts, shared, parts.run("aten.sign.default", {loss.difference}));
  const Argument is_far =
      parts.run("aten.ge.Scalar", {parts.run("aten.abs.default", {loss.difference}), beta});
  const Argument slope =
      parts.run("aten.div.Scalar", {times(parts, shared, loss.difference), beta});
  const Argument chosen = parts.run("aten.where.self", {is_far, steep, slope});
  return {contiguous(parts, cast(parts, chosen, loss.dtype))};
}

// The slope grows with the difference up to delta, and stays.
Values of_huber_loss(Parts& parts) {
  const LossParts loss = loss_parts(parts);
  const Argument delta = parts["delta"];
  const Argument shared = parts.run("aten.mul.Scalar", {loss.gradient, {loss.share}});
  const Argument sign = parts.run("aten.sign.default", {loss.difference});
  const Argument steep = parts.run("aten.mul.Scalar", {times(parts, shared, sign), delta});
  const Argument is_far =
      parts.run("aten.ge.Scalar", {parts.run("aten.abs.default", {loss.difference}), delta});
  const Argument chosen =
      parts.run("aten.where.self", {is_far, steep, times(parts, shared, loss.difference)});
  return {contiguous(parts, cast(parts, chosen, loss.dtype))};
}

// The divisor x (1 - x) is 1e-12 at least.
Values of_binary_cross_entropy(Parts& parts) {
  LossParts loss = loss_parts(parts);
  const DType compute = wide(loss.dtype);
  const Argument x = cast(parts, parts["self"], compute);
  const Argument rest = parts.run("aten.rsub.Scalar", {x, {std::int64_t{1}}, {std::int64_t{1}}});
  const Argument divisor = parts.run("aten.clamp_min.default", {times(parts, rest, x), {1e-12}});
  Argument slope =
      parts.run("aten.div.Tensor", {times(parts, loss.gradient, loss.difference), divisor});
  if (parts.has("weight")) {
    const Tensor weight = parts.tensor("weight");
    if (broadcast_sizes(weight.sizes, parts.tensor("self").sizes) != parts.tensor("self").sizes) {
      throw OpError("the gradient of a loss has the sizes of the prediction");
    }
    loss.dtype = promote(loss.dtype, weight.dtype);
    slope = times(parts, slope, cast(parts, parts["weight"], compute));
  }
  const Argument shared = parts.run("aten.mul.Scalar", {slope, {loss.share}});
  return {contiguous(parts, cast(parts, shared, loss.dtype))};
}

// ---- gates

// The first half is times the sigmoid of the second.
Values of_glu(Parts& parts) {
  const Tensor self = parts.tensor("self");
  require_floats(self.dtype);
  const std::int64_t rank = self.rank();
  std::int64_t dim = parts.integer("dim");
  if (dim < -rank || dim >= rank) throw OpError("a dimension that self does not have");
  if (dim < 0) dim += rank;
  Sizes half = self.sizes;
  std::int64_t& length = half[static_cast<std::size_t>(dim)];
  if (length % 2 != 0) throw OpError("the size of the halved dimension is even");
  length /= 2;
  if (parts.tensor("grad_output").sizes != half) {
    throw OpError("the gradient of a gate has half of its input's sizes");
  }
  const DType compute = wide(self.dtype);
  const auto part = [&](std::int64_t first) {
    return cast(parts, parts.run("aten.narrow.default", {parts["self"], {dim}, {first}, {length}}),
                compute);
  };
  const Argument g = cast(parts, parts["grad_output"], compute);
  const Argument a = part(0);
  const Argument gate = parts.run("aten.sigmoid.default", {part(length)});
  const Argument first = times(parts, g, gate);
  const Argument rest = parts.run("aten.rsub.Scalar", {gate, {std::int64_t{1}}, {std::int64_t{1}}});
  const Argument second = times(parts, times(parts, rest, first), a);
  const Argument both =
      parts.run("aten.cat.default", {Argument{Argument::List{first, second}}, {dim}});
  return {contiguous(parts, cast(parts, both, self.dtype))};
}

// ---- parts

Argument zeros(Parts& parts, const Argument& sizes) {
  return parts.run("aten.new_zeros.default", {parts["grad_output"], sizes});
}

Values of_slice(Parts& parts) {
  return {parts.run("aten.slice_scatter.default",
                    {zeros(parts, parts["input_sizes"]), parts["grad_output"], parts["dim"],
                     parts["start"], parts["end"], parts["step"]})};
}

Values of_select(Parts& parts) {
  return {parts.run(
      "aten.select_scatter.default",
      {zeros(parts, parts["input_sizes"]), parts["grad_output"], parts["dim"], parts["index"]})};
}

Values of_embedding(Parts& parts) {
  const Tensor gradient = parts.tensor("grad_output");
  if (gradient.rank() == 0) throw OpError("the gradient of an embedding has rows");
  const std::int64_t count = parts.tensor("indices").count();
  const std::int64_t width = gradient.sizes.back();
  const std::int64_t weights = parts.integer("num_weights");
  const Argument zero{std::int64_t{0}};
  const Argument one{std::int64_t{1}};
  const Argument index =
      parts.run("aten.reshape.default", {parts["indices"], integers_argument({count})});
  Argument rows =
      parts.run("aten.reshape.default", {parts["grad_output"], integers_argument({count, width})});
  if (parts.boolean("scale_grad_by_freq")) {
    const Argument none =
        parts.run("aten.new_zeros.default", {index, integers_argument({weights})});
    const Argument ones = parts.run("aten.ones_like.default", {index});
    const Argument uses = parts.run("aten.index_add.default", {none, zero, index, ones});
    const Argument of_row = parts.run("aten.index_select.default", {uses, zero, index});
    const Argument divisor =
        cast(parts, parts.run("aten.unsqueeze.default", {of_row, one}), gradient.dtype);
    rows = parts.run("aten.div.Tensor", {rows, divisor});
  }
  const Argument is_padding = parts.run("aten.eq.Scalar", {index, parts["padding_idx"]});
  rows = parts.run("aten.masked_fill.Scalar",
                   {rows, parts.run("aten.unsqueeze.default", {is_padding, one}), {0.0}});
  const Argument none = zeros(parts, integers_argument({weights, width}));
  return {parts.run("aten.index_add.default", {none, zero, index, rows})};
}

// ---- norms

bool wants(const Parts& parts, std::size_t i) {
  const Argument mask = parts["output_mask"];
  const auto* list = mask.as<Argument::List>();
  const bool* wanted = list && i < list->size() ? (*list)[i].as<bool>() : nullptr;
  return wanted != nullptr && *wanted;
}

// Dimensions of a norm's input: those that share statistics, and those that share parameters.
struct NormDims {
  Sizes group;
  Sizes rest;
};

// Which dimensions a norm's input shares, and how it multiplies by the weight: in the order of
// PyTorch's kernels.
struct Norm {
  NormDims dims;
  bool depends;          // mean and rstd are of the input itself
  bool weight_is_first;  // before the means of the gradient are taken, or at the end
};

// The three gradients of weight * (input - mean) * rstd + bias, whose parts have broadcast to the
// input. `weight` may be None.
Values of_norm(Parts& parts, const Argument& mean, const Argument& rstd, const Argument& weight,
               const Norm& norm) {
  const Tensor input = parts.tensor("input");
  require_floats(input.dtype);
  if (parts.tensor("grad_out").sizes != input.sizes) {
    throw OpError("the gradient of a norm has the sizes of its input");
  }
  const DType compute = wide(input.dtype);
  const DType parameters = parts.has("weight") ? parts.tensor("weight").dtype : input.dtype;
  const Argument g = cast(parts, parts["grad_out"], compute);
  const Argument x = cast(parts, parts["input"], compute);
  const Argument normal = times(parts, minus(parts, x, mean), rstd);
  Values out(3, Argument{spec::None{}});
  if (wants(parts, 0)) {
    const bool has_weight = !weight.as<spec::None>();
    Argument back = has_weight && norm.weight_is_first ? times(parts, g, weight) : g;
    if (norm.depends) {
      const auto mean_of = [&](const Argument& value) {
        return parts.run("aten.mean.dim", {value, integers_argument(norm.dims.group), {true}});
      };
      const Argument moment = mean_of(times(parts, back, normal));
      back = minus(parts, minus(parts, back, mean_of(back)), times(parts, normal, moment));
    }
    back = times(parts, back, rstd);
    if (has_weight && !norm.weight_is_first) back = times(parts, back, weight);
    out[0] = cast(parts, back, input.dtype);
  }
  const auto total = [&](const Argument& value) {
    const Sizes& rest = norm.dims.rest;
    Argument sum = rest.empty()
                       ? parts.run("aten.clone.default", {value})
                       : parts.run("aten.sum.dim_IntList", {value, integers_argument(rest)});
    return contiguous(parts, cast(parts, sum, parameters));
  };
  if (wants(parts, 1)) out[1] = total(times(parts, g, normal));
  if (wants(parts, 2)) out[2] = total(g);
  return out;
}

Values of_layer_norm(Parts& parts) {
  const Tensor input = parts.tensor("input");
  const Sizes inner = parts.integers("normalized_shape");
  if (inner.empty() || inner.size() > input.sizes.size() ||
      !std::equal(inner.rbegin(), inner.rend(), input.sizes.rbegin())) {
    throw OpError("the input's last sizes are not normalized_shape");
  }
  const DType compute = wide(input.dtype);
  const auto rank = static_cast<std::int64_t>(input.sizes.size());
  const auto first = rank - static_cast<std::int64_t>(inner.size());
  NormDims dims;
  for (std::int64_t d = 0; d < rank; ++d) (d < first ? dims.rest : dims.group).push_back(d);
  const Argument mean = cast(parts, parts["mean"], compute);
  const Argument rstd = cast(parts, parts["rstd"], compute);
  const Argument weight =
      parts.has("weight") ? cast(parts, parts["weight"], compute) : Argument{spec::None{}};
  Values out = of_norm(parts, mean, rstd, weight, {dims, true, true});
  if (!out[0].as<spec::None>()) out[0] = contiguous(parts, out[0]);
  return out;
}

// Channels of one group share statistics. Everything is seen as [images, groups, channels of a
// group, area].
Values of_group_norm(Parts& parts) {
  const Tensor input = parts.tensor("input");
  require_floats(input.dtype);
  const std::int64_t images = parts.integer("N");
  const std::int64_t channels = parts.integer("C");
  const std::int64_t area = parts.integer("HxW");
  const std::int64_t groups = parts.integer("group");
  const bool fits = groups > 0 && channels % groups == 0 &&
                    input.count() == images * channels * area &&
                    parts.tensor("grad_out").sizes == input.sizes;
  if (!fits) throw OpError("the gradient of a group norm has the sizes of its input");
  const DType compute = wide(input.dtype);
  const DType parameters = parts.has("weight") ? parts.tensor("weight").dtype : input.dtype;
  const std::int64_t depth = channels / groups;
  const auto seen = [&](const Argument& value, const Sizes& sizes) {
    return parts.run("aten.reshape.default",
                     {cast(parts, value, compute), integers_argument(sizes)});
  };
  const Argument g = seen(parts["grad_out"], {images, groups, depth, area});
  const Argument x = seen(parts["input"], {images, groups, depth, area});
  const Argument mean = seen(parts["mean"], {images, groups, 1, 1});
  const Argument rstd = seen(parts["rstd"], {images, groups, 1, 1});
  const Argument normal = times(parts, minus(parts, x, mean), rstd);
  Values out(3, Argument{spec::None{}});
  if (wants(parts, 0)) {
    const Argument weighed =
        parts.has("weight") ? times(parts, g, seen(parts["weight"], {1, groups, depth, 1})) : g;
    const auto mean_of = [&](const Argument& value) {
      return parts.run("aten.mean.dim", {value, integers_argument({2, 3}), {true}});
    };
    const Argument moment = mean_of(times(parts, weighed, normal));
    const Argument back =
        minus(parts, minus(parts, weighed, mean_of(weighed)), times(parts, normal, moment));
    const Argument whole = parts.run("aten.reshape.default",
                                     {times(parts, back, rstd), integers_argument(input.sizes)});
    out[0] = parts.run("aten.clone.default",
                       {cast(parts, whole, input.dtype), {suggested_format(input)}});
  }
  const auto total = [&](const Argument& value) {
    const Argument sum = parts.run("aten.sum.dim_IntList", {value, integers_argument({0, 3})});
    const Argument flat = parts.run("aten.reshape.default", {sum, integers_argument({channels})});
    return contiguous(parts, cast(parts, flat, parameters));
  };
  if (wants(parts, 1)) out[1] = total(times(parts, g, normal));
  if (wants(parts, 2)) out[2] = total(g);
  return out;
}

Values of_batch_norm(Parts& parts) {
  const Tensor input = parts.tensor("input");
  if (input.rank() < 2) throw OpError("the input of a batch norm has two dimensions or more");
  const DType compute = wide(input.dtype);
  Sizes sizes(input.sizes.size(), 1);
  sizes[1] = input.sizes[1];
  const auto channels = [&](const Argument& value) {
    return parts.run("aten.reshape.default",
                     {cast(parts, value, compute), integers_argument(sizes)});
  };
  NormDims dims;
  for (std::int64_t d = 0; d < input.rank(); ++d) {
    if (d != 1) dims.group.push_back(d);
  }
  dims.rest = dims.group;
  const bool trains = parts.boolean("train");
  for (const char* name :
       {trains ? "save_mean" : "running_mean", trains ? "save_invstd" : "running_var"}) {
    if (!parts.has(name)) throw OpError("the gradient of a batch norm wants its statistics");
  }
  const Argument mean = channels(parts[trains ? "save_mean" : "running_mean"]);
  Argument rstd = channels(parts[trains ? "save_invstd" : "running_var"]);
  if (!trains) {
    rstd = parts.run("aten.rsqrt.default", {parts.run("aten.add.Scalar", {rstd, parts["eps"]})});
  }
  const Argument weight = parts.has("weight") ? channels(parts["weight"]) : Argument{spec::None{}};
  return of_norm(parts, mean, rstd, weight, {dims, trains, false});
}

Values of_prim_fma(Parts& parts) {
  return {parts.run("aten.add.Tensor", {times(parts, parts["a"], parts["b"]), parts["c"]})};
}

constexpr CompositeOp kCompositeGradients[] = {
    {"aten.binary_cross_entropy_backward", written_where_asked<of_binary_cross_entropy>},
    {"aten.embedding_dense_backward", written_where_asked<of_embedding>},
    {"aten.glu_backward", written_where_asked<of_glu>},
    {"aten.huber_loss_backward", written_where_asked<of_huber_loss>},
    {"aten.mse_loss_backward", written_where_asked<of_mse_loss>},
    {"aten.native_batch_norm_backward", written_where_asked<of_batch_norm>},
    {"aten.native_group_norm_backward", written_where_asked<of_group_norm>},
    {"aten.native_layer_norm_backward", written_where_asked<of_layer_norm>},
    {"aten.select_backward", written_where_asked<of_select>},
    {"aten.slice_backward", written_where_asked<of_slice>},
    {"aten.smooth_l1_loss_backward", written_where_asked<of_smooth_l1_loss>},
    {"prims.fma", of_prim_fma},
};

}  // namespace
}  // namespace gradients

std::span<const CompositeOp> composite_gradients() { return gradients::kCompositeGradients; }

}  // namespace graphgate::optimized
