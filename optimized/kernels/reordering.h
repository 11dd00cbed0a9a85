// flip, rot90 and roll, of the joining family, which lists these functions in its table; and what
// they share with cat and stack.
//
// A flip is one copy from a view with negative strides, a quarter turn a flip and a transposition.
// A roll by n dimensions copies up to 2^n blocks.
#pragma once

#include <span>

#include "optimized/kernel.h"

namespace graphgate::optimized {

void infer_flip(Inference& call);
[[nodiscard]] Launch bind_flip(const Binding& call);
void infer_rot90(Inference& call);
[[nodiscard]] Launch bind_rot90(const Binding& call);
void infer_roll(Inference& call);
[[nodiscard]] Launch bind_roll(const Binding& call);

// The format of tensors that are joined: channels_last where each of them suggests it, else
// row-major. There is at least one.
[[nodiscard]] spec::MemoryFormat common_format(std::span<const Tensor* const> tensors);

}  // namespace graphgate::optimized
