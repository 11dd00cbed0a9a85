// What ops that write parts of a tensor share: the tensor they write, and how it becomes a result.
//
// The functional form writes a copy of self, the in-place form self itself: elements that are not
// written keep their bytes and marks either way.
#pragma once

#include "reference/call.h"

namespace graphgate::reference {

// Self in the in-place form; else a copy of it with these strides. Throws Undecidable where what
// the op writes shares bytes with what it reads.
[[nodiscard]] TensorRef written_tensor(const Call& call, Sizes strides);
// The next result is what written_tensor() gave.
void emit_written(Call& call, const TensorRef& written);

// Throws OpError unless the dtypes are equal.
void check_same_dtype(const Tensor& self, const Tensor& source);

// A tensor of one element, of self's dtype and without dimensions, from a number or such a tensor.
[[nodiscard]] TensorRef value_tensor(Mode mode, const Tensor& self, const Datum& value);

}  // namespace graphgate::reference
