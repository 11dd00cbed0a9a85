#include "conformance/verify/facts_walk.h"

#include <algorithm>

#include "spec/loops.h"

namespace graphgate::verify {
namespace {

using spec::Node;
using spec::ValueId;

constexpr ByteRange kEverything{0, kNoEnd};

bool has_subgraphs(const Node& node) {
  return std::ranges::any_of(node.arguments, [](const spec::NamedArgument& named) {
    return named.argument.as<spec::SubgraphId>() != nullptr;
  });
}

}  // namespace

FactsWalk::FactsWalk(const spec::Program& program, const spec::OpTable& ops,
                     const std::map<std::string, std::int64_t>& symbols, const RunRows& rows,
                     GraphFacts& facts)
    : program_(program),
      ops_(ops),
      symbols_(symbols.begin(), symbols.end()),
      rows_(rows),
      facts_(facts) {}

void FactsWalk::walk(const std::vector<std::uint32_t>& input_groups) {
  Values values(program_.graph.values.size());
  facts_.frames.push_back({&program_.graph, std::nullopt, 0});
  facts_.by_name.emplace_back();
  facts_.nodes.reserve(program_.graph.nodes.size());
  storages_.reserve(program_.graph.values.size());
  bind_inputs(input_groups, values);
  walk_frame(0, values);
  read_ends(values);
}

std::uint32_t FactsWalk::add_storage() {
  storages_.emplace_back();
  return static_cast<std::uint32_t>(storages_.size() - 1);
}

std::uint32_t FactsWalk::storage_of(const spec::ProvenanceRow& row, bool& is_new) {
  const auto next = static_cast<std::uint32_t>(storages_.size());
  const auto [place, is_first] = storage_of_row_.try_emplace(row.storage, next);
  is_new = is_first;
  if (is_first) storages_[add_storage()].is_of_run = true;
  return place->second;
}

void FactsWalk::bind_inputs(const std::vector<std::uint32_t>& input_groups, Values& values) {
  std::map<std::uint32_t, std::uint32_t> storage_of_group;
  facts_.input_storages.resize(program_.inputs.size());
  for (std::uint32_t i = 0; i < program_.inputs.size(); ++i) {
    const spec::ProgramInput& input = program_.inputs[i];
    if (input.constant) continue;
    const spec::Value& value = program_.graph.value(input.value);
    Known& known = values[input.value.index];
    if (value.kind != spec::ValueKind::kTensor) {
      known.number = {i};
      continue;
    }
    Ref ref;
    const spec::ProvenanceRow* row = rows_.input(input, value.name);
    if (row != nullptr) {
      bool is_new = false;
      ref.storage = storage_of(*row, is_new);
      ref.geometry = geometry_of(*row);
    } else {
      const std::uint32_t group = i < input_groups.size() ? input_groups[i] : i;
      const auto [place, is_new] = storage_of_group.try_emplace(group, 0);
      if (is_new) place->second = add_storage();
      ref.storage = place->second;
      ref.geometry = geometry_of(value);
    }
    ref.whole = !ref.geometry;
    // Inputs that share bytes are all writers of what is there at the start.
    storages_[ref.storage].map.begin_with(bytes_of(ref), i);
    facts_.input_storages[i] = ref.storage;
    known.tensor = std::move(ref);
  }
}

void FactsWalk::walk_frame(std::uint32_t frame, Values& values) {
  const spec::Graph& graph = *facts_.frames[frame].graph;
  facts_.by_name[frame].reserve(graph.nodes.size());
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const auto index = static_cast<std::uint32_t>(facts_.nodes.size());
    facts_.nodes.emplace_back();
    facts_.nodes[index].frame = frame;
    facts_.nodes[index].node = spec::NodeId{n};
    facts_.by_name[frame].emplace_back(graph.nodes[n].name, index);
    walk_node(index, values);
  }
  std::ranges::sort(facts_.by_name[frame]);
}

void FactsWalk::walk_node(std::uint32_t index, Values& values) {
  const Node& node = facts_.node(index);
  facts_.nodes[index].use = use_of(node, ops_);
  record_operands(facts_.nodes[index], values);
  if (spec::is_loop(node.op)) {
    walk_loop(index, values);
  } else if (has_subgraphs(node)) {
    walk_conditional(index, values);
  } else {
    write_operands(facts_.nodes[index], facts_.writer_of(index), values);
    make_results(index, values);
  }
  std::vector<ResultFact>& results = facts_.nodes[index].results;
  results.reserve(node.results.size());
  for (const spec::NodeResult& result : node.results) {
    for (const ValueId id : result.values) {
      const Known& known = values[id.index];
      if (known.tensor) results.push_back({known.tensor->storage, known.tensor->geometry});
      for (const Ref& ref : known.list) results.push_back({ref.storage, ref.geometry});
    }
  }
}

void FactsWalk::record_operands(NodeFact& fact, const Values& values) {
  fact.operands.reserve(fact.use.operands.size());
  for (const OperandUse& use : fact.use.operands) {
    const Known& known = values[use.value.index];
    OperandFact& operand = fact.operands.emplace_back();
    operand.use = use;
    operand.number = known.number;
    if (known.tensor) {
      operand.tensor = read(*known.tensor);
    } else if (!known.list.empty() || known.element) {
      // A list as a whole: what any element may hold.
      std::vector<Ref> refs = known.list;
      if (known.element) refs.push_back(*known.element);
      TensorFact all;
      Writers writers;
      for (const Ref& ref : refs) writers = united(writers, read(ref).writers());
      all.storage = refs.front().storage;
      all.contents.push_back({kEverything, writers, true});
      operand.tensor = std::move(all);
    }
  }
}

void FactsWalk::write_operands(const NodeFact& fact, Writer writer, const Values& values) {
  const auto writes = [](const OperandUse& use) { return use.writes; };
  if (std::ranges::none_of(fact.use.operands, writes)) return;
  if (fact.use.row == nullptr || writes_no_byte(*fact.use.row)) return;
  const Node& node = facts_.node(facts_.node_of(writer));
  for (const OperandUse& use : fact.use.operands) {
    if (!use.writes) continue;
    const auto argument = fact.use.row->schema.find_argument(node.arguments[use.argument].name);
    const bool declared = argument && fact.use.row->effects.mutates(*argument);
    const Known& known = values[use.value.index];
    if (known.tensor) write(*known.tensor, writer, !declared);
    for (const Ref& ref : known.list) write(ref, writer, !declared);
    if (known.element) write(*known.element, writer, true);
  }
}

const ByteSet& FactsWalk::bytes_of(const Ref& ref) {
  static const ByteSet kAll{{kEverything}, true};
  return ref.geometry ? ref.geometry->bytes : kAll;
}

Geometry FactsWalk::geometry_of(const spec::ProvenanceRow& row) {
  return std::make_shared<const PlacedTensor>(row);
}

Geometry FactsWalk::geometry_of(const spec::Value& value) const {
  if (!value.type || value.type->layout != spec::Layout::kStrided) return nullptr;
  spec::HostTensor geometry;
  geometry.dtype = value.type->dtype;
  const auto evaluate_all = [&](const std::vector<spec::SymExpr>& from,
                                std::vector<std::int64_t>& to) {
    for (const spec::SymExpr& expr : from) {
      const auto size = spec::evaluate(expr, symbols_);
      if (!size.ok()) return false;
      to.push_back(size.value());
    }
    return true;
  };
  if (!evaluate_all(value.type->sizes, geometry.sizes)) return nullptr;
  if (!evaluate_all(value.type->strides, geometry.strides)) return nullptr;
  const auto offset = spec::evaluate(value.type->storage_offset, symbols_);
  if (!offset.ok()) return nullptr;
  geometry.storage_offset = offset.value();
  if (!spec::geometry_fits(geometry, kNoEnd)) return nullptr;
  return std::make_shared<const PlacedTensor>(std::move(geometry));
}

TensorFact FactsWalk::read(const Ref& ref) const {
  const ContentMap& map = storages_[ref.storage].map;
  const ByteSet& bytes = bytes_of(ref);
  if (ref.geometry && bytes.exact && ref.copied_by.empty()) {
    return {ref.storage, ref.geometry, map.read(bytes)};
  }
  // Some bytes of these: any of their writers, none for certain unless there is one alone.
  Content all{kEverything, ref.copied_by, !ref.copied_by.empty()};
  for (const Content& content : ref.geometry ? map.read(bytes) : map.read_all()) {
    if (content.writers.empty()) continue;
    all.may = all.may || content.may || (!all.writers.empty() && all.writers != content.writers);
    all.writers = united(all.writers, content.writers);
  }
  return {ref.storage, ref.geometry, {std::move(all)}};
}

void FactsWalk::write(const Ref& ref, Writer writer, bool may) {
  Storage& storage = storages_[ref.storage];
  const ByteSet& bytes = bytes_of(ref);
  const bool reaches_all = bytes.exact && (ref.geometry || ref.whole);
  if (may || storage.is_loose || !reaches_all || !ref.copied_by.empty()) {
    storage.map.may_write(bytes, writer);
  } else {
    storage.map.write(bytes, writer);
  }
}

void FactsWalk::read_ends(const Values& values) {
  const auto tell = [&](ValueId id, std::optional<TensorFact>& fact) {
    if (values[id.index].tensor) fact = read(*values[id.index].tensor);
  };
  facts_.finals.resize(program_.inputs.size());
  for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
    if (!program_.inputs[i].constant) tell(program_.inputs[i].value, facts_.finals[i]);
  }
  facts_.outputs.resize(program_.graph.outputs.size());
  for (std::size_t o = 0; o < program_.graph.outputs.size(); ++o) {
    const auto* id = program_.graph.outputs[o].as<ValueId>();
    if (id != nullptr) tell(*id, facts_.outputs[o]);
  }
}

}  // namespace graphgate::verify
