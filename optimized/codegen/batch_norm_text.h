// Batch normalization by the batch's own statistics, as a kernel: a warp takes a channel.
#pragma once

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// What training does with an input [N, channels, ...]: the running statistics move on by `momentum`
// (bits of the compute type), and `mean` and `factor` take the batch's. All but input and result
// may be null; they have one element per channel.
struct BatchNormWork {
  Tensor result;
  Tensor input;
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;
  const Tensor* running_mean = nullptr;
  const Tensor* running_variance = nullptr;
  const Tensor* mean = nullptr;
  const Tensor* factor = nullptr;
  std::uint64_t momentum = 0;
  std::uint64_t epsilon = 0;
};
[[nodiscard]] TextWork batch_norm_text(const BatchNormWork& work);

}  // namespace graphgate::optimized
