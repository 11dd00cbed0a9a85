// Indexing that a mask switches off, and that is never out of range: _unsafe_masked_index, of the
// indexing family, and its gradient, of region_scatter, whose tables name these functions.
//
// Indices are brought into [-size, size - 1]. Where the mask is zero the one gives `fill`, the
// other adds nothing.
#pragma once

#include "optimized/kernel.h"

namespace graphgate::optimized {

void infer_masked_index(Inference& call);
[[nodiscard]] Launch bind_masked_index(const Binding& call);

void infer_masked_index_put(Inference& call);
[[nodiscard]] Launch bind_masked_index_put(const Binding& call);

}  // namespace graphgate::optimized
