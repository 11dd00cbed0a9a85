// Planes sampled at the points of a grid, whose coordinates go from -1 to 1.
#include <cmath>

#include "optimized/kernels/families.h"
#include "optimized/kernels/planes.h"
#include "optimized/kernels/resampling.h"

namespace graphgate::optimized {
namespace {

enum class Interpolation : std::uint8_t { kLinear, kNearest, kCubic };
enum class Padding : std::uint8_t { kZeros, kBorder, kReflection };

struct Sampling {
  Interpolation interpolation = Interpolation::kLinear;
  Padding padding = Padding::kZeros;
  bool aligns_corners = false;
};

Sampling sampling_of(const KernelCall& call) {
  const std::int64_t interpolation = call.integer("interpolation_mode");
  const std::int64_t padding = call.integer("padding_mode");
  if (interpolation < 0 || interpolation > 2 || padding < 0 || padding > 2) {
    throw OpError("not a mode of interpolation and padding: " + std::to_string(interpolation) +
                  ", " + std::to_string(padding));
  }
  return {static_cast<Interpolation>(interpolation), static_cast<Padding>(padding),
          call.boolean("align_corners")};
}

// From [-1, 1] to elements.
template <class C>
C to_elements(C coordinate, std::int64_t size, bool aligns_corners) {
  const C extent = static_cast<C>(size);
  if (aligns_corners) return (coordinate + C{1}) / C{2} * (extent - C{1});
  return ((coordinate + C{1}) * extent - C{1}) / C{2};
}

template <class C>
C clipped(C at, std::int64_t size) {
  return std::min(static_cast<C>(size - 1), std::max(at, C{0}));
}

// Folded back at the ends: the outer elements' middles, or their outer edges.
template <class C>
C reflected(C at, std::int64_t size, bool aligns_corners) {
  const C low = aligns_corners ? C{0} : C(-0.5);
  const C span = static_cast<C>(aligns_corners ? size - 1 : size);
  if (span == C{0}) return C{0};
  const C distance = std::fabs(at - low);
  const C folds = std::floor(distance / span);
  const C rest = std::fmod(distance, span);
  const bool is_even = std::fmod(folds, C{2}) == C{0};
  return is_even ? rest + low : span - rest + low;
}

template <class C>
C padded(C at, std::int64_t size, const Sampling& sampling) {
  if (sampling.padding == Padding::kBorder) return clipped(at, size);
  if (sampling.padding == Padding::kReflection) {
    return clipped(reflected(at, size, sampling.aligns_corners), size);
  }
  return at;
}

// The places of one dimension that a point takes part of, -1 for outside, and their weights.
template <class C>
struct Taps {
  int width = 0;
  std::array<std::int64_t, 4> places{};
  std::array<C, 4> weights{};

  void add(C at, C weight, std::int64_t size) {
    const auto i = static_cast<std::size_t>(width++);
    const bool is_inside = at >= C{0} && at <= static_cast<C>(size - 1);
    places[i] = is_inside ? static_cast<std::int64_t>(at) : -1;
    weights[i] = weight;
  }
};

template <class C>
Taps<C> taps_of(C coordinate, std::int64_t size, const Sampling& sampling) {
  Taps<C> taps;
  const C at = to_elements(coordinate, size, sampling.aligns_corners);
  if (sampling.interpolation == Interpolation::kCubic) {
    const C first = std::floor(at);
    const std::array<C, 4> weights = cubic_weights<C>(at - first);
    for (int i = 0; i < 4; ++i) {
      const C place = first - C{1} + static_cast<C>(i);
      taps.add(padded(place, size, sampling), weights[static_cast<std::size_t>(i)], size);
    }
    return taps;
  }
  const C inside = padded(at, size, sampling);
  if (sampling.interpolation == Interpolation::kNearest) {
    taps.add(std::nearbyint(inside), C{1}, size);
    return taps;
  }
  const C first = std::floor(inside);
  taps.add(first, first + C{1} - inside, size);
  taps.add(first + C{1}, inside - first, size);
  return taps;
}

// A plane's value at a point. Beyond the plane lie zeros, which a weight of NaN makes NaN.
template <class C>
C sample(const C* plane, const Extents& in, const std::array<Taps<C>, kSpatial>& taps) {
  C sum{};
  for (std::size_t z = 0; z < static_cast<std::size_t>(taps[0].width); ++z) {
    for (std::size_t y = 0; y < static_cast<std::size_t>(taps[1].width); ++y) {
      const C outer = taps[0].weights[z] * taps[1].weights[y];
      for (std::size_t x = 0; x < static_cast<std::size_t>(taps[2].width); ++x) {
        const std::int64_t pz = taps[0].places[z];
        const std::int64_t py = taps[1].places[y];
        const std::int64_t px = taps[2].places[x];
        const bool is_inside = pz >= 0 && py >= 0 && px >= 0;
        const C pixel = is_inside ? plane[(pz * in[1] + py) * in[2] + px] : C{0};
        sum += pixel * (outer * taps[2].weights[x]);
      }
    }
  }
  return sum;
}

template <int spatial>
void infer_grid_sampler(Inference& call) {
  const Tensor& input = call.tensor("input");
  const Tensor& grid = call.tensor("grid");
  check_planes(input, spatial);
  bool fits = input.rank() == spatial + 2 && grid.rank() == spatial + 2;
  fits = fits && input.size(0) == grid.size(0) && grid.size(-1) == spatial;
  if (!fits) {
    throw OpError("a grid of sizes " + print_sizes(grid.sizes) +
                  " does not fit an input of sizes " + print_sizes(input.sizes));
  }
  if (input.dtype != grid.dtype || !spec::is_floating_point(input.dtype)) {
    throw OpError("the input and the grid must be floats of one dtype");
  }
  if (spatial == 3 && sampling_of(call).interpolation == Interpolation::kCubic) {
    throw OpError("cubic interpolation is for two dimensions");
  }
  Sizes sizes = {input.size(0), input.size(1)};
  sizes.insert(sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
  const std::int64_t points =
      checked_count(sizes) / std::max<std::int64_t>(checked_count({sizes[0], sizes[1]}), 1);
  call.want_workspace(scratch_bytes(volume(plane_extents(input.sizes, spatial)) * input.size(1)) +
                      scratch_bytes(points * spatial) + scratch_bytes(points * input.size(1)));
  call.make(input.dtype, std::move(sizes));
}

// The dimensions behind the batch.
std::vector<std::int64_t> sample_dims(const Tensor& tensor) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = 1; d < tensor.rank(); ++d) out.push_back(d);
  return out;
}

// Sample by sample of the batch: all its channels, its grid and its results are loaded together.
template <int spatial>
Launch bind_grid_sampler(const Binding& call) {
  const Tensor& input = call.tensor("input");
  const Extents in = plane_extents(input.sizes, spatial);
  const std::int64_t channels = input.size(1);
  const Rows images(input, sample_dims(input));
  const Rows grids(call.tensor("grid"), sample_dims(call.tensor("grid")));
  const Rows results(call.result(), sample_dims(call.result()));
  const Sampling sampling = sampling_of(call);
  return with_real(input.dtype, [&]<class C>() -> Launch {
    auto* image = reinterpret_cast<C*>(call.workspace());
    auto* grid = reinterpret_cast<C*>(call.workspace() + scratch_bytes(images.length()));
    auto* sampled = reinterpret_cast<C*>(call.workspace() + scratch_bytes(images.length()) +
                                         scratch_bytes(grids.length()));
    return [=] {
      const std::int64_t points = grids.length() / spatial;
      for (std::int64_t n = 0; n < images.count(); ++n) {
        images.load(n, image);
        grids.load(n, grid);
        for (std::int64_t point = 0; point < points; ++point) {
          std::array<Taps<C>, kSpatial> taps;
          taps[0].add(C{0}, C{1}, 1);
          for (std::size_t d = 0; d < spatial; ++d) {  // the grid names x first
            const std::size_t axis = kSpatial - 1 - d;
            taps[axis] = taps_of<C>(grid[point * spatial + static_cast<std::int64_t>(d)], in[axis],
                                    sampling);
          }
          for (std::int64_t c = 0; c < channels; ++c) {
            sampled[c * points + point] = sample(image + c * volume(in), in, taps);
          }
        }
        results.store(n, sampled);
      }
    };
  });
}

constexpr Kernel kKernels[] = {
    {"aten.grid_sampler_2d", infer_grid_sampler<2>, bind_grid_sampler<2>},
    {"aten.grid_sampler_3d", infer_grid_sampler<3>, bind_grid_sampler<3>},
};

}  // namespace

std::span<const Kernel> grid_sampler_kernels() { return kKernels; }

}  // namespace graphgate::optimized
