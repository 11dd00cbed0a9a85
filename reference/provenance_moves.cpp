// Which ops move elements, and which leave bytes unwritten.
#include <algorithm>

#include "reference/provenance_ops.h"

namespace graphgate::reference {
namespace {

constexpr Moves kMoves[] = {
    {"aten._reshape_copy", "self"},
    {"aten._to_copy", "self"},
    {"aten._unsafe_view", "self"},
    {"aten.alias_copy", "self"},
    {"aten.as_strided_copy", "self"},
    {"aten.as_strided_scatter", "self", "src"},
    {"aten.block_diag", "tensors"},
    {"aten.cat", "tensors"},
    {"aten.clone", "self"},
    {"aten.constant_pad_nd", "self"},
    {"aten.contiguous", "self"},
    {"aten.copy", "self", "src"},
    {"aten.detach_copy", "self"},
    {"aten.diag_embed", "self"},
    {"aten.diagonal_copy", "self"},
    {"aten.diagonal_scatter", "self", "src"},
    {"aten.embedding", "weight"},
    {"aten.expand_copy", "self"},
    {"aten.flatten", "self"},
    {"aten.flip", "self"},
    {"aten.gather", "self"},
    {"aten.index", "self"},
    {"aten.index_copy", "self", "source"},
    {"aten.index_fill", "self", "value"},
    {"aten.index_put", "self", "values"},
    {"aten.index_select", "self"},
    {"aten.lift_fresh_copy", "self"},
    {"aten.masked_scatter", "self", "source"},
    {"aten.masked_select", "self"},
    {"aten.narrow_copy", "self"},
    {"aten.pad", "self"},
    {"aten.permute_copy", "self"},
    {"aten.put", "self", "source"},
    {"aten.reflection_pad1d", "self"},
    {"aten.reflection_pad2d", "self"},
    {"aten.reflection_pad3d", "self"},
    {"aten.repeat", "self"},
    {"aten.repeat_interleave", "self"},
    {"aten.replication_pad1d", "self"},
    {"aten.replication_pad2d", "self"},
    {"aten.replication_pad3d", "self"},
    {"aten.reshape", "self"},
    {"aten.roll", "self"},
    {"aten.rot90", "self"},
    {"aten.scatter", "self", "src"},
    {"aten.select_copy", "self"},
    {"aten.select_scatter", "self", "src"},
    {"aten.slice_copy", "self"},
    {"aten.slice_scatter", "self", "src"},
    {"aten.split_copy", "self"},
    {"aten.split_with_sizes_copy", "self"},
    {"aten.squeeze_copy", "self"},
    {"aten.stack", "tensors"},
    {"aten.t_copy", "self"},
    {"aten.take", "self"},
    {"aten.to", "self", "other"},
    {"aten.transpose_copy", "self"},
    {"aten.tril", "self"},
    {"aten.triu", "self"},
    {"aten.type_as", "self", "other"},
    {"aten.unbind_copy", "self"},
    {"aten.unfold_copy", "self"},
    {"aten.unsafe_split", "self"},
    {"aten.unsqueeze_copy", "self"},
    {"aten.view_copy", "self"},
    {"graphgate.clone_preserve_strides", "self"},
};

}  // namespace

std::string base_of(const spec::OpRow& row) { return row.schema.ns + "." + row.schema.base_name(); }

const Moves* find_moves(const spec::OpRow& row) {
  const std::string name = base_of(row);
  const auto* found = std::find_if(std::begin(kMoves), std::end(kMoves),
                                   [&](const Moves& moves) { return moves.base_name == name; });
  return found == std::end(kMoves) ? nullptr : found;
}

bool moves_words(const spec::OpRow& row, const std::vector<Datum>& arguments) {
  const Moves* moves = find_moves(row);
  // A copy of a view of another dtype moves bytes.
  const bool reinterprets = row.schema.name == "view_copy" && row.schema.overload == "dtype";
  if (!moves || reinterprets) return false;
  if (!row.schema.find_argument(moves->first)) return false;
  if (row.schema.find_argument("reduce")) return false;
  const auto accumulate = row.schema.find_argument("accumulate");
  const auto* adds = accumulate ? arguments[*accumulate].as<bool>() : nullptr;
  return !adds || !*adds;
}

bool leaves_unwritten(const spec::OpRow& row) {
  constexpr std::string_view kNames[] = {"aten.empty",          "aten.empty_like",
                                         "aten.empty_permuted", "aten.empty_strided",
                                         "aten.new_empty",      "aten.new_empty_strided"};
  return std::find(std::begin(kNames), std::end(kNames), base_of(row)) != std::end(kNames);
}

}  // namespace graphgate::reference
