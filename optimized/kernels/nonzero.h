// The kernels of the indexing family whose result sizes depend on bytes: nonzero, masked_select and
// repeat_interleave. Where inference has no bytes it ends with needs_data(); a launch checks that
// the bytes still give the inferred sizes, and throws OpError when they do not.
#pragma once

#include "optimized/kernel.h"

namespace graphgate::optimized {

void infer_nonzero(Inference& call);
[[nodiscard]] Launch bind_nonzero(const Binding& call);
// nonzero with a given number of rows: cut, or filled with fill_value.
void infer_nonzero_static(Inference& call);
[[nodiscard]] Launch bind_nonzero_static(const Binding& call);
void infer_masked_select(Inference& call);
[[nodiscard]] Launch bind_masked_select(const Binding& call);
// All three overloads: repeats alone, a tensor with a number, a tensor with a tensor of repeats.
void infer_repeat_interleave(Inference& call);
[[nodiscard]] Launch bind_repeat_interleave(const Binding& call);

}  // namespace graphgate::optimized
