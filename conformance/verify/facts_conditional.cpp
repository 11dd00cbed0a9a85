// The part of the walk over a graph that follows the arms of conditionals.
#include <algorithm>

#include "conformance/verify/facts_walk.h"

namespace graphgate::verify {

using spec::Node;
using spec::ValueId;

void FactsWalk::walk_conditional(std::uint32_t index, Values& values) {
  const Node& node = facts_.node(index);
  const spec::Graph& graph = *facts_.frames[facts_.nodes[index].frame].graph;
  const std::vector<Storage> before = storages_;
  std::vector<std::vector<Known>> outputs;  // by arm
  std::vector<Storage> joined;
  std::uint32_t arm = 0;
  for (const spec::NamedArgument& named : node.arguments) {
    const auto* id = named.argument.as<spec::SubgraphId>();
    if (id == nullptr) continue;
    const spec::Graph& subgraph = graph.subgraphs[id->index];
    // Storages that other arms made stay where they are, out of reach.
    std::copy(before.begin(), before.end(), storages_.begin());
    const auto frame = static_cast<std::uint32_t>(facts_.frames.size());
    facts_.frames.push_back({&subgraph, index, arm++});
    facts_.by_name.emplace_back();
    Values inner = arm_values(subgraph, node, values);
    walk_frame(frame, inner);
    outputs.emplace_back();
    for (const spec::Argument& output : subgraph.outputs) {
      const auto* value = output.as<ValueId>();
      outputs.back().push_back(value != nullptr ? inner[value->index] : Known{});
    }
    for (std::size_t s = 0; s < before.size(); ++s) {
      if (joined.size() <= s) {
        joined.push_back(storages_[s]);
      } else {
        joined[s].map.merge(storages_[s].map);
        joined[s].is_loose = joined[s].is_loose || storages_[s].is_loose;
      }
    }
  }
  std::copy(joined.begin(), joined.end(), storages_.begin());
  join_results(index, outputs, values);
}

FactsWalk::Values FactsWalk::arm_values(const spec::Graph& arm, const Node& node,
                                        const Values& values) {
  std::vector<ValueId> operands;
  for (const spec::NamedArgument& named : node.arguments) {
    if (named.argument.as<spec::SubgraphId>() != nullptr) operands.clear();
    spec::for_each_value(named.argument, [&](ValueId id) { operands.push_back(id); });
  }
  Values inner(arm.values.size());
  for (std::size_t i = 0; i < arm.inputs.size() && i < operands.size(); ++i) {
    inner[arm.inputs[i].index] = values[operands[i].index];
  }
  return inner;
}

void FactsWalk::join_results(std::uint32_t index, const std::vector<std::vector<Known>>& arms,
                             Values& values) {
  const Node& node = facts_.node(index);
  const spec::Graph& graph = *facts_.frames[facts_.nodes[index].frame].graph;
  std::size_t place = 0;
  std::size_t unpacked = 0;
  for (const spec::NodeResult& result : node.results) {
    for (const ValueId id : result.values) {
      const std::size_t at = place++;
      Known& known = values[id.index];
      Writers writers;
      bool may = false;
      for (std::size_t arm = 0; arm < arms.size(); ++arm) {
        if (at >= arms[arm].size()) continue;
        const Known& output = arms[arm][at];
        known.number = united(known.number, output.number);
        if (!output.tensor) continue;
        const TensorFact fact = read(*output.tensor);
        may = may || !fact.is_certain() || fact.contents.size() > 1;
        writers = united(writers, fact.writers());
      }
      if (graph.value(id).kind != spec::ValueKind::kTensor) continue;
      const spec::ProvenanceRow* row = rows_.result(node.name, unpacked++);
      const Geometry geometry = row != nullptr ? geometry_of(*row) : geometry_of(graph.value(id));
      const bool is_there = row != nullptr && storage_of_row_.contains(row->storage);
      known.tensor = made_ref(row, geometry, facts_.writer_of(index));
      // What the arm that ran left there, or a storage from before, which keeps its contents. Both
      // arms' writers are there for certain: each run has one of them.
      if (is_there || writers.empty()) continue;
      const ByteRange range = bytes_of(*known.tensor).hull();
      storages_[known.tensor->storage].map.write(Contents{{range, writers, may}});
    }
  }
}

}  // namespace graphgate::verify
