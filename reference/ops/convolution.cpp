// Convolutions over one to three dimensions, their transposes, and the gradients of both.
//
// One output element is one sum over its taps (and the bias) in the compute dtype, rounded once:
// padding contributes nothing. A transpose whose output padding reaches its stride has no such
// kernel in PyTorch: 16-bit dtypes round per kernel position there. Everything is computed as
// three-dimensional, with leading dimensions of size 1.
#include <array>
#include <optional>

#include "reference/movement.h"
#include "reference/number/flushed.h"
#include "reference/number/left_open.h"
#include "reference/number/sum.h"
#include "reference/ops/product.h"
#include "reference/ops/view.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

constexpr std::size_t kMaxSpatialDims = 3;

// A kernel position and the input position that it reads, for one output position in one dimension.
struct Tap {
  std::int64_t kernel;
  std::int64_t input;
};
using Taps = std::vector<Tap>;

struct Axis {
  std::int64_t input = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_before = 0;
  std::int64_t pad_after = 0;
  std::int64_t output_padding = 0;
  bool is_transposed = false;
  // Of a gradient: that of the tensor that it is the gradient of.
  std::optional<std::int64_t> known_output;

  [[nodiscard]] std::int64_t output() const {
    if (known_output) return *known_output;
    const std::int64_t reach = dilation * (kernel - 1) + 1;
    const std::int64_t pads = pad_before + pad_after;
    if (is_transposed) return (input - 1) * stride - pads + reach + output_padding;
    return input + pads < reach ? 0 : (input + pads - reach) / stride + 1;
  }
  // The taps of output position `at`.
  [[nodiscard]] Taps taps(std::int64_t at) const {
    Taps out;
    for (std::int64_t k = 0; k < kernel; ++k) {
      // Forward reads at * stride + step; the transpose finds who wrote to `at`.
      const std::int64_t step = k * dilation - pad_before;
      const std::int64_t from = is_transposed ? at - step : at * stride + step;
      if (is_transposed && from % stride != 0) continue;
      const std::int64_t position = is_transposed ? from / stride : from;
      if (from >= 0 && position < input) out.push_back({k, position});
    }
    return out;
  }
};

struct Geometry3d {
  std::array<Axis, kMaxSpatialDims> axes;
  std::int64_t batches = 0;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t groups = 1;
  bool is_transposed = false;
  // The dtype that each kernel position rounds to before it is added, if it does.
  std::optional<spec::DType> position_dtype;

  [[nodiscard]] std::int64_t inputs() const {
    return axes[0].input * axes[1].input * axes[2].input;
  }
  [[nodiscard]] std::int64_t kernels() const {
    return axes[0].kernel * axes[1].kernel * axes[2].kernel;
  }
};

// Element `i` of a list argument that may have one element for all dimensions.
std::int64_t element(const Sizes& list, std::size_t i, std::size_t count, std::string_view name) {
  if (list.size() == 1) return list[0];
  if (list.size() != count) {
    throw OpError("convolution: '" + std::string(name) + "' has " + std::to_string(list.size()) +
                  " elements for " + std::to_string(count) + " dimensions");
  }
  return list[i];
}

std::int64_t option(const Call& call, std::string_view name, std::size_t i, std::size_t count,
                    std::int64_t otherwise) {
  if (!call.has(name)) return otherwise;
  const std::int64_t value = element(call.integers(name), i, count, name);
  const bool may_be_zero = name == "padding" || name == "output_padding";
  if (value < (may_be_zero ? 0 : 1) || value > INT32_MAX) {
    throw OpError("convolution: '" + std::string(name) + "' is " + std::to_string(value));
  }
  return value;
}

// padding="same" keeps the size (the odd one goes behind), "valid" pads nothing.
void pad_by_name(Axis& axis, std::string_view name) {
  if (name == "valid") return;
  if (name != "same") throw OpError("convolution: padding '" + std::string(name) + "'");
  if (axis.stride != 1) throw OpError("convolution: padding 'same' wants a stride of 1");
  const std::int64_t total = axis.dilation * (axis.kernel - 1);
  axis.pad_before = total / 2;
  axis.pad_after = total - axis.pad_before;
}

Axis axis_of(const Call& call, const Tensor& input, const Tensor& weight, std::size_t i,
             bool is_transposed) {
  const std::size_t count = input.sizes.size() - 2;
  Axis axis;
  axis.input = input.sizes[i + 2];
  axis.kernel = weight.sizes[i + 2];
  axis.stride = option(call, "stride", i, count, 1);
  axis.dilation = option(call, "dilation", i, count, 1);
  axis.is_transposed = is_transposed;
  if (is_transposed) axis.output_padding = option(call, "output_padding", i, count, 0);
  if (call.datum("padding").as<std::string>()) {
    pad_by_name(axis, call.text("padding"));
  } else {
    axis.pad_before = axis.pad_after = option(call, "padding", i, count, 0);
  }
  if (axis.output() < 1) {
    throw OpError("convolution: a kernel of size " + std::to_string(axis.kernel) +
                  " is too large for an input of size " + std::to_string(axis.input));
  }
  return axis;
}

void check_channels(const Geometry3d& at, const Tensor& weight, const TensorRef& bias) {
  const std::int64_t expected = at.is_transposed ? at.in_channels : at.in_channels / at.groups;
  const std::int64_t found = at.is_transposed ? weight.sizes[0] : weight.sizes[1];
  if (at.in_channels % at.groups != 0 || at.out_channels % at.groups != 0 || expected != found) {
    throw OpError("convolution: an input of " + std::to_string(at.in_channels) + " channels in " +
                  std::to_string(at.groups) + " groups does not fit the weight");
  }
  if (bias && (bias->rank() != 1 || bias->sizes[0] != at.out_channels)) {
    throw OpError("convolution: expected a bias of " + std::to_string(at.out_channels) +
                  " elements");
  }
}

Geometry3d geometry_of_call(const Call& call, const Tensor& input, const Tensor& weight,
                            bool is_transposed) {
  const std::size_t count = input.sizes.size() - 2;
  Geometry3d at;
  at.is_transposed = is_transposed;
  at.groups = call.integer("groups");
  if (at.groups < 1) throw OpError("convolution: 'groups' is " + std::to_string(at.groups));
  at.batches = input.sizes[0];
  at.in_channels = input.sizes[1];
  at.out_channels = is_transposed ? weight.sizes[1] * at.groups : weight.sizes[0];
  check_channels(at, weight, call.optional_tensor("bias"));
  // PyTorch's own kernels for processors add positions up in float16. oneDNN's, which only some
  // processors have for float16, keep float32.
  const bool adds_in_half = is_transposed && input.dtype == spec::DType::kFloat16 &&
                            !declared_arithmetic().has_cuda_kernels;
  if (adds_in_half) at.position_dtype = input.dtype;
  for (std::size_t i = 0; i < count; ++i) {
    const Axis axis = axis_of(call, input, weight, i, is_transposed);
    const bool is_narrow =
        spec::is_floating_point(input.dtype) && compute_dtype(input.dtype) != input.dtype;
    if (is_narrow && axis.output_padding >= axis.stride) at.position_dtype = input.dtype;
    at.axes[kMaxSpatialDims - count + i] = axis;
  }
  return at;
}

// What one output element sums over. `kernel_step` leads from the kernel of one input channel to
// that of the next.
template <class N>
struct Window {
  const N* input;   // the first input channel of the group
  const N* kernel;  // and the kernel that goes with it
  std::int64_t channels;
  std::int64_t kernel_step;
  std::array<const Taps*, kMaxSpatialDims> taps;
};

// Calls visit(input, kernel) with the places of every tap, for the first input channel.
template <class N, class Visit>
void for_each_tap(const Window<N>& window, const Geometry3d& at, Visit&& visit) {
  const auto& [a, b, c] = at.axes;
  for (const Tap& t0 : *window.taps[0]) {
    for (const Tap& t1 : *window.taps[1]) {
      const N* row = window.input + (t0.input * b.input + t1.input) * c.input;
      const N* weights = window.kernel + (t0.kernel * b.kernel + t1.kernel) * c.kernel;
      for (const Tap& t2 : *window.taps[2]) visit(row + t2.input, weights + t2.kernel);
    }
  }
}

// The sum over all taps and channels: one sum, or one per kernel position that rounds before it is
// added, and the bias last.
template <class N>
N window_sum(const Window<N>& window, const std::optional<N>& bias, const Geometry3d& at) {
  Sum<N> sum;
  if (bias && !at.position_dtype) sum.add(*bias);
  N total(0.0);
  for_each_tap(window, at, [&](const N* input, const N* kernel) {
    for (std::int64_t i = 0; i < window.channels; ++i) {
      sum.add_product(input[i * at.inputs()], kernel[i * window.kernel_step]);
    }
    if (!at.position_dtype) return;
    if constexpr (!std::is_same_v<N, Whole>) {
      const N position = round_edge(sum.result(), *at.position_dtype);
      total = round_edge(total + position, *at.position_dtype);
    }
    sum = Sum<N>();
  });
  if (!at.position_dtype) return sum.result();
  return bias ? total + *bias : total;
}

// Whether the weights of the window hold an infinity or a NaN.
template <class N>
bool has_wild_weight(const Window<N>& window, const Geometry3d& at) {
  if constexpr (std::is_same_v<N, Whole>) {
    return false;
  } else {
    for (std::int64_t c = 0; c < window.channels; ++c) {
      const N* first = window.kernel + c * window.kernel_step;
      for (std::int64_t k = 0; k < at.kernels(); ++k) {
        if (!is_finite(first[k])) return true;
      }
    }
    return false;
  }
}

// One output channel of one batch entry. `input` is that entry.
template <class N>
void fill_channel(N* out, const N* input, const N* weight, std::optional<N> bias,
                  std::int64_t channel, const Geometry3d& at,
                  const std::array<std::vector<Taps>, kMaxSpatialDims>& taps) {
  const std::int64_t channels_in_group = at.in_channels / at.groups;
  const std::int64_t outputs_in_group = at.out_channels / at.groups;
  const std::int64_t first = channel / outputs_in_group * channels_in_group;
  const std::int64_t kernel = at.is_transposed
                                  ? first * outputs_in_group + channel % outputs_in_group
                                  : channel * channels_in_group;
  Window<N> window{input + first * at.inputs(),
                   weight + kernel * at.kernels(),
                   channels_in_group,
                   at.kernels() * (at.is_transposed ? outputs_in_group : 1),
                   {}};
  const Sizes sizes = {at.axes[0].output(), at.axes[1].output(), at.axes[2].output()};
  // Some kernels pass over padding, others multiply with its zeros: beside an infinity or a NaN of
  // the weight the two differ.
  const bool is_wild = has_wild_weight(window, at);
  for_each_index(sizes, [&](const Sizes& index) {
    std::int64_t inside = 1;
    for (std::size_t d = 0; d < index.size(); ++d) {
      window.taps[d] = &taps[d][static_cast<std::size_t>(index[d])];
      inside *= static_cast<std::int64_t>(window.taps[d]->size());
    }
    const N sum = window_sum(window, bias, at);
    *out++ = is_wild && inside < at.kernels() ? left_open(sum) : sum;
  });
}

// The same of plain numbers, for several output channels of a group at a time: a position's input
// channels lie one behind the other, and with each goes one weight of every output channel. Each
// output is the sum that window_sum() takes, in the same order.
class PackedChannels {
 public:
  static constexpr std::int64_t kTogether = 4;

  PackedChannels(const double* input, const Geometry3d& at)
      : at_(at), image_(static_cast<std::size_t>(at.in_channels * at.inputs())) {
    for (std::int64_t c = 0; c < at.in_channels; ++c) {
      const double* plane = input + c * at.inputs();
      for (std::int64_t i = 0; i < at.inputs(); ++i) {
        image_[static_cast<std::size_t>(i * at.in_channels + c)] = plane[i];
      }
    }
  }

  // Output channels [channel, channel + count) of one group: each of `out` has so many positions.
  void fill(double* out, const double* weight, const std::optional<Array<double>>& bias,
            std::int64_t channel, std::int64_t count,
            const std::array<std::vector<Taps>, kMaxSpatialDims>& taps) {
    pack_weights(weight, channel, count);
    std::array<double, kTogether> biases{};
    for (std::int64_t j = 0; bias && j < count; ++j) {
      biases[static_cast<std::size_t>(j)] = (*bias)[channel + j];
    }
    const std::int64_t first = channel / outputs_in_group() * channels_in_group();
    const std::int64_t positions =
        at_.axes[0].output() * at_.axes[1].output() * at_.axes[2].output();
    std::int64_t position = 0;
    for_each_index({at_.axes[0].output(), at_.axes[1].output(), at_.axes[2].output()},
                   [&](const Sizes& index) {
                     const auto sums = sums_at(first, biases, index, taps);
                     for (std::int64_t j = 0; j < count; ++j) {
                       out[j * positions + position] = sums[static_cast<std::size_t>(j)];
                     }
                     ++position;
                   });
  }

 private:
  [[nodiscard]] std::int64_t channels_in_group() const { return at_.in_channels / at_.groups; }
  [[nodiscard]] std::int64_t outputs_in_group() const { return at_.out_channels / at_.groups; }

  // By kernel position, then input channel, then output channel.
  void pack_weights(const double* weight, std::int64_t channel, std::int64_t count) {
    const std::int64_t channels = channels_in_group();
    weights_.assign(static_cast<std::size_t>(at_.kernels() * channels * kTogether), 0);
    const std::int64_t first = channel / outputs_in_group() * channels;
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t output = channel + j;
      const std::int64_t kernel = at_.is_transposed
                                      ? first * outputs_in_group() + output % outputs_in_group()
                                      : output * channels;
      const std::int64_t step = at_.is_transposed ? outputs_in_group() : 1;
      for (std::int64_t c = 0; c < channels; ++c) {
        const double* from = weight + (kernel + c * step) * at_.kernels();
        for (std::int64_t k = 0; k < at_.kernels(); ++k) {
          weights_[static_cast<std::size_t>((k * channels + c) * kTogether + j)] = from[k];
        }
      }
    }
  }

  // Four sums side by side: one alone waits for each of its additions.
  [[nodiscard]] std::array<double, kTogether> sums_at(
      std::int64_t first, const std::array<double, kTogether>& biases, const Sizes& index,
      const std::array<std::vector<Taps>, kMaxSpatialDims>& taps) const {
    long double s0 = 0.0L + static_cast<long double>(biases[0]);
    long double s1 = 0.0L + static_cast<long double>(biases[1]);
    long double s2 = 0.0L + static_cast<long double>(biases[2]);
    long double s3 = 0.0L + static_cast<long double>(biases[3]);
    const auto& [a, b, c] = at_.axes;
    const std::int64_t channels = channels_in_group();
    for (const Tap& t0 : taps[0][static_cast<std::size_t>(index[0])]) {
      for (const Tap& t1 : taps[1][static_cast<std::size_t>(index[1])]) {
        for (const Tap& t2 : taps[2][static_cast<std::size_t>(index[2])]) {
          const std::int64_t input = (t0.input * b.input + t1.input) * c.input + t2.input;
          const std::int64_t kernel = (t0.kernel * b.kernel + t1.kernel) * c.kernel + t2.kernel;
          const double* x = image_.data() + input * at_.in_channels + first;
          const double* w = weights_.data() + kernel * channels * kTogether;
          for (const double* end = x + channels; x < end; ++x, w += kTogether) {
            const auto value = static_cast<long double>(*x);
            s0 += value * static_cast<long double>(w[0]);
            s1 += value * static_cast<long double>(w[1]);
            s2 += value * static_cast<long double>(w[2]);
            s3 += value * static_cast<long double>(w[3]);
          }
        }
      }
    }
    return {static_cast<double>(s0), static_cast<double>(s1), static_cast<double>(s2),
            static_cast<double>(s3)};
  }

  const Geometry3d& at_;
  std::vector<double> image_;
  std::vector<double> weights_;
};

// Sums of products that may be TF32's, where that is declared of convolutions.
Arithmetic arithmetic_of_convolutions() {
  Arithmetic out = declared_arithmetic();
  constexpr int kTf32Bits = 11;
  if (out.tf32_convolutions) out.operand_bits = std::min(out.operand_bits, kTf32Bits);
  out.flushes_float32 = out.has_cuda_kernels;
  return out;
}

template <class N>
Array<N> convolved(const Array<N>& input, const Array<N>& weight,
                   const std::optional<Array<N>>& bias, const Geometry3d& at, Sizes sizes) {
  std::array<std::vector<Taps>, kMaxSpatialDims> taps;
  std::int64_t positions = 1;
  for (std::size_t d = 0; d < taps.size(); ++d) {
    for (std::int64_t o = 0; o < at.axes[d].output(); ++o) taps[d].push_back(at.axes[d].taps(o));
    positions *= at.axes[d].output();
  }
  Array<N> out(std::move(sizes));
  if constexpr (std::is_same_v<N, double>) {
    const std::int64_t in_group = at.out_channels / at.groups;
    if (in_group > 1 && !at.position_dtype) {
      for (std::int64_t b = 0; b < at.batches; ++b) {
        PackedChannels packed(input.data.data() + b * at.in_channels * at.inputs(), at);
        for (std::int64_t channel = 0; channel < at.out_channels;) {
          const std::int64_t left = in_group - channel % in_group;
          const std::int64_t count = std::min(left, PackedChannels::kTogether);
          double* first = out.data.data() + (b * at.out_channels + channel) * positions;
          packed.fill(first, weight.data.data(), bias, channel, count, taps);
          channel += count;
        }
      }
      return out;
    }
  }
  for (std::int64_t i = 0; i < at.batches * at.out_channels; ++i) {
    const std::int64_t channel = i % at.out_channels;
    const N* entry = input.data.data() + i / at.out_channels * at.in_channels * at.inputs();
    fill_channel(out.data.data() + i * positions, entry, weight.data.data(),
                 bias ? std::optional((*bias)[channel]) : std::nullopt, channel, at, taps);
  }
  return out;
}

// Channels-last when the input or the weight is. float64 and integers have no such kernel for
// three dimensions.
Sizes result_strides(const Tensor& input, const Tensor& weight, const Sizes& sizes) {
  const bool has_kernel = sizes.size() == 4 || (spec::is_floating_point(input.dtype) &&
                                                input.dtype != spec::DType::kFloat64);
  if (!has_kernel || !(suggests_channels_last(input) || suggests_channels_last(weight))) {
    return spec::contiguous_strides(sizes);
  }
  return strides_in_format(sizes, sizes.size() == 4 ? spec::MemoryFormat::kChannelsLast
                                                    : spec::MemoryFormat::kChannelsLast3d);
}

// A gradient lies as a result does, but for that of an empty input.
Sizes gradient_strides(const Tensor& input, const Tensor& weight, const Tensor& of,
                       const Sizes& sizes) {
  if (input.count() == 0) {
    return &of == &input ? strides_like(input, spec::MemoryFormat::kPreserve)
                         : spec::contiguous_strides(sizes);
  }
  return result_strides(input, weight, sizes);
}

void check_operands(const Tensor& input, const Tensor& weight, const TensorRef& bias) {
  if (input.rank() != weight.rank() || input.rank() < 3 || input.rank() > 5) {
    throw OpError("convolution: an input of rank " + std::to_string(input.rank()) +
                  " with a weight of rank " + std::to_string(weight.rank()));
  }
  if (input.dtype != weight.dtype || (bias && bias->dtype != input.dtype)) {
    throw OpError("convolution: input, weight and bias should have one dtype");
  }
}

void convolve(Call& call, bool is_transposed) {
  const DeclaredArithmetic declared(arithmetic_of_convolutions());
  TensorRef input = call.tensor("input");
  const Tensor& weight = *call.tensor("weight");
  const TensorRef bias = call.optional_tensor("bias");
  const bool is_unbatched = input->rank() + 1 == weight.rank();
  if (is_unbatched) input = view_of(*input, with_new_dim(*input, 0));
  check_operands(*input, weight, bias);
  const Geometry3d at = geometry_of_call(call, *input, weight, is_transposed);
  Sizes sizes = {at.batches, at.out_channels};
  for (std::size_t d = kMaxSpatialDims + 2 - input->sizes.size(); d < kMaxSpatialDims; ++d) {
    sizes.push_back(at.axes[d].output());
  }
  Sizes strides = result_strides(*input, weight, sizes);
  if (is_unbatched) {
    sizes.erase(sizes.begin());
    strides.erase(strides.begin());
  }
  const spec::DType dtype = input->dtype;
  with_number(call.mode(), dtype, [&]<class N>() {
    std::optional<Array<N>> biases;
    if (bias) biases = load<N>(*bias, dtype);
    const Array<N> weights = perhaps_flushed(load<N>(weight, dtype), dtype);
    const std::int64_t terms = at.in_channels / at.groups * at.kernels();
    const TensorRef written = call.next_target();
    const bool is_over = written && written->storage == input->storage;
    const TensorRef source = is_over ? copy_of(*input) : input;
    const TensorRef target = call.place_result(sizes, dtype, strides);
    const TensorRef images = is_unbatched ? view_of(*target, with_new_dim(*target, 0)) : target;
    Geometry3d one = at;
    one.batches = 1;
    Sizes image = images->sizes;
    image[0] = 1;
    for (std::int64_t b = 0; b < at.batches; ++b) {
      const Array<N> entry = perhaps_flushed(load<N>(*narrowed(*source, 0, b, 1), dtype), dtype);
      Array<N> out = perhaps_flushed(convolved(entry, weights, biases, one, image), dtype, terms);
      const std::int64_t positions = out.count() / std::max<std::int64_t>(at.out_channels, 1);
      for (std::int64_t i = 0; biases && i < out.count(); ++i) {
        out[i] = allow_rounded_product(out[i], (*biases)[i / positions], dtype);
      }
      round_to_common(std::span(out.data), dtype, *target);
      store(*narrowed(*images, 0, b, 1), out);
    }
    call.emit_datum({target});
  });
}

void conv(Call& call) { convolve(call, false); }
void conv_transpose(Call& call) { convolve(call, true); }
void convolution(Call& call) { convolve(call, call.boolean("transposed")); }

// The convolution that gives the gradient of another one's input: from the result back, every tap
// read where it was written.
Geometry3d geometry_back_to_input(const Geometry3d& forward) {
  Geometry3d back = forward;
  std::swap(back.in_channels, back.out_channels);
  back.is_transposed = !forward.is_transposed;
  back.position_dtype.reset();
  for (Axis& axis : back.axes) {
    const std::int64_t input = axis.input;
    axis.input = axis.output();
    axis.known_output = input;
    axis.is_transposed = back.is_transposed;
  }
  return back;
}

// The gradient of the weight. Of the input and the gradient of the result one is strided over by
// the other: position l of `coarse` meets l * stride + k * dilation - padding of `fine`. One
// element is one sum over all images and positions.
template <class N>
class WeightGradient {
 public:
  WeightGradient(const Geometry3d& at, Array<N> input, Array<N> gradient)
      : at_(at), coarse_(std::move(gradient)), fine_(std::move(input)) {
    if (at.is_transposed) std::swap(coarse_, fine_);
    for (std::size_t d = 0; d < kMaxSpatialDims; ++d) {
      const Axis& axis = at.axes[d];
      coarse_sizes_[d] = axis.is_transposed ? axis.input : axis.output();
      fine_sizes_[d] = axis.is_transposed ? axis.output() : axis.input;
    }
  }

  // `sizes` are the weight's.
  [[nodiscard]] Array<N> computed(const Sizes& sizes) const {
    const std::int64_t in_group = sizes[1];
    const std::int64_t rows_in_group = sizes[0] / at_.groups;
    Array<N> out(sizes);
    N* next = out.data.data();
    for (std::int64_t row = 0; row < sizes[0]; ++row) {
      const bool is_wild = is_wild_channel(row, sizes[0]);
      for (std::int64_t c = 0; c < in_group; ++c) {
        const std::int64_t fine_channel = row / rows_in_group * in_group + c;
        for_each_index(
            {at_.axes[0].kernel, at_.axes[1].kernel, at_.axes[2].kernel}, [&](const Sizes& kernel) {
              *next++ =
                  element(row, fine_channel, kernel, sizes[0], in_group * at_.groups, is_wild);
            });
      }
    }
    return out;
  }

 private:
  struct Meeting {
    std::int64_t coarse;
    std::int64_t fine;
  };

  // The positions of one dimension that meet under one kernel position.
  [[nodiscard]] std::vector<Meeting> meetings(std::size_t d, std::int64_t kernel) const {
    const Axis& axis = at_.axes[d];
    std::vector<Meeting> out;
    for (std::int64_t l = 0; l < coarse_sizes_[d]; ++l) {
      const std::int64_t s = l * axis.stride + kernel * axis.dilation - axis.pad_before;
      if (s >= 0 && s < fine_sizes_[d]) out.push_back({l, s});
    }
    return out;
  }

  // Some kernels multiply what lies beside the padding with its zeros.
  [[nodiscard]] bool is_wild_channel(std::int64_t channel, std::int64_t channels) const {
    if constexpr (std::is_same_v<N, Whole>) {
      return false;
    } else {
      const std::int64_t plane = coarse_sizes_[0] * coarse_sizes_[1] * coarse_sizes_[2];
      for (std::int64_t image = 0; image < at_.batches; ++image) {
        for (std::int64_t i = 0; i < plane; ++i) {
          if (!is_finite(coarse_[(image * channels + channel) * plane + i])) return true;
        }
      }
      return false;
    }
  }

  [[nodiscard]] N element(std::int64_t coarse_channel, std::int64_t fine_channel,
                          const Sizes& kernel, std::int64_t coarse_channels,
                          std::int64_t fine_channels, bool is_wild) const {
    std::array<std::vector<Meeting>, kMaxSpatialDims> met;
    std::int64_t inside = 1;
    std::int64_t all = 1;
    for (std::size_t d = 0; d < kMaxSpatialDims; ++d) {
      met[d] = meetings(d, kernel[d]);
      inside *= static_cast<std::int64_t>(met[d].size());
      all *= coarse_sizes_[d];
    }
    Sum<N> sum;
    for (std::int64_t image = 0; image < at_.batches; ++image) {
      const std::int64_t coarse_plane = image * coarse_channels + coarse_channel;
      const std::int64_t fine_plane = image * fine_channels + fine_channel;
      for (const Meeting& a : met[0]) {
        for (const Meeting& b : met[1]) {
          const std::int64_t coarse_row =
              ((coarse_plane * coarse_sizes_[0] + a.coarse) * coarse_sizes_[1] + b.coarse) *
              coarse_sizes_[2];
          const std::int64_t fine_row =
              ((fine_plane * fine_sizes_[0] + a.fine) * fine_sizes_[1] + b.fine) * fine_sizes_[2];
          for (const Meeting& c : met[2]) {
            sum.add_product(coarse_[coarse_row + c.coarse], fine_[fine_row + c.fine]);
          }
        }
      }
    }
    const N total = sum.result();
    return is_wild && inside < all ? left_open(total) : total;
  }

  const Geometry3d& at_;
  Array<N> coarse_;
  Array<N> fine_;
  std::array<std::int64_t, kMaxSpatialDims> coarse_sizes_{};
  std::array<std::int64_t, kMaxSpatialDims> fine_sizes_{};
};

// The sum of each channel's gradients.
template <class N>
Array<N> bias_gradient(const Array<N>& gradient, const Geometry3d& at) {
  Array<N> out({at.out_channels});
  const std::int64_t plane =
      gradient.count() / std::max<std::int64_t>(1, at.batches * at.out_channels);
  for (std::int64_t channel = 0; channel < at.out_channels; ++channel) {
    Sum<N> sum;
    for (std::int64_t image = 0; image < at.batches; ++image) {
      const std::int64_t first = (image * at.out_channels + channel) * plane;
      for (std::int64_t i = 0; i < plane; ++i) sum.add(gradient[first + i]);
    }
    out[channel] = sum.result();
  }
  return out;
}

// The gradients that `output_mask` asks for; None in the place of others. (oneDNN's kernels give
// the gradient of the weight, too, where that of the bias is asked for alone.)
void convolution_backward(Call& call) {
  const DeclaredArithmetic declared(arithmetic_of_convolutions());
  const Tensor& gradient = *call.tensor("grad_output");
  const Tensor& input = *call.tensor("input");
  const Tensor& weight = *call.tensor("weight");
  check_operands(input, weight, call.tensor("grad_output"));
  const Geometry3d at = geometry_of_call(call, input, weight, call.boolean("transposed"));
  Sizes sizes = {at.batches, at.out_channels};
  for (std::size_t d = kMaxSpatialDims + 2 - input.sizes.size(); d < kMaxSpatialDims; ++d) {
    sizes.push_back(at.axes[d].output());
  }
  if (gradient.sizes != sizes) {
    throw OpError("convolution: a gradient of sizes " + print_sizes(gradient.sizes) +
                  " where the result has " + print_sizes(sizes));
  }
  const auto* mask = call.datum("output_mask").as<Datum::List>();
  const auto wants = [&](std::size_t i) {
    const bool* wanted = mask && i < mask->size() ? (*mask)[i].as<bool>() : nullptr;
    return wanted != nullptr && *wanted;
  };
  const spec::DType dtype = input.dtype;
  with_real(call.mode(), [&]<class N>() {
    const Array<N> gradients = perhaps_flushed(load<N>(gradient, dtype), dtype);
    if (wants(0)) {
      const Geometry3d back = geometry_back_to_input(at);
      const Array<N> weights = perhaps_flushed(load<N>(weight, dtype), dtype);
      const std::int64_t terms = back.in_channels / back.groups * back.kernels();
      call.emit(perhaps_flushed(
                    convolved(gradients, weights, std::optional<Array<N>>(), back, input.sizes),
                    dtype, terms),
                dtype, gradient_strides(input, weight, input, input.sizes));
    } else {
      call.emit_datum({});
    }
    if (wants(1)) {
      const Array<N> inputs = perhaps_flushed(load<N>(input, dtype), dtype);
      const std::int64_t terms = gradient.count() / std::max<std::int64_t>(at.out_channels, 1);
      call.emit(perhaps_flushed(WeightGradient<N>(at, inputs, gradients).computed(weight.sizes),
                                dtype, terms),
                dtype, gradient_strides(input, weight, weight, weight.sizes));
    } else {
      call.emit_datum({});
    }
    if (wants(2)) {
      const std::int64_t terms = gradient.count() / std::max<std::int64_t>(at.out_channels, 1);
      call.emit(perhaps_flushed(bias_gradient(gradients, at), dtype, terms), dtype);
    } else {
      call.emit_datum({});
    }
  });
}

constexpr std::array kConvolutionOps = {
    OpBody{"aten._convolution", convolution},
    OpBody{"aten.conv1d", conv},
    OpBody{"aten.conv2d", conv},
    OpBody{"aten.conv3d", conv},
    OpBody{"aten.conv_transpose1d", conv_transpose},
    OpBody{"aten.conv_transpose2d", conv_transpose},
    OpBody{"aten.conv_transpose3d", conv_transpose},
    OpBody{"aten.convolution", convolution},
    OpBody{"aten.convolution_backward", convolution_backward},
};

}  // namespace

std::span<const OpBody> convolution_ops() { return kConvolutionOps; }

}  // namespace graphgate::reference
