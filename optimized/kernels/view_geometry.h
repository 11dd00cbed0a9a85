// The geometry of views: which elements of a storage each view op shows, as ATen computes it.
//
// Used by: the view and splitting families for their results, and the families that move data
// (joining, padding, creation) to name the parts of a tensor that they copy. Each function returns
// the argument with other sizes, strides and offset, over the same bytes; nothing is read. Strides
// and offsets count elements. `dim` is in [-rank, rank) wherever one is taken. Wrong sizes, dims
// and indices throw OpError.
#pragma once

#include <optional>

#include "optimized/tensor.h"

namespace graphgate::optimized {

// `wanted` with a -1, if there is one, replaced by what makes `count` elements.
[[nodiscard]] Sizes infer_sizes(const Sizes& wanted, std::int64_t count);
// The strides with which a view of `sizes` (as many elements) shows the elements in row-major
// order; nullopt where no strides do.
[[nodiscard]] std::optional<Sizes> view_strides(const Tensor& self, const Sizes& sizes);
// Tensor.view(sizes); -1 is allowed. OpError where only a copy could have these sizes.
[[nodiscard]] Tensor viewed(const Tensor& self, const Sizes& sizes);
// Tensor.view(dtype): the last dimension grows or shrinks with the item size.
[[nodiscard]] Tensor viewed_as(const Tensor& self, spec::DType dtype);

[[nodiscard]] Tensor permuted(const Tensor& self, const Sizes& dims);
[[nodiscard]] Tensor transposed(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
// Tensor.expand(sizes); -1 keeps a size.
[[nodiscard]] Tensor expanded(const Tensor& self, const Sizes& sizes);
// Without those of `dims` (in [0, rank)) whose size is 1.
[[nodiscard]] Tensor squeezed(const Tensor& self, const std::vector<std::int64_t>& dims);
// With a dimension of size 1 at `dim` in [-rank - 1, rank].
[[nodiscard]] Tensor unsqueezed(const Tensor& self, std::int64_t dim);
// Python's self[..., start:end:step, ...]: bounds are clamped; step > 0.
[[nodiscard]] Tensor sliced(const Tensor& self, std::int64_t dim, std::optional<std::int64_t> start,
                            std::optional<std::int64_t> end, std::int64_t step);
// [start, start + length) along `dim`, which must lie inside; a negative start counts from the end.
[[nodiscard]] Tensor narrowed(const Tensor& self, std::int64_t dim, std::int64_t start,
                              std::int64_t length);
[[nodiscard]] Tensor selected(const Tensor& self, std::int64_t dim, std::int64_t index);
// The diagonal of dims dim1 and dim2 as the last dimension.
[[nodiscard]] Tensor diagonal_of(const Tensor& self, std::int64_t offset, std::int64_t dim1,
                                 std::int64_t dim2);
// Windows of `size`, `step` apart, along `dim`; the elements of a window are the last dimension.
[[nodiscard]] Tensor unfolded(const Tensor& self, std::int64_t dim, std::int64_t size,
                              std::int64_t step);
// Any geometry over self's storage; `offset` defaults to self's.
[[nodiscard]] Tensor strided(const Tensor& self, const Sizes& sizes, const Sizes& strides,
                             std::optional<std::int64_t> offset);
// Elements in reverse order along `dim`, by a negative stride. For reading only: no result may have
// such strides.
[[nodiscard]] Tensor reversed(const Tensor& self, std::int64_t dim);

}  // namespace graphgate::optimized
