// Rows: how a fused group is cut into tiles.
//
// The nodes of a group run tile by tile. A tile is some of the group's `rows`, which are the
// leading dimensions of every result, flattened. What one row of a result needs is one row of each
// operand (it walks with the rows at a constant pitch), or the same for all rows (broadcast).
//
//   add   [B, S, H] + [H]         3 leading dims may be rows: 1, B, B*S or B*S*H of them
//   mean  [B, S, H] over H        2: 1, B or B*S
//   view  [B*S, H] of it          the same memory in B*S rows
//
// Fewer rows are always possible where more are. A group takes the most that all its nodes allow.
//
// schedule/fuse_groups.h asks when it builds groups, schedule/fuse_layout.h when a tile is laid
// out, at compile time and again when a step is bound. Only geometry is looked at, never bytes.
#pragma once

#include <optional>
#include <span>

#include "optimized/kernel.h"
#include "spec/op_table.h"

namespace graphgate::optimized {

// One node of a group. Tensors in `arguments` and `results` (lists unpacked) name their storages;
// those that share one share bytes.
struct TileCall {
  const spec::OpRow* row = nullptr;
  const Kernel* kernel = nullptr;
  std::vector<Item> arguments;  // one per argument of the schema
  std::vector<Tensor> results;
  // SizedNode::is_elementwise. Tiles of such a call are such calls: nobody need ask the kernel.
  bool is_elementwise = false;
};

// How a tensor goes with the rows: row r begins `pitch` elements behind row r - 1; 0: it is the
// same for all of them. `lead` of its own dimensions are rows.
struct RowForm {
  std::int64_t pitch = 0;
  std::int64_t lead = 0;
  // Bytes [begin, end) of its storage that row 0 takes.
  ByteRange first_row;
};

// What a call's rows can be: ascending, from 1. Empty for a call that can never be in a group.
using RowCounts = SmallVector<std::int64_t, 6>;
[[nodiscard]] RowCounts possible_rows(const TileCall& call, bool is_pointwise);

[[nodiscard]] RowCounts rows_of_both(const RowCounts& a, const RowCounts& b);

// The tensors of a call, arguments first, each with its form at `rows`, one of possible_rows().
struct FormedTensor {
  const Tensor* tensor = nullptr;
  RowForm form;
};
[[nodiscard]] std::vector<FormedTensor> forms_at(const TileCall& call, bool is_pointwise,
                                                 std::int64_t rows);

// The tensor with `tile_rows` rows instead of all. A pitch of its own takes the place of
// `form.pitch`; storage, offset and inner strides stay.
[[nodiscard]] Tensor tile_of(Tensor tensor, const RowForm& form, std::int64_t rows,
                             std::int64_t tile_rows, std::int64_t pitch);
// Its sizes.
[[nodiscard]] Sizes tile_sizes(const Tensor& tensor, const RowForm& form, std::int64_t rows,
                               std::int64_t tile_rows);

// Whether an op computes every element of its result from the elements at the same place: what the
// op table tags `pointwise`, in any spelling of it, and copies and casts.
[[nodiscard]] bool is_pointwise(const spec::OpRow& row, const Kernel& kernel);
// Whether it computes rows on their own: reductions and norms over inner dimensions.
[[nodiscard]] bool is_row_op(const Kernel& kernel);
// Whether it adds into places that it reads from a tensor.
[[nodiscard]] bool is_scatter(const Kernel& kernel);

}  // namespace graphgate::optimized
