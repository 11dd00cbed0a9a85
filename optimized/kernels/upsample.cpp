// Planes resized: nearest elements, linear and cubic interpolation. Every dimension has a table of
// taps, made from sizes and scales alone; a result element is the nested weighted sum over them.
#include <bit>

#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/plane_text.h"
#include "optimized/geometry/plane_gradient.h"
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
  return call.optional_real(kNames.at(static_cast<std::size_t>(kSpatialDims) -
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
    std::int64_t& size = out[static_cast<std::size_t>(kSpatialDims) -
                             static_cast<std::size_t>(spatial) + static_cast<std::size_t>(d)];
    size = truncate_to<std::int64_t>(static_cast<double>(size) * *scale);
  }
  return out;
}

constexpr bool is_nearest(Resize mode) {
  return mode == Resize::kNearest || mode == Resize::kNearestExact;
}

// The result, once the input's dtype has been looked at.
void make_resized(Inference& call, int spatial) {
  const Tensor& input = input_of(call);
  check_planes(input, spatial);
  if (input.rank() != spatial + 2) throw OpError("the input has no batch dimension");
  const Extents out = output_extents(call, spatial);
  for (const std::int64_t size : out) {
    if (size <= 0) throw OpError("an output size is not positive");
  }
  const Extents in = plane_extents(input.sizes, spatial);
  call.want_workspace(scratch_bytes(volume(in)) + scratch_bytes(volume(out)));
  const Sizes sizes = with_plane(input, out, spatial);
  call.make(input.dtype, sizes, strides_in_format(sizes, suggested_format(input)));
}

// Images of bytes are resized by whole weights, as with antialiasing.
bool has_whole_weights(const Tensor& input, Resize mode, int spatial) {
  return input.dtype == spec::DType::kUInt8 && spatial == 2 && !is_nearest(mode);
}

template <Resize mode, int spatial>
void infer_upsample(Inference& call) {
  const Tensor& input = input_of(call);
  if (!is_nearest(mode) && !spec::is_floating_point(input.dtype) &&
      !has_whole_weights(input, mode, spatial)) {
    throw Unsupported("interpolation between integers");
  }
  make_resized(call, spatial);
}

using Axes = std::array<element::ResizedAxis, kSpatialDims>;

// From a plane of `in` to one of `out`, as the call resizes it.
Axes axes_between(const Binding& call, Resize mode, int spatial, const Extents& in,
                  const Extents& out) {
  const bool aligns_corners = call.has("align_corners") && call.boolean("align_corners");
  Axes axes{};
  for (int d = 0; d < kSpatialDims; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const int given = d - (kSpatialDims - spatial);
    const double scale = given >= 0 ? given_scale(call, given, spatial).value_or(0) : 0;
    axes[i] = {given >= 0 ? mode : Resize::kNearest, in[i], out[i], aligns_corners ? 1 : 0,
               std::bit_cast<std::int64_t>(scale)};
  }
  return axes;
}
Axes axes_of(const Binding& call, Resize mode, int spatial) {
  return axes_between(call, mode, spatial, plane_extents(input_of(call).sizes, spatial),
                      plane_extents(call.result().sizes, spatial));
}

// The taps of every output place of a dimension.
template <class W>
std::vector<element::Taps<W>> all_taps(const element::ResizedAxis& axis) {
  std::vector<element::Taps<W>> out;
  out.reserve(static_cast<std::size_t>(axis.out));
  for (std::int64_t at = 0; at < axis.out; ++at) out.push_back(axis.template taps<W>(at));
  return out;
}

Launch upsample(const Binding& call, Resize mode, int spatial) {
  const Tensor& input = input_of(call);
  const Tensor& result = call.result();
  const Extents in = plane_extents(input.sizes, spatial);
  const Extents out = plane_extents(result.sizes, spatial);
  const Axes axes = axes_of(call, mode, spatial);
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

// ---- with antialiasing: one dimension after the other, the last one first

// The elements of one dimension that a place of the result takes part of.
template <class C>
struct Footprint {
  std::int64_t first = 0;
  std::vector<C> weights;
};

template <class C>
C smooth_weight(bool is_cubic, C x) {
  x = std::fabs(x);
  if (!is_cubic) return x < 1 ? C{1} - x : C{0};
  constexpr C a = C(-0.5);
  if (x < 1) return ((a + C{2}) * x - (a + C{3})) * x * x + C{1};
  return x < 2 ? (((x - C{5}) * x + C{8}) * x - C{4}) * a : C{0};
}

template <class C>
std::vector<Footprint<C>> footprints_of(const element::ResizedAxis& axis) {
  const C step = axis.template step_of<C>();
  const C spread = step >= 1 ? step : C{1};
  const bool is_cubic = axis.mode == Resize::kCubic;
  const C reach = (is_cubic ? C{2} : C{1}) * spread;
  std::vector<Footprint<C>> out(static_cast<std::size_t>(axis.out));
  for (std::int64_t i = 0; i < axis.out; ++i) {
    Footprint<C>& print = out[static_cast<std::size_t>(i)];
    if (axis.in == axis.out) {
      print = {i, {C{1}}};
      continue;
    }
    const C center = step * (static_cast<C>(i) + C(0.5));
    print.first = std::max(static_cast<std::int64_t>(center - reach + C(0.5)), std::int64_t{0});
    const std::int64_t end = std::min(static_cast<std::int64_t>(center + reach + C(0.5)), axis.in);
    C total{};
    for (std::int64_t k = print.first; k < end; ++k) {
      const C x = (static_cast<C>(k) - center + C(0.5)) * (step >= 1 ? C{1} / step : C{1});
      print.weights.push_back(smooth_weight(is_cubic, x));
      total += print.weights.back();
    }
    for (C& weight : print.weights) weight /= total;
  }
  return out;
}

// Weights of bytes: whole numbers that stand for parts of 2^shift.
struct WholeFootprint {
  std::int64_t first = 0;
  std::vector<std::int64_t> weights;
};
struct WholeFootprints {
  std::vector<WholeFootprint> places;
  int shift = 0;
};

// The largest shift that leaves every weight below 2^15.
WholeFootprints whole_footprints_of(const std::vector<Footprint<double>>& real) {
  double greatest = 0;
  for (const auto& print : real) {
    for (const double weight : print.weights) greatest = std::max(greatest, weight);
  }
  WholeFootprints out;
  while (out.shift < 22 && std::trunc(0.5 + std::ldexp(greatest, out.shift + 1)) < 32768) {
    ++out.shift;
  }
  for (const auto& print : real) {
    out.places.push_back({print.first, {}});
    for (const double weight : print.weights) {
      const double parts = std::ldexp(weight, out.shift);
      out.places.back().weights.push_back(
          static_cast<std::int64_t>(parts < 0 ? parts - 0.5 : parts + 0.5));
    }
  }
  return out;
}

// The byte nearest to a weighted sum of elements `step` apart.
std::int64_t weighted_byte(const std::int64_t* from, std::int64_t step, const WholeFootprint& print,
                           int shift) {
  std::int64_t sum = shift > 0 ? std::int64_t{1} << (shift - 1) : 0;
  for (std::size_t k = 0; k < print.weights.size(); ++k) {
    sum += from[static_cast<std::int64_t>(k) * step] * print.weights[k];
  }
  return std::clamp<std::int64_t>(sum >> shift, 0, 255);
}

// The footprints of interpolation without antialiasing. A place at the border, which stands for
// those outside, has their weights, too.
std::vector<Footprint<double>> tap_footprints_of(const element::ResizedAxis& axis) {
  std::vector<Footprint<double>> out;
  for (const element::Taps<double>& taps : all_taps<double>(axis)) {
    const std::int64_t first = taps.places[0];
    Footprint<double> print{first, {}};
    for (std::size_t i = 0; i < taps.width; ++i) {
      const auto at = static_cast<std::size_t>(taps.places[i] - first);
      if (at >= print.weights.size()) print.weights.resize(at + 1);
      print.weights[at] += taps.weights[i];
    }
    out.push_back(std::move(print));
  }
  return out;
}

// The rows are resized before the columns, and rounded to bytes.
Launch resized_bytes(const Binding& call, const Axes& axes,
                     std::vector<Footprint<double>> footprints(const element::ResizedAxis&)) {
  const Tensor& input = input_of(call);
  const Tensor& result = call.result();
  const Extents in = plane_extents(input.sizes, 2);
  const Extents out = plane_extents(result.sizes, 2);
  auto* plane = reinterpret_cast<std::int64_t*>(call.workspace());
  auto* resized = reinterpret_cast<std::int64_t*>(call.workspace() + scratch_bytes(volume(in)));
  return [=, rows = whole_footprints_of(footprints(axes[1])),
          columns = whole_footprints_of(footprints(axes[2])),
          planes = Rows(input, plane_dims(input, 2)),
          written = Rows(result, plane_dims(result, 2))] {
    std::vector<std::int64_t> narrowed(static_cast<std::size_t>(in[1] * out[2]));
    for (std::int64_t p = 0; p < planes.count(); ++p) {
      planes.load(p, plane);
      for_each_place({1, in[1], out[2]}, [&](const Extents& at, std::int64_t i) {
        const auto& print = columns.places[static_cast<std::size_t>(at[2])];
        const std::int64_t* row = plane + at[1] * in[2];
        narrowed[static_cast<std::size_t>(i)] =
            in[2] == out[2] ? row[at[2]]
                            : weighted_byte(row + print.first, 1, print, columns.shift);
      });
      for_each_place(out, [&](const Extents& at, std::int64_t i) {
        const auto& print = rows.places[static_cast<std::size_t>(at[1])];
        const std::int64_t* column = narrowed.data() + at[2];
        resized[i] = in[1] == out[1]
                         ? column[at[1] * out[2]]
                         : weighted_byte(column + print.first * out[2], out[2], print, rows.shift);
      });
      written.store(p, resized);
    }
  };
}

template <Resize mode, int spatial>
Launch bind_upsample(const Binding& call) {
  if (has_whole_weights(input_of(call), mode, spatial)) {
    return resized_bytes(call, axes_of(call, mode, spatial), tap_footprints_of);
  }
  return upsample(call, mode, spatial);
}

void infer_antialias(Inference& call) {
  const spec::DType dtype = input_of(call).dtype;
  const bool has_weights = dtype == spec::DType::kUInt8 || dtype == spec::DType::kFloat32 ||
                           dtype == spec::DType::kFloat64;
  if (!has_weights) throw OpError("antialiasing of " + std::string(spec::torch_name(dtype)));
  make_resized(call, 2);
}

Launch antialias(const Binding& call, Resize mode) {
  const Tensor& input = input_of(call);
  const Tensor& result = call.result();
  const Extents in = plane_extents(input.sizes, 2);
  const Extents out = plane_extents(result.sizes, 2);
  const Axes axes = axes_of(call, mode, 2);
  if (input.dtype == spec::DType::kUInt8) return resized_bytes(call, axes, footprints_of<double>);
  return with_real(input.dtype, [&]<class C>() -> Launch {
    auto* plane = reinterpret_cast<C*>(call.workspace());
    auto* resized = reinterpret_cast<C*>(call.workspace() + scratch_bytes(volume(in)));
    return [=, rows = footprints_of<C>(axes[1]), columns = footprints_of<C>(axes[2]),
            planes = Rows(input, plane_dims(input, 2)),
            written = Rows(result, plane_dims(result, 2))] {
      std::vector<C> narrowed(static_cast<std::size_t>(in[1] * out[2]));  // in its last dimension
      for (std::int64_t p = 0; p < planes.count(); ++p) {
        planes.load(p, plane);
        for_each_place({1, in[1], out[2]}, [&](const Extents& at, std::int64_t i) {
          const Footprint<C>& print = columns[static_cast<std::size_t>(at[2])];
          const C* from = plane + at[1] * in[2] + print.first;
          C sum{};
          for (std::size_t k = 0; k < print.weights.size(); ++k) sum += from[k] * print.weights[k];
          narrowed[static_cast<std::size_t>(i)] = sum;
        });
        for_each_place(out, [&](const Extents& at, std::int64_t i) {
          const Footprint<C>& print = rows[static_cast<std::size_t>(at[1])];
          const C* from = narrowed.data() + print.first * out[2] + at[2];
          C sum{};
          for (std::size_t k = 0; k < print.weights.size(); ++k) {
            sum += from[static_cast<std::int64_t>(k) * out[2]] * print.weights[k];
          }
          resized[i] = sum;
        });
        written.store(p, resized);
      }
    };
  });
}

template <Resize mode>
Launch bind_antialias(const Binding& call) {
  return antialias(call, mode);
}

// ---- the way back: a plane adds up what its elements were taken for, times their weights

template <Resize mode, int spatial>
void infer_resize_gradient(Inference& call) {
  const Tensor& gradient = call.tensor("grad_output");
  const Sizes sizes = call.integers("input_size");
  if (sizes.size() != spatial + 2 || gradient.rank() != spatial + 2) {
    throw OpError("input_size and grad_output have " + std::to_string(spatial + 2) + " dimensions");
  }
  check_planes(gradient, spatial);
  if (!spec::is_floating_point(gradient.dtype)) throw OpError("gradients are floats");
  for (const std::int64_t size : plane_extents(sizes, spatial)) {
    if (size <= 0) throw OpError("an input size is not positive");
  }
  const bool keeps_format =
      mode == Resize::kLinear ? spatial > 1 : is_nearest(mode) && spatial == 2;
  const auto format = keeps_format ? suggested_format(gradient) : spec::MemoryFormat::kContiguous;
  make_plane_gradient(call, spatial, sizes, strides_in_format(sizes, format),
                      output_extents(call, spatial));
}

template <Resize mode, int spatial>
Launch bind_resize_gradient(const Binding& call) {
  const Extents in = plane_extents(call.result().sizes, spatial);
  const Extents out = plane_extents(call.tensor("grad_output").sizes, spatial);
  const Axes axes = axes_between(call, mode, spatial, in, out);
  // Which element is the nearest is asked in float32, whatever the dtype.
  const bool is_double = !is_nearest(mode) && call.result().dtype == spec::DType::kFloat64;
  const auto launch_of = [&]<class W>() {
    return plane_gradient(call, spatial,
                          [in, z = all_taps<W>(axes[0]), y = all_taps<W>(axes[1]),
                           x = all_taps<W>(axes[2])](const Extents& at, auto g, const auto& add) {
                            using C = decltype(g);
                            const element::Taps<W>& tz = z[static_cast<std::size_t>(at[0])];
                            const element::Taps<W>& ty = y[static_cast<std::size_t>(at[1])];
                            const element::Taps<W>& tx = x[static_cast<std::size_t>(at[2])];
                            for (std::size_t i = 0; i < tz.width; ++i) {
                              for (std::size_t j = 0; j < ty.width; ++j) {
                                const W plane_weight = tz.weights[i] * ty.weights[j];
                                for (std::size_t k = 0; k < tx.width; ++k) {
                                  const W weight = plane_weight * tx.weights[k];
                                  add((tz.places[i] * in[1] + ty.places[j]) * in[2] + tx.places[k],
                                      static_cast<C>(g * static_cast<C>(weight)));
                                }
                              }
                            }
                          });
  };
  return is_double ? launch_of.template operator()<double>()
                   : launch_of.template operator()<float>();
}

template <Resize mode, int spatial>
constexpr Kernel kernel_of(std::string_view name) {
  return {name, infer_upsample<mode, spatial>, bind_upsample<mode, spatial>};
}

template <Resize mode, int spatial>
constexpr Kernel gradient_of(std::string_view name) {
  return {name, infer_resize_gradient<mode, spatial>, bind_resize_gradient<mode, spatial>};
}

}  // namespace

std::span<const Kernel> upsample_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten._upsample_bicubic2d_aa", infer_antialias, bind_antialias<Resize::kCubic>},
      {"aten._upsample_bilinear2d_aa", infer_antialias, bind_antialias<Resize::kLinear>},
      kernel_of<Resize::kNearestExact, 1>("aten._upsample_nearest_exact1d"),
      gradient_of<Resize::kNearestExact, 1>("aten._upsample_nearest_exact1d_backward"),
      kernel_of<Resize::kNearestExact, 2>("aten._upsample_nearest_exact2d"),
      gradient_of<Resize::kNearestExact, 2>("aten._upsample_nearest_exact2d_backward"),
      kernel_of<Resize::kNearestExact, 3>("aten._upsample_nearest_exact3d"),
      gradient_of<Resize::kNearestExact, 3>("aten._upsample_nearest_exact3d_backward"),
      kernel_of<Resize::kCubic, 2>("aten.upsample_bicubic2d").rows(row_rules::per_image),
      gradient_of<Resize::kCubic, 2>("aten.upsample_bicubic2d_backward"),
      kernel_of<Resize::kLinear, 2>("aten.upsample_bilinear2d").rows(row_rules::per_image),
      gradient_of<Resize::kLinear, 2>("aten.upsample_bilinear2d_backward"),
      kernel_of<Resize::kLinear, 1>("aten.upsample_linear1d").rows(row_rules::per_image),
      gradient_of<Resize::kLinear, 1>("aten.upsample_linear1d_backward"),
      kernel_of<Resize::kNearest, 1>("aten.upsample_nearest1d").rows(row_rules::per_image),
      gradient_of<Resize::kNearest, 1>("aten.upsample_nearest1d_backward"),
      kernel_of<Resize::kNearest, 2>("aten.upsample_nearest2d").rows(row_rules::per_image),
      gradient_of<Resize::kNearest, 2>("aten.upsample_nearest2d_backward"),
      kernel_of<Resize::kNearest, 3>("aten.upsample_nearest3d").rows(row_rules::per_image),
      gradient_of<Resize::kNearest, 3>("aten.upsample_nearest3d_backward"),
      kernel_of<Resize::kLinear, 3>("aten.upsample_trilinear3d"),
      gradient_of<Resize::kLinear, 3>("aten.upsample_trilinear3d_backward"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
