// The part of the walk over a graph that follows the bodies of loops.
//
// What an iteration is given is what came before the loop, or what the iteration before left: the
// body is walked until that names no writer more.
#include <algorithm>

#include "conformance/verify/facts_walk.h"
#include "spec/loops.h"

namespace graphgate::verify {
namespace {

using spec::Argument;
using spec::Node;
using spec::ValueId;

// The operands of a loop by what they are to it.
struct LoopOperands {
  std::vector<const spec::Graph*> graphs;  // the condition of a while_loop, and the body
  Argument::List carried;
  Argument::List scanned;
  Argument::List further;
};

LoopOperands operands_of(const Node& node, const spec::Graph& graph) {
  LoopOperands out;
  std::vector<Argument::List> lists;
  for (const spec::NamedArgument& named : node.arguments) {
    const auto* id = named.argument.as<spec::SubgraphId>();
    const auto* list = named.argument.as<Argument::List>();
    if (id != nullptr) out.graphs.push_back(&graph.subgraphs[id->index]);
    if (list != nullptr) lists.push_back(*list);
  }
  lists.resize(3);
  if (node.op == spec::kWhileLoop) {
    out.carried = lists[0];
    out.further = lists[1];
  } else if (node.op == spec::kScan) {
    out.carried = lists[0];
    out.scanned = lists[1];
    out.further = lists[2];
  } else {
    out.scanned = lists[0];
    out.further = lists[1];
  }
  return out;
}

}  // namespace

// Holds the nodes that may have made something, and whether each of them can have.
struct FactsWalk::Makers {
  Writers writers;
  bool may = false;
  friend bool operator==(const Makers&, const Makers&) = default;
};

FactsWalk::Known FactsWalk::known_argument(const Argument& argument, const Values& values) {
  const auto* id = argument.as<ValueId>();
  return id != nullptr && id->index < values.size() ? values[id->index] : Known{};
}

FactsWalk::Makers FactsWalk::makers_of(const Known& known) const {
  if (!known.tensor) return {known.number, false};
  const TensorFact fact = read(*known.tensor);
  return {fact.writers(), !fact.is_certain() || fact.contents.size() > 1};
}

// A tensor of the value's type, or a number, that any of `makers` may have made.
FactsWalk::Known FactsWalk::made_by(const Makers& makers, const spec::Value& value, Writer writer) {
  Known known;
  if (value.kind != spec::ValueKind::kTensor) {
    known.number = makers.writers;
    return known;
  }
  known.tensor = made_ref(nullptr, geometry_of(value), writer);
  if (makers.writers.empty()) return known;
  const ByteRange range = bytes_of(*known.tensor).hull();
  storages_[known.tensor->storage].map.write(Contents{{range, makers.writers, makers.may}});
  return known;
}

void FactsWalk::walk_loop(std::uint32_t index, Values& values) {
  const Node& node = facts_.node(index);
  const spec::Graph& graph = *facts_.frames[facts_.nodes[index].frame].graph;
  const LoopOperands operands = operands_of(node, graph);
  if (operands.graphs.empty() || is_never_run(operands.scanned, graph)) {
    return hand_on_carried(index, operands.carried, values);
  }
  const std::size_t nodes = facts_.nodes.size();
  const std::size_t frames = facts_.frames.size();
  const auto rows = storage_of_row_;
  std::vector<Storage> before = storages_;
  std::vector<Makers> carried;
  for (const Argument& argument : operands.carried) {
    carried.push_back(makers_of(known_argument(argument, values)));
  }
  std::vector<Makers> left;  // by the last iteration
  for (;;) {
    std::vector<Known> given;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const spec::Graph& body = *operands.graphs.back();
      if (i >= body.inputs.size()) break;
      given.push_back(made_by(carried[i], body.value(body.inputs[i]), facts_.writer_of(index)));
    }
    for (const Argument& argument : operands.scanned) {
      Known slice = known_argument(argument, values);
      if (slice.tensor) slice.tensor->geometry.reset();
      if (slice.tensor) slice.tensor->whole = false;
      given.push_back(std::move(slice));
    }
    for (const Argument& argument : operands.further) {
      given.push_back(known_argument(argument, values));
    }
    left = walk_iteration(index, operands.graphs, given);
    std::vector<Makers> next = carried;
    for (std::size_t i = 0; i < std::min(next.size(), left.size()); ++i) {
      next[i].writers = united(next[i].writers, left[i].writers);
      next[i].may = next[i].may || left[i].may;
    }
    std::vector<Storage> joined = before;
    bool is_settled = next == carried;
    for (std::size_t s = 0; s < before.size(); ++s) {
      joined[s].map.merge(storages_[s].map);
      joined[s].is_loose = joined[s].is_loose || storages_[s].is_loose;
      is_settled =
          is_settled && joined[s].map == before[s].map && joined[s].is_loose == before[s].is_loose;
    }
    if (is_settled) break;
    facts_.nodes.resize(nodes);
    facts_.frames.resize(frames);
    facts_.by_name.resize(frames);
    storage_of_row_ = rows;
    carried = std::move(next);
    before = joined;
    storages_ = std::move(joined);
  }
  // A while_loop may not have run at all.
  if (node.op == spec::kWhileLoop) std::copy(before.begin(), before.end(), storages_.begin());
  std::size_t place = 0;
  for (const spec::NodeResult& result : node.results) {
    for (const ValueId id : result.values) {
      const std::size_t at = place++;
      if (at >= left.size()) continue;
      Makers makers = at < carried.size() ? carried[at] : left[at];
      makers.may = makers.may || node.op != spec::kWhileLoop;
      values[id.index] = made_by(makers, graph.value(id), facts_.writer_of(index));
    }
  }
}

// Walks the loop's graphs, and returns who made what the last of them, the body, results in.
std::vector<FactsWalk::Makers> FactsWalk::walk_iteration(
    std::uint32_t index, const std::vector<const spec::Graph*>& graphs,
    const std::vector<Known>& given) {
  std::vector<Makers> left;
  for (std::uint32_t arm = 0; arm < graphs.size(); ++arm) {
    const spec::Graph& graph = *graphs[arm];
    const auto frame = static_cast<std::uint32_t>(facts_.frames.size());
    facts_.frames.push_back({&graph, index, arm});
    facts_.by_name.emplace_back();
    Values inner(graph.values.size());
    for (std::size_t i = 0; i < std::min(graph.inputs.size(), given.size()); ++i) {
      inner[graph.inputs[i].index] = given[i];
    }
    walk_frame(frame, inner);
    left.clear();
    for (const Argument& output : graph.outputs) {
      left.push_back(makers_of(known_argument(output, inner)));
    }
    if (arm + 1 < graphs.size()) note_condition(index, graph, inner);
  }
  return left;
}

// The loop itself reads what its condition results in.
void FactsWalk::note_condition(std::uint32_t index, const spec::Graph& graph, const Values& inner) {
  NodeFact& fact = facts_.nodes[index];
  fact.operands.resize(fact.use.operands.size());  // without that of an earlier round
  for (const Argument& output : graph.outputs) {
    const Known known = known_argument(output, inner);
    OperandFact operand;
    operand.use.reads = true;
    operand.number = known.number;
    if (known.tensor) operand.tensor = read(*known.tensor);
    fact.operands.push_back(std::move(operand));
  }
}

// Whether the loop goes along a dimension that is known to have no element.
bool FactsWalk::is_never_run(const Argument::List& scanned, const spec::Graph& graph) const {
  if (scanned.empty()) return false;
  const auto* id = scanned.front().as<ValueId>();
  const Geometry geometry = id != nullptr ? geometry_of(graph.value(*id)) : nullptr;
  return geometry && !geometry->sizes.empty() && geometry->sizes.front() == 0;
}

// A loop that does not run hands on what is carried, and stacks nothing.
void FactsWalk::hand_on_carried(std::uint32_t index, const Argument::List& carried,
                                Values& values) {
  const Node& node = facts_.node(index);
  const spec::Graph& graph = *facts_.frames[facts_.nodes[index].frame].graph;
  std::size_t place = 0;
  for (const spec::NodeResult& result : node.results) {
    for (const ValueId id : result.values) {
      const std::size_t at = place++;
      values[id.index] = at < carried.size()
                             ? known_argument(carried[at], values)
                             : made_by({}, graph.value(id), facts_.writer_of(index));
    }
  }
}

}  // namespace graphgate::verify
