// Tables of what there is for ops, by base name ("aten.add"), and how they are asked without making
// that name.
#pragma once

#include <string_view>

#include "base/recent_finds.h"
#include "spec/op_table.h"

namespace graphgate::spec {

// Returns OpSchema::base_name() as a part of the schema's name.
[[nodiscard]] inline std::string_view base_name_of(const OpSchema& schema) {
  const std::string_view name = schema.name;
  const bool ends_in_one_underscore = name.ends_with('_') && !name.ends_with("__");
  const bool writes_first = !schema.arguments.empty() && schema.arguments.front().type.writes();
  return ends_in_one_underscore && writes_first ? name.substr(0, name.size() - 1) : name;
}

// Whether `name` is the schema's namespace, a dot and its base name.
[[nodiscard]] inline bool is_base_name(std::string_view name, const OpSchema& schema) {
  const std::string_view base = base_name_of(schema);
  return name.size() == schema.ns.size() + 1 + base.size() && name.ends_with(base) &&
         name.starts_with(schema.ns) && name[schema.ns.size()] == '.';
}

// Returns what a map by base names holds for a row; null if it holds nothing. `recent` belongs to
// this map and to the running thread.
template <class Table>
[[nodiscard]] const typename Table::mapped_type* find_by_base_name(
    const Table& table, RecentFinds<OpRow, typename Table::value_type>& recent, const OpRow& row) {
  auto& slot = recent.slot_of(&row);
  if (slot.key == &row && is_base_name(slot.found->first, row.schema)) return &slot.found->second;
  const auto found = table.find(row.schema.ns + "." + std::string(base_name_of(row.schema)));
  if (found == table.end()) return nullptr;
  slot = {&row, &*found};
  return &found->second;
}

}  // namespace graphgate::spec
