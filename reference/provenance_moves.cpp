// Which ops move elements, compute them place by place, or leave bytes unwritten.
#include <algorithm>

#include "reference/provenance_ops.h"
#include "spec/op_table.h"
#include "spec/provenance.h"

namespace graphgate::reference {
namespace {

// By name.
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

static_assert(std::is_sorted(std::begin(kMoves), std::end(kMoves),
                             [](const Moves& a, const Moves& b) {
                               return a.base_name < b.base_name;
                             }));

constexpr std::string_view kUnwritten[] = {"aten.empty",          "aten.empty_like",
                                           "aten.empty_permuted", "aten.empty_strided",
                                           "aten.new_empty",      "aten.new_empty_strided"};

// "aten.add" for add, add_ and add.out.
std::string base_of(const spec::OpRow& row) { return row.schema.ns + "." + row.schema.base_name(); }

const Moves* find_moves(const spec::OpRow& row, const std::string& base) {
  const auto* moves = std::lower_bound(
      std::begin(kMoves), std::end(kMoves), base,
      [](const Moves& known, const std::string& name) { return known.base_name < name; });
  if (moves == std::end(kMoves) || moves->base_name != base) return nullptr;
  // A copy of a view of another dtype moves bytes.
  const bool reinterprets = row.schema.name == "view_copy" && row.schema.overload == "dtype";
  if (reinterprets) return nullptr;
  if (!row.schema.find_argument(moves->first) || row.schema.find_argument("reduce")) return nullptr;
  return moves;
}

// The tag, on the op or on the functional form of an in-place one, where PyTorch left it out.
bool is_pointwise(const spec::OpRow& row) {
  if (row.has_tag("pointwise")) return true;
  const std::string name = row.schema.base_name();
  if (name == row.schema.name) return false;
  spec::OpSchema functional = row.schema;
  functional.name = name;
  const spec::OpRow* twin = spec::builtin_op_table().find(functional.qualified_name());
  return twin && twin->has_tag("pointwise");
}

}  // namespace

WordRule::WordRule(const spec::OpRow& row) : op(row.schema.qualified_name()) {
  const std::string name = base_of(row);
  base = spec::mix_provenance(0, name);
  moves = find_moves(row, name);
  adds = row.schema.find_argument("accumulate");
  is_pointwise = reference::is_pointwise(row);
  leaves_unwritten =
      std::find(std::begin(kUnwritten), std::end(kUnwritten), name) != std::end(kUnwritten);
  moves_geometry = row.has_tag("inplace_view");
  // Integers plus 0, minus 0 and times 1 are what they were.
  const bool is_sum = name == "aten.add" || name == "aten.sub";
  if (is_sum || name == "aten.mul") other = row.schema.find_argument("other");
  neutral = is_sum ? 0 : 1;
}

bool WordRule::moves_words(const std::vector<Datum>& arguments) const {
  const auto* is_sum = adds ? arguments[*adds].as<bool>() : nullptr;
  return moves && (!is_sum || !*is_sum);
}

}  // namespace graphgate::reference
