// What provenance asks of an op: whether it moves elements, or computes them place by place.
#include "reference/provenance_ops.h"
#include "spec/op_table.h"
#include "spec/provenance.h"

namespace graphgate::reference {
namespace {

// "aten.add" for add, add_ and add.out.
std::string base_of(const spec::OpRow& row) { return row.schema.ns + "." + row.schema.base_name(); }

const Moves* find_moves(const spec::OpRow& row) {
  const OpBody* const op = find_op(row);
  if (op == nullptr || op->moved.first.empty()) return nullptr;
  // A copy of a view of another dtype moves bytes.
  const bool reinterprets = row.schema.name == "view_copy" && row.schema.overload == "dtype";
  if (reinterprets) return nullptr;
  if (!row.schema.find_argument(op->moved.first) || row.schema.find_argument("reduce"))
    return nullptr;
  return &op->moved;
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
  moves = find_moves(row);
  adds = row.schema.find_argument("accumulate");
  is_pointwise = reference::is_pointwise(row);
  const OpBody* const known = find_op(row);
  leaves_unwritten = known != nullptr && known->leaves_unwritten;
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
