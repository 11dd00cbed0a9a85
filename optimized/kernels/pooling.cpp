// Averages over windows and over adaptive parts of planes.
#include "optimized/analysis/row_rules.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/codegen/plane_text.h"
#include "optimized/codegen/type_text.h"
#include "optimized/geometry/plane_gradient.h"
#include "optimized/geometry/planes.h"
#include "optimized/kernels/families.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

// The sum of a part's elements, gathered row by row: its order depends on the part's size alone.
template <class C>
C part_sum(const C* plane, const Extents& extents, const element::PlanePart& part, C* gathered) {
  C* end = gathered;
  for (std::int64_t z = part.begin[0]; z < part.end[0]; ++z) {
    for (std::int64_t y = part.begin[1]; y < part.end[1]; ++y) {
      const C* row = plane + (z * extents[1] + y) * extents[2];
      end = std::copy(row + part.begin[2], row + part.end[2], end);
    }
  }
  return ordered_sum(gathered, end - gathered);
}

// Averages plane by plane; part_of(place) gives the part of an output place. The workspace holds an
// input plane, an output plane and a gathered part.
template <class PartOf>
Launch average(const Binding& call, int spatial, PartOf part_of) {
  const Tensor& self = call.tensor("self");
  const Tensor& result = call.result();
  const Extents in = plane_extents(self.sizes, spatial);
  const Extents out = plane_extents(result.sizes, spatial);
  Launch launch = with_compute(self.dtype, [&]<class C>() -> Launch {
    auto* plane = reinterpret_cast<C*>(call.workspace());
    auto* averages = reinterpret_cast<C*>(call.workspace() + scratch_bytes(volume(in)));
    auto* gathered = reinterpret_cast<C*>(call.workspace() + scratch_bytes(volume(in)) +
                                          scratch_bytes(volume(out)));
    return [=, planes = Rows(self, plane_dims(self, spatial)),
            written = Rows(result, plane_dims(result, spatial))] {
      for (std::int64_t p = 0; p < planes.count(); ++p) {
        planes.load(p, plane);
        for_each_place(out, [&](const Extents& at, std::int64_t i) {
          const element::PlanePart part = part_of(at);
          averages[i] = part.is_empty() ? C{0}
                                        : static_cast<C>(part_sum(plane, in, part, gathered) /
                                                         static_cast<C>(part.divisor));
        });
        written.store(p, averages);
      }
    };
  });
  if (call.listener() == nullptr) return launch;
  return described(
      std::move(launch),
      {average_pool_text({result, self, spatial, callable_text<std::int64_t>(part_of)})});
}

void want_planes(Inference& call, const Extents& in, const Extents& out) {
  call.want_workspace(2 * scratch_bytes(volume(in)) + scratch_bytes(volume(out)));
}

// ---- in one dimension: planes of height 1

Tensor with_height(Tensor tensor) {
  const std::int64_t last = tensor.rank() - 1;
  const std::int64_t stride = tensor.sizes.back() * tensor.strides.back();
  tensor.sizes.insert(tensor.sizes.begin() + last, 1);
  tensor.strides.insert(tensor.strides.begin() + last, stride);
  return tensor;
}

// The strides are those of a plane of height 1 without its height.
Sizes flat_strides(const Tensor& self, const Sizes& sizes) {
  Sizes tall = sizes;
  tall.insert(tall.end() - 1, 1);
  Sizes strides = strides_in_format(tall, suggested_format(with_height(self)));
  strides.erase(strides.end() - 2);
  return strides;
}

// ---- avg_pool

// avg_pool1d has no such argument.
std::optional<std::int64_t> divisor_of(const KernelCall& call) {
  return call.has("divisor_override") ? call.optional_integer("divisor_override") : std::nullopt;
}

template <int spatial>
void infer_average_pool(Inference& call) {
  const Tensor& self = call.tensor("self");
  check_planes(self, spatial);
  const Window window = window_of(call, spatial);
  const auto divisor = divisor_of(call);
  if (divisor && *divisor == 0) throw OpError("divisor_override is 0");
  const Extents in = plane_extents(self.sizes, spatial);
  const Extents out = window_counts(window, in, spatial);
  want_planes(call, in, out);
  const Sizes sizes = with_plane(self, out, spatial);
  if (spatial == 1) return call.make(self.dtype, sizes, flat_strides(self, sizes));
  const auto format = spatial == 2 ? suggested_format(self) : spec::MemoryFormat::kContiguous;
  call.make(self.dtype, sizes, strides_in_format(sizes, format));
}

element::AverageWindows average_windows(const Binding& call, int spatial) {
  const Window window = window_of(call, spatial);
  return {plane_extents(call.tensor("self").sizes, spatial),
          window.kernel,
          window.stride,
          window.padding,
          divisor_of(call).value_or(0),
          call.boolean("count_include_pad") ? 1 : 0};
}

template <int spatial>
Launch bind_average_pool(const Binding& call) {
  return average(call, spatial, average_windows(call, spatial));
}

// ---- adaptive_avg_pool

template <int spatial>
void infer_adaptive_average(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (!spec::is_floating_point(self.dtype)) throw OpError("averages want floats");
  check_planes(self, spatial);
  const Extents out = spatial_values(call.integers("output_size"), spatial, 1);
  for (const std::int64_t size : out) {
    if (size < 0) throw OpError("an output size is negative");
  }
  want_planes(call, plane_extents(self.sizes, spatial), out);
  Sizes sizes = with_plane(self, out, spatial);
  if (spatial == 1) {
    Sizes strides = flat_strides(self, sizes);
    return call.make(self.dtype, std::move(sizes), std::move(strides));
  }
  const bool keeps_format = spatial == 2 || volume(out) == 1;
  const auto format = keeps_format ? suggested_format(self) : spec::MemoryFormat::kContiguous;
  call.make(self.dtype, sizes, strides_in_format(sizes, format));
}

template <int spatial>
Launch bind_adaptive_average(const Binding& call) {
  const Extents in = plane_extents(call.tensor("self").sizes, spatial);
  const Extents out = plane_extents(call.result().sizes, spatial);
  return average(call, spatial, element::AdaptiveParts{in, out});
}

// ---- gradients: each element of a part gets the gradient over the part's divisor

Sizes averaged_strides(const Tensor& self, int spatial) {
  const auto format = spatial == 2 ? suggested_format(self) : spec::MemoryFormat::kContiguous;
  return strides_in_format(self.sizes, format);
}

template <class PartOf>
Launch average_gradient(const Binding& call, int spatial, PartOf part_of) {
  const Extents in = plane_extents(call.result().sizes, spatial);
  return plane_gradient(call, spatial, [=](const Extents& at, auto g, const auto& add) {
    const element::PlanePart part = part_of(at);
    if (part.is_empty()) return;
    const auto share = static_cast<decltype(g)>(g / static_cast<decltype(g)>(part.divisor));
    for (std::int64_t z = part.begin[0]; z < part.end[0]; ++z) {
      for (std::int64_t y = part.begin[1]; y < part.end[1]; ++y) {
        for (std::int64_t x = part.begin[2]; x < part.end[2]; ++x) {
          add((z * in[1] + y) * in[2] + x, share);
        }
      }
    }
  });
}

void require_one_dtype(const Inference& call) {
  if (call.tensor("grad_output").dtype != call.tensor("self").dtype) {
    throw OpError("grad_output and self have two dtypes");
  }
}

template <int spatial>
void infer_average_gradient(Inference& call) {
  const Tensor& self = call.tensor("self");
  check_planes(self, spatial);
  require_one_dtype(call);
  if (divisor_of(call) == 0) throw OpError("divisor_override is 0");
  const Extents out =
      window_counts(window_of(call, spatial), plane_extents(self.sizes, spatial), spatial);
  make_plane_gradient(call, spatial, self.sizes, averaged_strides(self, spatial), out);
}
template <int spatial>
Launch bind_average_gradient(const Binding& call) {
  return average_gradient(call, spatial, average_windows(call, spatial));
}

template <int spatial>
void infer_adaptive_gradient(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (!spec::is_floating_point(self.dtype)) throw OpError("averages want floats");
  check_planes(self, spatial);
  require_one_dtype(call);
  const Extents out = plane_extents(call.tensor("grad_output").sizes, spatial);
  if (volume(out) == 0) throw OpError("grad_output has empty planes");
  make_plane_gradient(call, spatial, self.sizes, averaged_strides(self, spatial), out);
}
template <int spatial>
Launch bind_adaptive_gradient(const Binding& call) {
  const Extents in = plane_extents(call.tensor("self").sizes, spatial);
  const Extents out = plane_extents(call.tensor("grad_output").sizes, spatial);
  return average_gradient(call, spatial, element::AdaptiveParts{in, out});
}

}  // namespace

std::span<const Kernel> pooling_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten._adaptive_avg_pool2d", infer_adaptive_average<2>, bind_adaptive_average<2>}.rows(
          row_rules::per_image),
      {"aten._adaptive_avg_pool2d_backward", infer_adaptive_gradient<2>, bind_adaptive_gradient<2>},
      Kernel{"aten._adaptive_avg_pool3d", infer_adaptive_average<3>, bind_adaptive_average<3>}.rows(
          row_rules::per_image),
      {"aten._adaptive_avg_pool3d_backward", infer_adaptive_gradient<3>, bind_adaptive_gradient<3>},
      Kernel{"aten.adaptive_avg_pool1d", infer_adaptive_average<1>, bind_adaptive_average<1>}.rows(
          row_rules::per_image),
      Kernel{"aten.adaptive_avg_pool2d", infer_adaptive_average<2>, bind_adaptive_average<2>}.rows(
          row_rules::per_image),
      {"aten.adaptive_avg_pool3d", infer_adaptive_average<3>, bind_adaptive_average<3>},
      Kernel{"aten.avg_pool1d", infer_average_pool<1>, bind_average_pool<1>}.rows(
          row_rules::per_image),
      Kernel{"aten.avg_pool2d", infer_average_pool<2>, bind_average_pool<2>}.rows(
          row_rules::per_image),
      {"aten.avg_pool2d_backward", infer_average_gradient<2>, bind_average_gradient<2>},
      Kernel{"aten.avg_pool3d", infer_average_pool<3>, bind_average_pool<3>}.rows(
          row_rules::per_image),
      {"aten.avg_pool3d_backward", infer_average_gradient<3>, bind_average_gradient<3>},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
