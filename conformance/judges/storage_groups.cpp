#include "conformance/judges/storage_groups.h"

#include <algorithm>
#include <numeric>

namespace graphgate::conformance {

using spec::Node;
using spec::ValueId;

bool is_functionalized(const Node& node) {
  return node.op.starts_with("higher_order.auto_functionalized");
}

StorageGroups::StorageGroups(const spec::Graph& graph, const spec::OpTable& ops)
    : ops_(ops), parent_(graph.values.size()) {
  std::iota(parent_.begin(), parent_.end(), 0);
}

std::uint32_t StorageGroups::root(std::uint32_t i) {
  while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
  return i;
}

void StorageGroups::join(const Node& node) {
  for (std::size_t r = 0; r < node.results.size(); ++r) {
    for (const spec::NamedArgument& named : node.arguments) {
      if (!may_share(node, r, named.name)) continue;
      spec::for_each_value(named.argument, [&](ValueId from) {
        for (const ValueId id : node.results[r].values) join(id, from);
      });
    }
  }
}

bool StorageGroups::may_share(const Node& node, std::size_t result,
                              std::string_view argument) const {
  if (is_functionalized(node)) return false;
  const spec::OpRow* const row = ops_.find(node.op);
  if (!row || spec::is_python_namespace(row->schema.ns)) return true;  // getitem
  const auto index = row->schema.find_argument(argument);
  if (!index) return false;
  const auto& hidden = row->undeclared_aliases;
  if (std::ranges::find(hidden, argument) != hidden.end()) return true;
  if (result >= row->effects.returns.size()) return false;
  const auto& aliases = row->effects.returns[result].aliases;
  return std::ranges::find(aliases, *index) != aliases.end();
}

}  // namespace graphgate::conformance
