// grid_sampler: an image read at coordinates that a tensor gives.
#include <array>
#include <cmath>

#include "reference/number/left_open.h"
#include "reference/ops/resampling.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;
using namespace resampling;

// In the order of padding_mode.
enum class Padding : std::uint8_t { kZeros, kBorder, kReflection };

// A grid coordinate in [-1, 1] as a pixel coordinate.
template <class N>
N to_pixels(const N& x, std::int64_t size, bool align_corners, const Settle<N>& settle) {
  const double scale = static_cast<double>(align_corners ? size - 1 : size) / 2;
  const N scaled = settle(settle(x + N(1.0)) * N(scale));
  return align_corners ? scaled : settle(scaled - N(0.5));
}

template <class N>
N clipped(const N& x, std::int64_t size) {
  if (std::isnan(center_of(x))) return N(0.0);
  return minimum(N(static_cast<double>(size - 1)), maximum(x, N(0.0)));
}

// Folded back at the edges: pixel centers with align_corners, else half a pixel beyond them.
template <class N>
N reflected(const N& x, std::int64_t size, bool align_corners, const Settle<N>& settle) {
  const double low = align_corners ? 0 : -0.5;
  const auto span = static_cast<double>(align_corners ? size - 1 : size);
  if (span == 0) return N(0.0);
  const auto fold = [span](auto v) {
    const auto rest = std::fmod(v, static_cast<decltype(v)>(2 * span));
    return rest > static_cast<decltype(v)>(span) ? static_cast<decltype(v)>(2 * span) - rest : rest;
  };
  const N distance = settle(abs(x - N(low)));
  if constexpr (std::is_same_v<N, double>) {
    return clipped(fold(distance) + low, size);
  } else {
    // Folding moves no two numbers farther apart, and none beyond the span.
    N folded = distance;
    folded.value = fold(distance.value);
    if (std::isfinite(distance.radius)) folded.radius = std::min(distance.radius, span);
    return clipped(settle(folded + N(low)), size);
  }
}

struct GridOptions {
  Kernel kernel;
  Padding padding;
  bool align_corners;
};

template <class N>
N padded(const N& x, std::int64_t size, const GridOptions& options, const Settle<N>& settle) {
  switch (options.padding) {
    case Padding::kZeros:
      return x;
    case Padding::kBorder:
      return clipped(x, size);
    case Padding::kReflection:
      return reflected(x, size, options.align_corners, settle);
  }
  return x;
}

// The cubic kernel pads each pixel that it reads, the others pad the coordinate.
template <class N>
Taps<N> grid_taps(const N& x, std::int64_t size, const GridOptions& options,
                  const Settle<N>& settle) {
  const bool pads_pixels = options.kernel == Kernel::kCubic;
  const N source = to_pixels(x, size, options.align_corners, settle);
  const N read = pads_pixels ? source : padded(source, size, options, settle);
  Taps<N> inside;
  for (Tap<N> tap : taps_around(read, options.kernel, settle)) {
    if (pads_pixels) {
      const Settle<double> none{DType::kFloat64};
      const double at = padded(static_cast<double>(tap.index), size, options, none);
      tap.index = static_cast<std::int64_t>(at);
    }
    if (tap.index >= 0 && tap.index < size) inside.push_back(tap);
  }
  return inside;
}

// At an infinity PyTorch's kernels read NaN times 0 beyond a border of zeros, its decomposition
// nothing; and of a border that reflects they read a pixel, and it nothing. The nearest pixel
// beyond zeros is none for both, and cubic weights are NaN for both.
bool leaves_infinity_open(const GridOptions& options) {
  if (options.kernel == Kernel::kCubic) return false;
  const bool reads_beyond = options.padding == Padding::kZeros && options.kernel == Kernel::kLinear;
  return reads_beyond || options.padding == Padding::kReflection;
}

void check_grid(const Tensor& input, const Tensor& grid, std::int64_t dims) {
  const bool fits = input.rank() == dims + 2 && grid.rank() == dims + 2 &&
                    grid.sizes.back() == dims && grid.sizes[0] == input.sizes[0] &&
                    grid.dtype == input.dtype && spec::is_floating_point(input.dtype);
  if (!fits) throw OpError("grid_sampler: the sizes or dtypes of input and grid do not fit");
  for (std::int64_t d = 2; d < dims + 2; ++d) {
    if (input.sizes[static_cast<std::size_t>(d)] > 0) continue;
    throw OpError("grid_sampler: input must have non-empty spatial dimensions");
  }
}

// grid[n, ..., :] holds coordinates from the last spatial dimension to the first: x, y, (z).
void sample_grid(Call& call, std::int64_t dims) {
  const Tensor& image = *call.tensor("input");
  const Tensor& grid_tensor = *call.tensor("grid");
  check_grid(image, grid_tensor, dims);
  const GridOptions options{static_cast<Kernel>(call.integer("interpolation_mode")),
                            static_cast<Padding>(call.integer("padding_mode")),
                            call.boolean("align_corners")};
  if (dims == 3 && options.kernel == Kernel::kCubic) {
    throw OpError("grid_sampler(): bicubic interpolation only supports 4D input");
  }
  const DType dtype = image.dtype;
  with_real(call.mode(), [&]<class N>() {
    const Array<N> input = load<N>(image, dtype);
    const Array<N> grid = load<N>(grid_tensor, dtype);
    const Settle<N> settle{dtype};
    const Sizes in = spatial_sizes(image.sizes);
    const std::int64_t area = count_of(in);
    Sizes sizes = grid.sizes;
    sizes.pop_back();
    sizes.insert(sizes.begin() + 1, image.sizes[1]);
    Array<N> out(sizes);
    const std::int64_t points = count_of(spatial_sizes(sizes));
    const bool is_infinity_open = leaves_infinity_open(options);
    for (std::int64_t p = 0; p < sizes[0] * points; ++p) {
      std::vector<Taps<N>> per_dim;
      bool is_nowhere = false;  // some kernels read nothing there, others NaN times 0
      for (std::int64_t d = 0; d < dims; ++d) {
        const N& x = grid[p * dims + dims - 1 - d];
        is_nowhere = is_nowhere || std::isnan(center_of(x)) ||
                     (is_infinity_open && std::isinf(center_of(x)));
        per_dim.push_back(grid_taps(x, in[static_cast<std::size_t>(d)], options, settle));
      }
      const Taps<N> taps = cross(per_dim, in, settle);
      for (std::int64_t c = 0; c < sizes[1]; ++c) {
        const std::int64_t plane = p / points * sizes[1] + c;
        const N sum = weighted_sum(input, plane * area, taps, dtype, settle);
        out[plane * points + p % points] = is_nowhere ? left_open(sum) : sum;
      }
    }
    call.emit(out, dtype);
  });
}

void grid_sampler_2d(Call& call) { sample_grid(call, 2); }
void grid_sampler_3d(Call& call) { sample_grid(call, 3); }

constexpr std::array kGridSamplerOps = {
    OpBody{"aten.grid_sampler_2d", grid_sampler_2d},
    OpBody{"aten.grid_sampler_3d", grid_sampler_3d},
};

}  // namespace

std::span<const OpBody> grid_sampler_ops() { return kGridSamplerOps; }

}  // namespace graphgate::reference
