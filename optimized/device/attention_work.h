// Attention as works: scores, mask, softmax, weighted sum, by the kernels of products and rows.
#pragma once

#include <optional>

#include "optimized/device/work.h"

namespace graphgate::optimized {

// What kernels/attention.cpp computes. `mask` has the sizes of the scores, or is null. Scores are
// kept in the compute type, in bytes that the listener reserves. Nothing where heads are shared in
// another way than in equal groups, or where nobody reserves.
struct AttentionWork {
  Tensor result;
  Tensor query;
  Tensor key;
  Tensor value;
  const Tensor* mask = nullptr;
  bool is_causal = false;
  double scale = 1;
};
[[nodiscard]] std::optional<DeviceWorks> attention_works(const AttentionWork& work);

}  // namespace graphgate::optimized
