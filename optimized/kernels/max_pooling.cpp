// Greatest elements of windows and of adaptive parts of planes, with their places, and the gradient
// that goes back to those places. A later NaN wins over an earlier one.
#include <cstring>

#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/plane_text.h"
#include "optimized/codegen/type_text.h"
#include "optimized/geometry/planes.h"
#include "optimized/kernels/families.h"
#include "optimized/strides.h"
#include "optimized/value_errors.h"

namespace graphgate::optimized {
namespace {

// What a part without elements has: dilation can step over a whole plane.
template <class C>
C least_value(spec::DType dtype) {
  if constexpr (std::is_floating_point_v<C>) {
    return -std::numeric_limits<C>::infinity();
  } else {
    const bool has_sign = dtype != spec::DType::kUInt8 && dtype != spec::DType::kBool;
    return has_sign ? std::numeric_limits<C>::min() >> (64 - 8 * spec::item_size_bytes(dtype)) : 0;
  }
}

// Plane by plane; part_of(place) gives the part of an output place. The second result, the places,
// may be missing.
template <class PartOf>
Launch pool(const Binding& call, int spatial, PartOf part_of) {
  const Tensor& self = call.tensor("self");
  const Tensor& result = call.result(0);
  const Extents in = plane_extents(self.sizes, spatial);
  const Extents out = plane_extents(result.sizes, spatial);
  std::optional<Rows> indices;
  if (call.result_count() > 1) indices.emplace(call.result(1), plane_dims(result, spatial));
  std::uint64_t least_bits = 0;
  Launch launch = with_compute(self.dtype, [&]<class C>() -> Launch {
    const C least = least_value<C>(self.dtype);
    std::memcpy(&least_bits, &least, sizeof least);
    auto* plane = reinterpret_cast<C*>(call.workspace());
    auto* values = reinterpret_cast<C*>(call.workspace() + scratch_bytes(volume(in)));
    auto* places = reinterpret_cast<std::int64_t*>(call.workspace() + scratch_bytes(volume(in)) +
                                                   scratch_bytes(volume(out)));
    return [=, planes = Rows(self, plane_dims(self, spatial)),
            written = Rows(result, plane_dims(result, spatial))] {
      for (std::int64_t p = 0; p < planes.count(); ++p) {
        planes.load(p, plane);
        for_each_place(out, [&](const Extents& at, std::int64_t i) {
          const auto read = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
            return plane[(z * in[1] + y) * in[2] + x];
          };
          const auto best = element::greatest_of_part<C>(read, in, part_of(at), least);
          values[i] = best.value;
          places[i] = best.place;
        });
        written.store(p, values);
        if (indices) indices->store(p, places);
      }
    };
  });
  if (call.listener() == nullptr) return launch;
  return described(
      std::move(launch),
      {max_pool_text({result, self, spatial, callable_text<std::int64_t>(part_of)},
                     call.result_count() > 1 ? &call.result(1) : nullptr, least_bits)});
}

void make_results_in(Inference& call, const Extents& out, int spatial, bool has_places,
                     const Sizes& sizes, const Sizes& strides) {
  const Tensor& self = call.tensor("self");
  const Extents in = plane_extents(self.sizes, spatial);
  call.want_workspace(scratch_bytes(volume(in)) + 2 * scratch_bytes(volume(out)));
  call.make(self.dtype, sizes, strides);
  if (has_places) call.make(spec::DType::kInt64, sizes, strides);
}
void make_results(Inference& call, const Extents& out, int spatial, bool has_places,
                  spec::MemoryFormat format) {
  const Sizes sizes = with_plane(call.tensor("self"), out, spatial);
  make_results_in(call, out, spatial, has_places, sizes, strides_in_format(sizes, format));
}

// Places come from the kernel for planes, which takes a line for one of height 1 and keeps its
// format; without them results are row-major.
template <bool has_places>
void infer_max_pool1d(Inference& call) {
  Tensor plane = call.tensor("self");
  check_planes(plane, 1);
  if (!has_places && !spec::is_floating_point(plane.dtype))
    throw OpError("maxima of lines want floats");
  const Extents out = window_counts(window_of(call, 1), plane_extents(plane.sizes, 1), 1);
  const Sizes sizes = with_plane(plane, out, 1);
  if (!has_places) {
    return make_results_in(call, out, 1, false, sizes, row_major_strides(sizes));
  }
  const std::int64_t height = plane.rank() - 1;
  const std::int64_t stride = plane.sizes.back() * plane.strides.back();
  plane.sizes.insert(plane.sizes.begin() + height, 1);
  plane.strides.insert(plane.strides.begin() + height, stride);
  Sizes tall = sizes;
  tall.insert(tall.begin() + height, 1);
  Sizes strides = strides_in_format(tall, suggested_format(plane));
  strides.erase(strides.begin() + height);
  make_results_in(call, out, 1, true, sizes, strides);
}

template <int spatial, bool has_places>
void infer_max_pool(Inference& call) {
  const Tensor& self = call.tensor("self");
  check_planes(self, spatial);
  const Extents out =
      window_counts(window_of(call, spatial), plane_extents(self.sizes, spatial), spatial);
  make_results(call, out, spatial, has_places, suggested_format(self));
}

template <int spatial>
Launch bind_max_pool(const Binding& call) {
  const Extents in = plane_extents(call.tensor("self").sizes, spatial);
  const Window window = window_of(call, spatial);
  return pool(
      call, spatial,
      element::MaxWindows{in, window.kernel, window.stride, window.padding, window.dilation});
}

template <int spatial>
void infer_adaptive(Inference& call) {
  const Tensor& self = call.tensor("self");
  check_planes(self, spatial);
  const Extents out = spatial_values(call.integers("output_size"), spatial, 1);
  for (const std::int64_t size : out) {
    if (size < 0) throw OpError("an output size is negative");
  }
  const auto format = spatial == 2 ? suggested_format(self) : spec::MemoryFormat::kContiguous;
  make_results(call, out, spatial, true, format);
}

template <int spatial>
Launch bind_adaptive(const Binding& call) {
  const Extents in = plane_extents(call.tensor("self").sizes, spatial);
  const Extents out = plane_extents(call.result().sizes, spatial);
  return pool(call, spatial, element::AdaptiveParts{in, out});
}

// `out`: the sizes of the plane of places.
void infer_places_gradient(Inference& call, int spatial, const Extents& out,
                           spec::MemoryFormat format) {
  const Tensor& self = call.tensor("self");
  const Tensor& gradient = call.tensor("grad_output");
  const Tensor& indices = call.tensor("indices");
  const Extents in = plane_extents(self.sizes, spatial);
  const Sizes sizes = with_plane(self, out, spatial);
  if (gradient.sizes != sizes || indices.sizes != sizes) {
    throw OpError("the gradient's and the indices' sizes are not " + print_sizes(sizes));
  }
  if (gradient.dtype != self.dtype || indices.dtype != spec::DType::kInt64) {
    throw OpError("the gradient must have self's dtype, the indices int64");
  }
  call.want_workspace(scratch_bytes(volume(in)) + 2 * scratch_bytes(volume(out)));
  call.make(self.dtype, self.sizes, strides_in_format(self.sizes, format));
}

template <int spatial>
void infer_backward(Inference& call) {
  const Tensor& self = call.tensor("self");
  check_planes(self, spatial);
  const Extents in = plane_extents(self.sizes, spatial);
  infer_places_gradient(call, spatial, window_counts(window_of(call, spatial), in, spatial),
                        suggested_format(self));
}

template <int spatial>
void infer_adaptive_backward(Inference& call) {
  const Tensor& self = call.tensor("self");
  check_planes(self, spatial);
  if (!spec::is_floating_point(self.dtype)) throw OpError("adaptive maxima want floats");
  infer_places_gradient(call, spatial, plane_extents(call.tensor("indices").sizes, spatial),
                        spatial == 2 ? suggested_format(self) : spec::MemoryFormat::kContiguous);
}

// Gradients add up in the order of the windows.
template <int spatial>
Launch bind_backward(const Binding& call) {
  const Tensor& gradient = call.tensor("grad_output");
  const std::int64_t in = volume(plane_extents(call.result().sizes, spatial));
  const std::int64_t out = volume(plane_extents(gradient.sizes, spatial));
  Launch launch = with_compute(gradient.dtype, [&]<class C>() -> Launch {
    auto* sums = reinterpret_cast<C*>(call.workspace());
    auto* grads = reinterpret_cast<C*>(call.workspace() + scratch_bytes(in));
    auto* places =
        reinterpret_cast<std::int64_t*>(call.workspace() + scratch_bytes(in) + scratch_bytes(out));
    return [=, from = Rows(gradient, plane_dims(gradient, spatial)),
            at = Rows(call.tensor("indices"), plane_dims(gradient, spatial)),
            to = Rows(call.result(), plane_dims(call.result(), spatial))] {
      for (std::int64_t p = 0; p < to.count(); ++p) {
        from.load(p, grads);
        at.load(p, places);
        std::fill(sums, sums + in, C{0});
        for (std::int64_t i = 0; i < out; ++i) {
          if (places[i] < 0 || places[i] >= in) {
            throw_index_outside_plane(places[i], in);
          }
          sums[places[i]] += grads[i];
        }
        to.store(p, sums);
      }
    };
  });
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch), {max_pool_backward_text(call.result(), gradient,
                                                              call.tensor("indices"), spatial)});
}

}  // namespace

std::span<const Kernel> max_pooling_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.adaptive_max_pool2d", infer_adaptive<2>, bind_adaptive<2>}.rows(
          row_rules::per_image),
      {"aten.adaptive_max_pool2d_backward", infer_adaptive_backward<2>, bind_backward<2>},
      Kernel{"aten.adaptive_max_pool3d", infer_adaptive<3>, bind_adaptive<3>}.rows(
          row_rules::per_image),
      {"aten.adaptive_max_pool3d_backward", infer_adaptive_backward<3>, bind_backward<3>},
      Kernel{"aten.max_pool1d", infer_max_pool1d<false>, bind_max_pool<1>}.rows(
          row_rules::per_image),
      Kernel{"aten.max_pool1d_with_indices", infer_max_pool1d<true>, bind_max_pool<1>}.rows(
          row_rules::per_image),
      Kernel{"aten.max_pool2d", infer_max_pool<2, false>, bind_max_pool<2>}.rows(
          row_rules::per_image),
      Kernel{"aten.max_pool2d_with_indices", infer_max_pool<2, true>, bind_max_pool<2>}.rows(
          row_rules::per_image),
      {"aten.max_pool2d_with_indices_backward", infer_backward<2>, bind_backward<2>},
      {"aten.max_pool3d", infer_max_pool<3, false>, bind_max_pool<3>},
      Kernel{"aten.max_pool3d_with_indices", infer_max_pool<3, true>, bind_max_pool<3>}.rows(
          row_rules::per_image),
      {"aten.max_pool3d_with_indices_backward", infer_backward<3>, bind_backward<3>},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
