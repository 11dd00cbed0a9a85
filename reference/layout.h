// The strides that PyTorch gives to results. Values never depend on these rules; recordings do.
#pragma once

#include <span>

#include "reference/array.h"
#include "reference/tensor.h"

namespace graphgate::reference {

// Returns the strides of a pointwise result of `sizes` over these tensors. They are those of the
// inputs when all agree and are dense, else contiguous in the order of dimensions that the inputs'
// strides suggest (ATen's TensorIterator, reorder_dimensions).
[[nodiscard]] Sizes pointwise_strides(std::span<const TensorRef> inputs, const Sizes& sizes);

// The strides of an input as seen at the sizes it broadcasts to: 0 where it is stretched.
[[nodiscard]] Sizes stretched_strides(const Tensor& input, const Sizes& sizes);

// What `empty_like(t, memory_format=format)` has: kPreserve keeps the strides of dense tensors and
// otherwise the order of dimensions.
[[nodiscard]] Sizes strides_like(const Tensor& tensor, spec::MemoryFormat format);

// Row-major over the dimensions in `order` (from slowest to fastest): channels_last is {0, 2, 3,
// 1}. A size of 0 gives the strides above it 0.
[[nodiscard]] Sizes strides_in_order(const Sizes& sizes, const std::vector<std::size_t>& order);

// The strides of a fresh tensor in `format`; channels_last wants rank 4, channels_last_3d rank 5.
[[nodiscard]] Sizes strides_in_format(const Sizes& sizes, spec::MemoryFormat format);

// Whether the tensor is dense in the order of `format` (Tensor.is_contiguous(memory_format)).
[[nodiscard]] bool is_contiguous_in(const Tensor& tensor, spec::MemoryFormat format);

// Whether PyTorch would call the tensor channels-last (rank 4) or channels-last-3d (rank 5).
[[nodiscard]] bool suggests_channels_last(const Tensor& tensor);

// The memory format that PyTorch would suggest for the tensor: one of the channels-last ones, else
// kContiguous.
[[nodiscard]] spec::MemoryFormat suggested_format(const Tensor& tensor);

}  // namespace graphgate::reference
