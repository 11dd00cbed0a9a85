// Cutting a block into partitions: runs of nodes that are captured, and runs that are not.
#pragma once

#include "optimized/sized_graph.h"

namespace graphgate::optimized {

struct PartitionOptions {
  // Ops that are never captured, "ns.name" or "ns.name.overload". The default is vLLM's attention,
  // whose kernels read metadata that changes from call to call.
  std::vector<std::string> split_ops = {"vllm.unified_attention_with_output"};
  // At most so many nodes in a partition; 0: no limit. 1 cuts after every node.
  std::uint32_t max_nodes = 0;
  // No partition is captured; the reason says so.
  bool capture = true;
};

// Nodes [begin_node, end_node) of a block. `reason` is empty when captured; else the reasons of
// its nodes, each once.
struct Partition {
  bool captured = true;
  std::string reason;
  std::uint32_t begin_node = 0;
  std::uint32_t end_node = 0;
};

struct Partitions {
  std::vector<std::vector<Partition>> blocks;  // parallel to SizedGraph::blocks
};

// One linear scan: a cut wherever captured turns to eager or back. Adjacent eager nodes share a
// partition.
[[nodiscard]] Partitions make_partitions(const SizedGraph& graph, const PartitionOptions& options);

}  // namespace graphgate::optimized
