// Planes sampled at the points of a grid, whose coordinates go from -1 to 1.
#include "optimized/codegen/plane_text.h"
#include "optimized/geometry/planes.h"
#include "optimized/kernels/elements/resampling.h"
#include "optimized/kernels/families.h"

namespace graphgate::optimized {
namespace {

using element::Interpolation;
using element::Padding;
using element::Sampling;

Sampling sampling_of(const KernelCall& call) {
  const std::int64_t interpolation = call.integer("interpolation_mode");
  const std::int64_t padding = call.integer("padding_mode");
  if (interpolation < 0 || interpolation > 2 || padding < 0 || padding > 2) {
    throw OpError("not a mode of interpolation and padding: " + std::to_string(interpolation) +
                  ", " + std::to_string(padding));
  }
  return {static_cast<Interpolation>(interpolation), static_cast<Padding>(padding),
          call.boolean("align_corners") ? 1 : 0};
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
  Launch launch = with_real(input.dtype, [&]<class C>() -> Launch {
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
          std::array<element::Taps<C>, kSpatialDims> taps;
          taps[0].add(0, C{1});
          for (std::size_t d = 0; d < spatial; ++d) {  // the grid names x first
            const std::size_t axis = kSpatialDims - 1 - d;
            taps[axis] =
                sampling.taps<C>(grid[point * spatial + static_cast<std::int64_t>(d)], in[axis]);
          }
          for (std::int64_t c = 0; c < channels; ++c) {
            const auto read = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
              return image[c * volume(in) + (z * in[1] + y) * in[2] + x];
            };
            sampled[c * points + point] = element::sampled<C>(read, taps[0], taps[1], taps[2]);
          }
        }
        results.store(n, sampled);
      }
    };
  });
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch),
                   {sample_text({call.result(), input, spatial}, call.tensor("grid"), sampling)});
}

}  // namespace

std::span<const Kernel> grid_sampler_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten.grid_sampler_2d", infer_grid_sampler<2>, bind_grid_sampler<2>},
      {"aten.grid_sampler_3d", infer_grid_sampler<3>, bind_grid_sampler<3>},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
