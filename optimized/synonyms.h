// Ops that are other ops under a further name: "aten.absolute" is "aten.abs".
#pragma once

#include <span>
#include <string_view>

namespace graphgate::optimized {

// Base names: what does the work of `name` does that of `op`.
struct SameOp {
  std::string_view name;
  std::string_view op;
};
[[nodiscard]] std::span<const SameOp> same_ops();

// Adds the further names to a map of base names: each stands for what its op has.
template <class Table>
void add_same_ops(Table& table) {
  using Key = typename Table::key_type;
  for (const SameOp& same : same_ops()) {
    const auto found = table.find(Key(same.op));
    if (found != table.end()) table.emplace(Key(same.name), found->second);
  }
}

}  // namespace graphgate::optimized
