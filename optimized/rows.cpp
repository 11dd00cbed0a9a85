#include "optimized/rows.h"

#include <algorithm>

namespace graphgate::optimized {

Rows::Rows(const Tensor& tensor, const std::vector<std::int64_t>& inner)
    : base_(tensor.data()), dtype_(tensor.dtype) {
  const std::int64_t item = tensor.item_bytes();
  for (std::int64_t d = 0; d < tensor.rank(); ++d) {
    if (std::ranges::find(inner, d) != inner.end()) continue;
    const auto dim = static_cast<std::size_t>(d);
    outer_sizes_.push_back(tensor.sizes[dim]);
    outer_strides_.push_back(tensor.strides[dim] * item);
    count_ *= tensor.sizes[dim];
  }
  for (const std::int64_t d : inner) {
    if (tensor.rank() == 0) break;  // dimension 0 of a scalar: one row of one element
    const auto dim = static_cast<std::size_t>(d);
    const std::int64_t size = tensor.sizes[dim];
    const std::int64_t stride = tensor.strides[dim] * item;
    length_ *= size;
    if (!inner_sizes_.empty() && inner_strides_.back() == stride * size) {
      inner_sizes_.back() *= size;
      inner_strides_.back() = stride;
    } else {
      inner_sizes_.push_back(size);
      inner_strides_.push_back(stride);
    }
  }
  if (inner_sizes_.empty()) {
    inner_sizes_.push_back(1);
    inner_strides_.push_back(item);
  }
}

std::byte* Rows::at(std::int64_t row) const {
  std::byte* first = base_;
  for (std::size_t d = outer_sizes_.size(); d-- > 0;) {
    first += row % outer_sizes_[d] * outer_strides_[d];
    row /= outer_sizes_[d];
  }
  return first;
}

}  // namespace graphgate::optimized
