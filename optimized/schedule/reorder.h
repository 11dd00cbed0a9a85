// Moving nodes so that fewer partitions come out: what is cut out (cut_rules.h) stands together.
//
//   before            simple               minimize
//   a (b) c (d) e     (b) a c e (d)        (b) a c (d) e ...
//
//   simple    cut-out nodes that wait for nothing but such nodes go to the front, those that
//             nothing but such nodes wait for to the back
//   minimize  torch._inductor's reorder_for_minimizing_partition: two heaps of nodes that are
//   ready,
//             by their old places; all ready cut-out nodes are taken, then all ready others, and so
//             on. Each heap keeps old order among what is ready.
//
// No node passes one that it depends on (analysis/dependences.h), so results keep their bits. But
// values can live longer: a new order counts only if it has fewer runs, and an estimate of its peak
// memory that stays within the budget. Runs before partition.h; split_graph keeps the program's
// order and wants none of this.
#pragma once

#include "optimized/partition/cut_rules.h"

namespace graphgate::optimized {

enum class Reorder : std::uint8_t { kNone, kSimple, kMinimize };

struct ReorderOptions {
  Reorder reorder = Reorder::kNone;
  // The estimated peak may be less than this many times that of the program's order; at least 1.
  // 1.1 is upstream's.
  double memory_budget = 1.1;
};

// kBadInput for a budget below 1, and for reordering in the mode that keeps the program's order.
[[nodiscard]] Result<void> validate_options(const ReorderOptions& options,
                                            const PartitionOptions& partition);

// The graph with the nodes of every block in their new order.
[[nodiscard]] SizedGraph reorder(SizedGraph graph, const ReorderOptions& options,
                                 const PartitionOptions& partition,
                                 const spec::DeviationSet& deviations,
                                 const spec::Graph* origin = nullptr);

// Returns the most bytes that intermediates of a block take at a time, when its nodes run in this
// order (places in the block). A storage counts from the node that makes it to the last that
// mentions it, or to the end for what the block results in. The scratch bytes of nodes count too.
// Nothing is reused early.
[[nodiscard]] std::int64_t estimate_peak_bytes(const SizedGraph& graph, std::size_t block,
                                               const std::vector<std::uint32_t>& order);

}  // namespace graphgate::optimized
