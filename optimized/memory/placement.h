// The memory plan: a pool and an offset for every storage and every step's scratch bytes.
//
//   state   one after the other, in the order of the program's inputs: the same at every size
//   input   static slots for what the caller gives
//   arena   what nodes make, packed: storages whose lifetimes do not meet share bytes
//   heap    what only a call can size; no places
//
// There is a pool of each kind for each device. A storage that the program returns lives to the
// end, and nothing lies over it then.
#pragma once

#include "optimized/analysis/liveness.h"
#include "optimized/memory/pack.h"
#include "spec/plan.h"

namespace graphgate::optimized {

struct MemoryOptions {
  bool reuse = true;  // false: every storage on bytes of its own
  // Of every place; what cudaMalloc guarantees, and enough for any vector access.
  std::int64_t alignment_bytes = 256;
  PackOptions pack;
};

struct Placement {
  std::vector<spec::PlanPool> pools;
  std::vector<spec::PlanBuffer> buffers;
  std::vector<spec::BufferId> of_storage;  // by StorageIndex
  // By block and node: the buffer of its workspace, where it has one.
  std::vector<std::vector<std::optional<spec::BufferId>>> workspaces;
};

// kBadInput when sizes add up to more than 64 bits hold.
[[nodiscard]] Result<Placement> plan_memory(const SizedGraph& graph, const Liveness& liveness,
                                            const MemoryOptions& options);

}  // namespace graphgate::optimized
