// Convolutions of one to three dimensions, transposed ones included: for every image and group one
// product of the weights and the patches of the input.
//
//   weights [channels out, channels in x taps]  @  patches [channels in x taps, positions out]
//
// A transposed convolution is the same with other patches: tap t of position o reads the input at i
// with i * stride - padding + t * dilation = o, where there is such an i, and 0 elsewhere.
//
// Gradients are products of the same patches: that of the input is the other kind of convolution
// (transposed where this one is not) of the result's gradient, that of the weights
//
//   gradient [channels out, images x positions]  @  patches^T [images x positions, channels x taps]
#include <algorithm>
#include <array>

#include "optimized/analysis/row_rules.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/codegen/convolution_text.h"
#include "optimized/converted_rows.h"
#include "optimized/gemm.h"
#include "optimized/geometry/convolution_shape.h"
#include "optimized/kernels/families.h"
#include "optimized/loop.h"
#include "optimized/rows.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kPatchElements = std::int64_t{1} << 20;  // of patches held at a time

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

// The elements [begin, begin + n) of `axis` that tap `tap` reads, from a line of the input that
// starts at `line`; zeros where it reads none.
template <class C>
void read_line(const Axis& axis, std::int64_t tap, std::int64_t begin, std::int64_t n,
               spec::DType dtype, const std::byte* line, std::int64_t stride_bytes, C* out) {
  std::fill_n(out, n, C(0));
  const std::int64_t shift = axis.padding - tap * axis.dilation;
  if (!axis.is_transposed) {
    // i = o * stride - shift, for 0 <= i < in
    const std::int64_t first = std::max(begin, divide_up(shift, axis.stride));
    const std::int64_t end = std::min(begin + n, divide_up(axis.in + shift, axis.stride));
    if (first >= end) return;
    load_tile<C>(dtype, line + (first * axis.stride - shift) * stride_bytes,
                 axis.stride * stride_bytes, static_cast<int>(end - first), out + first - begin);
    return;
  }
  // o = i * stride - shift, for begin <= o < begin + n
  const std::int64_t first = std::max<std::int64_t>(0, divide_up(begin + shift, axis.stride));
  const std::int64_t end = std::min(axis.in, divide_up(begin + n + shift, axis.stride));
  std::array<C, kTile> tile;
  for (std::int64_t i = first; i < end; i += kTile) {
    const auto count = static_cast<int>(std::min<std::int64_t>(kTile, end - i));
    load_tile<C>(dtype, line + i * stride_bytes, stride_bytes, count, tile.data());
    for (int j = 0; j < count; ++j) {
      out[(i + j) * axis.stride - shift - begin] = tile[static_cast<std::size_t>(j)];
    }
  }
}

// The element that tap `tap` of position `o` reads, or -1.
std::int64_t source_of(const Axis& axis, std::int64_t tap, std::int64_t o) {
  const std::int64_t shift = axis.padding - tap * axis.dilation;
  if (!axis.is_transposed) {
    const std::int64_t i = o * axis.stride - shift;
    return i >= 0 && i < axis.in ? i : -1;
  }
  const std::int64_t scaled = o + shift;
  if (scaled < 0 || scaled % axis.stride != 0) return -1;
  return scaled / axis.stride < axis.in ? scaled / axis.stride : -1;
}

// [N, C, ...] with sizes of 1 put in before the spatial ones.
Tensor with_spatial_rank_3(Tensor tensor) {
  while (tensor.rank() < 5) tensor = with_unit_dim(std::move(tensor), 2);
  return tensor;
}

// What one tap reads of a plane (image, channel) at positions [first, first + n). `input` has
// spatial rank 3.
template <class C>
void read_patch_row(const std::array<Axis, 3>& axes, const Tensor& input, const std::byte* plane,
                    std::int64_t tap, std::int64_t first, std::int64_t n, C* out) {
  const auto& [z, y, x] = axes;
  const std::int64_t item = input.item_bytes();
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t position = first + done;
    const std::int64_t from = position % x.out;
    const std::int64_t count = std::min(x.out - from, n - done);
    const std::int64_t iy = source_of(y, tap / x.kernel % y.kernel, position / x.out % y.out);
    const std::int64_t iz = source_of(z, tap / x.kernel / y.kernel, position / x.out / y.out);
    if (iy < 0 || iz < 0) {
      std::fill_n(out + done, count, C(0));
    } else {
      const std::byte* line = plane + (iz * input.strides[2] + iy * input.strides[3]) * item;
      read_line<C>(x, tap % x.kernel, from, count, input.dtype, line, input.strides[4] * item,
                   out + done);
    }
    done += count;
  }
}

const std::byte* plane_of(const Tensor& input, std::int64_t image, std::int64_t channel) {
  return input.data() +
         (image * input.strides[0] + channel * input.strides[1]) * input.item_bytes();
}

template <class C>
class Convolution {
 public:
  // `result` has a batch dimension.
  Convolution(const ConvolutionShape& shape, const Tensor& result, const Tensor* bias)
      : shape_(shape),
        input_(with_spatial_rank_3(shape.input)),
        result_(with_spatial_rank_3(result)),
        weights_(grouped_weights(shape), dims_from_1(shape.weight.rank() + 1)) {
    if (bias) bias_.emplace(*bias, Dims{0});
  }

  void operator()() const {
    const std::int64_t outs = shape_.channels_out / shape_.groups;
    const std::int64_t depth = shape_.channels_in / shape_.groups * taps();
    std::vector<C> weights(at(outs * depth));
    std::vector<C> bias(at(shape_.channels_out), C(0));
    if (bias_) bias_->template load<C>(0, bias.data());
    const std::int64_t step =
        std::max<std::int64_t>(128, kPatchElements / std::max<std::int64_t>(depth, 1));
    std::vector<C> patches(at(depth * std::min(step, positions())));
    for (std::int64_t group = 0; group < shape_.groups; ++group) {
      weights_.template load<C>(group, weights.data());
      for (std::int64_t image = 0; image < input_.sizes[0]; ++image) {
        for (std::int64_t first = 0; first < positions(); first += step) {
          const std::int64_t count = std::min(step, positions() - first);
          fill_patches(image, group, first, count, patches.data());
          gemm<C>(outs, count, depth, dense_factor(weights.data(), depth),
                  dense_factor(patches.data(), count),
                  [&](std::int64_t row, std::int64_t column, C* values, int n) {
                    const std::int64_t channel = group * outs + row;
                    if (bias_) add(bias[at(channel)], values, n);
                    store(image, channel, first + column, values, n);
                  });
        }
      }
    }
  }

 private:
  static void add(C bias, C* values, int n) {
    using W = std::conditional_t<std::is_same_v<C, std::int64_t>, std::uint64_t, C>;
    for (int i = 0; i < n; ++i) {
      values[i] = static_cast<C>(static_cast<W>(values[i]) + static_cast<W>(bias));
    }
  }

  // The weights as [groups, out of a group, in of a group, taps...].
  static Tensor grouped_weights(const ConvolutionShape& shape) {
    Tensor out = shape.weight;
    out.sizes[0] /= shape.groups;
    out = with_unit_dim(std::move(out), 0);
    out.sizes[0] = shape.groups;
    out.strides[0] = out.strides[1] * out.sizes[1];
    if (shape.is_transposed) out = swapped(std::move(out), 1, 2);
    return out;
  }
  static Dims dims_from_1(std::int64_t rank) {
    Dims out;
    for (std::int64_t d = 1; d < rank; ++d) out.push_back(d);
    return out;
  }

  [[nodiscard]] std::int64_t taps() const {
    return shape_.axes[0].kernel * shape_.axes[1].kernel * shape_.axes[2].kernel;
  }
  [[nodiscard]] std::int64_t positions() const {
    return shape_.axes[0].out * shape_.axes[1].out * shape_.axes[2].out;
  }

  // Row (channel, tap) of the patches holds what that tap reads at positions [first, first + n).
  void fill_patches(std::int64_t image, std::int64_t group, std::int64_t first, std::int64_t n,
                    C* out) const {
    const std::int64_t channels = shape_.channels_in / shape_.groups;
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::byte* plane = plane_of(input_, image, group * channels + c);
      for (std::int64_t tap = 0; tap < taps(); ++tap, out += n) {
        read_patch_row<C>(shape_.axes, input_, plane, tap, first, n, out);
      }
    }
  }

  void store(std::int64_t image, std::int64_t channel, std::int64_t position, const C* values,
             int n) const {
    const std::int64_t width = shape_.axes[2].out;
    const std::int64_t height = shape_.axes[1].out;
    const std::int64_t item = result_.item_bytes();
    for (int done = 0; done < n;) {
      const std::int64_t o = position + done;
      const auto count = static_cast<int>(std::min<std::int64_t>(width - o % width, n - done));
      const std::int64_t element = image * result_.strides[0] + channel * result_.strides[1] +
                                   o / width / height * result_.strides[2] +
                                   o / width % height * result_.strides[3] +
                                   o % width * result_.strides[4];
      store_rounded<C>(shape_.input.dtype, values + done, count, result_,
                       result_.data() + element * item, result_.strides[4] * item);
      done += count;
    }
  }

  ConvolutionShape shape_;
  Tensor input_, result_;
  Rows weights_;
  std::optional<Rows> bias_;
};

void infer_convolution(Inference& call) {
  const ConvolutionShape shape = convolution_shape(call);
  call.make(shape.input.dtype, shape.result_sizes(), shape.result_strides());
}

Launch bind_convolution(const Binding& call) {
  const ConvolutionShape shape = convolution_shape(call);
  const Tensor result = shape.batched(call.result());
  const Tensor* bias = call.optional_tensor("bias");
  Launch launch = with_compute(
      shape.input.dtype, [&]<class C>() -> Launch { return Convolution<C>(shape, result, bias); });
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch), {convolution_text(shape, result, bias)});
}

// The convolution whose result is the gradient of `shape.input`.
ConvolutionShape shape_back_to_input(const ConvolutionShape& shape, const Tensor& gradient) {
  ConvolutionShape back = shape;
  back.input = gradient;
  back.is_transposed = !shape.is_transposed;
  std::swap(back.channels_in, back.channels_out);
  for (Axis& axis : back.axes) {
    std::swap(axis.in, axis.out);
    axis.is_transposed = back.is_transposed;
  }
  return back;
}

// Each element of the gradient of the weights is one product over images and positions of the
// coarse tensor: the result's gradient, or of a transposed convolution the input. Patches are taken
// of the other.
template <class C>
class WeightGradient {
 public:
  WeightGradient(const ConvolutionShape& shape, const Tensor& gradient, const Tensor& result)
      : groups_(shape.groups),
        axes_(shape.axes),
        coarse_(with_spatial_rank_3(shape.is_transposed ? shape.input : gradient)),
        fine_(with_spatial_rank_3(shape.is_transposed ? gradient : shape.input)),
        result_(with_spatial_rank_3(result)) {
    for (Axis& axis : axes_) {
      if (axis.is_transposed) std::swap(axis.in, axis.out);
      axis.is_transposed = false;
    }
  }

  void operator()() const {
    const std::int64_t rows = result_.sizes[0] / groups_;  // of a group
    const std::int64_t columns = result_.sizes[1] * taps();
    const std::int64_t depth = coarse_.sizes[0] * positions();
    const std::int64_t step =
        std::clamp<std::int64_t>(kPatchElements / std::max<std::int64_t>(depth, 1), 1, columns);
    std::vector<C> lines(at(rows * depth));
    std::vector<C> patches(at(step * depth));
    for (std::int64_t group = 0; group < groups_; ++group) {
      load_lines(group, rows, lines.data());
      for (std::int64_t first = 0; first < columns; first += step) {
        const std::int64_t count = std::min(step, columns - first);
        fill_patches(group, first, count, patches.data());
        gemm<C>(rows, count, depth, dense_factor(lines.data(), depth),
                transposed(dense_factor(patches.data(), depth)),
                [&](std::int64_t row, std::int64_t column, C* values, int n) {
                  store(group * rows + row, first + column, values, n);
                });
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t taps() const {
    return axes_[0].kernel * axes_[1].kernel * axes_[2].kernel;
  }
  [[nodiscard]] std::int64_t positions() const {
    return axes_[0].out * axes_[1].out * axes_[2].out;
  }

  // The rows of a group: all positions of all images.
  void load_lines(std::int64_t group, std::int64_t rows, C* out) const {
    const Rows planes(coarse_, {2, 3, 4});
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t image = 0; image < coarse_.sizes[0]; ++image, out += positions()) {
        planes.load<C>(image * coarse_.sizes[1] + group * rows + row, out);
      }
    }
  }

  // What columns [first, first + n) of a group, each a channel and a tap, read.
  void fill_patches(std::int64_t group, std::int64_t first, std::int64_t n, C* out) const {
    for (std::int64_t column = first; column < first + n; ++column) {
      const std::int64_t channel = group * result_.sizes[1] + column / taps();
      for (std::int64_t image = 0; image < fine_.sizes[0]; ++image, out += positions()) {
        read_patch_row<C>(axes_, fine_, plane_of(fine_, image, channel), column % taps(), 0,
                          positions(), out);
      }
    }
  }

  void store(std::int64_t row, std::int64_t column, const C* values, int n) const {
    for (int i = 0; i < n; ++i, ++column) {
      const std::int64_t tap = column % taps();
      const std::int64_t x = tap % axes_[2].kernel;
      const std::int64_t y = tap / axes_[2].kernel % axes_[1].kernel;
      const std::int64_t z = tap / axes_[2].kernel / axes_[1].kernel;
      const std::int64_t element = row * result_.strides[0] + column / taps() * result_.strides[1] +
                                   z * result_.strides[2] + y * result_.strides[3] +
                                   x * result_.strides[4];
      store_rounded<C>(coarse_.dtype, values + i, 1, result_,
                       result_.data() + element * result_.item_bytes(), 0);
    }
  }

  std::int64_t groups_;
  std::array<Axis, 3> axes_;
  Tensor coarse_, fine_, result_;
};

// The sum of each channel's gradients.
template <class C>
Launch bias_gradient(const Tensor& gradient, const Tensor& result) {
  Dims inner = {0};
  for (std::int64_t d = 2; d < gradient.rank(); ++d) inner.push_back(d);
  return Launch(
      [rows = Rows(gradient, inner), to = Rows(result, {}), result, dtype = gradient.dtype] {
        std::vector<C> row(at(rows.length()));
        for (std::int64_t r = 0; r < rows.count(); ++r) {
          rows.load<C>(r, row.data());
          store_result<C>(result, to, r, dtype, ordered_sum<C>(row.data(), rows.length()));
        }
      });
}

bool wants_gradient(const KernelCall& call, std::size_t which) {
  const auto* mask = call.item("output_mask").as<Item::List>();
  const bool* wanted =
      mask != nullptr && which < mask->size() ? (*mask)[which].as<bool>() : nullptr;
  return wanted != nullptr && *wanted;
}

// The strides of a gradient of `of`, which is the input or the weight.
Sizes gradient_strides(const ConvolutionShape& shape, const Tensor& of, bool is_input) {
  const bool is_float64 = shape.input.dtype == spec::DType::kFloat64;
  if (shape.input.count() == 0) {
    return is_input ? strides_like(of, spec::MemoryFormat::kPreserve) : row_major_strides(of.sizes);
  }
  if (of.rank() < 4 || (of.rank() == 5 && is_float64)) return row_major_strides(of.sizes);
  const auto format =
      of.rank() == 4 ? spec::MemoryFormat::kChannelsLast : spec::MemoryFormat::kChannelsLast3d;
  const bool is_last =
      suggested_format(shape.input) == format || suggested_format(shape.weight) == format;
  return is_last ? strides_in_format(of.sizes, format) : row_major_strides(of.sizes);
}

void infer_convolution_backward(Inference& call) {
  const ConvolutionShape shape = convolution_shape(call);
  const Tensor& gradient = call.tensor("grad_output");
  const spec::DType dtype = shape.input.dtype;
  if (!shape.is_batched || !spec::is_floating_point(dtype) || gradient.dtype != dtype ||
      gradient.sizes != shape.result_sizes()) {
    throw OpError("a gradient of sizes " + print_sizes(gradient.sizes) +
                  " is none of a result of " + print_sizes(shape.result_sizes()));
  }
  if (wants_gradient(call, 0)) {
    call.make(dtype, shape.input.sizes, gradient_strides(shape, shape.input, true));
  } else {
    call.make_none();
  }
  if (wants_gradient(call, 1)) {
    call.make(dtype, shape.weight.sizes, gradient_strides(shape, shape.weight, false));
  } else {
    call.make_none();
  }
  if (wants_gradient(call, 2)) {
    call.make(dtype, {shape.channels_out});
  } else {
    call.make_none();
  }
}

Launch bind_convolution_backward(const Binding& call) {
  const ConvolutionShape shape = convolution_shape(call);
  const Tensor& gradient = call.tensor("grad_output");
  return with_real(shape.input.dtype, [&]<class C>() {
    std::vector<Launch> launches;
    if (wants_gradient(call, 0)) {
      launches.emplace_back(
          Convolution<C>(shape_back_to_input(shape, gradient), call.result(0), nullptr));
    }
    if (wants_gradient(call, 1)) {
      launches.emplace_back(WeightGradient<C>(shape, gradient, call.result(1)));
    }
    if (wants_gradient(call, 2)) launches.push_back(bias_gradient<C>(gradient, call.result(2)));
    return in_turn(std::move(launches));
  });
}

}  // namespace

std::span<const Kernel> convolution_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten._convolution", infer_convolution, bind_convolution}.rows(row_rules::per_image),
      Kernel{"aten.conv1d", infer_convolution, bind_convolution}.rows(row_rules::per_image),
      Kernel{"aten.conv2d", infer_convolution, bind_convolution}.rows(row_rules::per_image),
      Kernel{"aten.conv3d", infer_convolution, bind_convolution}.rows(row_rules::per_image),
      Kernel{"aten.conv_transpose1d", infer_convolution, bind_convolution}.rows(
          row_rules::per_image),
      Kernel{"aten.conv_transpose2d", infer_convolution, bind_convolution}.rows(
          row_rules::per_image),
      Kernel{"aten.conv_transpose3d", infer_convolution, bind_convolution}.rows(
          row_rules::per_image),
      Kernel{"aten.convolution", infer_convolution, bind_convolution}.rows(row_rules::per_image),
      {"aten.convolution_backward", infer_convolution_backward, bind_convolution_backward},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
