// The order of launches, and which nodes launch together.
//
// Every group is one node for now, in program order: data types and order are those that fusion
// will fill. A group never spans blocks.
#pragma once

#include "optimized/sized_graph.h"

namespace graphgate::optimized {

// Indices into SizedBlock::nodes, ascending.
struct Group {
  std::vector<std::uint32_t> nodes;
};

struct Schedule {
  std::vector<std::vector<Group>> blocks;  // parallel to SizedGraph::blocks
};

[[nodiscard]] Schedule make_schedule(const SizedGraph& graph);

}  // namespace graphgate::optimized
