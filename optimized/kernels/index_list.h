// The Tensor?[] of index and index_put: masks, None, and where the indexed dimensions go.
//
// A mask (bool or uint8) of rank r stands for r index tensors: the coordinates of its true
// elements. The index tensors are broadcast together; the frame of the result has their sizes in
// the place of the dimensions that they index, or in front when those are not adjacent.
#pragma once

#include "optimized/kernels/indexed_loop.h"

namespace graphgate::optimized {

// True elements of a tensor, as coordinates: element i has coordinate d at [d * count + i]. Counted
// in row-major order. Reads the tensor's bytes.
struct Coordinates {
  std::int64_t count = 0;
  std::vector<std::int64_t> values;
};
[[nodiscard]] Coordinates nonzero_coordinates(const Tensor& tensor);
// Their number alone.
[[nodiscard]] std::int64_t count_nonzero(const Tensor& tensor);

// An index list against `self`, masks replaced by coordinates. It owns those.
struct IndexList {
  std::vector<std::optional<Tensor>> indices;  // one per dimension of self that the list covers
  std::vector<std::vector<std::int64_t>> owned;
};
[[nodiscard]] bool has_mask(std::span<const Tensor* const> indices);
// Throws OpError when the list has too many indices, or a mask other sizes than what it covers.
[[nodiscard]] IndexList expand_masks(const Tensor& self, std::span<const Tensor* const> indices);
// The same checks from geometry alone.
void check_masks(const Tensor& self, std::span<const Tensor* const> indices);

// How a loop over an index list goes.
struct IndexFrame {
  Sizes sizes;
  Tensor indexed;                // self at these sizes
  std::vector<IndexedDim> dims;  // their index tensors are laid over the frame's dimensions
};
[[nodiscard]] IndexFrame index_frame(const Tensor& self, const IndexList& list);

}  // namespace graphgate::optimized
