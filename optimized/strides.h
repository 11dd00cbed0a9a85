// The strides of results, by ATen's rules: TensorIterator's order of dimensions for pointwise ops,
// memory formats for the rest. Values never depend on them; a program's declared strides do.
#pragma once

#include <initializer_list>
#include <span>

#include "optimized/tensor.h"

namespace graphgate::optimized {

// The strides of a pointwise result of `sizes` over these inputs (null ones are skipped). When all
// inputs have these sizes and one dense layout, that layout; else dense in the order of dimensions
// that the inputs' strides suggest (TensorIteratorBase::reorder_dimensions).
[[nodiscard]] Sizes pointwise_strides(std::span<const Tensor* const> inputs, const Sizes& sizes);
[[nodiscard]] Sizes pointwise_strides(std::initializer_list<const Tensor*> inputs,
                                      const Sizes& sizes);

// What `empty_like(tensor, memory_format=format)` has. kPreserve: the tensor's own strides when it
// is dense, else dense in the order of its strides.
[[nodiscard]] Sizes strides_like(const Tensor& tensor, spec::MemoryFormat format);

// The strides of a new tensor in `format`; kPreserve counts as kContiguous. channels_last wants
// rank 4, channels_last_3d rank 5; OpError otherwise.
[[nodiscard]] Sizes strides_in_format(const Sizes& sizes, spec::MemoryFormat format);

// Tensor.is_contiguous(memory_format=format).
[[nodiscard]] bool is_contiguous_in(const Tensor& tensor, spec::MemoryFormat format);

// Tensor.suggest_memory_format(): kChannelsLast for rank 4 and kChannelsLast3d for rank 5 where the
// strides descend that way, else kContiguous.
[[nodiscard]] spec::MemoryFormat suggested_format(const Tensor& tensor);

}  // namespace graphgate::optimized
