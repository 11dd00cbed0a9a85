// What the normalizations share: their optional parameters, the dtype of saved statistics, and the
// strides of images. Called by normalization.cpp, batch_norm.cpp and the pooling families.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "reference/call.h"

namespace graphgate::reference {

// A parameter's elements in row-major order; empty when it is absent. 16-bit parameters widen to
// float32 exactly.
template <class N>
std::vector<N> parameter(const Call& call, std::string_view name, spec::DType input) {
  const TensorRef tensor = call.has(name) ? call.tensor(name) : nullptr;
  if (!tensor) return {};
  return load<N>(*tensor, input == spec::DType::kFloat64 ? input : tensor->dtype).data;
}

// The i-th element, or null for an absent parameter. Throws OpError past its end.
template <class N>
const N* element(const std::vector<N>& values, std::int64_t i) {
  if (values.empty()) return nullptr;
  const auto at = static_cast<std::size_t>(i);
  if (at >= values.size()) throw OpError("a normalization's parameter has too few elements");
  return &values[at];
}

// The dtype of saved means and deviations: the input's, but float32 when the first parameter that
// is there has another dtype than the input (a 16-bit input with float32 parameters).
inline spec::DType statistics_dtype(const Call& call,
                                    std::initializer_list<std::string_view> parameters) {
  const spec::DType input = call.tensor("input")->dtype;
  for (const std::string_view name : parameters) {
    if (!call.has(name)) continue;
    return call.tensor(name)->dtype == input ? input : spec::DType::kFloat32;
  }
  return input;
}

// The strides of a result of `sizes` that follows the input's memory format: channels-last when the
// input is (4 or 5 dimensions), else contiguous.
inline Sizes image_strides(const Tensor& input, const Sizes& sizes) {
  if (!suggests_channels_last(input)) return spec::contiguous_strides(sizes);
  return strides_in_format(sizes, input.rank() == 4 ? spec::MemoryFormat::kChannelsLast
                                                    : spec::MemoryFormat::kChannelsLast3d);
}

}  // namespace graphgate::reference
