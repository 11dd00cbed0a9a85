// Re-inplacing: a copy or a scatter into a value that dies is a write in place.
//
//   %c = graphgate.clone_preserve_strides(%b); op_(%c)      op_(%b)
//   %y = index_put(%b, i, v)                                %y = index_put_(%b, i, v)
//   %y = slice_scatter(%b, %s, 0, 2, 4)                     copy_(slice(%b, 0, 2, 4), %s); %y is %b
//
// It is right when nobody can tell the base's old contents from its new ones: from the write on,
// nothing reads or writes an overlapping element of the base's storage except through the copy;
// no input, parameter or output of the graph lies in that storage; and the op that writes takes no
// other operand from it (two written arguments of one op, say). After a match the two storages are
// one, so that later candidates see each other's accesses.
#include <algorithm>
#include <unordered_set>

#include "optimized/passes/alias_sets.h"
#include "optimized/passes/graph_index.h"
#include "optimized/passes/row_major.h"
#include "optimized/passes/size_facts.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::Node;
using spec::ValueId;

constexpr std::string_view kClone = "graphgate.clone_preserve_strides.default";

// Ops that overwrite part of `self` and have an in-place form of the same overload.
bool is_scatter(std::string_view family) {
  static const std::unordered_set<std::string_view> kFamilies = {
      "aten.index_put",    "aten.index_copy",     "aten.index_add",   "aten.index_fill",
      "aten.index_reduce", "aten.scatter",        "aten.scatter_add", "aten.scatter_reduce",
      "aten.masked_fill",  "aten.masked_scatter", "aten.put"};
  return kFamilies.contains(family);
}

// The view that a region scatter overwrites, and the arguments that say which.
struct Region {
  std::string_view scatter;
  std::string_view view;
  std::vector<std::string_view> arguments;
};

const Region* find_region(std::string_view op) {
  static const Region kRegions[] = {
      {"aten.slice_scatter.default", "aten.slice.Tensor", {"dim", "start", "end", "step"}},
      {"aten.select_scatter.default", "aten.select.int", {"dim", "index"}},
      {"aten.diagonal_scatter.default", "aten.diagonal.default", {"offset", "dim1", "dim2"}},
      {"aten.as_strided_scatter.default",
       "aten.as_strided.default",
       {"size", "stride", "storage_offset"}},
  };
  for (const Region& region : kRegions) {
    if (region.scatter == op) return &region;
  }
  return nullptr;
}

// "aten.index_put_.default" of "aten.index_put.default".
std::string in_place_name(const spec::OpRow& row) {
  spec::OpSchema schema = row.schema;
  schema.name += '_';
  return schema.qualified_name();
}

class Reinplace {
 public:
  Reinplace(spec::Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        aliases_(graph, context),
        row_major_(graph, context),
        edit_(graph),
        lies_in_a_view_(graph.values.size(), false) {}

  // From the first candidate on.
  void run(std::uint32_t first) {
    const auto count = static_cast<std::uint32_t>(graph_.nodes.size());
    for (std::uint32_t n = first; n < count; ++n) {
      const std::string& op = graph_.nodes[n].op;
      if (op == kClone) {
        drop_clone(n);
      } else if (const Region* region = find_region(op)) {
        write_region(n, *region);
      } else if (is_scatter(family_of_op(op))) {
        write_in_place(n);
      }
    }
    edit_.apply(graph_);
  }

 private:
  void drop_clone(std::uint32_t n) {
    const Node& node = graph_.nodes[n];
    const auto base = value_of(node, "self");
    const ValueId copy = result_of(node);
    if (!base) return;
    // Without a write the copy may stand for the base's contents at any time: it stays.
    const auto write = first_write(copy);
    if (!write || !dies_at(*base, n, *write, copy)) return;
    edit_.remove(n);
    merge(*base, copy);
  }

  void write_in_place(std::uint32_t n) {
    Node& node = graph_.nodes[n];
    const spec::OpRow* row = context_.row(node.op);
    const auto base = value_of(node, "self");
    if (!row || !base) return;
    const std::string name = in_place_name(*row);
    const spec::OpRow* in_place = context_.row(name);
    if (!in_place || !in_place->effects.mutates(0)) return;
    // A functional result is dense in self's order: the same as self only where that is known.
    const ValueId result = result_of(node);
    if (!row_major_(*base) || !has_type_of(result, *base) || !may_stand_for(*base, result)) return;
    if (!dies_at(*base, n, n, result)) return;
    node.op = name;
    merge(*base, result);
    // The in-place form results in its argument: a value of its own, over the same storage.
    node.results.front().values.front() = add_value(graph_, graph_.value(result));
  }

  void write_region(std::uint32_t n, const Region& region) {
    Node& node = graph_.nodes[n];
    const auto base = value_of(node, "self");
    const auto source = value_of(node, "src");
    const ValueId result = result_of(node);
    if (!base || !source || !has_type_of(result, *base)) return;
    const auto& type = graph_.value(*source).type;
    if (!type || type->dtype != graph_.value(*base).type->dtype) return;
    // A region scatter keeps self's strides and offset unless self holds an element twice.
    if (!is_fresh(*base)) return;
    if (!dies_at(*base, n, n, result)) return;
    Node view{node.name + "_region", std::string(region.view), {{"self", {*base}}}, {}};
    for (const std::string_view name : region.arguments) {
      if (const spec::Argument* given = argument_of(node, name)) {
        view.arguments.push_back({std::string(name), *given});
      }
    }
    spec::Value written;
    written.name = graph_.value(result).name;
    const ValueId target = add_value(graph_, written);
    view.results = {{false, {target}}};
    node.op = "aten.copy_.default";
    node.arguments = {{"self", {target}}, {"src", {*source}}};
    node.results = {{false, {add_value(graph_, written)}}};
    edit_.insert(n, std::move(view));
    merge(*base, result);
  }

  void merge(ValueId base, ValueId copy) {
    aliases_.unite(base, copy);
    edit_.replace(copy, base);
    lies_in_a_view_[copy.index] = !is_fresh(base);
    context_.count_match();
  }

  [[nodiscard]] bool has_type_of(ValueId a, ValueId b) const {
    const auto& first = graph_.value(a).type;
    const auto& second = graph_.value(b).type;
    return first && second && first->dtype == second->dtype && first->device == second->device &&
           provably_equal(first->sizes, second->sizes);
  }

  // An output shows where in its storage it lies: a base that is a view may lie elsewhere.
  [[nodiscard]] bool may_stand_for(ValueId base, ValueId result) const {
    return is_fresh(base) || !aliases_.holds_output(result);
  }

  // A storage of its own from its first byte on, and no element twice.
  [[nodiscard]] bool is_fresh(ValueId id) const {
    return row_major_.is_fresh(id) && !lies_in_a_view_[id.index];
  }

  [[nodiscard]] std::optional<std::uint32_t> first_write(ValueId copy) const {
    for (const AliasAccess& access : aliases_.accesses(copy)) {
      if (access.writes) return access.node;
    }
    return std::nullopt;
  }

  // Whether nobody misses the old contents of `base`: `copy` is made of them at node `made` and
  // first written at node `written`.
  [[nodiscard]] bool dies_at(ValueId base, std::uint32_t made, std::uint32_t written,
                             ValueId copy) const {
    if (aliases_.may_alias(base, copy) || aliases_.holds_input(base)) return false;
    if (aliases_.holds_output(base) || aliases_.is_reshaped(base)) return false;
    if (aliases_.is_reshaped(copy)) return false;
    const std::vector<AliasAccess>& accesses = aliases_.accesses(base);
    int looked_at = 0;
    bool has_taken_self = made != written;
    for (auto at = accesses.rbegin(); at != accesses.rend() && at->node >= made; ++at) {
      const AliasAccess& access = *at;
      if (++looked_at > kMaxAccesses) return false;
      if (!has_taken_self && access.node == made && access.value == base && !access.writes) {
        has_taken_self = true;  // the scatter's own `self`
        continue;
      }
      if (access.node == made && made != written) continue;  // the copy itself
      if (access.node < written && !access.writes) continue;
      if (is_other_operand(access, written)) continue;
      if (aliases_.may_overlap(access.value, base)) return false;
    }
    return true;
  }

  // Goes through an operand of the very op that writes the copy, itself or later: no reason to keep
  // the copy for who does not ask whether written operands overlap.
  [[nodiscard]] bool is_other_operand(const AliasAccess& access, std::uint32_t written) const {
    if (!context_.has(Deviation::kReinplacesOverlaps)) return false;
    bool found = false;
    for_each_operand(graph_.nodes[written], [&](ValueId id) { found |= id == access.value; });
    return found;
  }

  static constexpr int kMaxAccesses = 64;  // later ones: the copy stays

  spec::Graph& graph_;
  PassContext& context_;
  AliasSets aliases_;
  RowMajor row_major_;
  Edit edit_;
  std::vector<bool> lies_in_a_view_;  // copies that were merged into views
};

}  // namespace

void reinplace(spec::Graph& graph, PassContext& context) {
  const auto first = std::ranges::find_if(graph.nodes, [](const Node& node) {
    return node.op == kClone || find_region(node.op) != nullptr ||
           is_scatter(family_of_op(node.op));
  });
  if (first == graph.nodes.end()) return;  // as most graphs
  Reinplace(graph, context).run(static_cast<std::uint32_t>(first - graph.nodes.begin()));
}

}  // namespace graphgate::optimized
