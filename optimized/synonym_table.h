// Further names of ops in tables of what there is for an op.
#pragma once

#include "optimized/synonyms.h"

namespace graphgate::optimized {

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
