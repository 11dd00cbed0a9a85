// Addressing by a list of index tensors (index, index_put), by PyTorch's rules, which are numpy's
// but for one case noted below.
//
// Rules: a bool or uint8 mask of k dimensions stands for k index tensors, its nonzero coordinates.
// The index tensors broadcast against each other. Where the indexed dimensions are neighbours the
// index's dimensions take their place; else they come first. (numpy also puts them first when a
// slice stands between a number and a list; PyTorch passes no numbers here.) Negative indices count
// from the back.
#pragma once

#include "reference/ops/index_access.h"

namespace graphgate::reference {

// A list of index tensors applied to one tensor.
struct IndexPlan {
  Sizes sizes;                 // of the result
  Sizes strides;               // that PyTorch gives to the result of index
  std::vector<Picked> picked;  // the element of self for each element of the result
};

// `indices` are one per dimension of self, null for a dimension taken whole; missing ones at the
// end count as null. Throws OpError for what PyTorch refuses.
[[nodiscard]] IndexPlan plan_index(Mode mode, const Tensor& self,
                                   const std::vector<TensorRef>& indices);

// The index tensors of the ops that never look outside of a tensor of these sizes: brought into
// [-size, size - 1], -1 where that is nothing. Throws OpError for masks and for what is no index.
[[nodiscard]] std::vector<TensorRef> clamped_indices(const Sizes& sizes,
                                                     const std::vector<TensorRef>& indices);

}  // namespace graphgate::reference
