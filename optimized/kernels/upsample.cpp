// Planes resized: nearest elements, linear and cubic interpolation. Every dimension has a table of
// taps, made from sizes and scales alone; a result element is the nested weighted sum over them.
#include <cmath>

#include "optimized/kernels/families.h"
#include "optimized/kernels/planes.h"
#include "optimized/kernels/resampling.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

enum class Mode : std::uint8_t { kNearest, kNearestExact, kLinear, kCubic };

// For each output place, `width` input places and their weights.
template <class C>
struct Taps {
  std::int64_t width = 1;
  std::vector<std::int64_t> places;
  std::vector<C> weights;

  void add(std::int64_t place, C weight) {
    places.push_back(place);
    weights.push_back(weight);
  }
};

// One dimension that is resized. A scale is the one that was given, not that of the sizes.
struct Axis {
  std::int64_t in = 1, out = 1;
  std::optional<double> scale;
  bool aligns_corners = false;
};

// Input elements per output element.
template <class C>
C step_of(const Axis& axis) {
  if (axis.aligns_corners) {
    return axis.out > 1 ? static_cast<C>(axis.in - 1) / static_cast<C>(axis.out - 1) : C{0};
  }
  if (axis.scale && *axis.scale > 0) return static_cast<C>(1.0 / *axis.scale);
  return static_cast<C>(axis.in) / static_cast<C>(axis.out);
}

template <class C>
std::int64_t nearest_place(const Axis& axis, std::int64_t at, C step, bool exact) {
  // Equal and doubled sizes are mapped as they are, whatever scale is given.
  if (!exact && axis.out == axis.in) return at;
  if (!exact && axis.out == 2 * axis.in) return at / 2;
  const C middle = exact ? static_cast<C>(at) + C(0.5) : static_cast<C>(at);
  return std::min(static_cast<std::int64_t>(std::floor(middle * step)), axis.in - 1);
}

template <class C>
Taps<C> taps_of(const Axis& axis, Mode mode) {
  Taps<C> taps;
  const C step = step_of<C>(axis);
  taps.width = mode == Mode::kCubic ? 4 : mode == Mode::kLinear ? 2 : 1;
  for (std::int64_t at = 0; at < axis.out; ++at) {
    if (mode == Mode::kNearest || mode == Mode::kNearestExact) {
      taps.add(nearest_place(axis, at, step, mode == Mode::kNearestExact), C{1});
      continue;
    }
    const C moved = step * (static_cast<C>(at) + C(0.5)) - C(0.5);
    C source = axis.aligns_corners ? step * static_cast<C>(at) : moved;
    if (mode == Mode::kLinear) {
      source = std::max(source, C{0});
      const std::int64_t first = std::min(static_cast<std::int64_t>(source), axis.in - 1);
      const C weight = std::clamp(source - static_cast<C>(first), C{0}, C{1});
      taps.add(first, C{1} - weight);
      taps.add(std::min(first + 1, axis.in - 1), weight);
      continue;
    }
    const C first = std::floor(source);
    const std::array<C, 4> weights = cubic_weights<C>(source - first);
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t place = static_cast<std::int64_t>(first) - 1 + i;
      taps.add(std::clamp<std::int64_t>(place, 0, axis.in - 1),
               weights[static_cast<std::size_t>(i)]);
    }
  }
  return taps;
}

// ---- arguments: of the plain overloads, and of .vec

const Tensor& input_of(const KernelCall& call) {
  return call.is_tensor("input") ? call.tensor("input") : call.tensor("self");
}

// The scale given for spatial dimension `d` of `spatial`.
std::optional<double> given_scale(const KernelCall& call, int d, int spatial) {
  if (call.has("scale_factors")) {
    const auto* list = call.item("scale_factors").as<Item::List>();
    if (!list || static_cast<int>(list->size()) != spatial) {
      throw OpError("scale_factors are not " + std::to_string(spatial) + " numbers");
    }
    return number_as<double>((*list)[static_cast<std::size_t>(d)]);
  }
  if (spatial == 1) return call.optional_real("scales");
  constexpr std::array<const char*, 3> kNames = {"scales_d", "scales_h", "scales_w"};
  return call.optional_real(kNames.at(static_cast<std::size_t>(kSpatial) -
                                      static_cast<std::size_t>(spatial) +
                                      static_cast<std::size_t>(d)));
}

Extents output_extents(const KernelCall& call, int spatial) {
  if (const auto sizes = call.optional_integers("output_size")) {
    return spatial_values(*sizes, spatial, 1);
  }
  Extents out = plane_extents(input_of(call).sizes, spatial);
  for (int d = 0; d < spatial; ++d) {
    const auto scale = given_scale(call, d, spatial);
    if (!scale) throw OpError("neither output_size nor scale_factors are given");
    std::int64_t& size = out[static_cast<std::size_t>(kSpatial) -
                             static_cast<std::size_t>(spatial) + static_cast<std::size_t>(d)];
    size = truncate_to<std::int64_t>(static_cast<double>(size) * *scale);
  }
  return out;
}

constexpr bool is_nearest(Mode mode) {
  return mode == Mode::kNearest || mode == Mode::kNearestExact;
}

template <Mode mode, int spatial>
void infer_upsample(Inference& call) {
  const Tensor& input = input_of(call);
  check_planes(input, spatial);
  if (input.rank() != spatial + 2) throw OpError("the input has no batch dimension");
  if (!is_nearest(mode) && !spec::is_floating_point(input.dtype)) {
    throw Unsupported("interpolation between integers");
  }
  const Extents out = output_extents(call, spatial);
  for (const std::int64_t size : out) {
    if (size <= 0) throw OpError("an output size is not positive");
  }
  const Extents in = plane_extents(input.sizes, spatial);
  call.want_workspace(scratch_bytes(volume(in)) + scratch_bytes(volume(out)));
  const Sizes sizes = with_plane(input, out, spatial);
  call.make(input.dtype, sizes, strides_in_format(sizes, suggested_format(input)));
}

// One result element: sums over x inside sums over y inside sums over z.
template <class C, class W>
C interpolate(const C* plane, const Extents& in, const std::array<Taps<W>, kSpatial>& taps,
              const Extents& at) {
  const auto nth = [&](std::size_t d, std::int64_t i) {
    return static_cast<std::size_t>(at[d] * taps[d].width + i);
  };
  if constexpr (std::is_same_v<C, std::int64_t>) {
    return plane[(taps[0].places[nth(0, 0)] * in[1] + taps[1].places[nth(1, 0)]) * in[2] +
                 taps[2].places[nth(2, 0)]];
  } else {
    C whole{};
    for (std::int64_t z = 0; z < taps[0].width; ++z) {
      C slice{};
      for (std::int64_t y = 0; y < taps[1].width; ++y) {
        const C* row =
            plane + (taps[0].places[nth(0, z)] * in[1] + taps[1].places[nth(1, y)]) * in[2];
        C line = row[taps[2].places[nth(2, 0)]] * taps[2].weights[nth(2, 0)];
        for (std::int64_t x = 1; x < taps[2].width; ++x) {
          line += row[taps[2].places[nth(2, x)]] * taps[2].weights[nth(2, x)];
        }
        slice =
            y == 0 ? line * taps[1].weights[nth(1, y)] : slice + line * taps[1].weights[nth(1, y)];
      }
      whole =
          z == 0 ? slice * taps[0].weights[nth(0, z)] : whole + slice * taps[0].weights[nth(0, z)];
    }
    return whole;
  }
}

template <Mode mode, int spatial>
Launch bind_upsample(const Binding& call) {
  const Tensor& input = input_of(call);
  const Tensor& result = call.result();
  const Extents in = plane_extents(input.sizes, spatial);
  const Extents out = plane_extents(result.sizes, spatial);
  return with_compute(input.dtype, [&]<class C>() -> Launch {
    using W = std::conditional_t<std::is_same_v<C, std::int64_t>, float, C>;
    std::array<Taps<W>, kSpatial> taps;
    for (int d = 0; d < kSpatial; ++d) {
      const auto i = static_cast<std::size_t>(d);
      const int given = d - (kSpatial - spatial);
      Axis axis{in[i], out[i], {}, call.has("align_corners") && call.boolean("align_corners")};
      if (given >= 0) axis.scale = given_scale(call, given, spatial);
      taps[i] = taps_of<W>(axis, given >= 0 ? mode : Mode::kNearest);
    }
    auto* plane = reinterpret_cast<C*>(call.workspace());
    auto* resized = reinterpret_cast<C*>(call.workspace() + scratch_bytes(volume(in)));
    return [=, planes = Rows(input, plane_dims(input, spatial)),
            written = Rows(result, plane_dims(result, spatial))] {
      for (std::int64_t p = 0; p < planes.count(); ++p) {
        planes.load(p, plane);
        for_each_place(out, [&](const Extents& at, std::int64_t i) {
          resized[i] = interpolate<C, W>(plane, in, taps, at);
        });
        written.store(p, resized);
      }
    };
  });
}

template <Mode mode, int spatial>
constexpr Kernel kernel_of(std::string_view name) {
  return {name, infer_upsample<mode, spatial>, bind_upsample<mode, spatial>};
}

constexpr Kernel kKernels[] = {
    kernel_of<Mode::kNearestExact, 1>("aten._upsample_nearest_exact1d"),
    kernel_of<Mode::kNearestExact, 2>("aten._upsample_nearest_exact2d"),
    kernel_of<Mode::kCubic, 2>("aten.upsample_bicubic2d"),
    kernel_of<Mode::kLinear, 2>("aten.upsample_bilinear2d"),
    kernel_of<Mode::kLinear, 1>("aten.upsample_linear1d"),
    kernel_of<Mode::kNearest, 1>("aten.upsample_nearest1d"),
    kernel_of<Mode::kNearest, 2>("aten.upsample_nearest2d"),
    kernel_of<Mode::kNearest, 3>("aten.upsample_nearest3d"),
    kernel_of<Mode::kLinear, 3>("aten.upsample_trilinear3d"),
};

}  // namespace

std::span<const Kernel> upsample_kernels() { return kKernels; }

}  // namespace graphgate::optimized
