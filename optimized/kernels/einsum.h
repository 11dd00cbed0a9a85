// aten.einsum, for the family `contraction`.
#pragma once

#include "optimized/kernel.h"

namespace graphgate::optimized {

// The result of one operand without sums is a view; else a tensor laid out as the last product
// leaves it: batch dimensions, those of the left operand, those of the right, permuted back.
void infer_einsum(Inference& call);
[[nodiscard]] Launch bind_einsum(const Binding& call);

}  // namespace graphgate::optimized
