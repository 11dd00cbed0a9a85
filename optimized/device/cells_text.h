// Gathers and scatters as kernels: what kernels/indexed_loop.h and accumulation.h do, on a device.
//
// Where two elements go to one cell, a thread alone takes both, in the frame's row-major order: it
// goes over the dimensions along which cells may meet, and the others are shared out among threads.
//
// An index out of range is not followed: the first thread that meets one says so in the program's
// fault record (prelude.cuh), and whoever runs the program throws what the host would have thrown.
#pragma once

#include "optimized/device/work.h"
#include "optimized/kernels/indexed_loop.h"

namespace graphgate::optimized {

// others[0] = cells.
[[nodiscard]] TextWork read_cells_text(const IndexedLoop::Parts& parts, std::int64_t item_bytes);
// cells = others[0].
[[nodiscard]] TextWork write_cells_text(const IndexedLoop::Parts& parts, std::int64_t item_bytes);
// cells = the element whose bytes these are.
[[nodiscard]] TextWork fill_cells_text(const IndexedLoop::Parts& parts, std::int64_t item_bytes,
                                       const std::array<std::byte, 8>& element);

// cell = function(cell, x) in the compute type of the cells' dtype, where x is others[0] times
// `number`, or `number` where there are no others.
struct CellCombination {
  std::string function;  // a callable of elements.h
  spec::DType dtype = spec::DType::kFloat32;
  std::uint64_t number = 0;  // its bits, in the compute type
};
[[nodiscard]] TextWork combine_cells_text(const IndexedLoop::Parts& parts,
                                          const CellCombination& combination);

}  // namespace graphgate::optimized
