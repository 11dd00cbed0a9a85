// Loops whose places in one tensor are told by index tensors: gather, scatter, index, index_put,
// embedding, take and their like are all this one loop with another body.
//
// The loop goes over a frame of sizes in row-major order, so that with repeated indices the later
// element always comes later, whatever the strides. The indexed tensor is given at the frame's
// sizes, with stride 0 where an index tensor says the place; what the indices say is added to it.
// Indices are read and checked when the loop runs: one out of range throws OpError before memory is
// touched at its place.
#pragma once

#include <cstring>

#include "optimized/geometry/indexed_cells.h"
#include "optimized/loop.h"

namespace graphgate::optimized {

// The places of a run in the indexed tensor: cell i is `first + i * stride_bytes`, and
// `offsets[i]` further where there are offsets.
struct Cells {
  std::byte* first = nullptr;
  std::int64_t stride_bytes = 0;
  const std::int64_t* offsets = nullptr;

  [[nodiscard]] std::byte* at(std::int64_t i) const {
    return first + i * stride_bytes + (offsets ? offsets[i] : 0);
  }
};

class IndexedLoop {
 public:
  // At most kMaxOthers others.
  explicit IndexedLoop(const IndexedCells& cells);

  static constexpr std::size_t kMaxOthers = 2;

  // Calls visit(const Cells&, std::byte* const* others, const std::int64_t* strides_bytes, n):
  // element i of other tensor t is at others[t] + i * strides_bytes[t].
  template <class Visit>
  void for_each_run(Visit&& visit) const;

 private:
  // The offsets that elements [begin, begin + n) of a run have in the indexed tensor.
  void read_offsets(std::byte* const* indices, const std::int64_t* strides_bytes,
                    std::int64_t begin, std::int64_t n, std::int64_t* offsets) const;

  std::size_t other_count_;
  std::vector<IndexedDim> dims_;
  Loop loop_;
};

// A loop of one tensor's own elements in row-major order, with others beside it.
[[nodiscard]] Loop row_major_loop(const Sizes& frame, std::span<const Tensor* const> tensors);
// A tensor of one byte, never read, that makes a Loop go in row-major order when it stands first.
[[nodiscard]] Tensor order_tensor(const Sizes& frame);

// A word of an element's width, for ops that only move elements.
struct WideWord {
  std::array<std::uint64_t, 2> halves;
};
template <class F>
void with_word(std::int64_t item_bytes, F&& f) {
  switch (item_bytes) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    case 16:
      return f.template operator()<WideWord>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

// Moves the cells out: others[0][i] = cell i. Launches of the reading ops. A device is not told of
// elements of 16 bytes.
[[nodiscard]] Launch read_cells(const DeviceListener* listener, const IndexedCells& cells,
                                std::int64_t item_bytes);
// Moves others[0][i] into cell i, in order. A device is not told of elements of 16 bytes.
[[nodiscard]] Launch write_cells(const DeviceListener* listener, const IndexedCells& cells,
                                 std::int64_t item_bytes);
// Moves one element's bytes into every cell.
[[nodiscard]] Launch fill_cells(const DeviceListener* listener, const IndexedCells& cells,
                                std::int64_t item_bytes, std::array<std::byte, 8> value);

// Index tensors of gather and its like are int64 or int32; OpError otherwise.
void check_index_dtype(const Tensor& index);

template <class Visit>
void IndexedLoop::for_each_run(Visit&& visit) const {
  const std::size_t first_index = 2 + other_count_;
  loop_.for_each_run([&](std::byte* const* at, const std::int64_t* strides, std::int64_t n) {
    const std::int64_t* index_strides = strides + first_index;
    const bool fixed = std::all_of(index_strides, index_strides + dims_.size(),
                                   [](std::int64_t stride) { return stride == 0; });
    std::array<std::int64_t, kTile> offsets;
    if (fixed) {
      read_offsets(at + first_index, index_strides, 0, 1, offsets.data());
      return visit(Cells{at[1] + offsets[0], strides[1], nullptr}, at + 2, strides + 2, n);
    }
    for (std::int64_t begin = 0; begin < n; begin += kTile) {
      const std::int64_t length = std::min<std::int64_t>(kTile, n - begin);
      read_offsets(at + first_index, index_strides, begin, length, offsets.data());
      std::array<std::byte*, kMaxOthers> others{};
      for (std::size_t t = 0; t < other_count_; ++t) {
        others[t] = at[2 + t] + begin * strides[2 + t];
      }
      visit(Cells{at[1] + begin * strides[1], strides[1], offsets.data()}, others.data(),
            strides + 2, length);
    }
  });
}

}  // namespace graphgate::optimized
