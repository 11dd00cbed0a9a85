#include "optimized/passes/alias_sets.h"

#include <numeric>

namespace graphgate::optimized {
namespace {

using spec::Node;
using spec::ValueId;

bool is_storage_kind(const spec::Value& value) {
  return value.kind == spec::ValueKind::kTensor || value.kind == spec::ValueKind::kTensorList;
}

template <class Visit>
void for_each_result(const Node& node, Visit&& visit) {
  for (const spec::NodeResult& result : node.results) {
    for (const ValueId id : result.values) visit(id);
  }
}

// `to` returns its argument or a copy: a copy, where the dtype is another.
bool is_conversion(const spec::Graph& graph, const Node& node) {
  if (!node.op.starts_with("aten.to.") || node.arguments.empty() || node.results.size() != 1) {
    return false;
  }
  const auto* self = node.arguments.front().argument.as<ValueId>();
  if (!self || node.arguments.front().name != "self") return false;
  const auto& from = graph.value(*self).type;
  const auto& to = graph.value(node.results.front().values.front()).type;
  return from && to && from->dtype != to->dtype;
}

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// In bytes from the start of the storage; nothing for a geometry that is not constant.
std::optional<Range> constant_range(const spec::Value& value) {
  if (!value.type || !value.type->storage_offset.is_constant()) return std::nullopt;
  const spec::TensorType& type = *value.type;
  std::int64_t last = type.storage_offset.constant();
  for (std::size_t d = 0; d < type.sizes.size(); ++d) {
    if (!type.sizes[d].is_constant() || !type.strides[d].is_constant()) return std::nullopt;
    if (type.sizes[d].constant() == 0) return Range{};
    last += (type.sizes[d].constant() - 1) * type.strides[d].constant();
  }
  const std::int64_t item = spec::item_size_bytes(type.dtype);
  return Range{type.storage_offset.constant() * item, (last + 1) * item};
}

}  // namespace

std::optional<std::size_t> schema_index(const spec::OpRow& row, const spec::NamedArgument& named) {
  return row.schema.find_argument(named.name);
}

bool AliasSets::may_overlap(ValueId a, ValueId b) const {
  if (sets_[root(a.index)].has_mixed_offsets) return true;
  const auto first = constant_range(graph_->value(a));
  const auto second = constant_range(graph_->value(b));
  if (!first || !second) return true;
  return first->begin < second->end && second->begin < first->end;
}

StorageSets::StorageSets(const spec::Graph& graph, PassContext& context)
    : parents_(graph.values.size()), sizes_(graph.values.size(), 1) {
  std::iota(parents_.begin(), parents_.end(), 0U);
  rows_.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    const spec::OpRow* row = context.row(node.op);
    rows_.push_back(row);
    if (row && is_conversion(graph, node)) continue;
    if (row) {
      join_by_schema(node, *row);
      continue;
    }
    std::optional<ValueId> first;  // an op that nobody knows: everything may be one storage
    const auto join_all = [&](ValueId id) {
      if (!is_storage_kind(graph.value(id))) return;
      if (first) join(*first, id);
      first = id;
    };
    for_each_operand(node, join_all);
    for_each_result(node, join_all);
  }
}

AliasSets::AliasSets(const spec::Graph& graph, PassContext& context)
    : StorageSets(graph, context), graph_(&graph), sets_(graph.values.size()) {
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    add_accesses(n, graph.nodes[n], rows_[n], context);
  }
  for (const ValueId id : graph.inputs) sets_[root(id.index)].holds_input = true;
  for (const spec::Argument& output : graph.outputs) {
    for_each_value(output, [&](ValueId id) { sets_[root(id.index)].holds_output = true; });
  }
}

void StorageSets::join_by_schema(const Node& node, const spec::OpRow& row) {
  const auto join_argument = [&](std::size_t argument, const spec::NodeResult& result) {
    for (const spec::NamedArgument& named : node.arguments) {
      if (schema_index(row, named) != argument) continue;
      for_each_value(named.argument, [&](ValueId operand) {
        for (const ValueId id : result.values) join(operand, id);
      });
    }
  };
  for (std::size_t r = 0; r < node.results.size(); ++r) {
    if (r < row.effects.returns.size()) {
      for (const std::size_t argument : row.effects.returns[r].aliases) {
        join_argument(argument, node.results[r]);
      }
    }
    for (const std::string& name : row.undeclared_aliases) {
      const auto argument = row.schema.find_argument(name);
      if (argument) join_argument(*argument, node.results[r]);
    }
  }
}

void AliasSets::add_accesses(std::uint32_t index, const Node& node, const spec::OpRow* row,
                             PassContext& context) {
  if (!row) {
    for_each_operand(node, [&](ValueId id) { add_access({index, id, true, true}); });
    return;
  }
  const bool touches = context.touches_bytes(*row);
  const bool reshapes = row->has_tag("inplace_view");
  for (const spec::NamedArgument& named : node.arguments) {
    const auto argument = schema_index(*row, named);
    if (!argument) continue;
    const bool writes = row->writes(*argument);
    const bool reads = touches && row->effects.arguments[*argument].reads;
    for_each_value(named.argument, [&](ValueId id) {
      if (reads || writes) add_access({index, id, reads, writes});
      if (reshapes && writes) sets_[root(id.index)].is_reshaped = true;
    });
  }
}

void AliasSets::add_access(const AliasAccess& access) {
  Set& set = sets_[root(access.value.index)];
  set.is_written |= access.writes;
  set.accesses.push_back(access);
}

std::uint32_t StorageSets::root(std::uint32_t value) const {
  while (parents_[value] != value) {
    parents_[value] = parents_[parents_[value]];
    value = parents_[value];
  }
  return value;
}

void StorageSets::join(ValueId a, ValueId b) {
  std::uint32_t to = root(a.index);
  std::uint32_t from = root(b.index);
  if (to == from) return;
  if (sizes_[to] < sizes_[from]) std::swap(to, from);
  parents_[from] = to;
  sizes_[to] += sizes_[from];
}

void AliasSets::unite(ValueId a, ValueId b) {
  const std::uint32_t first = root(a.index);
  const std::uint32_t second = root(b.index);
  if (first == second) return;
  join(a, b);
  Set& to = sets_[root(a.index)];
  Set& from = sets_[root(a.index) == first ? second : first];
  to.is_written |= from.is_written;
  to.holds_input |= from.holds_input;
  to.holds_output |= from.holds_output;
  to.is_reshaped |= from.is_reshaped;
  const auto& type = graph_->value(a).type;
  to.has_mixed_offsets |= from.has_mixed_offsets || type != graph_->value(b).type || !type;
  std::vector<AliasAccess>& accesses = to.accesses;
  if (accesses.size() < from.accesses.size()) accesses.swap(from.accesses);
  const auto middle = static_cast<std::ptrdiff_t>(accesses.size());
  const auto earlier = [](const AliasAccess& x, const AliasAccess& y) { return x.node < y.node; };
  accesses.insert(accesses.end(), from.accesses.begin(), from.accesses.end());
  // Chains append: then there is nothing to merge.
  if (middle != 0 && static_cast<std::size_t>(middle) < accesses.size() &&
      earlier(accesses[static_cast<std::size_t>(middle)],
              accesses[static_cast<std::size_t>(middle - 1)])) {
    std::inplace_merge(accesses.begin(), accesses.begin() + middle, accesses.end(), earlier);
  }
  from.accesses.clear();
}

const std::vector<AliasAccess>& AliasSets::accesses(ValueId id) const {
  return sets_[root(id.index)].accesses;
}
bool AliasSets::is_written(ValueId id) const { return sets_[root(id.index)].is_written; }
bool AliasSets::holds_input(ValueId id) const { return sets_[root(id.index)].holds_input; }
bool AliasSets::holds_output(ValueId id) const { return sets_[root(id.index)].holds_output; }
bool AliasSets::is_reshaped(ValueId id) const { return sets_[root(id.index)].is_reshaped; }

}  // namespace graphgate::optimized
