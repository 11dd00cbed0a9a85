// Cutting a block into partitions: runs of nodes that are captured, and runs that are not.
//
//   kScheduler           a b | (attn) | c (cpu) d               a cut wherever captured turns to
//                                                               eager or back
//   kSplitGraph, older   a b | (attn1) | (attn2) | (c cpu d)    split ops alone cut
//   kSplitGraph, others  a b | (attn1 attn2) | (c cpu d)        and neighbours among them share
//
// Whatever is cut, results are the same bits: nodes keep their order, but for allocations that the
// newer split_graph takes to an earlier partition (options.h).
//
// After the cuts, captured partitions that launch nothing become eager, and so do those with fewer
// launches than options ask for. compile.cpp calls this once per plan; the compilers then work on
// one partition at a time, and signature.h says what crosses the edges.
#pragma once

#include "optimized/partition/cut_rules.h"

namespace graphgate::optimized {

// Nodes [begin_node, end_node) of a block. `reason` is empty when captured; else the reasons of
// its nodes, each once, or why the partition as a whole is not worth a capture.
struct Partition {
  bool captured = true;
  std::string reason;
  std::uint32_t begin_node = 0;
  std::uint32_t end_node = 0;
  friend bool operator==(const Partition&, const Partition&) = default;
};

// Contiguous, in order. Those of kSplitGraph are empty where nothing of a piece is launched
// (views).
struct Partitions {
  std::vector<std::vector<Partition>> blocks;  // parallel to SizedGraph::blocks
  // Upstream each is compiled as a graph of its own (kSplitGraph), and has no signature that is
  // made out of a larger graph: what is wrong with such a signature does not reach it.
  bool are_graphs = false;
};

// `graph` is changed in kSplitGraph's newest generation only: lone allocations move forward.
// `origin` is the program's graph as it came, for the rules that ask for it (cut_rules.h).
[[nodiscard]] Partitions make_partitions(SizedGraph& graph, const PartitionOptions& options,
                                         const spec::DeviationSet& deviations = {},
                                         const spec::Graph* origin = nullptr);

}  // namespace graphgate::optimized
