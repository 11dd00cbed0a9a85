// Softmax, layer norm, group norm and RMS norm. All compute in float32 (float64 for float64 data)
// and round each result once, but for what Kernel says.
#include <algorithm>
#include <array>
#include <cmath>
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
    const Tensor& self = *call.tensor("self");
    const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
    const SoftmaxKernel kernel{dtype, dim + 1 >= self.rank()};
    const auto of = [&](std::span<const N> line) { return of_line(line, kernel); };
    emit_lines<N>(call, self, dtype, dim, line_length(self, dim), dtype, of);
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

// 1/sqrt(squares + eps) of a mean of squares, which no kernel has below zero (they add up squares,
// or cut at zero): where its error reaches there, the root goes as far as that of eps alone.
double inverse_root(double squares, double eps) { return rsqrt(squares + eps); }
template <class P>
Tracked<P> inverse_root(const Tracked<P>& squares, double eps) {
  const Tracked<P> sum = squares + Tracked<P>(eps);
  const Tracked<P> root = rsqrt(sum);
  // eps and the sum are rounded.
  const double u = unit_roundoff(detail::dtype_of<P>(sum.arithmetic));
  const auto least = static_cast<long double>(eps * (1 - 4 * u));
  const bool is_open = std::isinf(sum.radius) || !(sum.value >= least) || !(least > 0);
  if (is_open || !std::isinf(root.radius)) return root;
  const auto reach = static_cast<long double>(P::kDecisionRadii * sum.radius);
  const long double up = 1 / std::sqrt(least) - root.value;
  const long double down = root.value - 1 / std::sqrt(sum.value + reach);
  const double radius = static_cast<double>(std::max(up, down)) / P::kAllowedRadii;
  return detail::rounded<P>(root.value, radius, root.arithmetic, function_ulps());
}

// One group of elements that share a mean: normalized in place.
template <class N>
struct GroupNorm {
  N mean;
  N rstd;

  GroupNorm(std::span<const N> x, double eps) {
    const Moments<N> of = moments(x);
    mean = of.mean;
    rstd = inverse_root(of.squares / N(static_cast<double>(x.size())), eps);
    // A kernel that subtracts the square of the mean, or merges parts by their means' difference
    // (PyTorch's kernels for CPUs merge with an empty one), squares numbers of the size of x.
    const auto overflows = [](const N& each) { return is_finite(each) && !is_finite(each * each); };
    if (std::ranges::any_of(x, overflows)) rstd = left_open(rstd);
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

// What a norm knows of each group, in order.
template <class N>
struct GroupStatistics {
  Array<N> mean;
  Array<N> rstd;
};

// Emits the normalized input, and returns the statistics.
template <class N>
GroupStatistics<N> emit_layer_norm(Call& call) {
  const Tensor& self = *call.tensor("input");
  const std::size_t outer = check_layer_norm(self, call.integers("normalized_shape"));
  const auto weight = parameter<N>(call, "weight", self.dtype);
  const auto bias = parameter<N>(call, "bias", self.dtype);
  Sizes stat_sizes(self.sizes.size(), 1);
  std::copy_n(self.sizes.begin(), outer, stat_sizes.begin());
  GroupStatistics<N> made{Array<N>(stat_sizes), Array<N>(stat_sizes)};
  const double eps = call.real("eps");
  std::int64_t g = 0;
  const auto normalize = [&](std::span<const N> x, std::span<N> out) {
    const GroupNorm<N> norm(x, eps);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      out[i] = normalized(x[i], norm.mean, norm.rstd, element(weight, at), element(bias, at));
    }
    made.mean[g] = norm.mean;
    made.rstd[g++] = norm.rstd;
  };
  const Sizes inner(self.sizes.begin() + static_cast<std::ptrdiff_t>(outer), self.sizes.end());
  const std::int64_t length = count_of(inner);
  emit_groups<N>(call, self, self.dtype, length, self.dtype, {}, normalize);
  // Groups without elements have statistics all the same.
  for (; g < made.mean.count(); ++g) {
    const GroupNorm<N> norm({}, eps);
    made.mean[g] = norm.mean;
    made.rstd[g] = norm.rstd;
  }
  return made;
}

void native_layer_norm(Call& call) {
  const DType stats = statistics_dtype(call, {"weight", "bias"});
  with_real(call.mode(), [&]<class N>() {
    const GroupStatistics<N> made = emit_layer_norm<N>(call);
    call.emit(made.mean, stats);
    call.emit(made.rstd, stats);
  });
}

void layer_norm(Call& call) {
  with_real(call.mode(), [&]<class N>() { (void)emit_layer_norm<N>(call); });
}

// Input [N, C, ...] as `images` of `channels` of `area` elements each.
struct ImageGroups {
  std::int64_t images, channels, area, groups;
};

// A mean for each of `groups` runs of channels of each image.
template <class N>
GroupStatistics<N> emit_group_norm(Call& call, const ImageGroups& of) {
  const Tensor& self = *call.tensor("input");
  const auto count = spec::checked_element_count({of.images, of.channels, of.area});
  if (of.groups < 1 || of.channels % of.groups != 0 || count != self.count()) {
    throw OpError("group_norm: the input does not fit the groups");
  }
  const auto weight = parameter<N>(call, "weight", self.dtype);
  const auto bias = parameter<N>(call, "bias", self.dtype);
  const Sizes stat_sizes = {of.images, of.groups};
  GroupStatistics<N> made{Array<N>(stat_sizes), Array<N>(stat_sizes)};
  const std::int64_t length = of.channels / of.groups * of.area;
  const double eps = call.real("eps");
  std::int64_t g = 0;
  const auto normalize = [&](std::span<const N> x, std::span<N> out) {
    const GroupNorm<N> norm(x, eps);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::int64_t channel =
          (g * length + static_cast<std::int64_t>(i)) / of.area % of.channels;
      out[i] =
          normalized(x[i], norm.mean, norm.rstd, element(weight, channel), element(bias, channel));
    }
    made.mean[g] = norm.mean;
    made.rstd[g++] = norm.rstd;
  };
  emit_groups<N>(call, self, self.dtype, length, self.dtype, image_strides(self, self.sizes),
                 normalize);
  for (; g < made.mean.count(); ++g) {
    const GroupNorm<N> norm({}, eps);
    made.mean[g] = norm.mean;
    made.rstd[g] = norm.rstd;
  }
  return made;
}

void native_group_norm(Call& call) {
  const DType stats = statistics_dtype(call, {"weight", "bias"});
  const ImageGroups of{call.integer("N"), call.integer("C"), call.integer("HxW"),
                       call.integer("group")};
  with_real(call.mode(), [&]<class N>() {
    const GroupStatistics<N> made = emit_group_norm<N>(call, of);
    call.emit(made.mean, stats);
    call.emit(made.rstd, stats);
  });
}

// The composite form: the result alone.
void group_norm(Call& call) {
  const Tensor& self = *call.tensor("input");
  if (self.rank() < 2) throw OpError("Expected at least 2 dimensions for input tensor");
  const Sizes inner(self.sizes.begin() + 2, self.sizes.end());
  const ImageGroups of{self.sizes[0], self.sizes[1], count_of(inner), call.integer("num_groups")};
  if (of.area == 0) throw OpError("Expected HxW to be greater than 0");
  with_real(call.mode(), [&]<class N>() { (void)emit_group_norm<N>(call, of); });
}

// --- RMS norm ---

// Emits x / sqrt(mean(x^2) + eps) * weight over the last dimensions, and returns the factor of each
// group. eps is that of the dtype that is computed in where none is given.
template <class N>
Array<N> emit_rms_norm(Call& call) {
  const Tensor& self = *call.tensor("input");
  const std::size_t outer = check_layer_norm(self, call.integers("normalized_shape"));
  if (!spec::is_floating_point(self.dtype)) throw OpError("rms_norm: wants a floating dtype");
  const DType compute = compute_dtype(self.dtype);
  const double eps =
      round_to_dtype(call.optional_real("eps").value_or(2 * unit_roundoff(compute)), compute);
  const auto weight = parameter<N>(call, "weight", self.dtype);
  Sizes stat_sizes(self.sizes.size(), 1);
  std::copy_n(self.sizes.begin(), outer, stat_sizes.begin());
  Array<N> factors(stat_sizes);
  const auto factor_of = [&](std::span<const N> x) {
    Sum<N> squares;
    for (const N& element : x) squares.add_product(element, element);
    const N factor = inverse_root(squares.result() / N(static_cast<double>(x.size())), eps);
    // Some of CUDA's kernels sum squares of what is left without the mean, which is NaN beside an
    // infinity; there the factor is 0 or NaN.
    const bool may_be_nan = declared_arithmetic().has_cuda_kernels && !is_finite(squares.result());
    return may_be_nan ? left_open(factor) : factor;
  };
  std::int64_t g = 0;
  const auto normalize = [&](std::span<const N> x, std::span<N> out) {
    const N factor = factor_of(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const N* scale = element(weight, static_cast<std::int64_t>(i));
      out[i] = scale ? x[i] * factor * *scale : x[i] * factor;
    }
    factors[g++] = factor;
  };
  const Sizes inner(self.sizes.begin() + static_cast<std::ptrdiff_t>(outer), self.sizes.end());
  emit_groups<N>(call, self, self.dtype, count_of(inner), self.dtype,
                 image_strides(self, self.sizes), normalize);
  for (; g < factors.count(); ++g) factors[g] = factor_of({});
  return factors;
}

void rms_norm(Call& call) {
  with_real(call.mode(), [&]<class N>() { (void)emit_rms_norm<N>(call); });
}

// With the factors, in the dtype that is computed in.
void fused_rms_norm(Call& call) {
  const DType compute = compute_dtype(call.tensor("input")->dtype);
  with_real(call.mode(), [&]<class N>() { call.emit(emit_rms_norm<N>(call), compute); });
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
