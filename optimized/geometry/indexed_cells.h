// Cells of a tensor whose places index tensors tell, as the host's loops (kernels/indexed_loop.h)
// and device kernels (codegen/cells_text.h) go over them.
#pragma once

#include <vector>

#include "optimized/tensor.h"

namespace graphgate::optimized {

// What the values of one index tensor mean.
struct IndexedDim {
  Tensor index;  // int64 or int32; broadcasts to the frame
  Sizes sizes;   // an index counts elements of these sizes, row-major (one size: a dimension)
  Sizes strides_bytes;   // their strides in the indexed tensor
  bool wraps = false;    // whether -1 means the last
  std::int64_t dim = 0;  // for messages
};
// Dimension `dim` of `self`, as one index tensor goes over it.
[[nodiscard]] IndexedDim indexed_dim(const Tensor& self, std::int64_t dim, Tensor index,
                                     bool wraps);
// All elements of `self` in row-major order (take, put); negative indices count from the end.
[[nodiscard]] IndexedDim indexed_elements(const Tensor& self, Tensor index);

// All that a loop over cells is made of. `indexed` and `others` broadcast to `frame`, which is gone
// over in row-major order. What the indices of `dims` say is added to a place in `indexed`.
struct IndexedCells {
  Sizes frame;
  Tensor indexed;
  std::vector<Tensor> others;
  std::vector<IndexedDim> dims;
};

// Row-major element `position` of sizes and strides; the offset in the unit of the strides.
[[nodiscard]] std::int64_t offset_of(std::int64_t position, const Sizes& sizes,
                                     const Sizes& strides);

// `tensor` with a rank of at least 1: a scalar becomes one element.
[[nodiscard]] Tensor at_least_1d(Tensor tensor);
// A tensor of rank 0 or 1 laid along dimension `dim` of `rank`.
[[nodiscard]] Tensor along_dim(const Tensor& tensor, std::int64_t dim, std::int64_t rank);
// `tensor` with stride 0 along `dim`, and there the size `size`: an indexed tensor at a frame.
[[nodiscard]] Tensor pinned(Tensor tensor, std::int64_t dim, std::int64_t size);
}  // namespace graphgate::optimized
