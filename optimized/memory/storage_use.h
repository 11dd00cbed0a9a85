// What memory planning wants to know of every storage: who makes it, how long it is needed, and
// what the key of reuse says of it. Derived once per plan; in_place.h, lines.h, pools.h and
// placement.h read it.
#pragma once

#include "optimized/memory/options.h"

namespace graphgate::optimized {

inline constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

struct StorageUse {
  // The node that makes it: graph.blocks[block].nodes[node]. What a conditional results in is made
  // by the conditional, not by the copies in its arms. kNoNode for state and inputs.
  std::size_t block = kNoNode;
  std::size_t node = kNoNode;
  // Liveness's, but never empty: a storage that no node mentions gets one step all the same.
  Lifetime lifetime;
  bool is_output = false;  // the program returns it, or a view of it
  bool is_unaligned = false;
  // Nodes of several streams read it, or write it again: which of them is last is not decided by
  // their order in the block.
  bool is_on_streams = false;
  spec::DType dtype = spec::DType::kFloat32;  // of the value that it was made as
};

// By StorageIndex. Here the deviations output_by_exact_name, lifetimes_touch_wrongly and
// mutation_blocks_reuse act.
[[nodiscard]] std::vector<StorageUse> storage_uses(const MemoryInput& input,
                                                   const MemoryOptions& options,
                                                   const spec::DeviationSet& deviations);

// Calls visit(storage) for what a node mentions itself: operands, results and the outputs of its
// arms; not what the nodes of its arms mention. Storages may come several times.
template <class Visit>
void for_each_mentioned(const SizedGraph& graph, const SizedNode& node, Visit&& visit) {
  const auto look = [&](spec::ValueId id) { graph.for_each_storage(id, visit); };
  for_each_operand(node.node, look);
  for (const spec::NodeResult& result : node.node.results) {
    for (const spec::ValueId id : result.values) look(id);
  }
  for (const spec::NamedArgument& named : node.node.arguments) {
    const auto* arm = named.argument.as<spec::SubgraphId>();
    if (!arm) continue;
    for (const spec::Argument& output : graph.blocks[arm->index].outputs) {
      for_each_value(output, look);
    }
  }
}

}  // namespace graphgate::optimized
