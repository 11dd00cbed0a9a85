// Which values may share a storage, and who reads and writes each storage, in a graph whose sizes
// are not known.
//
// Used by: every pass that moves a read or a write, or drops a storage. The sets follow from
// the schemas alone (what a return may alias, declared or not), so they are too large rather than
// too small: `reshape` may copy, and counts as a view. Operands and results of conditionals and of
// ops that the table lacks are one set, read and written.
//
//   %v = view(%x); add_(%v, 1); %y = relu(%x)     set {x, v}: written by add_, read by relu
//
// Ops that only make views read nothing: whoever reads the view does. Ops that make a number of an
// element read it. Built in near-linear time; a pass that unites sets as it goes keeps the
// structure valid with unite().
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "optimized/passes/pass.h"

namespace graphgate::optimized {

// One operand of one node. Accesses of a set stand in the order of nodes.
struct AliasAccess {
  std::uint32_t node = 0;  // index into Graph::nodes
  spec::ValueId value;
  bool reads = false;
  bool writes = false;
};

// The sets alone.
class StorageSets {
 public:
  StorageSets(const spec::Graph& graph, PassContext& context);

  // The set of a value: equal for values that may share a storage.
  [[nodiscard]] std::uint32_t set_of(spec::ValueId id) const { return root(id.index); }
  [[nodiscard]] bool may_alias(spec::ValueId a, spec::ValueId b) const {
    return set_of(a) == set_of(b);
  }

 protected:
  [[nodiscard]] std::uint32_t root(std::uint32_t value) const;
  void join(spec::ValueId a, spec::ValueId b);

  std::vector<const spec::OpRow*> rows_;  // of the nodes; null for ops that nobody knows

 private:
  void join_by_schema(const spec::Node& node, const spec::OpRow& row);

  mutable std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> sizes_;
};

// The sets with what nodes do to them.
class AliasSets : public StorageSets {
 public:
  // The graph outlives the sets, and keeps the values that it has now.
  AliasSets(const spec::Graph& graph, PassContext& context);

  [[nodiscard]] const std::vector<AliasAccess>& accesses(spec::ValueId id) const;
  [[nodiscard]] bool is_written(spec::ValueId id) const;  // by any node
  // A member is an input of the graph, so that bytes come from and go to the outside.
  [[nodiscard]] bool holds_input(spec::ValueId id) const;
  [[nodiscard]] bool holds_output(spec::ValueId id) const;
  // Some node changes the geometry of a member in place (squeeze_): types tell nothing.
  [[nodiscard]] bool is_reshaped(spec::ValueId id) const;

  // Whether a node in (after, before) other than those that `ignores` names accesses the set; only
  // writes count when `writes_only`. `ignores(node)` -> bool.
  template <class Ignores>
  [[nodiscard]] bool is_accessed_between(spec::ValueId id, std::uint32_t after,
                                         std::uint32_t before, bool writes_only,
                                         Ignores&& ignores) const;

  // Makes one set of two: b now stands for a's storage. Where the two do not declare one geometry,
  // declared offsets mean nothing in the set from then on.
  void unite(spec::ValueId a, spec::ValueId b);

  // Whether two values of one set may share an element, by their declared types: false only for
  // constant geometries whose byte ranges are apart.
  [[nodiscard]] bool may_overlap(spec::ValueId a, spec::ValueId b) const;

 private:
  struct Set {
    std::vector<AliasAccess> accesses;
    bool is_written = false;
    bool holds_input = false;
    bool holds_output = false;
    bool is_reshaped = false;
    bool has_mixed_offsets = false;
  };

  void add_accesses(std::uint32_t index, const spec::Node& node, const spec::OpRow* row,
                    PassContext& context);
  void add_access(const AliasAccess& access);

  const spec::Graph* graph_;
  std::vector<Set> sets_;  // by root
};

// The index of a named argument in the schema, or nothing.
[[nodiscard]] std::optional<std::size_t> schema_index(const spec::OpRow& row,
                                                      const spec::NamedArgument& named);

template <class Ignores>
bool AliasSets::is_accessed_between(spec::ValueId id, std::uint32_t after, std::uint32_t before,
                                    bool writes_only, Ignores&& ignores) const {
  const std::vector<AliasAccess>& all = accesses(id);
  auto at = std::partition_point(all.begin(), all.end(),
                                 [&](const AliasAccess& access) { return access.node <= after; });
  for (; at != all.end() && at->node < before; ++at) {
    if ((at->writes || !writes_only) && !ignores(at->node)) return true;
  }
  return false;
}

}  // namespace graphgate::optimized
