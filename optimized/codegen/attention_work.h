// Attention as works: scores, mask, softmax, weighted sum, by the kernels of products and rows.
#pragma once

#include <optional>

#include "optimized/codegen/work.h"

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
  const Tensor* sums = nullptr;  // takes log(sum(exp(scores))) of every row; or null
  bool is_causal = false;
  double scale = 1;
};
[[nodiscard]] std::optional<DeviceWorks> attention_works(const DeviceListener& listener,
                                                         const AttentionWork& work);

// What kernels/vllm.cpp computes, causal: scores, quotients (by `divisor`, bits of the compute
// type) and weights are rounded to the query's dtype. Tensors are [tokens, heads, depth]; the
// output may share bytes with the others. Nothing where nobody reserves, and for dtypes without
// infinities.
[[nodiscard]] std::optional<DeviceWorks> rounded_attention_works(
    const DeviceListener& listener, const Tensor& output, const Tensor& query, const Tensor& key,
    const Tensor& value, std::uint64_t divisor);

}  // namespace graphgate::optimized
