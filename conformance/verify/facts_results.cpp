// The part of the walk over a graph that says what results are: new storages, or views of operands.
#include <algorithm>

#include "conformance/verify/facts_walk.h"

namespace graphgate::verify {
namespace {

using spec::Node;
using spec::ValueId;

// to and type_as may return what they are given: as another dtype they have copied it, as the same
// type_as has not. (view.dtype alone sees the same bytes with another dtype.) Nothing for other ops
// and where the program states no dtype.
std::optional<bool> converts(const spec::OpRow* row, const Node& node, const spec::Graph& graph,
                             const spec::Value& result) {
  if (row == nullptr || row->schema.ns != "aten") return std::nullopt;
  const std::string base = row->schema.base_name();
  if ((base != "to" && base != "type_as") || !result.type) return std::nullopt;
  for (const spec::NamedArgument& named : node.arguments) {
    const auto* self = named.name == "self" ? named.argument.as<ValueId>() : nullptr;
    if (self == nullptr || !graph.value(*self).type) continue;
    return graph.value(*self).type->dtype != result.type->dtype;
  }
  return std::nullopt;
}

}  // namespace

void FactsWalk::make_results(std::uint32_t index, Values& values) {
  const Node& node = facts_.node(index);
  const spec::Graph& graph = *facts_.frames[facts_.nodes[index].frame].graph;
  std::size_t unpacked = 0;
  for (std::size_t r = 0; r < node.results.size(); ++r) {
    for (const ValueId id : node.results[r].values) {
      const spec::ValueKind kind = graph.value(id).kind;
      if (kind == spec::ValueKind::kTensor) {
        values[id.index].tensor = make_result(index, r, id, unpacked++, values);
        // squeeze_ leaves its argument seen so, too.
        const NodeFact& fact = facts_.nodes[index];
        for (const OperandUse& use : fact.use.operands) {
          if (!use.writes || fact.use.row == nullptr || !writes_no_byte(*fact.use.row)) continue;
          values[use.value.index].tensor = values[id.index].tensor;
        }
      } else if (kind == spec::ValueKind::kTensorList) {
        values[id.index] = make_list(index, r, values);
        unpacked += values[id.index].list.size();
      } else {
        ++unpacked;  // rows count the places of None, too
        if (kind != spec::ValueKind::kNone) values[id.index].number = {facts_.writer_of(index)};
      }
    }
  }
}

std::optional<FactsWalk::Ref> FactsWalk::aliased_operand(const NodeFact& fact, std::size_t result,
                                                         const Values& values, bool& declared,
                                                         bool& updates) const {
  const spec::OpRow* row = fact.use.row;
  if (row == nullptr) return std::nullopt;
  const auto& returns = row->effects.returns;
  const bool is_new = result >= returns.size() || returns[result].aliases.empty();
  if (is_new && row->undeclared_aliases.empty()) return std::nullopt;
  const Node& node = facts_.frames[fact.frame].graph->node(fact.node);
  for (const OperandUse& use : fact.use.operands) {
    const auto argument = row->schema.find_argument(node.arguments[use.argument].name);
    if (!argument) continue;
    declared = result < returns.size() && std::ranges::find(returns[result].aliases, *argument) !=
                                              returns[result].aliases.end();
    const auto& hidden = row->undeclared_aliases;
    const bool is_hidden =
        std::ranges::find(hidden, row->schema.arguments[*argument].name) != hidden.end();
    if (!declared && !is_hidden) continue;
    updates = row->effects.mutates(*argument);
    const Known& known = values[use.value.index];
    if (known.tensor) return known.tensor;
    if (known.list.empty()) return known.element;
    // One element of a list, if the index is there.
    for (const spec::NamedArgument& named : node.arguments) {
      const auto* at = named.argument.as<std::int64_t>();
      if (at == nullptr) continue;
      const auto count = static_cast<std::int64_t>(known.list.size());
      const std::int64_t wrapped = *at < 0 ? *at + count : *at;
      if (wrapped < 0 || wrapped >= count) return std::nullopt;
      updates = true;
      return known.list[static_cast<std::size_t>(wrapped)];
    }
  }
  return std::nullopt;
}

FactsWalk::Ref FactsWalk::make_result(std::uint32_t index, std::size_t result, ValueId id,
                                      std::size_t unpacked, const Values& values) {
  NodeFact& fact = facts_.nodes[index];
  const Node& node = facts_.node(index);
  const Writer writer = facts_.writer_of(index);
  const spec::Value& value = facts_.frames[fact.frame].graph->value(id);
  bool declared = false;
  bool updates = false;
  std::optional<Ref> base = aliased_operand(fact, result, values, declared, updates);
  const auto is_other_dtype =
      base ? converts(fact.use.row, node, *facts_.frames[fact.frame].graph, value) : std::nullopt;
  if (is_other_dtype.value_or(false)) base.reset();
  if (is_other_dtype && !*is_other_dtype) declared = true;
  if (base) fact.may_alias = true;
  const spec::ProvenanceRow* row = rows_.result(node.name, unpacked);
  // A storage that the run does not tell apart from others (a conditional's result) may be this
  // one.
  if (row != nullptr && (!base || storages_[base->storage].is_of_run)) {
    return made_ref(row, geometry_of(*row), writer);
  }
  const Geometry stated = geometry_of(value);
  if (!base) return made_ref(nullptr, stated, writer);
  if (!updates) return viewed_ref(fact, *base, declared, writer, stated);
  if (fact.use.row == nullptr || !writes_no_byte(*fact.use.row)) {
    if (stated && base->copied_by.empty()) base->geometry = stated;
  } else {
    base->whole = base->whole || covers_all(*base);
    base->geometry = stated;
  }
  return *std::move(base);
}

bool FactsWalk::covers_all(const Ref& ref) const {
  if (!ref.geometry) return ref.whole;
  const ByteSet& bytes = bytes_of(ref);
  if (!bytes.exact || bytes.ranges.size() > 1) return false;
  const Contents& all = storages_[ref.storage].map.read_all();
  return all.empty() || (bytes.hull().begin_bytes <= all.front().range.begin_bytes &&
                         all.back().range.end_bytes <= bytes.hull().end_bytes);
}

FactsWalk::Ref FactsWalk::made_ref(const spec::ProvenanceRow* row, Geometry geometry,
                                   Writer writer) {
  Ref ref;
  ref.geometry = std::move(geometry);
  bool is_new = true;
  ref.storage = row != nullptr ? storage_of(*row, is_new) : add_storage();
  if (!is_new) return ref;
  ref.whole = !ref.geometry;
  storages_[ref.storage].map.write(bytes_of(ref), writer);
  return ref;
}

FactsWalk::Ref FactsWalk::viewed_ref(const NodeFact& fact, const Ref& base, bool declared,
                                     Writer writer, const Geometry& geometry) {
  Ref ref = base;
  const Node& node = facts_.node(facts_.node_of(writer));
  // to(copy=True), reshape of what has no such view, to(dtype): the schema calls all of them views.
  bool may_copy = !declared || !geometry || !base.geometry || !base.copied_by.empty();
  for (const spec::NamedArgument& named : node.arguments) {
    const auto* flag = named.argument.as<bool>();
    if (flag != nullptr && *flag) may_copy = true;
  }
  if (!may_copy) {
    const bool same_count =
        spec::element_count(geometry->sizes) == spec::element_count(base.geometry->sizes);
    const bool looks_made = geometry->storage_offset == 0 &&
                            geometry->strides == spec::contiguous_strides(geometry->sizes);
    const bool same_sizes = geometry->sizes == base.geometry->sizes;
    may_copy =
        geometry->dtype != base.geometry->dtype ||
        (same_count && (looks_made || same_sizes) && !same_index_map(*geometry, *base.geometry));
  }
  if (may_copy && fact.may_alias) {
    ref.geometry.reset();
    ref.whole = false;
    ref.copied_by = united(ref.copied_by, {writer});
    storages_[ref.storage].is_loose = true;
    return ref;
  }
  ref.geometry = geometry;
  ref.whole = false;
  return ref;
}

FactsWalk::Known FactsWalk::make_list(std::uint32_t index, std::size_t result,
                                      const Values& values) {
  NodeFact& fact = facts_.nodes[index];
  const Node& node = facts_.node(index);
  const Writer writer = facts_.writer_of(index);
  bool declared = false;
  bool updates = false;
  const std::optional<Ref> base = aliased_operand(fact, result, values, declared, updates);
  if (base) fact.may_alias = true;
  Known known;
  for (std::size_t i = 0;; ++i) {
    const spec::ProvenanceRow* row = rows_.result(node.name, i);
    if (row == nullptr || (base && !storages_[base->storage].is_of_run)) break;
    known.list.push_back(made_ref(row, geometry_of(*row), writer));
  }
  if (!known.list.empty()) return known;
  known.element = base ? viewed_ref(fact, *base, declared, writer, nullptr)
                       : made_ref(nullptr, nullptr, writer);
  known.element->whole = false;
  return known;
}

}  // namespace graphgate::verify
