// What stands behind a kernel that makes a tensor of rows and columns: works that go on with the
// elements that its threads have.
//
//   qkv = x @ w          a thread has column c of the left half of a head, and of the right half
//   turned = rotate(qkv[:, :heads])
//   keys[position] = turned[:, queries:]
#pragma once

#include <optional>
#include <span>

#include "optimized/codegen/pointwise_text.h"
#include "optimized/codegen/touched.h"

namespace graphgate::optimized {

// A group, or a write of what the kernel makes into cells.
struct WorkBehind {
  std::optional<PointwiseGroup> group;
  std::vector<bool> is_stored;  // per work of the group: its result has to be in memory
  std::shared_ptr<const CellsWrite> cells;
  Touched touched;
};

// The columns that a thread has together, one of each band: column c of band b is column
// c / run * run * count + b * run + c % run of the tensor.
struct Bands {
  std::int64_t count = 1;
  std::int64_t run = 1;
};
// Those that some of the works may go on with; at least one.
[[nodiscard]] std::vector<Bands> bands_for(const Tensor& result,
                                           std::span<const WorkBehind> behind);

struct PointwiseEpilogue {
  // A callable: function.operator()<count>(row, column, given) takes `count` neighbouring elements
  // of each band, const float (&given)[bands][count]; it puts them into memory, rounded, and then
  // what the works make of them. `count` is at most `width` and divides `column`.
  std::string function;
  std::int64_t width = 1;            // 1, 2 or 4, and divides the run
  std::vector<std::byte*> pointers;  // p0, p1...
  std::vector<DeviceAccess> accesses;
  std::string what;
  bool reports_faults = false;
};
// `result`: [rows, columns] of a 16-bit dtype, columns next to each other. Nothing where a work
// does not go on with what the kernel has.
[[nodiscard]] std::optional<PointwiseEpilogue> epilogue_of(const Tensor& result, const Bands& bands,
                                                           std::span<const WorkBehind> behind);

}  // namespace graphgate::optimized
