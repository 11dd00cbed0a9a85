// upsample: an image read at evenly spaced coordinates.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "reference/ops/plane_gradient.h"
#include "reference/ops/resampling.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;
using namespace resampling;

// The sizes and the given scales of one upsample call, however its overload writes them.
struct Upsampling {
  TensorRef input;
  Sizes in, out;                              // spatial
  std::vector<std::optional<double>> scales;  // per spatial dimension
  Sizes result;                               // all sizes of the result
};

// scales, scales_h, scales_w...: one argument per dimension.
std::optional<double> scale_argument(const Call& call, std::size_t d, std::size_t dims) {
  constexpr std::array kNames = {"scales_d", "scales_h", "scales_w"};
  return call.optional_real(dims == 1 ? "scales" : kNames[3 - dims + d]);
}

Upsampling read_upsampling(const Call& call, std::size_t dims) {
  Upsampling up;
  up.input = call.tensor(call.has("input") ? "input" : "self");
  if (up.input->sizes.size() != dims + 2) {
    throw OpError("upsample: expected an input of rank " + std::to_string(dims + 2));
  }
  up.in = spatial_sizes(up.input->sizes);
  up.scales.resize(dims);
  if (call.has("output_size")) {
    up.out = call.integers("output_size");
    if (up.out.size() != dims) throw OpError("upsample: one output size per spatial dimension");
    for (std::size_t d = 0; d < dims; ++d) up.scales[d] = scale_argument(call, d, dims);
  } else {
    const auto* factors = call.datum("scale_factors").as<Datum::List>();
    if (!factors || factors->size() != dims) {
      throw OpError("upsample: must specify exactly one of output_size and scale_factors");
    }
    for (std::size_t d = 0; d < dims; ++d) {
      const double* factor = decided_float((*factors)[d]);
      if (!factor) throw OpError("upsample: scale factors must be floats");
      up.scales[d] = *factor;
      up.out.push_back(to_whole(static_cast<double>(up.in[d]) * *factor).value);
    }
  }
  up.result = {up.input->sizes[0], up.input->sizes[1]};
  for (std::size_t d = 0; d < dims; ++d) {
    if (up.in[d] <= 0 || up.out[d] <= 0) {
      throw OpError("upsample: input and output sizes should be greater than 0");
    }
    up.result.push_back(up.out[d]);
  }
  return up;
}

Sizes upsampled_strides(const Upsampling& up) {
  if (!suggests_channels_last(*up.input)) return spec::contiguous_strides(up.result);
  return strides_in_format(up.result, up.in.size() == 3 ? spec::MemoryFormat::kChannelsLast3d
                                                        : spec::MemoryFormat::kChannelsLast);
}

// Whether PyTorch takes a kernel over whole pixels (for small images, and for many channels that
// come last), not the one that takes a dimension at a time.
bool goes_by_pixel(const Upsampling& up) {
  if (up.in.size() == 1) return false;
  const bool planar = up.in.size() == 2;
  const auto last =
      planar ? spec::MemoryFormat::kChannelsLast : spec::MemoryFormat::kChannelsLast3d;
  const bool is_deep = up.result[1] > 3 && is_contiguous_in(*up.input, last);
  return is_deep || (planar && up.out[0] + up.out[1] <= 128);
}

// The pixel that nearest takes, in PyTorch's float32 arithmetic, which decides ties: exact here.
// `by_sizes`: where a size stays or doubles it tells the pixel, whatever the scale says.
std::int64_t nearest_pixel(std::int64_t i, const Upsampling& up, std::size_t d, bool is_exact,
                           bool by_sizes) {
  const std::int64_t in = up.in[d];
  const std::int64_t out = up.out[d];
  if (by_sizes && in == out) return i;
  if (by_sizes && out == 2 * in) return i / 2;
  const bool given = up.scales[d] && *up.scales[d] > 0;
  const float scale = given ? static_cast<float>(1.0 / *up.scales[d])
                            : static_cast<float>(in) / static_cast<float>(out);
  const float at = (static_cast<float>(i) + (is_exact ? 0.5F : 0.0F)) * scale;
  return std::clamp<std::int64_t>(to_whole(static_cast<double>(std::floor(at))).value, 0, in - 1);
}

void upsample_nearest(Call& call, std::size_t dims, bool is_exact) {
  const Upsampling up = read_upsampling(call, dims);
  const bool by_sizes = !is_exact && goes_by_pixel(up);
  std::vector<Picked> picked;
  for_each_index(up.result, [&](const Sizes& index) {
    std::int64_t position = index[0] * up.result[1] + index[1];
    for (std::size_t d = 0; d < dims; ++d) {
      position = position * up.in[d] + nearest_pixel(index[d + 2], up, d, is_exact, by_sizes);
    }
    picked.push_back({position, false});
  });
  emit_made(call, pick(*up.input, up.result, picked, upsampled_strides(up)));
}

// The way back of a call: its `input` is grad_output, whose sizes are the `result`'s.
struct WayBack {
  Upsampling up;
  Sizes sizes;  // of the gradient that is asked for
  Sizes strides;
};

// Strides are contiguous, or of the gradient's format where a kernel `keeps_format`.
WayBack read_way_back(const Call& call, std::size_t dims, bool keeps_format) {
  const Tensor& gradient = *call.tensor("grad_output");
  WayBack back;
  back.sizes = call.integers("input_size");
  Upsampling& up = back.up;
  up.input = call.tensor("grad_output");
  up.out = call.integers("output_size");
  if (up.out.size() != dims || back.sizes.size() != dims + 2) {
    throw OpError("upsample: expected a size for each spatial dimension");
  }
  up.in = spatial_sizes(back.sizes);
  up.result = {back.sizes[0], back.sizes[1]};
  for (std::size_t d = 0; d < dims; ++d) {
    up.scales.push_back(scale_argument(call, d, dims));
    up.result.push_back(up.out[d]);
    if (up.in[d] <= 0 || up.out[d] <= 0) throw OpError("upsample: sizes should be greater than 0");
  }
  if (gradient.sizes != up.result) throw OpError("upsample: grad_output has other sizes");
  if (!spec::is_floating_point(gradient.dtype))
    throw OpError("upsample: expected a floating dtype");
  back.strides = keeps_format ? strides_in_format(back.sizes, suggested_format(gradient))
                              : spec::contiguous_strides(back.sizes);
  return back;
}

// Each gradient goes to the pixel that was taken for it. PyTorch's kernels keep sums of 16-bit data
// in float32, here and below.
void upsample_nearest_backward(Call& call, std::size_t dims, bool is_exact) {
  const WayBack back = read_way_back(call, dims, dims == 2);
  const Tensor& gradient = *back.up.input;
  with_real(call.mode(), [&]<class N>() {
    const auto parts_of = [&](const Sizes& place, const auto& send) {
      std::int64_t position = 0;
      for (std::size_t d = 0; d < dims; ++d) {
        position =
            position * back.up.in[d] + nearest_pixel(place[d], back.up, d, is_exact, !is_exact);
      }
      send(position, [](const N& g) { return g; });
    };
    call.emit(plane_gradient<N>(gradient, back.sizes, dims, Partials::kWide, parts_of),
              gradient.dtype, back.strides);
  });
}

// Where output pixel i lies in the input. `like` gives the arithmetic.
template <class N>
N source_coordinate(std::int64_t i, const Upsampling& up, std::size_t d, Kernel kernel,
                    bool align_corners, const N& like) {
  const auto in = static_cast<double>(up.in[d]);
  const auto out = static_cast<double>(up.out[d]);
  const N zero = zero_like(like);  // a constant has no arithmetic of its own
  if (align_corners) {
    if (up.out[d] <= 1) return zero;
    return (zero + N(in - 1)) / N(out - 1) * N(static_cast<double>(i));
  }
  const bool given = up.scales[d] && *up.scales[d] > 0;
  const N scale = given ? (zero + N(1.0)) / N(*up.scales[d]) : (zero + N(in)) / N(out);
  const N source = scale * N(static_cast<double>(i) + 0.5) - N(0.5);
  return kernel == Kernel::kCubic ? source : maximum(source, zero);
}

// Along a dimension whose size stays the linear kernel copies, whatever the scale says: it takes
// each pixel once and no further time (which makes NaN of an infinity).
template <class N>
std::vector<Taps<N>> upsample_taps(const Upsampling& up, std::size_t d, Kernel kernel,
                                   bool align_corners, const N& like, const Settle<N>& settle) {
  std::vector<Taps<N>> taps;
  const bool copies = kernel == Kernel::kLinear && up.in[d] == up.out[d];
  for (std::int64_t i = 0; i < up.out[d]; ++i) {
    if (copies) {
      taps.push_back({{i, one_like(like)}, {i, zero_like(like)}});
      continue;
    }
    const N source = source_coordinate(i, up, d, kernel, align_corners, like);
    taps.push_back(taps_around(source, kernel, settle));
    for (Tap<N>& tap : taps.back())
      tap.index = std::clamp<std::int64_t>(tap.index, 0, up.in[d] - 1);
  }
  return taps;
}

void smooth_bytes(Call& call, const Upsampling& up, Kernel kernel, bool align_corners);

// For 16-bit dtypes PyTorch's linear kernel over pixels keeps float32 to the end; the kernels of
// the others round weights and partial results to the dtype.
void upsample_smooth(Call& call, std::size_t dims, Kernel kernel) {
  const Upsampling up = read_upsampling(call, dims);
  const DType dtype = up.input->dtype;
  const bool align_corners = call.boolean("align_corners");
  if (dtype == DType::kUInt8 && dims == 2) return smooth_bytes(call, up, kernel, align_corners);
  if (!spec::is_floating_point(dtype)) throw OpError("upsample: expected a floating dtype");
  with_real(call.mode(), [&]<class N>() {
    const Array<N> input = load<N>(*up.input, dtype);
    const bool is_wide = kernel == Kernel::kLinear && goes_by_pixel(up);
    const Settle<N> settle{is_wide ? compute_dtype(dtype) : dtype};
    std::vector<std::vector<Taps<N>>> taps;  // per dimension and output coordinate
    for (std::size_t d = 0; d < dims && input.count() > 0; ++d) {
      taps.push_back(upsample_taps(up, d, kernel, align_corners, input[0], settle));
    }
    const std::int64_t area = count_of(up.in);
    const std::int64_t points = count_of(up.out);
    Array<N> out(up.result);
    std::int64_t point = 0;
    for_each_index(input.count() > 0 ? up.out : Sizes{0}, [&](const Sizes& index) {
      std::vector<Taps<N>> per_dim;
      per_dim.reserve(dims);
      for (std::size_t d = 0; d < dims; ++d) {
        per_dim.push_back(taps[d][static_cast<std::size_t>(index[d])]);
      }
      const Taps<N> all = cross(per_dim, up.in, settle);
      for (std::int64_t plane = 0; plane < up.result[0] * up.result[1]; ++plane) {
        N& sum = out[plane * points + point];
        sum = weighted_sum(input, plane * area, all, settle.dtype, settle);
        if (kernel == Kernel::kLinear && !std::is_same_v<N, double>) {
          sum = covering(sum, blended(input, plane * area, per_dim, up.in));
        }
      }
      ++point;
    });
    call.emit(out, dtype, upsampled_strides(up));
  });
}

// Each gradient goes to the pixels that were taken for it, times their weights, which are float32,
// too.
void upsample_smooth_backward(Call& call, std::size_t dims, Kernel kernel) {
  const WayBack back = read_way_back(call, dims, dims > 1 && kernel == Kernel::kLinear);
  const Tensor& gradient = *back.up.input;
  const bool align_corners = call.boolean("align_corners");
  with_real(call.mode(), [&]<class N>() {
    const Settle<N> settle{compute_dtype(gradient.dtype)};
    std::vector<std::vector<Taps<N>>> taps;  // per dimension and output coordinate
    const Array<N> first = load<N>(gradient, gradient.dtype);
    for (std::size_t d = 0; d < dims && first.count() > 0; ++d) {
      taps.push_back(upsample_taps(back.up, d, kernel, align_corners, first[0], settle));
    }
    const auto parts_of = [&](const Sizes& place, const auto& send) {
      std::vector<Taps<N>> per_dim;
      per_dim.reserve(dims);
      for (std::size_t d = 0; d < dims; ++d) {
        per_dim.push_back(taps[d][static_cast<std::size_t>(place[d])]);
      }
      for (const Tap<N>& tap : cross(per_dim, back.up.in, settle)) {
        send(tap.index, [&](const N& g) { return weighted(g, tap.weight); });
      }
    };
    call.emit(plane_gradient<N>(gradient, back.sizes, dims, Partials::kWide, parts_of),
              gradient.dtype, back.strides);
  });
}

// ---- with antialiasing: a kernel as wide as what an output pixel stands for

// Input pixels per output pixel.
template <class N>
N pixel_step(const Upsampling& up, std::size_t d, bool align_corners, const N& like) {
  const N zero = zero_like(like);
  const auto in = static_cast<double>(up.in[d]);
  const auto out = static_cast<double>(up.out[d]);
  if (align_corners) return up.out[d] <= 1 ? zero : (zero + N(in - 1)) / N(out - 1);
  const bool given = up.scales[d] && *up.scales[d] > 0;
  return given ? (zero + N(1.0)) / N(*up.scales[d]) : (zero + N(in)) / N(out);
}

// The triangle, or Keys' cubic with a = -0.5, at a distance from the middle.
template <class N>
N antialias_weight(Kernel kernel, const N& distance) {
  if (kernel == Kernel::kLinear) return maximum(N(0.0), N(1.0) - distance);
  constexpr double a = -0.5;
  const N& d = distance;
  if (center_of(d) <= 1) return (N(a + 2) * d - N(a + 3)) * d * d + N(1.0);
  if (center_of(d) - static_cast<long double>(resampling::reach_of(d)) >= 2) return N(0.0);
  return (((d - N(5.0)) * d + N(8.0)) * d - N(4.0)) * N(a);
}

// Pixels outside of the image have no part: the weights of those inside are divided by their sum.
// Along a dimension whose size stays PyTorch does nothing.
template <class N>
Taps<N> antialias_taps(std::int64_t i, const Upsampling& up, std::size_t d, Kernel kernel,
                       bool align_corners, const N& like) {
  if (up.in[d] == up.out[d]) return {{i, one_like(like)}};
  const N step = pixel_step(up, d, align_corners, like);
  const bool shrinks = center_of(step) >= 1;
  const N per_pixel = shrinks ? one_like(like) / step : one_like(like);
  const N center = step * N(static_cast<double>(i) + 0.5);
  const long double reach =
      (kernel == Kernel::kLinear ? 1 : 2) * (shrinks ? center_of(step) : 1.0L) + 1;
  const auto bound = [&](long double at) {
    return std::clamp<std::int64_t>(to_whole(std::floor(at)).value, 0, up.in[d] - 1);
  };
  Taps<N> taps;
  Sum<N> total;
  for (std::int64_t k = bound(center_of(center) - reach); k <= bound(center_of(center) + reach);
       ++k) {
    const N distance = abs((N(static_cast<double>(k)) - center + N(0.5)) * per_pixel);
    const N weight = antialias_weight(kernel, distance);
    const Whole is_nothing = equal(weight, N(0.0));
    if (is_nothing.value != 0 && !is_nothing.undecided) continue;
    taps.push_back({k, weight});
    total.add(weight);
  }
  const N sum = total.result();
  for (Tap<N>& tap : taps) tap.weight = tap.weight / sum;
  return taps;
}

// Bytes have weights of 16 bits: those of float64 times the largest power of two that lets none
// overflow, to the nearest. Each dimension's sum is rounded to a byte, the last one's first.
struct ByteWeights {
  std::vector<Taps<Whole>> taps;  // of every output pixel
  std::int64_t unit = 1;          // the weight of one
};

ByteWeights byte_weights(const std::vector<Taps<double>>& real) {
  double most = 0;
  for (const Taps<double>& of_pixel : real) {
    for (const Tap<double>& tap : of_pixel) most = std::max(most, tap.weight);
  }
  ByteWeights out;
  constexpr std::int64_t kMostUnit = std::int64_t{1} << 22;
  while (out.unit < kMostUnit &&
         to_whole(0.5 + most * static_cast<double>(2 * out.unit)).value < (1 << 15)) {
    out.unit *= 2;
  }
  for (const Taps<double>& of_pixel : real) {
    out.taps.emplace_back();
    for (const Tap<double>& tap : of_pixel) {
      const double scaled = tap.weight * static_cast<double>(out.unit);
      out.taps.back().push_back({tap.index, to_whole(scaled < 0 ? scaled - 0.5 : scaled + 0.5)});
    }
  }
  return out;
}

// Along one dimension of an array of planes, `step` elements apart.
Array<Whole> resized_bytes(const Array<Whole>& input, std::size_t dim, const ByteWeights& weights) {
  Sizes sizes = input.sizes;
  sizes[dim] = static_cast<std::int64_t>(weights.taps.size());
  const std::int64_t step = spec::contiguous_strides(input.sizes)[dim];
  Array<Whole> out(sizes);
  std::int64_t next = 0;
  for_each_index(sizes, [&](const Sizes& index) {
    Sizes first = index;
    first[dim] = 0;
    const std::int64_t start = input.position(first);
    Whole sum = weights.unit / 2;
    for (const Tap<Whole>& tap : weights.taps[static_cast<std::size_t>(index[dim])]) {
      sum = sum + input[start + tap.index * step] * tap.weight;
    }
    const Whole byte = floored_quotient(sum, weights.unit);
    out[next++] = {std::clamp<std::int64_t>(byte.value, 0, 255), byte.undecided};
  });
  return out;
}

// An image of bytes. `taps_of` makes the taps of a dimension.
template <class TapsOf>
void emit_resized_bytes(Call& call, const Upsampling& up, TapsOf taps_of) {
  Array<Whole> image = load<Whole>(*up.input, DType::kUInt8);
  for (const std::size_t d : {std::size_t{1}, std::size_t{0}}) {
    if (up.in[d] == up.out[d]) continue;
    const std::vector<Taps<double>> taps = taps_of(d);
    image = resized_bytes(image, d + 2, byte_weights(taps));
  }
  call.emit(image, DType::kUInt8, upsampled_strides(up));
}

void antialias_bytes(Call& call, const Upsampling& up, Kernel kernel, bool align_corners) {
  emit_resized_bytes(call, up, [&](std::size_t d) {
    std::vector<Taps<double>> taps;
    taps.reserve(static_cast<std::size_t>(up.out[d]));
    for (std::int64_t i = 0; i < up.out[d]; ++i) {
      taps.push_back(antialias_taps(i, up, d, kernel, align_corners, 0.0));
    }
    return taps;
  });
}

// Weights of one pixel, which the border has several of, are added before they are rounded.
void smooth_bytes(Call& call, const Upsampling& up, Kernel kernel, bool align_corners) {
  emit_resized_bytes(call, up, [&](std::size_t d) {
    const Settle<double> settle{DType::kFloat64};
    std::vector<Taps<double>> taps = upsample_taps(up, d, kernel, align_corners, 0.0, settle);
    for (Taps<double>& of_pixel : taps) {
      Taps<double> joined;
      for (const Tap<double>& tap : of_pixel) {
        if (!joined.empty() && joined.back().index == tap.index) {
          joined.back().weight += tap.weight;
        } else {
          joined.push_back(tap);
        }
      }
      of_pixel = std::move(joined);
    }
    return taps;
  });
}

void upsample_antialias(Call& call, Kernel kernel) {
  const Upsampling up = read_upsampling(call, 2);
  const DType dtype = up.input->dtype;
  const bool align_corners = call.boolean("align_corners");
  if (dtype == DType::kUInt8) return antialias_bytes(call, up, kernel, align_corners);
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) {
    throw OpError("antialiasing is not implemented for " + std::string(spec::torch_name(dtype)));
  }
  with_real(call.mode(), [&]<class N>() {
    const Array<N> input = load<N>(*up.input, dtype);
    const Settle<N> settle{dtype};
    std::vector<std::vector<Taps<N>>> taps(2);
    for (std::size_t d = 0; d < 2 && input.count() > 0; ++d) {
      for (std::int64_t i = 0; i < up.out[d]; ++i) {
        taps[d].push_back(antialias_taps(i, up, d, kernel, align_corners, input[0]));
      }
    }
    const std::int64_t area = count_of(up.in);
    const std::int64_t points = count_of(up.out);
    Array<N> out(up.result);
    std::int64_t point = 0;
    for_each_index(input.count() > 0 ? up.out : Sizes{0}, [&](const Sizes& index) {
      const Taps<N> all = cross<N>({taps[0][static_cast<std::size_t>(index[0])],
                                    taps[1][static_cast<std::size_t>(index[1])]},
                                   up.in, settle);
      for (std::int64_t plane = 0; plane < up.result[0] * up.result[1]; ++plane) {
        out[plane * points + point] = weighted_sum(input, plane * area, all, dtype, settle);
      }
      ++point;
    });
    call.emit(out, dtype, upsampled_strides(up));
  });
}

template <Kernel kKernel>
void antialias(Call& call) {
  upsample_antialias(call, kKernel);
}
template <std::size_t kDims, bool kExact>
void nearest(Call& call) {
  upsample_nearest(call, kDims, kExact);
}
template <std::size_t kDims, bool kExact>
void nearest_backward(Call& call) {
  upsample_nearest_backward(call, kDims, kExact);
}
template <std::size_t kDims, Kernel kKernel>
void smooth(Call& call) {
  upsample_smooth(call, kDims, kKernel);
}
template <std::size_t kDims, Kernel kKernel>
void smooth_backward(Call& call) {
  upsample_smooth_backward(call, kDims, kKernel);
}

constexpr std::array kUpsampleOps = {
    OpBody{"aten._upsample_bicubic2d_aa", antialias<Kernel::kCubic>},
    OpBody{"aten._upsample_bilinear2d_aa", antialias<Kernel::kLinear>},
    OpBody{"aten._upsample_nearest_exact1d", nearest<1, true>},
    OpBody{"aten._upsample_nearest_exact1d_backward", nearest_backward<1, true>},
    OpBody{"aten._upsample_nearest_exact2d", nearest<2, true>},
    OpBody{"aten._upsample_nearest_exact2d_backward", nearest_backward<2, true>},
    OpBody{"aten._upsample_nearest_exact3d", nearest<3, true>},
    OpBody{"aten._upsample_nearest_exact3d_backward", nearest_backward<3, true>},
    OpBody{"aten.upsample_bicubic2d", smooth<2, Kernel::kCubic>},
    OpBody{"aten.upsample_bicubic2d_backward", smooth_backward<2, Kernel::kCubic>},
    OpBody{"aten.upsample_bilinear2d", smooth<2, Kernel::kLinear>},
    OpBody{"aten.upsample_bilinear2d_backward", smooth_backward<2, Kernel::kLinear>},
    OpBody{"aten.upsample_linear1d", smooth<1, Kernel::kLinear>},
    OpBody{"aten.upsample_linear1d_backward", smooth_backward<1, Kernel::kLinear>},
    OpBody{"aten.upsample_nearest1d", nearest<1, false>},
    OpBody{"aten.upsample_nearest1d_backward", nearest_backward<1, false>},
    OpBody{"aten.upsample_nearest2d", nearest<2, false>},
    OpBody{"aten.upsample_nearest2d_backward", nearest_backward<2, false>},
    OpBody{"aten.upsample_nearest3d", nearest<3, false>},
    OpBody{"aten.upsample_nearest3d_backward", nearest_backward<3, false>},
    OpBody{"aten.upsample_trilinear3d", smooth<3, Kernel::kLinear>},
    OpBody{"aten.upsample_trilinear3d_backward", smooth_backward<3, Kernel::kLinear>},
};

}  // namespace

std::span<const OpBody> upsample_ops() { return kUpsampleOps; }

}  // namespace graphgate::reference
