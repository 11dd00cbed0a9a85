// Which values of a graph may lie in one storage, as the ops' schemas and rows say.
//
// Used by who asks what a write may show in: written_together.cpp, tap_nodes.cpp, idle_nodes.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::conformance {

// A functionalized op: it writes copies, and all its results are new.
[[nodiscard]] bool is_functionalized(const spec::Node& node);

class StorageGroups {
 public:
  // Every value lies alone.
  StorageGroups(const spec::Graph& graph, const spec::OpTable& ops);

  void join(spec::ValueId a, spec::ValueId b) { parent_[root(a.index)] = root(b.index); }
  // Results that may share the storage of an operand do so from here on. Of ops without a row
  // (conditionals) all may.
  void join(const spec::Node& node);

  [[nodiscard]] bool may_share(spec::ValueId a, spec::ValueId b) {
    return group_of(a) == group_of(b);
  }
  // The index of a value that stands for all of the group, until the next join.
  [[nodiscard]] std::uint32_t group_of(spec::ValueId id) { return root(id.index); }
  // Whether a result of the node may share the storage of what it is given under the name.
  [[nodiscard]] bool may_share(const spec::Node& node, std::size_t result,
                               std::string_view argument) const;

 private:
  std::uint32_t root(std::uint32_t i);

  const spec::OpTable& ops_;
  std::vector<std::uint32_t> parent_;  // per value: another of its group, or itself
};

}  // namespace graphgate::conformance
