// Planes: a tensor [N, C, spatial...] (or [C, spatial...]) seen as channels, each a block of one to
// three spatial dimensions. Pooling, upsampling and grid sampling go plane by plane: a plane is
// loaded into scratch memory in the compute type, whatever its strides, and stored the same way.
#pragma once

#include "optimized/kernels/elements/planes.h"  // IWYU pragma: export
#include "optimized/loop.h"
#include "optimized/rows.h"

namespace graphgate::optimized {

// The last `spatial` sizes of a tensor, behind ones.
[[nodiscard]] Extents plane_extents(const Sizes& sizes, int spatial);
[[nodiscard]] inline std::int64_t volume(const Extents& extents) {
  return extents[0] * extents[1] * extents[2];
}
// The dimensions that they are, for Rows.
[[nodiscard]] std::vector<std::int64_t> plane_dims(const Tensor& tensor, int spatial);

// `spatial` values behind `neutral` ones; a lone value counts for all. OpError for another number.
[[nodiscard]] Extents spatial_values(const Sizes& values, int spatial, std::int64_t neutral);

// Throws OpError unless the tensor has `spatial` dimensions behind one or two others, and none of
// these but the batch is empty.
void check_planes(const Tensor& tensor, int spatial);
// The sizes of a tensor with other spatial sizes.
[[nodiscard]] Sizes with_plane(const Tensor& tensor, const Extents& extents, int spatial);

// Bytes of `count` values of the widest compute type, aligned.
[[nodiscard]] constexpr std::int64_t scratch_bytes(std::int64_t count) {
  return (count * 8 + 63) / 64 * 64;
}

// Windows that go over a plane.
struct Window {
  Extents kernel, stride, padding, dilation;
  bool ceil_mode = false;
};
// From the arguments kernel_size, stride (empty: the kernel's), padding, dilation, ceil_mode.
// Throws OpError for sizes and steps that are not positive, and for padding beyond half a kernel.
[[nodiscard]] Window window_of(const KernelCall& call, int spatial);
// How many windows there are. Throws OpError when there is none.
[[nodiscard]] Extents window_counts(const Window& window, const Extents& in, int spatial);

// Calls visit(position, i) for every place of a plane, row-major; i counts them.
template <class Visit>
void for_each_place(const Extents& extents, Visit&& visit) {
  std::int64_t i = 0;
  Extents at{};
  for (at[0] = 0; at[0] < extents[0]; ++at[0]) {
    for (at[1] = 0; at[1] < extents[1]; ++at[1]) {
      for (at[2] = 0; at[2] < extents[2]; ++at[2]) visit(at, i++);
    }
  }
}

}  // namespace graphgate::optimized
