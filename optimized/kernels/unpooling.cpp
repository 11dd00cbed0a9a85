// max_unpool2d and max_unpool3d: zeros, and elements at the places of a plane that indices name.
#include "optimized/codegen/work.h"
#include "optimized/geometry/planes.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/fill.h"
#include "optimized/kernels/indexed_loop.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

template <int spatial>
void infer_max_unpool(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& indices = call.tensor("indices");
  const Sizes plane = call.integers("output_size");
  check_planes(self, spatial);
  if (indices.dtype != spec::DType::kInt64 || indices.sizes != self.sizes) {
    throw OpError("the indices are not int64 of sizes " + print_sizes(self.sizes));
  }
  if (plane.size() != spatial) throw OpError("an output size of " + print_sizes(plane));
  for (const char* name : {"stride", "padding"}) {
    if (spatial == 2) continue;
    const std::int64_t least = std::string_view(name) == "stride" ? 1 : 0;
    for (const std::int64_t value : spatial_values(call.integers(name), spatial, 1)) {
      if (value < least) throw OpError(std::string(name) + " is " + std::to_string(value));
    }
  }
  Sizes sizes = self.sizes;
  std::copy(plane.begin(), plane.end(), sizes.end() - spatial);
  (void)checked_count(sizes);
  const auto format = spatial == 2 ? suggested_format(self) : spec::MemoryFormat::kContiguous;
  const Sizes strides = strides_in_format(sizes, format);
  call.make(self.dtype, std::move(sizes), strides);
}

template <int spatial>
Launch bind_max_unpool(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& result = call.result();
  if (result.dtype != self.dtype) throw OpError("out is not of self's dtype");
  const std::int64_t lead = self.rank() - spatial;
  Tensor indexed = result;  // a plane's first element, at every place of self's plane
  indexed.sizes = self.sizes;
  Tensor plane = result;
  for (std::int64_t d = 0; d < lead; ++d) {
    plane.sizes.erase(plane.sizes.begin());
    plane.strides.erase(plane.strides.begin());
  }
  for (std::int64_t d = lead; d < self.rank(); ++d) indexed.strides[at(d)] = 0;
  IndexedDim places = indexed_elements(plane, call.tensor("indices"));
  places.wraps = false;
  return in_turn({fill_launch(call.listener(), result, {}),
                  write_cells(call.listener(), {self.sizes, indexed, {self}, {std::move(places)}},
                              self.item_bytes())});
}

}  // namespace

std::span<const Kernel> unpooling_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.max_unpool2d", infer_max_unpool<2>, bind_max_unpool<2>}.moves("self"),
      Kernel{"aten.max_unpool3d", infer_max_unpool<3>, bind_max_unpool<3>}.moves("self"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
