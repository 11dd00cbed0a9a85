// Gradients of losses, norms, parts and embeddings that PyTorch has kernels for, and
// that the optimized executor makes of others.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "reference/movement.h"
#include "reference/number/left_open.h"
#include "reference/number/sum.h"
#include "reference/ops/composition.h"
#include "reference/ops/contributions.h"
#include "reference/ops/loss.h"
#include "reference/ops/norm_parameters.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace gradients {
namespace {

using spec::DType;

// --- losses ---

// f(gradient, prediction, target), of which the prediction has all sizes. PyTorch's result is
// contiguous. `scale` is what the gradient of one loss is multiplied by.
template <class F>
void emit_loss_gradient(Call& call, F f) {
  const Operands operands = gather_operands(call, {"grad_output", "self", "target"});
  const DType dtype = operands.common;
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  if (operands.sizes != call.tensor("self")->sizes) {
    throw OpError("the gradient of a loss has the sizes of the prediction");
  }
  check_result_fits(call, dtype);
  with_real(call.mode(), [&]<class N>() {
    emit_formula_as<N, 3>(call, operands, dtype, dtype, spec::contiguous_strides(operands.sizes),
                          f);
  });
}

// `whole` over the elements of a mean, else itself; as the kernels hold it, which compute in the
// compute dtype of `dtype`.
double share_of(const Call& call, double whole, DType dtype) {
  const auto count = static_cast<double>(call.tensor("self")->count());
  const bool is_mean = loss_reduction(call) == LossReduction::kMean;
  return round_to_dtype(is_mean ? whole / count : whole, compute_dtype(dtype));
}

// 2 (self - target) g. 16-bit data may be rounded after every step.
void mse_loss_backward(Call& call) {
  const DType dtype = gather_operands(call, {"grad_output", "self", "target"}).common;
  const double factor = share_of(call, 2, dtype);
  emit_loss_gradient(call, [=]<class N>(const N& g, const N& x, const N& y) {
    const N scale = held_in(N(factor), dtype);
    const N by_steps = held_in(scale * held_in(x - y, dtype), dtype) * g;
    return covering(by_steps, scale * (x - y) * g);
  });
}

// `near` where a difference z lies between the edges, else `far` with the sign of z.
template <class N>
N within_edges(const N& z, const N& edge, const N& near, const N& far) {
  const Whole is_low = less(z, -edge) | equal(z, -edge);
  const Whole is_high = less(edge, z) | equal(edge, z);
  return select(is_low, -far, select(is_high, far, near));
}

// z g / beta of a difference z within beta, else the sign of z times g. The decomposition, which
// Inductor compiles, multiplies the gradient by the share first. At a beta of 0 no difference has
// the sign 0 there, and -1 to PyTorch's kernels.
void smooth_l1_loss_backward(Call& call) {
  const DType dtype = gather_operands(call, {"grad_output", "self", "target"}).common;
  const double share = share_of(call, 1, dtype);
  const double beta = round_to_dtype(call.real("beta"), compute_dtype(dtype));
  emit_loss_gradient(call, [=]<class N>(const N& g, const N& x, const N& y) {
    const N edge = held_in(N(beta), dtype);
    const N scale = held_in(N(share), dtype);
    const N z = held_in(x - y, dtype);
    const N far = scale * g;
    const N near =
        covering(held_in(held_in(scale * z, dtype) * g, dtype) / edge, scale * g * z / edge);
    const N out = within_edges(z, edge, near, far);
    return beta == 0 ? select(is_zero(z), covering(-far, N(0) * far), out) : out;
  });
}

// z g of a difference z within delta, else delta times its sign times g.
void huber_loss_backward(Call& call) {
  const DType dtype = gather_operands(call, {"grad_output", "self", "target"}).common;
  const double share = share_of(call, 1, dtype);
  const double delta = round_to_dtype(call.real("delta"), compute_dtype(dtype));
  emit_loss_gradient(call, [=]<class N>(const N& g, const N& x, const N& y) {
    const N edge = held_in(N(delta), dtype);
    const N scale = held_in(N(share), dtype);
    const N z = held_in(x - y, dtype);
    const N far = covering(held_in(held_in(scale * g, dtype) * edge, dtype), scale * g * edge);
    const N near = covering(held_in(scale * z, dtype) * g, scale * z * g);
    return within_edges(z, edge, near, far);
  });
}

// (x - y) g / max((1 - x) x, 1e-12), times the weight. PyTorch's kernels have 1e-12 as a float32.
// They may round 16-bit data after every step, and the smallest divisor, too: float16 has 0 for it.
void binary_cross_entropy_backward(Call& call) {
  const bool is_weighted = call.has("weight");
  const Operands operands = is_weighted
                                ? gather_operands(call, {"grad_output", "self", "target", "weight"})
                                : gather_operands(call, {"grad_output", "self", "target"});
  const DType dtype = operands.common;
  require_floating(call, dtype);
  if (operands.sizes != call.tensor("self")->sizes) {
    throw OpError("the gradient of a loss has the sizes of the prediction");
  }
  check_result_fits(call, dtype);
  const double share = share_of(call, 1, dtype);
  const double least = 1e-12;
  with_real(call.mode(), [&]<class N>() {
    const auto slope = [=](const N& g, const N& x, const N& y) {
      const N plain = maximum((N(1.0) - x) * x, N(least));
      const double held = round_to_dtype(round_to_dtype(least, DType::kFloat32), dtype);
      const N by_steps = maximum(held_in(held_in(N(1.0) - x, dtype) * x, dtype), N(held));
      return covering(held_in(g * held_in(x - y, dtype), dtype) / by_steps, g * (x - y) / plain);
    };
    const Sizes strides = spec::contiguous_strides(operands.sizes);
    if (is_weighted) {
      auto weighed = [=](const N& g, const N& x, const N& y, const N& w) {
        return held_in(slope(g, x, y) * w, dtype) * N(share);
      };
      emit_formula_as<N, 4>(call, operands, dtype, dtype, strides, weighed);
    } else {
      auto plain = [=](const N& g, const N& x, const N& y) {
        return held_in(slope(g, x, y), dtype) * N(share);
      };
      emit_formula_as<N, 3>(call, operands, dtype, dtype, strides, plain);
    }
  });
}

// --- gates ---

// a sigmoid(b) of the halves a and b of a dimension: sigmoid(b) g, and the slope of the sigmoid
// times a g. Kernels of 16-bit data may round after every step.
void glu_backward(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Tensor& gradient = *call.tensor("grad_output");
  const DType dtype = self.dtype;
  require_floating(call, dtype);
  if (gradient.dtype != dtype) throw OpError("glu_backward: two dtypes");
  const auto dim = static_cast<std::size_t>(wrap_dim(call.integer("dim"), self.rank()));
  Sizes half = self.sizes;
  if (half[dim] % 2 != 0) throw OpError("glu_backward: the halved dimension's size is odd");
  half[dim] /= 2;
  if (gradient.sizes != half) throw OpError("glu_backward: the sizes do not fit each other");
  const DType compute = compute_dtype(dtype);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(self, dtype);
    const Array<N> g = load<N>(gradient, dtype);
    Array<N> out(self.sizes);
    std::int64_t i = 0;
    for_each_index(half, [&](const Sizes& index) {
      Sizes at = index;
      const std::int64_t first = x.position(at);
      at[dim] += half[dim];
      const std::int64_t second = x.position(at);
      const N gate = held_in(divide_by_logistic(N(1.0), x[second], compute), dtype);
      const N part = held_in(gate * g[i], dtype);
      out[first] = part;
      out[second] = held_in((N(1.0) - gate) * part, dtype) * x[first];
      ++i;
    });
    call.emit(out, dtype, spec::contiguous_strides(self.sizes));
  });
}

// --- parts ---

// Zeros of the input's sizes.
TensorRef zeros_of(const Composition& run, const TensorRef& like, const Sizes& sizes) {
  return run("aten.new_zeros.default", {{like}, list_of(sizes)});
}

void slice_backward(Call& call) {
  const Composition run(call);
  const TensorRef& gradient = call.tensor("grad_output");
  const TensorRef zeros = zeros_of(run, gradient, call.integers("input_sizes"));
  emit_made(call, run("aten.slice_scatter.default", {{zeros},
                                                     {gradient},
                                                     call.datum("dim"),
                                                     call.datum("start"),
                                                     call.datum("end"),
                                                     call.datum("step")}));
}

void select_backward(Call& call) {
  const Composition run(call);
  const TensorRef& gradient = call.tensor("grad_output");
  const TensorRef zeros = zeros_of(run, gradient, call.integers("input_sizes"));
  emit_made(call, run("aten.select_scatter.default",
                      {{zeros}, {gradient}, call.datum("dim"), call.datum("index")}));
}

// Rows of the gradient are added up by their index; those of the padding are left out.
void embedding_dense_backward(Call& call) {
  const Composition run(call);
  const TensorRef& indices = call.tensor("indices");
  const TensorRef& gradient = call.tensor("grad_output");
  if (gradient->rank() == 0) throw OpError("embedding_dense_backward: wants rows");
  const std::int64_t width = gradient->sizes.back();
  const std::int64_t count = call.integer("num_weights");
  const TensorRef index = reshaped(run, indices, {indices->count()});
  TensorRef rows = reshaped(run, gradient, {indices->count(), width});
  if (call.boolean("scale_grad_by_freq")) {
    const TensorRef ones = run("aten.ones_like.default", {{index}});
    const TensorRef none = run("aten.new_zeros.default", {{index}, list_of(Sizes{count})});
    const TensorRef uses =
        run("aten.index_add.default", {{none}, {std::int64_t{0}}, {index}, {ones}});
    const TensorRef of_row = run("aten.index_select.default", {{uses}, {std::int64_t{0}}, {index}});
    const TensorRef divisor = to_dtype(run, unsqueezed(run, of_row, 1), rows->dtype);
    rows = run("aten.div.Tensor", {{rows}, {divisor}});
  }
  const TensorRef is_padding = run("aten.eq.Scalar", {{index}, call.datum("padding_idx")});
  rows = run("aten.masked_fill.Scalar", {{rows}, {unsqueezed(run, is_padding, 1)}, {0.0}});
  const TensorRef zeros = zeros_of(run, gradient, {count, width});
  emit_made(call, run("aten.index_add.default", {{zeros}, {std::int64_t{0}}, {index}, {rows}}));
}

// --- norms ---

bool wants(const Call& call, std::size_t i) {
  const auto* mask = call.datum("output_mask").as<Datum::List>();
  const bool* wanted = mask && i < mask->size() ? (*mask)[i].as<bool>() : nullptr;
  return wanted != nullptr && *wanted;
}

// What one group of elements with a mean and a deviation gives back to its input.
template <class N>
struct GroupGradient {
  N mean;
  N rstd;
  N sum;       // of the gradients g of the normalized elements
  N moment;    // of their products with the normalized elements
  N centered;  // of their products with what the elements are less the mean
  N product;   // of their products with the elements
  N count;

  GroupGradient(const std::vector<N>& g, const std::vector<N>& x, const N& mean_, const N& rstd_)
      : mean(mean_), rstd(rstd_), count(static_cast<double>(x.size())) {
    Sum<N> sums;
    Sum<N> moments;
    Sum<N> products;
    Sum<N> distances;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sums.add(g[i]);
      moments.add_product(g[i], normal(x[i]));
      distances.add_product(g[i], x[i] - mean);
      products.add_product(g[i], x[i]);
    }
    sum = sums.result();
    moment = moments.result();
    centered = distances.result();
    product = products.result();
  }

  [[nodiscard]] N normal(const N& x) const { return (x - mean) * rstd; }

  // rstd (g - mean(g) - normal(x) mean(g normal(x))), as it stands or multiplied out.
  [[nodiscard]] N at(const N& g, const N& x) const {
    const N plain = rstd * (g - sum / count - normal(x) * (moment / count));
    const N slope = (sum * mean - product) * (rstd * rstd * rstd) / count;
    const N shift = -slope * mean - sum * rstd / count;
    return covering(plain, rstd * g + slope * x + shift);
  }
  // The same, or multiplied by the count and divided by it again, as the decomposition of a layer
  // norm has it.
  [[nodiscard]] N of_layer(const N& g, const N& x) const {
    const N counted = rstd / count * (g * count - sum - normal(x) * moment);
    return covering(at(g, x), counted);
  }
  // Times a weight, or 1 where that is null. A batch norm's kernels sum products before they
  // normalize them, and multiply by the weight last; its decomposition multiplies by `share`, 1
  // over the count, and by one factor.
  [[nodiscard]] N of_batch(const N& g, const N& x, const N* weight, const N& share) const {
    const auto weighed = [&](const N& y) { return weight ? y * *weight : y; };
    const N along = (x - mean) * (centered * rstd * rstd / count);
    const N summed = weighed((g - along - sum / count) * rstd);
    const N slope = centered * share * (rstd * rstd);
    const N decomposed = (g - (x - mean) * slope - sum * share) * weighed(rstd);
    return covering(covering(weighed(at(g, x)), summed), decomposed);
  }
};

DType dtype_of(const Call& call, std::string_view name, DType otherwise) {
  return call.has(name) ? call.tensor(name)->dtype : otherwise;
}

template <class N>
void emit_or_none(Call& call, std::size_t i, const Array<N>& array, DType dtype,
                  const Sizes& strides) {
  if (wants(call, i)) return call.emit(array, dtype, strides);
  call.emit_datum({});
}

void native_layer_norm_backward(Call& call) {
  const Tensor& input = *call.tensor("input");
  const Tensor& gradient = *call.tensor("grad_out");
  const Sizes inner = call.integers("normalized_shape");
  require_floating(call, input.dtype);
  if (gradient.sizes != input.sizes || inner.empty() || inner.size() > input.sizes.size() ||
      !std::equal(inner.rbegin(), inner.rend(), input.sizes.rbegin())) {
    throw OpError("layer_norm_backward: the sizes do not fit each other");
  }
  const auto length = static_cast<std::size_t>(count_of(inner));
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(input, input.dtype);
    const Array<N> g = load<N>(gradient, gradient.dtype);
    const auto mean = parameter<N>(call, "mean", input.dtype);
    const auto rstd = parameter<N>(call, "rstd", input.dtype);
    const auto weight = parameter<N>(call, "weight", input.dtype);
    Array<N> of_input(input.sizes);
    // PyTorch's CPU kernel keeps these sums in the input's dtype, whatever the parameters' is.
    const Accumulation how{.partials = Partials::kOwnDtype};
    std::vector<detail::Slot<N>> of_weight(length);
    std::vector<detail::Slot<N>> of_bias(length);
    const std::size_t rows = length == 0 ? 0 : x.data.size() / length;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto begin = static_cast<std::ptrdiff_t>(r * length);
      const auto end = begin + static_cast<std::ptrdiff_t>(length);
      const std::vector<N> row(x.data.begin() + begin, x.data.begin() + end);
      std::vector<N> scaled(g.data.begin() + begin, g.data.begin() + end);
      const N* center = element(mean, static_cast<std::int64_t>(r));
      const N* factor = element(rstd, static_cast<std::int64_t>(r));
      if (!center || !factor) throw OpError("layer_norm_backward: wants statistics");
      for (std::size_t i = 0; i < length; ++i) {
        const N normal =
            covering((row[i] - *center) * *factor, row[i] * *factor - *center * *factor);
        of_weight[i].add(scaled[i] * normal, how, input.dtype);
        of_bias[i].add(scaled[i], how, input.dtype);
        if (const N* w = element(weight, static_cast<std::int64_t>(i))) scaled[i] = scaled[i] * *w;
      }
      const GroupGradient<N> group(scaled, row, *center, *factor);
      for (std::size_t i = 0; i < length; ++i) {
        of_input.data[r * length + i] = group.of_layer(scaled[i], row[i]);
      }
    }
    const auto results = [&](const std::vector<detail::Slot<N>>& sums) {
      Array<N> out(inner);
      for (std::size_t i = 0; i < length; ++i)
        out.data[i] = held_in(sums[i].result(how, input.dtype), input.dtype);
      return out;
    };
    const DType parameters = dtype_of(call, "weight", input.dtype);
    emit_or_none(call, 0, of_input, input.dtype, spec::contiguous_strides(input.sizes));
    emit_or_none(call, 1, results(of_weight), parameters, spec::contiguous_strides(inner));
    emit_or_none(call, 2, results(of_bias), parameters, spec::contiguous_strides(inner));
  });
}

// Channels share the statistics of their group, and have weights of their own.
void native_group_norm_backward(Call& call) {
  const Tensor& input = *call.tensor("input");
  const Tensor& gradient = *call.tensor("grad_out");
  require_floating(call, input.dtype);
  const std::int64_t images = call.integer("N");
  const std::int64_t channels = call.integer("C");
  const std::int64_t area = call.integer("HxW");
  const std::int64_t groups = call.integer("group");
  const bool fits = images >= 0 && channels >= 0 && area >= 0 && groups > 0 &&
                    channels % groups == 0 && input.count() == images * channels * area;
  if (!fits || gradient.sizes != input.sizes) {
    throw OpError("group_norm_backward: the sizes do not fit each other");
  }
  const std::int64_t depth = channels / groups;
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(input, input.dtype);
    const Array<N> g = load<N>(gradient, gradient.dtype);
    const auto mean = parameter<N>(call, "mean", input.dtype);
    const auto rstd = parameter<N>(call, "rstd", input.dtype);
    const auto weight = parameter<N>(call, "weight", input.dtype);
    Array<N> of_input(input.sizes);
    std::vector<Sum<N>> of_weight(container_size({channels}));
    std::vector<Sum<N>> of_bias(container_size({channels}));
    for (std::int64_t group = 0; group < images * groups; ++group) {
      const N* center = element(mean, group);
      const N* factor = element(rstd, group);
      if (!center || !factor) throw OpError("group_norm_backward: wants statistics");
      const std::int64_t first = group * depth * area;
      std::vector<N> row;
      std::vector<N> scaled;
      for (std::int64_t d = 0; d < depth; ++d) {
        const std::int64_t channel = group % groups * depth + d;
        const N* w = element(weight, channel);
        std::vector<N> of_channel;
        std::vector<N> from_channel;
        for (std::int64_t i = 0; i < area; ++i) {
          const std::int64_t at = first + d * area + i;
          of_channel.push_back(x[at]);
          from_channel.push_back(g[at]);
          row.push_back(x[at]);
          scaled.push_back(w ? g[at] * *w : g[at]);
        }
        const GroupGradient<N> own(from_channel, of_channel, *center, *factor);
        of_weight[static_cast<std::size_t>(channel)].add(
            covering(own.moment, (own.product - own.sum * *center) * *factor));
        of_bias[static_cast<std::size_t>(channel)].add(own.sum);
      }
      const GroupGradient<N> whole(scaled, row, *center, *factor);
      for (std::size_t i = 0; i < row.size(); ++i) {
        of_input[first + static_cast<std::int64_t>(i)] = whole.at(scaled[i], row[i]);
      }
    }
    const auto results = [&](const std::vector<Sum<N>>& sums) {
      Array<N> out(Sizes{channels});
      for (std::int64_t c = 0; c < channels; ++c)
        out[c] = sums[static_cast<std::size_t>(c)].result();
      return out;
    };
    const DType parameters = dtype_of(call, "weight", input.dtype);
    emit_or_none(call, 0, of_input, input.dtype, image_strides(input, input.sizes));
    emit_or_none(call, 1, results(of_weight), parameters, {1});
    emit_or_none(call, 2, results(of_bias), parameters, {1});
  });
}

// Without training the mean and the deviation are the running ones, on which nothing else depends.
void native_batch_norm_backward(Call& call) {
  const Tensor& input = *call.tensor("input");
  const Tensor& gradient = *call.tensor("grad_out");
  require_floating(call, input.dtype);
  if (input.rank() < 2 || gradient.sizes != input.sizes) {
    throw OpError("batch_norm_backward: the sizes do not fit each other");
  }
  const bool trains = call.boolean("train");
  const std::int64_t channels = input.sizes[1];
  const std::int64_t area = count_of(Sizes(input.sizes.begin() + 2, input.sizes.end()));
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(input, input.dtype);
    const Array<N> g = load<N>(gradient, gradient.dtype);
    const auto weight = parameter<N>(call, "weight", input.dtype);
    const auto mean = parameter<N>(call, trains ? "save_mean" : "running_mean", input.dtype);
    auto rstd = parameter<N>(call, trains ? "save_invstd" : "running_var", input.dtype);
    if (!trains) {
      for (N& variance : rstd) variance = rsqrt(variance + N(call.real("eps")));
    }
    Array<N> of_input(input.sizes);
    Array<N> of_weight(Sizes{channels});
    Array<N> of_bias(Sizes{channels});
    for (std::int64_t c = 0; c < channels; ++c) {
      std::vector<std::int64_t> places;
      std::vector<N> row;
      std::vector<N> of_row;
      for (std::int64_t i = 0; i < x.count(); ++i) {
        if (i / area % channels != c) continue;
        places.push_back(i);
        row.push_back(x[i]);
        of_row.push_back(g[i]);
      }
      const N* center = element(mean, c);
      const N* factor = element(rstd, c);
      if (!center || !factor) throw OpError("batch_norm_backward: wants statistics");
      const GroupGradient<N> group(of_row, row, *center, *factor);
      const N* w = element(weight, c);
      const N share = number<N>({1.0}, compute_dtype(input.dtype)) / group.count;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const N& from = of_row[i];
        const N plain = w ? covering(from * *factor * *w, from * (*factor * *w)) : from * *factor;
        of_input[places[i]] = trains ? group.of_batch(from, row[i], w, share) : plain;
      }
      // Products are summed before they are normalized: where they overflow beside a factor of 0,
      // nobody has a number.
      of_weight[c] = covering(group.moment, group.centered * *factor);
      of_bias[c] = group.sum;
    }
    const DType parameters = dtype_of(call, "weight", input.dtype);
    emit_or_none(call, 0, of_input, input.dtype, image_strides(input, input.sizes));
    emit_or_none(call, 1, of_weight, parameters, {1});
    emit_or_none(call, 2, of_bias, parameters, {1});
  });
}

// Inductor's own, which Dynamo puts in place of steps of optimizers. Compiled code may round once,
// eager mode rounds twice.
void prim_fma(Call& call) {
  const Composition run(call);
  const TensorRef product = run("aten.mul.Tensor", {call.datum("a"), call.datum("b")});
  call.emit_datum({run("aten.add.Tensor", {{product}, call.datum("c")})});
}

constexpr std::array kGradientOps = {
    OpBody{"aten.binary_cross_entropy_backward", binary_cross_entropy_backward},
    OpBody{"aten.embedding_dense_backward", embedding_dense_backward},
    OpBody{"aten.glu_backward", glu_backward},
    OpBody{"aten.huber_loss_backward", huber_loss_backward},
    OpBody{"aten.mse_loss_backward", mse_loss_backward},
    OpBody{"aten.native_batch_norm_backward", native_batch_norm_backward},
    OpBody{"aten.native_group_norm_backward", native_group_norm_backward},
    OpBody{"aten.native_layer_norm_backward", native_layer_norm_backward},
    OpBody{"aten.select_backward", select_backward},
    OpBody{"aten.slice_backward", slice_backward},
    OpBody{"aten.smooth_l1_loss_backward", smooth_l1_loss_backward},
    OpBody{"prims.fma", prim_fma},
};

}  // namespace
}  // namespace gradients

std::span<const OpBody> composite_gradient_ops() { return gradients::kGradientOps; }

}  // namespace graphgate::reference
