// Realization: whether a value that several launches read gets memory, or is computed again where
// it is read.
//
// After torch's StorageBox.should_realize_on_reuse, in full. A value is a candidate if it has more
// than one user and a pointwise op or a reduction makes it; everything else has memory anyway. In
// order:
//
//   1  on a CPU, a heavy function computes it: exp, sigmoid; since torch 2.13 the
//      logarithms and tanh, too. Ops count by what Inductor lowers them to: silu
//      by its exp, logical_not by nothing                                            -> memory
//   2  what computes it is large: more than `opcount_threshold` nodes, on a CPU
//      `cpu_opcount_threshold`, with more than `opusers_threshold` users two less    -> memory
//   3  kReadCount  it reads more than `reads_threshold` tensors                      -> memory
//      kByteCost   T * (U - 1) >= O * (1 + U), for T bytes read, O bytes made and U users: reading
//      T
//                  in each user costs at least what writing O once and reading it in each does
//                                                                                    -> memory
//                  where T or O is unknown or 0, rule 3 by count
//
// compilers/ ask after groups are found. Computing again gives the same bits: every node rounds to
// its dtype wherever it runs.
#pragma once

#include "optimized/schedule/fuse_groups.h"

namespace graphgate::optimized {

// What is asked about one value.
struct Reuse {
  std::int64_t users = 0;
  std::int64_t reads = 0;       // tensors that it is computed from
  std::int64_t ops = 0;         // nodes that compute it
  std::int64_t read_bytes = 0;  // 0: unknown
  std::int64_t made_bytes = 0;  // 0: unknown
  bool is_pointwise_or_reduction = false;
  bool is_on_cpu = false;
  bool is_heavy = false;
};
[[nodiscard]] bool should_realize_on_reuse(const Reuse& reuse, const RealizeOptions& options);

// Whether Inductor lowers an op to a function that is heavy on a CPU. `base_name`: "aten.exp";
// `approximate`: the argument of that name ("none", "tanh"), of gelu. As measured with PyTorch
// 2.11.0 (older) and 2.15.0 by tools/dev/heavy_ops.py.
[[nodiscard]] bool is_heavy_on_cpu(std::string_view base_name, bool newer,
                                   std::string_view approximate = "none");

// The nodes that mention a storage, in the whole graph.
struct StorageMentions {
  std::vector<std::uint32_t> nodes;    // how many
  std::vector<std::uint32_t> writers;  // how many of them write it, its maker included
  std::vector<bool> is_result;         // of a block or the program
};
[[nodiscard]] StorageMentions count_mentions(const SizedGraph& graph, const NodeAccesses& accesses);

// The launches with values computed again where that is right and realization says no: the nodes
// that compute them stand in several launches. `nodes` are those of the partition.
[[nodiscard]] std::vector<Launched> recompute(
    const SizedGraph& graph, std::span<const SizedNode> nodes, std::vector<Launched> launches,
    const StorageMentions& mentions, const RealizeOptions& options, const FuseLimits& limits);

}  // namespace graphgate::optimized
