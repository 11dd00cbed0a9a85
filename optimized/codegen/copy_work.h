// Copies, conversions and fills as pointwise works.
#pragma once

#include <array>

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// What copy_launch does: bytes as they are between equal dtypes, else converted.
[[nodiscard]] PointwiseWork copy_work(const Tensor& target, const Tensor& source);
// Whether a work moves bytes as they are.
[[nodiscard]] bool is_copy(const PointwiseWork& work);
// A copy as numbers of a dtype with as many bytes: the same bytes wherever they came from a number
// of that dtype. NaNs of any other origin may change.
[[nodiscard]] PointwiseWork copy_of_numbers(PointwiseWork copy, spec::DType dtype);
// `element` (the bytes of one, of the target's dtype) everywhere in `target`.
[[nodiscard]] PointwiseWork fill_work(const Tensor& target,
                                      const std::array<std::byte, 8>& element);

// result[i] = function(i), for a result of one dimension; `function` is a callable of elements.h
// that gives the compute type of the result's dtype, or a wider one.
[[nodiscard]] TextWork sequence_text(const Tensor& result, const std::string& function);

// `result`, of one dimension, goes from `first` to `last` (element::linear_step), in double or in
// float; they are truncated where `is_whole`. Tensors have one element.
[[nodiscard]] TextWork linear_steps_text(const Tensor& result, bool in_double, bool is_whole,
                                         const DeviceOperand& first, const DeviceOperand& last);

// Rows i of matrices (the last two dimensions) keep columns [0, i + diagonal] of self (lower), or
// [i + diagonal, end) (upper); the others become zeros. Bytes move as they are.
[[nodiscard]] TextWork triangle_text(const Tensor& result, const Tensor& self,
                                     std::int64_t diagonal, bool is_lower);

}  // namespace graphgate::optimized
