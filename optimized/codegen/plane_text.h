// Pooling and resizing as kernels: every element of the result by itself.
#pragma once

#include "optimized/codegen/work.h"
#include "optimized/kernels/elements/resampling.h"

namespace graphgate::optimized {

// A result of planes that are made from self's, along the last `spatial` dimensions.
struct PlaneWork {
  Tensor result;
  Tensor self;
  int spatial = 2;
  std::string function = {};  // of pooling: a callable of elements/planes.h
};

// The greatest elements of the parts that `function` gives; `places` may be null. `least`: what a
// part without elements has, in self's compute type.
[[nodiscard]] TextWork max_pool_text(const PlaneWork& work, const Tensor* places,
                                     std::uint64_t least);
// Their sums, divided; a warp takes an element.
[[nodiscard]] TextWork average_pool_text(const PlaneWork& work);
// result[place] = the sum of the elements of `gradient` whose place it is, in their order.
[[nodiscard]] TextWork max_pool_backward_text(const Tensor& result, const Tensor& gradient,
                                              const Tensor& places, int spatial);

// The planes at other sizes.
[[nodiscard]] TextWork resize_text(const PlaneWork& work,
                                   const std::array<element::ResizedAxis, kSpatialDims>& axes);
// The planes at the points of a grid [N, ..., spatial], whose last dimension names x first.
[[nodiscard]] TextWork sample_text(const PlaneWork& work, const Tensor& grid,
                                   const element::Sampling& sampling);

}  // namespace graphgate::optimized
