// Convolutions of one to three dimensions, transposed ones included: for every image and group one
// product of the weights and the patches of the input.
//
//   weights [channels out, channels in x taps]  @  patches [channels in x taps, positions out]
//
// A transposed convolution is the same with other patches: tap t of position o reads the input at i
// with i * stride - padding + t * dilation = o, where there is such an i, and 0 elsewhere.
#include <algorithm>
#include <array>

#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/convolution_text.h"
#include "optimized/gemm.h"
#include "optimized/geometry/convolution_shape.h"
#include "optimized/kernels/families.h"
#include "optimized/loop.h"
#include "optimized/rows.h"

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

template <class C>
class Convolution {
 public:
  Convolution(const Binding& call, const ConvolutionShape& shape)
      : shape_(shape),
        input_(with_spatial_rank_3(shape.input)),
        result_(with_spatial_rank_3(shape.batched(call.result()))),
        weights_(grouped_weights(shape), dims_from_1(shape.weight.rank() + 1)) {
    if (const Tensor* bias = call.optional_tensor("bias")) bias_.emplace(*bias, Dims{0});
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

  // [N, C, ...] with sizes of 1 put in before the spatial ones.
  static Tensor with_spatial_rank_3(Tensor tensor) {
    while (tensor.rank() < 5) tensor = with_unit_dim(std::move(tensor), 2);
    return tensor;
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
    const std::int64_t item = input_.item_bytes();
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::byte* plane =
          input_.data() +
          (image * input_.strides[0] + (group * channels + c) * input_.strides[1]) * item;
      for (std::int64_t tap = 0; tap < taps(); ++tap, out += n) {
        fill_row(plane, tap, first, n, out);
      }
    }
  }

  void fill_row(const std::byte* plane, std::int64_t tap, std::int64_t first, std::int64_t n,
                C* out) const {
    const Axis& z = shape_.axes[0];
    const Axis& y = shape_.axes[1];
    const Axis& x = shape_.axes[2];
    const std::int64_t item = input_.item_bytes();
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t position = first + done;
      const std::int64_t from = position % x.out;
      const std::int64_t count = std::min(x.out - from, n - done);
      const std::int64_t iy = source_of(y, tap / x.kernel % y.kernel, position / x.out % y.out);
      const std::int64_t iz = source_of(z, tap / x.kernel / y.kernel, position / x.out / y.out);
      if (iy < 0 || iz < 0) {
        std::fill_n(out + done, count, C(0));
      } else {
        const std::byte* line = plane + (iz * input_.strides[2] + iy * input_.strides[3]) * item;
        read_line<C>(x, tap % x.kernel, from, count, input_.dtype, line, input_.strides[4] * item,
                     out + done);
      }
      done += count;
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
  Launch launch = with_compute(shape.input.dtype,
                               [&]<class C>() -> Launch { return Convolution<C>(call, shape); });
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch), {convolution_text(shape, shape.batched(call.result()),
                                                        call.optional_tensor("bias"))});
}

}  // namespace

std::span<const Kernel> convolution_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.conv1d", infer_convolution, bind_convolution}.rows(row_rules::per_image),
      Kernel{"aten.conv2d", infer_convolution, bind_convolution}.rows(row_rules::per_image),
      Kernel{"aten.convolution", infer_convolution, bind_convolution}.rows(row_rules::per_image),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
