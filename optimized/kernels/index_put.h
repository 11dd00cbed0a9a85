// Writing through an index list: the kernel of index_put, in the family of region_scatter.cpp.
#pragma once

#include "optimized/kernel.h"

namespace graphgate::optimized {

void infer_index_put(Inference& call);
[[nodiscard]] Launch bind_index_put(const Binding& call);

}  // namespace graphgate::optimized
