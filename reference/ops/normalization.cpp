// Softmax, layer norm, group norm and RMS norm. All compute in float32 (float64 for float64 data)
// and round each result once, but for what Kernel says.
#include <array>
#include <limits>

#include "reference/number/moments.h"
#include "reference/ops/norm_parameters.h"
#include "reference/ops/softmax_line.h"
#include "reference/registry.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// --- softmax and its logarithm ---

// A line of nothing but -inf gives zeros.
template <class N>
std::vector<N> safe_softmax_of(std::span<const N> line, const SoftmaxKernel& kernel) {
  Whole is_masked = 1;
  for (const N& x : line) {
    is_masked = is_masked & equal(x, N(-std::numeric_limits<double>::infinity()));
  }
  std::vector<N> out = softmax_of(line, kernel);
  for (N& x : out) x = select(is_masked, N(0), x);
  return out;
}

// The dtype of the result: as asked, or float32 for half_to_float, else the input's (any dtype for
// an empty input).
DType softmax_dtype(const Call& call) {
  const Tensor& self = *call.tensor("self");
  const bool widens = call.has("half_to_float") && call.boolean("half_to_float");
  const DType dtype = widens ? DType::kFloat32 : call.optional_dtype("dtype").value_or(self.dtype);
  if (!spec::is_floating_point(dtype) && self.count() > 0) {
    throw OpError("softmax: wants a floating dtype");
  }
  return dtype;
}

template <class F>
void emit_softmax(Call& call, F of_line) {
  const DType dtype = softmax_dtype(call);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> input = load<N>(*call.tensor("self"), dtype);
    const std::int64_t dim = wrap_dim(call.integer("dim"), input.rank());
    const std::int64_t length = input.rank() == 0 ? 1 : input.size(dim);
    const SoftmaxKernel kernel{dtype, dim + 1 >= input.rank()};
    const auto of = [&](std::span<const N> line) { return of_line(line, kernel); };
    call.emit(map_lines(input, dim, length, of), dtype);
  });
}
void softmax(Call& call) {
  emit_softmax(call,
               [](auto line, const SoftmaxKernel& kernel) { return softmax_of(line, kernel); });
}
void log_softmax(Call& call) {
  emit_softmax(call,
               [](auto line, const SoftmaxKernel& kernel) { return log_softmax_of(line, kernel); });
}
void safe_softmax(Call& call) {
  emit_softmax(
      call, [](auto line, const SoftmaxKernel& kernel) { return safe_softmax_of(line, kernel); });
}

// --- layer norm and group norm ---

// One group of elements that share a mean: normalized in place.
template <class N>
struct GroupNorm {
  N mean;
  N rstd;

  GroupNorm(std::span<const N> x, double eps) {
    const Moments<N> of = moments(x);
    mean = of.mean;
    rstd = rsqrt(of.squares / N(static_cast<double>(x.size())) + N(eps));
  }
};

// The leading dimensions of the input that are not normalized.
std::size_t check_layer_norm(const Tensor& input, const Sizes& normalized_shape) {
  const std::size_t rank = input.sizes.size();
  const std::size_t inner = normalized_shape.size();
  if (inner == 0) throw OpError("layer_norm: normalized_shape must not be empty");
  if (inner > rank ||
      !std::equal(normalized_shape.rbegin(), normalized_shape.rend(), input.sizes.rbegin())) {
    throw OpError("layer_norm: the input's last sizes are not normalized_shape");
  }
  return rank - inner;
}

template <class N>
struct Normalized {
  Array<N> out;
  Array<N> mean;
  Array<N> rstd;
};

template <class N>
Normalized<N> layer_norm_of(const Call& call) {
  const Tensor& self = *call.tensor("input");
  const std::size_t outer = check_layer_norm(self, call.integers("normalized_shape"));
  const auto weight = parameter<N>(call, "weight", self.dtype);
  const auto bias = parameter<N>(call, "bias", self.dtype);
  Sizes stat_sizes(self.sizes.size(), 1);
  std::copy_n(self.sizes.begin(), outer, stat_sizes.begin());
  Array<N> x = load<N>(self, self.dtype);
  Normalized<N> result{Array<N>(self.sizes), Array<N>(stat_sizes), Array<N>(stat_sizes)};
  const std::int64_t groups = result.mean.count();
  const std::int64_t length = groups == 0 ? 0 : x.count() / groups;
  for (std::int64_t g = 0; g < groups; ++g) {
    const auto first = static_cast<std::size_t>(g * length);
    const GroupNorm<N> norm(std::span<const N>(x.data).subspan(first, std::size_t(length)),
                            call.real("eps"));
    for (std::int64_t i = 0; i < length; ++i) {
      result.out[g * length + i] =
          normalized(x[g * length + i], norm.mean, norm.rstd, element(weight, i), element(bias, i));
    }
    result.mean[g] = norm.mean;
    result.rstd[g] = norm.rstd;
  }
  return result;
}

void native_layer_norm(Call& call) {
  const DType dtype = call.tensor("input")->dtype;
  const DType stats = statistics_dtype(call, {"weight", "bias"});
  with_real(call.mode(), [&]<class N>() {
    const Normalized<N> result = layer_norm_of<N>(call);
    call.emit(result.out, dtype);
    call.emit(result.mean, stats);
    call.emit(result.rstd, stats);
  });
}

void layer_norm(Call& call) {
  with_real(call.mode(),
            [&]<class N>() { call.emit(layer_norm_of<N>(call).out, call.tensor("input")->dtype); });
}

// Input [N, C, ...] as `images` of `channels` of `area` elements each.
struct ImageGroups {
  std::int64_t images, channels, area, groups;
};

// A mean for each of `groups` runs of channels of each image.
template <class N>
Normalized<N> group_norm_of(const Call& call, const ImageGroups& of) {
  const Tensor& self = *call.tensor("input");
  const auto count = spec::checked_element_count({of.images, of.channels, of.area});
  if (of.groups < 1 || of.channels % of.groups != 0 || count != self.count()) {
    throw OpError("group_norm: the input does not fit the groups");
  }
  const auto weight = parameter<N>(call, "weight", self.dtype);
  const auto bias = parameter<N>(call, "bias", self.dtype);
  const Array<N> x = load<N>(self, self.dtype);
  const Sizes stat_sizes = {of.images, of.groups};
  Normalized<N> result{Array<N>(self.sizes), Array<N>(stat_sizes), Array<N>(stat_sizes)};
  const std::int64_t length = of.channels / of.groups * of.area;
  for (std::int64_t g = 0; g < of.images * of.groups; ++g) {
    const auto first = static_cast<std::size_t>(g * length);
    const GroupNorm<N> norm(std::span<const N>(x.data).subspan(first, std::size_t(length)),
                            call.real("eps"));
    for (std::int64_t i = g * length; i < (g + 1) * length; ++i) {
      const std::int64_t channel = i / of.area % of.channels;
      result.out[i] =
          normalized(x[i], norm.mean, norm.rstd, element(weight, channel), element(bias, channel));
    }
    result.mean[g] = norm.mean;
    result.rstd[g] = norm.rstd;
  }
  return result;
}

void native_group_norm(Call& call) {
  const Tensor& self = *call.tensor("input");
  const DType stats = statistics_dtype(call, {"weight", "bias"});
  const ImageGroups of{call.integer("N"), call.integer("C"), call.integer("HxW"),
                       call.integer("group")};
  with_real(call.mode(), [&]<class N>() {
    const Normalized<N> result = group_norm_of<N>(call, of);
    call.emit(result.out, self.dtype, image_strides(self, self.sizes));
    call.emit(result.mean, stats);
    call.emit(result.rstd, stats);
  });
}

// The composite form: the result alone.
void group_norm(Call& call) {
  const Tensor& self = *call.tensor("input");
  if (self.rank() < 2) throw OpError("Expected at least 2 dimensions for input tensor");
  const Sizes inner(self.sizes.begin() + 2, self.sizes.end());
  const ImageGroups of{self.sizes[0], self.sizes[1], count_of(inner), call.integer("num_groups")};
  if (of.area == 0) throw OpError("Expected HxW to be greater than 0");
  with_real(call.mode(), [&]<class N>() {
    call.emit(group_norm_of<N>(call, of).out, self.dtype, image_strides(self, self.sizes));
  });
}

// --- RMS norm ---

// x / sqrt(mean(x^2) + eps) * weight over the last dimensions, with the factor of each group. eps
// is that of the dtype that is computed in where none is given.
template <class N>
Normalized<N> rms_norm_of(const Call& call) {
  const Tensor& self = *call.tensor("input");
  const std::size_t outer = check_layer_norm(self, call.integers("normalized_shape"));
  if (!spec::is_floating_point(self.dtype)) throw OpError("rms_norm: wants a floating dtype");
  const DType compute = compute_dtype(self.dtype);
  const double eps =
      round_to_dtype(call.optional_real("eps").value_or(2 * unit_roundoff(compute)), compute);
  const auto weight = parameter<N>(call, "weight", self.dtype);
  Sizes stat_sizes(self.sizes.size(), 1);
  std::copy_n(self.sizes.begin(), outer, stat_sizes.begin());
  const Array<N> x = load<N>(self, self.dtype);
  Normalized<N> result{Array<N>(self.sizes), Array<N>(stat_sizes), Array<N>(stat_sizes)};
  const std::int64_t groups = result.rstd.count();
  const std::int64_t length = groups == 0 ? 0 : x.count() / groups;
  for (std::int64_t g = 0; g < groups; ++g) {
    Sum<N> squares;
    for (std::int64_t i = g * length; i < (g + 1) * length; ++i) squares.add_product(x[i], x[i]);
    const N factor = rsqrt(squares.result() / N(static_cast<double>(length)) + N(eps));
    for (std::int64_t i = g * length; i < (g + 1) * length; ++i) {
      const N* scale = element(weight, i - g * length);
      result.out[i] = scale ? x[i] * factor * *scale : x[i] * factor;
    }
    result.rstd[g] = factor;
  }
  return result;
}

void rms_norm(Call& call) {
  const Tensor& self = *call.tensor("input");
  with_real(call.mode(), [&]<class N>() {
    call.emit(rms_norm_of<N>(call).out, self.dtype, image_strides(self, self.sizes));
  });
}

// With the factors, in the dtype that is computed in.
void fused_rms_norm(Call& call) {
  const Tensor& self = *call.tensor("input");
  with_real(call.mode(), [&]<class N>() {
    const Normalized<N> result = rms_norm_of<N>(call);
    call.emit(result.out, self.dtype, image_strides(self, self.sizes));
    call.emit(result.rstd, compute_dtype(self.dtype));
  });
}

constexpr std::array kNormalizationOps = {
    OpBody{"aten._fused_rms_norm", fused_rms_norm},
    OpBody{"aten._log_softmax", log_softmax},
    OpBody{"aten._safe_softmax", safe_softmax},
    OpBody{"aten._softmax", softmax},
    OpBody{"aten.group_norm", group_norm},
    OpBody{"aten.layer_norm", layer_norm},
    OpBody{"aten.log_softmax", log_softmax},
    OpBody{"aten.native_group_norm", native_group_norm},
    OpBody{"aten.native_layer_norm", native_layer_norm},
    OpBody{"aten.rms_norm", rms_norm},
    OpBody{"aten.softmax", softmax},
};

}  // namespace

std::span<const OpBody> normalization_ops() { return kNormalizationOps; }

}  // namespace graphgate::reference
