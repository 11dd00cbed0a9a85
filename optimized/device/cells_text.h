// Gathers and scatters as kernels: what kernels/indexed_loop.h does, on a device.
//
// An index out of range is not followed: the first thread that meets one says so in the program's
// fault record (prelude.cuh), and whoever runs the program throws what the host would have thrown.
#pragma once

#include "optimized/device/work.h"
#include "optimized/kernels/indexed_loop.h"

namespace graphgate::optimized {

// others[0] = cells.
[[nodiscard]] TextWork read_cells_text(const IndexedLoop::Parts& parts, std::int64_t item_bytes);
// cells = others[0], in the frame's row-major order wherever two elements go to one cell: a thread
// goes alone over the dimensions that index tensors move along.
[[nodiscard]] TextWork write_cells_text(const IndexedLoop::Parts& parts, std::int64_t item_bytes);

}  // namespace graphgate::optimized
