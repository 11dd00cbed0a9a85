// What pattern fusions have in common: walking from a node to its operands, and the question
// whether nodes may run at another place.
//
// A fusion puts one node in the place of several. Inner values, which nobody else reads, disappear;
// what the nodes read from outside is now read at the place of the new node. That is right only
// when no other node writes the storage in between (catalogue M20).
#pragma once

#include <initializer_list>

#include "optimized/passes/alias_sets.h"
#include "optimized/passes/graph_index.h"
#include "optimized/passes/row_major.h"

namespace graphgate::optimized {

// Whether the node is one of them.
[[nodiscard]] bool contains(const std::vector<std::uint32_t>& nodes, std::uint32_t n);

// One graph while patterns are looked for in it. Matches do not overlap: nodes of a match are
// taken. The graph's nodes change only in apply().
class Matcher {
 public:
  Matcher(spec::Graph& graph, PassContext& context);

  [[nodiscard]] const spec::Graph& graph() const { return graph_; }
  [[nodiscard]] PassContext& context() const { return context_; }
  // Made when they are first asked for: most graphs hold no pattern.
  [[nodiscard]] const AliasSets& aliases() const;
  [[nodiscard]] const GraphIndex& index() const;
  [[nodiscard]] const RowMajor& row_major() const;
  [[nodiscard]] const spec::Node& node(std::uint32_t n) const { return graph_.nodes[n]; }
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(graph_.nodes.size());
  }

  // Whether the node is of the family ("aten.add": functional or in-place, any overload) and not
  // taken.
  [[nodiscard]] bool is(std::uint32_t n, std::string_view family) const;
  [[nodiscard]] bool is_in_place(std::uint32_t n) const;
  // The node of that family which makes the value.
  [[nodiscard]] std::optional<std::uint32_t> maker(std::optional<spec::ValueId> id,
                                                   std::string_view family) const;
  // A cast (to.*, _to_copy) that changes at most the dtype, and what it casts.
  [[nodiscard]] std::optional<std::uint32_t> cast(std::optional<spec::ValueId> id) const;
  // Every reader of the value is among these nodes, and it is no output.
  [[nodiscard]] bool is_only_read_by(spec::ValueId id,
                                     std::initializer_list<std::uint32_t> nodes) const;
  // Its one reader; nothing where there are several, none, or it is an output.
  [[nodiscard]] std::optional<std::uint32_t> only_reader(spec::ValueId id) const;

  // What the graph declares; nothing where it declares none.
  [[nodiscard]] std::optional<spec::DType> dtype(spec::ValueId id) const;
  [[nodiscard]] bool has_sizes_of(spec::ValueId a, spec::ValueId b) const;
  [[nodiscard]] bool is_made_before(spec::ValueId id, std::uint32_t node) const;
  // The two operands of a commutative node, as (self, other): nothing for numbers.
  [[nodiscard]] std::optional<std::pair<spec::ValueId, spec::ValueId>> operands(
      std::uint32_t n) const;

  // Whether what is read of the value at node `from` may as well be read at node `to`: no node but
  // `matched` writes its storage between the two. Here alone kMatchesAcrossMutations is asked for.
  [[nodiscard]] bool may_read_at(spec::ValueId id, std::uint32_t from, std::uint32_t to,
                                 const std::vector<std::uint32_t>& matched) const;
  // Whether nodes of the match that write in place write nothing but values of the match: the
  // storages belong to nobody else from the first node to the last.
  [[nodiscard]] bool writes_stay_inside(const std::vector<std::uint32_t>& matched) const;

  // `matched` go, but for `kept`, and `replacement` stands before node `at`.
  void take(const std::vector<std::uint32_t>& matched, std::uint32_t at, spec::Node replacement);
  void remove(std::uint32_t n);
  void apply() { edit_.apply(graph_); }

  // For the few rewrites that change nodes which stay.
  [[nodiscard]] spec::Graph& mutable_graph() { return graph_; }

 private:
  spec::Graph& graph_;
  PassContext& context_;
  mutable std::optional<GraphIndex> index_;
  mutable std::optional<AliasSets> aliases_;
  mutable std::optional<RowMajor> row_major_;
  Edit edit_;
};

// A node of one of our own ops.
[[nodiscard]] spec::Node fused_node(std::string name, std::string op,
                                    std::vector<spec::NamedArgument> arguments,
                                    const std::vector<spec::ValueId>& results);

}  // namespace graphgate::optimized
