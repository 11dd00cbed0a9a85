#include "optimized/geometry/indexed_cells.h"

#include "optimized/strides.h"

namespace graphgate::optimized {

IndexedDim indexed_dim(const Tensor& self, std::int64_t dim, Tensor index, bool wraps) {
  if (self.rank() == 0) return {std::move(index), {1}, {0}, wraps, 0};
  const auto d = static_cast<std::size_t>(dim);
  return {std::move(index), {self.sizes[d]}, {self.strides[d] * self.item_bytes()}, wraps, dim};
}

IndexedDim indexed_elements(const Tensor& self, Tensor index) {
  if (is_contiguous(self)) return {std::move(index), {self.count()}, {self.item_bytes()}, true, 0};
  return {std::move(index), self.sizes, strides_in_bytes(self), true, 0};
}

std::int64_t offset_of(std::int64_t position, const Sizes& sizes, const Sizes& strides) {
  std::int64_t offset = 0;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    offset += position % sizes[d] * strides[d];
    position /= sizes[d];
  }
  return offset;
}

Tensor at_least_1d(Tensor tensor) {
  if (tensor.rank() > 0) return tensor;
  tensor.sizes = {1};
  tensor.strides = {1};
  return tensor;
}

Tensor along_dim(const Tensor& tensor, std::int64_t dim, std::int64_t rank) {
  Tensor out = at_least_1d(tensor);
  const std::int64_t size = out.sizes[0];
  const std::int64_t stride = out.strides[0];
  out.sizes.assign(static_cast<std::size_t>(rank), 1);
  out.strides.assign(static_cast<std::size_t>(rank), 0);
  if (rank == 0) return out;
  out.sizes[static_cast<std::size_t>(dim)] = size;
  out.strides[static_cast<std::size_t>(dim)] = stride;
  return out;
}

Tensor pinned(Tensor tensor, std::int64_t dim, std::int64_t size) {
  if (tensor.rank() == 0) return tensor;
  tensor.sizes[static_cast<std::size_t>(dim)] = size;
  tensor.strides[static_cast<std::size_t>(dim)] = 0;
  return tensor;
}

}  // namespace graphgate::optimized
