// Planes resized: nearest elements, linear and cubic interpolation. Every dimension has a table of
// taps, made from sizes and scales alone; a result element is the nested weighted sum over them.
#include <bit>

#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/plane_text.h"
#include "optimized/geometry/planes.h"
#include "optimized/kernels/elements/resampling.h"
#include "optimized/kernels/families.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using element::Resize;

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

constexpr bool is_nearest(Resize mode) {
  return mode == Resize::kNearest || mode == Resize::kNearestExact;
}

template <Resize mode, int spatial>
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

using Axes = std::array<element::ResizedAxis, kSpatial>;

template <Resize mode, int spatial>
Axes axes_of(const Binding& call) {
  const Extents in = plane_extents(input_of(call).sizes, spatial);
  const Extents out = plane_extents(call.result().sizes, spatial);
  const bool aligns_corners = call.has("align_corners") && call.boolean("align_corners");
  Axes axes{};
  for (int d = 0; d < kSpatial; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const int given = d - (kSpatial - spatial);
    const double scale = given >= 0 ? given_scale(call, given, spatial).value_or(0) : 0;
    axes[i] = {given >= 0 ? mode : Resize::kNearest, in[i], out[i], aligns_corners ? 1 : 0,
               std::bit_cast<std::int64_t>(scale)};
  }
  return axes;
}

// The taps of every output place of a dimension.
template <class W>
std::vector<element::Taps<W>> all_taps(const element::ResizedAxis& axis) {
  std::vector<element::Taps<W>> out;
  out.reserve(static_cast<std::size_t>(axis.out));
  for (std::int64_t at = 0; at < axis.out; ++at) out.push_back(axis.template taps<W>(at));
  return out;
}

template <Resize mode, int spatial>
Launch bind_upsample(const Binding& call) {
  const Tensor& input = input_of(call);
  const Tensor& result = call.result();
  const Extents in = plane_extents(input.sizes, spatial);
  const Extents out = plane_extents(result.sizes, spatial);
  const Axes axes = axes_of<mode, spatial>(call);
  Launch launch = with_compute(input.dtype, [&]<class C>() -> Launch {
    using W = std::conditional_t<std::is_same_v<C, std::int64_t>, float, C>;
    auto* plane = reinterpret_cast<C*>(call.workspace());
    auto* resized = reinterpret_cast<C*>(call.workspace() + scratch_bytes(volume(in)));
    return [=, z = all_taps<W>(axes[0]), y = all_taps<W>(axes[1]), x = all_taps<W>(axes[2]),
            planes = Rows(input, plane_dims(input, spatial)),
            written = Rows(result, plane_dims(result, spatial))] {
      const auto read = [&](std::int64_t pz, std::int64_t py, std::int64_t px) {
        return plane[(pz * in[1] + py) * in[2] + px];
      };
      for (std::int64_t p = 0; p < planes.count(); ++p) {
        planes.load(p, plane);
        for_each_place(out, [&](const Extents& at, std::int64_t i) {
          resized[i] = element::interpolated<C, W>(read, z[static_cast<std::size_t>(at[0])],
                                                   y[static_cast<std::size_t>(at[1])],
                                                   x[static_cast<std::size_t>(at[2])]);
        });
        written.store(p, resized);
      }
    };
  });
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch), {resize_text({result, input, spatial}, axes)});
}

template <Resize mode, int spatial>
constexpr Kernel kernel_of(std::string_view name) {
  return {name, infer_upsample<mode, spatial>, bind_upsample<mode, spatial>};
}

}  // namespace

std::span<const Kernel> upsample_kernels() {
  static constexpr Kernel kKernels[] = {
      kernel_of<Resize::kNearestExact, 1>("aten._upsample_nearest_exact1d"),
      kernel_of<Resize::kNearestExact, 2>("aten._upsample_nearest_exact2d"),
      kernel_of<Resize::kCubic, 2>("aten.upsample_bicubic2d").rows(row_rules::per_image),
      kernel_of<Resize::kLinear, 2>("aten.upsample_bilinear2d").rows(row_rules::per_image),
      kernel_of<Resize::kLinear, 1>("aten.upsample_linear1d").rows(row_rules::per_image),
      kernel_of<Resize::kNearest, 1>("aten.upsample_nearest1d").rows(row_rules::per_image),
      kernel_of<Resize::kNearest, 2>("aten.upsample_nearest2d").rows(row_rules::per_image),
      kernel_of<Resize::kNearest, 3>("aten.upsample_nearest3d").rows(row_rules::per_image),
      kernel_of<Resize::kLinear, 3>("aten.upsample_trilinear3d"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
