// Batch normalization over input [N, C, ...], in training (statistics of the batch; running ones
// are updated) and in evaluation (running statistics).
//
// Sums are float32 here (PyTorch's CPU kernels use float64 for float32 data: better, never worse).
// In training the batch's mean, its sum of squares and 1/deviation are tensors of the statistics'
// dtype between PyTorch's two kernels, so they round to it; for 16-bit data with 16-bit parameters
// that is the largest error.
#include <array>
#include <numeric>
#include <optional>

#include "reference/number/left_open.h"
#include "reference/number/moments.h"
#include "reference/ops/norm_parameters.h"
#include "reference/overlap.h"
#include "reference/registry.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace {

using spec::DType;

template <class N>
struct Statistics {
  std::vector<N> mean;
  std::vector<N> scale;  // 1 / sqrt(var + eps)
};

std::int64_t channels_of(const Tensor& input) {
  if (input.rank() < 2) throw OpError("batch_norm: the input must have at least two dimensions");
  return input.sizes[1];
}

// The elements of each channel.
template <class N>
std::vector<std::vector<N>> by_channel(const Array<N>& x) {
  std::vector<std::vector<N>> out(static_cast<std::size_t>(x.size(1)));
  const std::int64_t area = count_of(Sizes(x.sizes.begin() + 2, x.sizes.end()));
  for (std::int64_t i = 0; i < x.count(); ++i) {
    out[static_cast<std::size_t>(i / area % x.size(1))].push_back(x[i]);
  }
  return out;
}

// momentum * batch + (1 - momentum) * running, the factors held in the dtype of `running`.
template <class N>
N moved_on(const Call& call, const N& running, const N& batch, DType dtype) {
  const N momentum = held_in(N(call.real("momentum")), dtype);
  const N rest = held_in(N(1 - call.real("momentum")), dtype);
  return momentum * batch + rest * running;
}

template <class N>
void update_running(Call& call, std::string_view name, const std::vector<N>& batch) {
  if (!call.has(name)) return;
  const DType dtype = call.tensor(name)->dtype;
  Array<N> running = load<N>(*call.tensor(name), dtype);
  if (running.data.size() != batch.size()) {
    throw OpError("batch_norm: running statistics want one element per channel");
  }
  for (std::int64_t c = 0; c < running.count(); ++c) {
    running[c] = moved_on(call, running[c], batch[static_cast<std::size_t>(c)], dtype);
  }
  call.write(name, running);
}

// Keeps the mean of what `count` images have made of each running statistic, where there is one.
template <class N>
void keep_mean(Call& call, std::string_view name, const std::vector<Sum<N>>& sums,
               std::int64_t count) {
  if (!call.has(name)) return;
  Array<N> kept(call.tensor(name)->sizes);
  if (kept.data.size() != sums.size()) {
    throw OpError("instance_norm: running statistics want one element per channel");
  }
  for (std::size_t c = 0; c < sums.size(); ++c) {
    kept.data[c] = sums[c].result() / N(static_cast<double>(count));
  }
  call.write(name, kept);
}

template <class N>
Statistics<N> batch_statistics(Call& call, DType dtype) {
  const Tensor& input = *call.tensor("input");
  if (input.count() == 0) throw OpError("batch_norm: training wants at least one element");
  require_apart_from_all(call.row(), call.arguments());
  Statistics<N> out;
  std::vector<N> unbiased;
  Sizes dims(input.sizes.size());  // all but that of the channels
  std::iota(dims.begin(), dims.end(), 0);
  dims.erase(dims.begin() + 1);
  const Reduction channels(input.sizes, dims, false);
  Slice<N> channel(channels.folded(input), input.dtype);
  for_each_position(channels.kept(input), [&](std::int64_t first) {
    channel.restart(first);
    const Moments<N> of = moments_of<N>(channel);
    const auto n = static_cast<double>(channel.size());
    const N squares = held_in(of.squares, dtype);
    out.mean.push_back(held_in(of.mean, dtype));
    out.scale.push_back(held_in(rsqrt(squares / N(n) + N(call.real("eps"))), dtype));
    unbiased.push_back(squares / N(n - 1));
  });
  update_running(call, "running_mean", out.mean);
  update_running(call, "running_var", unbiased);
  return out;
}

bool is_training(const Call& call) { return call.has("training") && call.boolean("training"); }

DType statistics_dtype(const Call& call) {
  return reference::statistics_dtype(call, {"weight", "bias", "running_mean", "running_var"});
}

// The channels-last format that the input is contiguous in, if it is in no other.
std::optional<spec::MemoryFormat> channels_last_format(const Tensor& input) {
  if (is_contiguous(input)) return std::nullopt;
  for (const auto last : {spec::MemoryFormat::kChannelsLast, spec::MemoryFormat::kChannelsLast3d}) {
    if (is_contiguous_in(input, last)) return last;
  }
  return std::nullopt;
}

// Whether PyTorch takes its kernels for operands that are contiguous, the input in any format: they
// fold the parameters and compute in float32.
bool folds_parameters(const Call& call) {
  const Tensor& input = *call.tensor("input");
  bool folds = is_contiguous(input) || channels_last_format(input);
  for (const std::string_view name : {"weight", "bias", "running_mean", "running_var"}) {
    folds = folds && (!call.has(name) || is_contiguous(*call.tensor(name)));
  }
  return folds;
}

// Otherwise 16-bit data with parameters of its dtype is computed in the dtype, one rounding per
// operation.
bool computes_in_dtype(const Call& call) {
  return !folds_parameters(call) && statistics_dtype(call) == call.tensor("input")->dtype;
}

template <class N>
Statistics<N> running_statistics(const Call& call, DType input) {
  Statistics<N> out;
  out.mean = parameter<N>(call, "running_mean", input);
  const DType dtype = computes_in_dtype(call) ? input : compute_dtype(input);
  for (const N& variance : parameter<N>(call, "running_var", input)) {
    const N deviation = held_in(sqrt(held_in(variance + N(call.real("eps")), dtype)), dtype);
    out.scale.push_back(N(1) / deviation);
  }
  return out;
}

template <class N>
N normalized_in(const N& x, const N& mean, const N& scale, const N* weight, const N* bias,
                DType dtype) {
  N out = held_in(held_in(x - mean, dtype) * scale, dtype);
  if (weight) out = held_in(out * *weight, dtype);
  return bias ? held_in(out + *bias, dtype) : out;
}

template <class N>
void emit_channels(Call& call, const Statistics<N>& statistics, const Sizes& strides) {
  const Tensor& x = *call.tensor("input");
  const DType input = x.dtype;
  const auto weight = parameter<N>(call, "weight", input);
  const auto bias = parameter<N>(call, "bias", input);
  const bool stepwise = computes_in_dtype(call);
  const std::int64_t area = count_of(Sizes(x.sizes.begin() + 2, x.sizes.end()));
  std::int64_t plane = 0;  // a channel of an image
  const auto normalize = [&](std::span<const N> numbers, std::span<N> out) {
    const std::int64_t c = plane++ % x.sizes[1];
    const N* mean = element(statistics.mean, c);
    const N* scale = element(statistics.scale, c);
    if (!mean || !scale) throw OpError("batch_norm: evaluation wants running statistics");
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = normalized(numbers[i], *mean, *scale, element(weight, c), element(bias, c));
      if (!stepwise) continue;
      // Others fold the parameters here, too.
      out[i] = covering(normalized_in(numbers[i], *mean, held_in(*scale, input), element(weight, c),
                                      element(bias, c), input),
                        out[i]);
    }
  };
  emit_groups<N>(call, x, input, area, input, strides, normalize);
}

// The folding kernels keep every channels-last format, the others one that the strides suggest.
Sizes normalized_strides(const Call& call) {
  const Tensor& input = *call.tensor("input");
  const auto last = channels_last_format(input);
  if (last && folds_parameters(call)) return strides_in_format(input.sizes, *last);
  return image_strides(input, input.sizes);
}

template <class N>
Statistics<N> emit_normalized(Call& call, bool training) {
  const Tensor& input = *call.tensor("input");
  channels_of(input);
  Statistics<N> statistics = training ? batch_statistics<N>(call, statistics_dtype(call))
                                      : running_statistics<N>(call, input.dtype);
  emit_channels(call, statistics, normalized_strides(call));
  return statistics;
}

// An empty batch gives an empty result, and leaves the running statistics alone.
void batch_norm(Call& call) {
  const Tensor& input = *call.tensor("input");
  with_real(call.mode(), [&]<class N>() {
    if (input.count() == 0) {
      call.emit(Array<N>(input.sizes), input.dtype, image_strides(input, input.sizes));
    } else {
      emit_normalized<N>(call, is_training(call));
    }
  });
}

// Also returns the batch's statistics; out of training they are empty tensors, or, from CUDA's
// kernel, the running ones.
void emit_with_statistics(Call& call, bool training) {
  const DType dtype = statistics_dtype(call);
  const bool saves = training || declared_arithmetic().has_cuda_kernels;
  const std::int64_t channels = channels_of(*call.tensor("input"));
  with_real(call.mode(), [&]<class N>() {
    const Statistics<N> statistics = emit_normalized<N>(call, training);
    for (const std::vector<N>& saved : {statistics.mean, statistics.scale}) {
      Array<N> out(Sizes{saves ? channels : 0});
      if (saves) out.data = saved;
      call.emit(out, dtype);
    }
  });
}

void native_batch_norm(Call& call) { emit_with_statistics(call, is_training(call)); }

// Always in training. What is reserved for the gradient is empty, but for cuDNN's kernels.
void batch_norm_with_update(Call& call) {
  emit_with_statistics(call, /*training=*/true);
  call.emit(Array<Whole>(Sizes{0}), DType::kUInt8);
}

// An instance is a channel of one image: [N, C, ...] is normalized as [1, N C, ...], with the
// parameters of each image. Running statistics are repeated for each, too, and their mean over the
// images is what is kept, in training or not.
void instance_norm(Call& call) {
  const Tensor& input = *call.tensor("input");
  const std::int64_t channels = channels_of(input);
  const std::int64_t images = input.sizes[0];
  const bool trains = call.boolean("use_input_stats");
  if (!trains && (!call.has("running_mean") || !call.has("running_var"))) {
    throw OpError("Expected running_mean and running_var to be defined when use_input_stats=false");
  }
  require_apart_from_all(call.row(), call.arguments());
  const DType dtype = statistics_dtype(call);
  with_real(call.mode(), [&]<class N>() {
    Array<N> x = load<N>(input, input.dtype);
    const Sizes sizes = x.sizes;
    x.sizes[0] = 1;
    x.sizes[1] = images * channels;
    std::vector<N> means = parameter<N>(call, "running_mean", input.dtype);
    std::vector<N> variances = parameter<N>(call, "running_var", input.dtype);
    const auto weight = parameter<N>(call, "weight", input.dtype);
    const auto bias = parameter<N>(call, "bias", input.dtype);
    const N eps(call.real("eps"));
    Array<N> out(sizes);
    std::vector<Sum<N>> kept_means(static_cast<std::size_t>(channels));
    std::vector<Sum<N>> kept_variances(static_cast<std::size_t>(channels));
    std::int64_t i = 0;
    std::int64_t next = 0;
    for (const std::vector<N>& instance : by_channel(x)) {
      const std::int64_t c = next++ % channels;
      const auto channel = static_cast<std::size_t>(c);
      const N* before = element(means, c);
      const N* spread = element(variances, c);
      N mean = before ? *before : N(0);
      N scale(1);
      if (trains && !instance.empty()) {
        const Moments<N> of = moments(std::span<const N>(instance));
        const auto n = static_cast<double>(instance.size());
        const N squares = held_in(of.squares, dtype);
        mean = held_in(of.mean, dtype);
        scale = held_in(rsqrt(squares / N(n) + eps), dtype);
        if (before) {
          kept_means[channel].add(held_in(moved_on(call, *before, mean, dtype), dtype));
        }
        if (spread) {
          const N unbiased = squares / N(n - 1);
          kept_variances[channel].add(held_in(moved_on(call, *spread, unbiased, dtype), dtype));
        }
      } else {
        if (spread) scale = N(1) / sqrt(*spread + eps);
        if (before) kept_means[channel].add(mean);
        if (spread) kept_variances[channel].add(*spread);
      }
      for (const N& each : instance) {
        out[i++] = normalized(each, mean, scale, element(weight, c), element(bias, c));
      }
    }
    call.emit(out, input.dtype);
    keep_mean(call, "running_mean", kept_means, images);
    keep_mean(call, "running_var", kept_variances, images);
  });
}

constexpr std::array kBatchNormOps = {
    OpBody{"aten._batch_norm_with_update", batch_norm_with_update},
    OpBody{"aten._native_batch_norm_legit", native_batch_norm},
    OpBody{"aten._native_batch_norm_legit_no_training", native_batch_norm},
    OpBody{"aten.batch_norm", batch_norm},
    OpBody{"aten.instance_norm", instance_norm},
    OpBody{"aten.native_batch_norm", native_batch_norm},
};

}  // namespace

std::span<const OpBody> batch_norm_ops() { return kBatchNormOps; }

}  // namespace graphgate::reference
