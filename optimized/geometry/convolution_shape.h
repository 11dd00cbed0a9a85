// The sizes of a convolution, read from any of its schemas.
//
// Invariant: `axes` has three entries, depth, height and width; those that the op lacks have size 1
// and a kernel of 1. `input` has a batch dimension even where the call's input has none.
#pragma once

#include <array>

#include "optimized/kernel.h"

namespace graphgate::optimized {

// One spatial dimension. `padding` is what stands before the first element; what stands behind the
// last shows in `out` alone.
struct Axis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  bool is_transposed = false;
};

struct ConvolutionShape {
  Tensor input;   // [N, C, ...]
  Tensor weight;  // [out, in / groups, ...]; transposed: [in, out / groups, ...]
  bool is_transposed = false;
  bool is_batched = true;
  std::int64_t groups = 1;
  std::int64_t channels_in = 0;
  std::int64_t channels_out = 0;
  std::array<Axis, 3> axes;

  [[nodiscard]] Sizes result_sizes() const;
  // channels_last where the input or the weight is; in three dimensions for float32 and narrower
  // floats alone, as in ATen.
  [[nodiscard]] Sizes result_strides() const;
  // The call's result with a batch dimension.
  [[nodiscard]] Tensor batched(const Tensor& result) const;
};

// Of convolution, its gradients, and conv1d to conv3d (padding as numbers or as "same" and "valid")
// with their transposes. Throws OpError where sizes or dtypes do not fit.
[[nodiscard]] ConvolutionShape convolution_shape(const KernelCall& call);

}  // namespace graphgate::optimized
