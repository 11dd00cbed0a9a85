// Averages over windows and over adaptive parts of planes.
#include "optimized/arithmetic/sum.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/planes.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

// A box of a plane, half-open in each dimension.
using Box = std::array<Span, kSpatial>;

// The sum of a box's elements, gathered row by row: its order depends on the box's size alone.
template <class C>
C box_sum(const C* plane, const Extents& extents, const Box& box, C* gathered) {
  C* end = gathered;
  for (std::int64_t z = box[0].begin; z < box[0].end; ++z) {
    for (std::int64_t y = box[1].begin; y < box[1].end; ++y) {
      const C* row = plane + (z * extents[1] + y) * extents[2];
      end = std::copy(row + box[2].begin, row + box[2].end, end);
    }
  }
  return ordered_sum(gathered, end - gathered);
}

std::int64_t box_count(const Box& box) {
  std::int64_t count = 1;
  for (const Span& span : box) count *= std::max<std::int64_t>(span.end - span.begin, 0);
  return count;
}

// A box of the input and what its sum is divided by.
struct Part {
  Box box;
  std::int64_t divisor = 1;
};

// Averages plane by plane; part_of(place) gives the part of an output place. The workspace holds an
// input plane, an output plane and a gathered box.
template <class PartOf>
Launch average(const Binding& call, int spatial, PartOf part_of) {
  const Tensor& self = call.tensor("self");
  const Tensor& result = call.result();
  const Extents in = plane_extents(self.sizes, spatial);
  const Extents out = plane_extents(result.sizes, spatial);
  const auto compute = self.dtype;
  return with_compute(compute, [&]<class C>() -> Launch {
    auto* plane = reinterpret_cast<C*>(call.workspace());
    auto* averages = reinterpret_cast<C*>(call.workspace() + scratch_bytes(volume(in)));
    auto* gathered = reinterpret_cast<C*>(call.workspace() + scratch_bytes(volume(in)) +
                                          scratch_bytes(volume(out)));
    return [=, planes = Rows(self, plane_dims(self, spatial)),
            written = Rows(result, plane_dims(result, spatial))] {
      for (std::int64_t p = 0; p < planes.count(); ++p) {
        planes.load(p, plane);
        for_each_place(out, [&](const Extents& at, std::int64_t i) {
          const Part part = part_of(at);
          const bool is_empty = box_count(part.box) == 0;
          averages[i] = is_empty ? C{0}
                                 : static_cast<C>(box_sum(plane, in, part.box, gathered) /
                                                  static_cast<C>(part.divisor));
        });
        written.store(p, averages);
      }
    };
  });
}

void want_planes(Inference& call, const Extents& in, const Extents& out) {
  call.want_workspace(2 * scratch_bytes(volume(in)) + scratch_bytes(volume(out)));
}

// ---- avg_pool

template <int spatial>
void infer_average_pool(Inference& call) {
  const Tensor& self = call.tensor("self");
  check_planes(self, spatial);
  const Window window = window_of(call, spatial);
  const auto divisor = call.optional_integer("divisor_override");
  if (divisor && *divisor == 0) throw OpError("divisor_override is 0");
  const Extents in = plane_extents(self.sizes, spatial);
  const Extents out = window_counts(window, in, spatial);
  want_planes(call, in, out);
  const Sizes sizes = with_plane(self, out, spatial);
  const auto format = spatial == 2 ? suggested_format(self) : spec::MemoryFormat::kContiguous;
  call.make(self.dtype, sizes, strides_in_format(sizes, format));
}

template <int spatial>
Launch bind_average_pool(const Binding& call) {
  const Extents in = plane_extents(call.tensor("self").sizes, spatial);
  return average(
      call, spatial,
      [window = window_of(call, spatial), in, counts_padding = call.boolean("count_include_pad"),
       divisor = call.optional_integer("divisor_override")](const Extents& at) {
        Part part;
        std::int64_t padded_count = 1;
        for (std::size_t d = 0; d < kSpatial; ++d) {
          const std::int64_t begin = at[d] * window.stride[d] - window.padding[d];
          const std::int64_t end = std::min(begin + window.kernel[d], in[d] + window.padding[d]);
          padded_count *= end - begin;
          part.box[d] = {std::max<std::int64_t>(begin, 0), std::min(end, in[d])};
        }
        part.divisor = divisor ? *divisor : counts_padding ? padded_count : box_count(part.box);
        return part;
      });
}

// ---- adaptive_avg_pool: also in one dimension, as planes of height 1

Tensor with_height(Tensor tensor) {
  const std::int64_t last = tensor.rank() - 1;
  const std::int64_t stride = tensor.sizes.back() * tensor.strides.back();
  tensor.sizes.insert(tensor.sizes.begin() + last, 1);
  tensor.strides.insert(tensor.strides.begin() + last, stride);
  return tensor;
}

template <int spatial>
void infer_adaptive(Inference& call) {
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
    // The strides are those of a plane of height 1 without its height.
    Sizes tall = sizes;
    tall.insert(tall.end() - 1, 1);
    Sizes strides = strides_in_format(tall, suggested_format(with_height(self)));
    strides.erase(strides.end() - 2);
    return call.make(self.dtype, std::move(sizes), std::move(strides));
  }
  const bool keeps_format = spatial == 2 || volume(out) == 1;
  const auto format = keeps_format ? suggested_format(self) : spec::MemoryFormat::kContiguous;
  call.make(self.dtype, sizes, strides_in_format(sizes, format));
}

template <int spatial>
Launch bind_adaptive(const Binding& call) {
  const Extents in = plane_extents(call.tensor("self").sizes, spatial);
  const Extents out = plane_extents(call.result().sizes, spatial);
  return average(call, spatial, [in, out](const Extents& at) {
    Part part;
    for (std::size_t d = 0; d < kSpatial; ++d) part.box[d] = adaptive_span(at[d], in[d], out[d]);
    part.divisor = box_count(part.box);
    return part;
  });
}

constexpr Kernel kKernels[] = {
    {"aten._adaptive_avg_pool2d", infer_adaptive<2>, bind_adaptive<2>},
    {"aten._adaptive_avg_pool3d", infer_adaptive<3>, bind_adaptive<3>},
    {"aten.adaptive_avg_pool1d", infer_adaptive<1>, bind_adaptive<1>},
    {"aten.adaptive_avg_pool2d", infer_adaptive<2>, bind_adaptive<2>},
    {"aten.adaptive_avg_pool3d", infer_adaptive<3>, bind_adaptive<3>},
    {"aten.avg_pool2d", infer_average_pool<2>, bind_average_pool<2>},
    {"aten.avg_pool3d", infer_average_pool<3>, bind_average_pool<3>},
};

}  // namespace

std::span<const Kernel> pooling_kernels() { return kKernels; }

}  // namespace graphgate::optimized
