// Sliding windows over the last one to three dimensions: what the pooling families share.
//
// An input [..., spatial sizes] is taken as planes: everything before the spatial dimensions is
// flattened. Positions in a plane are row-major.
#pragma once

#include <cstdint>
#include <string_view>

#include "reference/call.h"

namespace graphgate::reference {

// Kernel, stride, padding and dilation per spatial dimension, and the sizes in and out.
struct Window {
  Sizes in;
  Sizes out;
  Sizes kernel;
  Sizes stride;
  Sizes padding;
  Sizes dilation;

  // From the arguments kernel_size, stride (empty: the kernel), padding, dilation and ceil_mode of
  // an op over `rank` spatial dimensions. Throws OpError on what does not fit.
  Window(const Call& call, const Tensor& input, std::size_t rank);

  // The first input position of dimension d for output o; may be negative (padding).
  [[nodiscard]] std::int64_t start(std::size_t d, std::int64_t o) const {
    return o * stride[d] - padding[d];
  }
};

// The planes of a tensor with `rank` spatial dimensions.
struct Planes {
  std::int64_t count;
  std::int64_t area_in;
};
[[nodiscard]] Planes planes_of(const Tensor& input, std::size_t rank);

// The last `rank` sizes; sizes with the last ones replaced.
[[nodiscard]] Sizes spatial_sizes(const Tensor& input, std::size_t rank);
[[nodiscard]] Sizes with_spatial(Sizes sizes, const Sizes& spatial);

// The argument output_size of an adaptive pooling over `rank` dimensions: none is negative.
[[nodiscard]] Sizes adaptive_output(const Call& call, std::size_t rank);

// A list argument of one element stands for `rank` equal ones. Throws OpError on any other length.
[[nodiscard]] Sizes per_dimension(Sizes values, std::size_t rank, std::string_view name);

// Calls visit(position) for every position of the box [low, high) with steps, in a plane of
// `sizes`.
template <class Visit>
void for_each_in_box(const Sizes& sizes, const Sizes& low, const Sizes& high, const Sizes& step,
                     Visit&& visit) {
  Sizes counts(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    counts[d] = high[d] > low[d] ? (high[d] - low[d] + step[d] - 1) / step[d] : 0;
  }
  for_each_index(counts, [&](const Sizes& index) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      position = position * sizes[d] + low[d] + index[d] * step[d];
    }
    visit(position);
  });
}

}  // namespace graphgate::reference
