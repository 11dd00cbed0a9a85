// The layout of a tile: where a fused group keeps what one tile needs, and what it copies.
//
//   memory    x [ row 0 | row 1 | row 2 | row 3 | ... ]      y [ ... ]      w [ the same for all ]
//                 load │ (a tile of rows)                     ^ store           read in place
//   scratch   [ x tile ]─mul─>[ inner tile ]─add─>[ y tile ]──┘
//
// Kernels bake addresses, so that the nodes of a group are bound once, to tiles in scratch memory,
// and rows are copied there and back. A tensor that is the same for all rows, and that no node of
// the group writes, is read where it is. What a storage that the group writes holds in one row
// stays together, so that views of it see each other's writes.
//
// In a tile everything is read before anything is written to memory, and tiles do not touch each
// other's rows. So a result may lie over the bytes of an operand that has the same rows at the same
// places.
//
// The same calls always give the same layout: the compiler asks for the scratch bytes, the runtime
// (runtime/host/fused_launch.h) for the places.
#pragma once

#include <functional>

#include "optimized/schedule/fuse_rows.h"

namespace graphgate::optimized {

// The bytes that a tile of the widest tensor has, about. Tiles of a chain stay in the second-level
// cache, and are long enough for what a launch costs.
inline constexpr std::int64_t kTileBytes = 16384;
// Of all tensors together, about.
inline constexpr std::int64_t kTileGroupBytes = 262144;

// A tensor of the group as nodes see it.
struct TilePlace {
  Tensor tensor;  // all rows
  RowForm form;
  bool in_place = false;           // read where it is
  std::int64_t scratch_bytes = 0;  // offset in scratch of what `tile.offset` counts from
  Tensor tile;                     // with `tile_rows` rows, without an address
  std::int64_t pitch = 0;          // of rows in scratch, in elements
};

struct TileLoad {
  std::size_t place = 0;
  std::size_t before_call = 0;
};

struct TileLayout {
  std::int64_t rows = 1;
  std::int64_t tile_rows = 1;
  std::vector<TilePlace> places;
  std::vector<std::vector<std::size_t>> of_calls;  // places of each call's tensors, results last
  std::vector<TileLoad> loads;                     // by call
  std::vector<std::size_t> stores;                 // places, behind the last call
  std::int64_t kernel_workspace = 0;  // where the scratch bytes of the nodes themselves begin
  std::int64_t scratch_bytes = 0;     // all of it; aligned to 64
};

// `is_inner` tells storages that have no memory. The calls must have rows in common
// (possible_rows), and storages that they write must fit (RowUnion); a CHECK otherwise.
[[nodiscard]] TileLayout lay_out_tile(std::span<const TileCall> calls,
                                      const std::function<bool(StorageIndex)>& is_inner);
// Its `scratch_bytes`, for less.
[[nodiscard]] std::int64_t tile_scratch_bytes(std::span<const TileCall> calls,
                                              const std::function<bool(StorageIndex)>& is_inner);

// The call with its tensors replaced, one for each, arguments first.
[[nodiscard]] TileCall replace_tensors(const TileCall& call, std::vector<Tensor> tensors);
// Its arguments alone.
[[nodiscard]] std::vector<Item> replace_operands(const TileCall& call,
                                                 std::vector<Tensor> operands);

// The tensors that a call writes: results, and arguments that the op writes.
using WrittenTensors = SmallVector<const Tensor*, 4>;
[[nodiscard]] WrittenTensors written_by(const TileCall& call);
[[nodiscard]] bool is_pointwise(const TileCall& call);

// What one storage has in a row, over several tensors.
class RowUnion {
 public:
  // False, and unchanged, where the tensor does not go row by row with those before it.
  bool add(const FormedTensor& formed, std::int64_t rows);
  [[nodiscard]] ByteRange range() const { return range_; }
  [[nodiscard]] std::int64_t item_bytes() const { return item_bytes_; }

 private:
  std::int64_t item_bytes_ = 0;  // 0: empty
  std::int64_t pitch_bytes_ = 0;
  ByteRange range_;
};

}  // namespace graphgate::optimized
