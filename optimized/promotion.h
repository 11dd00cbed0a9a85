// Type promotion, by torch.result_type's rules.
//
// Operands come in three ranks: tensors with dimensions, tensors without, and Python numbers. A
// lower rank changes the dtype only where its category (bool < integer < floating < complex) is
// higher than that of every higher rank. A Python number then counts as bool, int64, float32 (the
// default dtype) or complex64. A complex dtype beside float64 of its own rank is complex128; floats
// of a higher rank keep their width as components.
#pragma once

#include <initializer_list>

#include "optimized/kernel.h"

namespace graphgate::optimized {

// The dtype that two dtypes of one rank promote to (torch.promote_types). f8 dtypes promote with
// nothing but themselves: OpError.
[[nodiscard]] spec::DType promote(spec::DType a, spec::DType b);

// torch.result_type of the operands: Tensors and numbers (bool, int64, double, complex); None is
// skipped. Throws Unsupported for complex32.
[[nodiscard]] spec::DType result_type(std::initializer_list<const Item*> operands);
[[nodiscard]] spec::DType result_type(std::span<const Tensor* const> tensors);

// The dtype in which ops that have no integer form compute: float32 for integers and bool.
[[nodiscard]] spec::DType to_floating(spec::DType dtype);

}  // namespace graphgate::optimized
