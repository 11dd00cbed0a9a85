// What crosses the edges of every partition, by one backward sweep per block.
//
// Storages, not values, cross: a result that was written in place, a view and what it was made from
// are one storage, and so go by one name. The sweep is that of torch._inductor's
// get_graph_partition_signature: `unmet` is what later partitions (or the block's outputs) want;
//
//   inputs  = read, written or freed here, and made elsewhere
//   outputs = made here and unmet, and inputs that are not freed here
//   unmet   = inputs + (unmet - outputs)
#pragma once

#include "optimized/analysis/liveness.h"
#include "optimized/partition/partition.h"

namespace graphgate::optimized {

// Storages ascending; symbols sorted. `constants`: state that no node of the program writes.
struct Signature {
  std::vector<StorageIndex> inputs;
  std::vector<bool> deallocate;  // parallel to `inputs`: its last use is here
  std::vector<StorageIndex> outputs;
  std::vector<StorageIndex> constants;
  std::vector<std::string> symbols;
};

struct Signatures {
  std::vector<std::vector<Signature>> blocks;  // parallel to Partitions::blocks
};

[[nodiscard]] Signatures derive_signatures(const SizedGraph& graph, const Partitions& partitions,
                                           const Liveness& liveness,
                                           const spec::DeviationSet& deviations = {});

}  // namespace graphgate::optimized
