// Moving elements between tensors without computing on them.
//
// For the ops whose results are made of their operands' elements (cat, flip, repeat, pad, copies of
// views). An element moves with all that a run knows of it: its bytes (a NaN's payload and the sign
// of a zero too) and, in an oracle run, its mark. So data movement adds no rounding to any radius.
#pragma once

#include <span>

#include "reference/call.h"

namespace graphgate::reference {

// Writes element from[i] of `source` to the i-th element of `target`, in row-major order; -1 leaves
// the target's element as it is. `from` counts elements of the source's storage, as
// element_positions() does. The two have one dtype and must not share memory.
void move_elements(Tensor& target, const Tensor& source, std::span<const std::int64_t> from);

// The same of all elements of `source`, in its row-major order.
void move_all(Tensor& target, const Tensor& source);

// Writes all of `source` into `target`, a tensor of the same sizes, converted to its dtype as copy_
// converts. They must not share memory.
void assign(Mode mode, Tensor& target, const Tensor& source);

// A new tensor with the elements, sizes and dtype of `source`: contiguous, or with `strides`.
[[nodiscard]] TensorRef copy_of(const Tensor& source);
[[nodiscard]] TensorRef copy_of(const Tensor& source, Sizes strides);

// Writes `value` (a number) into every element. Throws OpError when the dtype cannot hold it: as
// Scalar::to does, floating overflow and integers out of range are refused.
void fill(Mode mode, Tensor& target, const Datum& value);

// For a tensor that nobody has written (empty): its zeros stand for anything, and an oracle run
// knows nothing of them.
void leave_open(Mode mode, Tensor& target);

// The next result is `made`, a new tensor: as it is, or written into the argument that the schema
// names as the place of the result (the in-place and out= forms).
void emit_made(Call& call, const TensorRef& made);

// Part of a tensor along one dimension: [start, start + length). Both must lie inside.
[[nodiscard]] TensorRef narrowed(const Tensor& base, std::int64_t dim, std::int64_t start,
                                 std::int64_t length);

}  // namespace graphgate::reference
