// Gathers and scatters as kernels: what kernels/indexed_loop.h and accumulation.h do, on a device.
//
// Where two elements go to one cell, a thread alone takes both, in the frame's row-major order. It
// goes over the dimensions along which cells may meet, and the others are shared out among threads.
//
// An index out of range is not followed: the first thread that meets one says so in the program's
// fault record (prelude.cuh), and whoever runs the program throws what the host would have thrown.
#pragma once

#include <memory>

#include "optimized/codegen/work.h"
#include "optimized/geometry/indexed_cells.h"

namespace graphgate::optimized {

// others[0] = cells.
[[nodiscard]] TextWork read_cells_text(const IndexedCells& parts, std::int64_t item_bytes);
// cells = others[0].
[[nodiscard]] TextWork write_cells_text(const IndexedCells& parts, std::int64_t item_bytes);
// cells = the element whose bytes these are.
[[nodiscard]] TextWork fill_cells_text(const IndexedCells& parts, std::int64_t item_bytes,
                                       const std::array<std::byte, 8>& element);

// Elements of a tensor on their way into cells, each into one of its own. The code that makes the
// elements may put them there at once, and need not wait until all of them are made.
class CellsWrite {
 public:
  // cells = others[0]; null where two elements may meet in a cell, or one goes into several.
  [[nodiscard]] static std::shared_ptr<const CellsWrite> of(const IndexedCells& parts);

  [[nodiscard]] const Tensor& source() const { return parts_.others.front(); }
  // What it touches beside its source: cells and indices, in the order of its pointers.
  [[nodiscard]] std::vector<DeviceAccess> accesses() const;
  // How many elements, of 1, 2 or 4 and at most `most`, that lie next to each other in the source,
  // the first at a multiple of their bytes, lie so in the cells.
  [[nodiscard]] std::int64_t neighbours(std::int64_t most) const;
  // Statements for the element at `offset`, an expression: bytes behind the first one of the
  // source; nothing happens where the source has none. `store` puts the element to the address
  // `cell`. The pointers are p{first_pointer} and the following ones; the fault record is `fault`.
  [[nodiscard]] std::string text(const std::string& offset, const std::string& store,
                                 std::size_t first_pointer) const;

 private:
  explicit CellsWrite(const IndexedCells& parts) : parts_(parts) {}

  IndexedCells parts_;
};

// cell = function(cell, x) in the compute type of the cells' dtype, where x is others[0] times
// `number`, or `number` where there are no others.
struct CellCombination {
  std::string function;  // a callable of elements.h
  spec::DType dtype = spec::DType::kFloat32;
  std::uint64_t number = 0;  // its bits, in the compute type
};
[[nodiscard]] TextWork combine_cells_text(const IndexedCells& parts,
                                          const CellCombination& combination);

}  // namespace graphgate::optimized
