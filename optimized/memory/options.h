// What a caller may choose of the memory plan, and what the planner is given.
//
// placement.h has the planner itself; the other files of this folder decide parts of it. All of
// them read these two structures and change neither.
#pragma once

#include "optimized/analysis/liveness.h"
#include "optimized/memory/pack.h"
#include "optimized/partition/signature.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

// How the bytes of intermediates are found. All three give the same results, bit for bit.
enum class MemoryStrategy : std::uint8_t {
  // One arena: what never lives at the same time may share bytes, wherever they lie (pack.h).
  kPack,
  // torch._inductor's default: a freed buffer is handed, whole, to an allocation of the same key
  // in the same partition (lines.h). What is left as allocations is packed.
  kLines,
  // torch._inductor's memory_planning: pools that are split in time and in space, by sizes that the
  // symbols' hints give; offsets follow from the true sizes (pools.h).
  kPools,
};

// torch._inductor's memory_pool, for kPools.
enum class PoolRule : std::uint8_t {
  kNone,           // a pool is never larger than the first block in it
  kIntermediates,  // intermediates share pools that grow; every output begins a pool of its own
  kOutputs,        // outputs share a pool, in which no intermediate lies
  kCombined,       // all share
};

struct MemoryOptions {
  MemoryStrategy strategy = MemoryStrategy::kPack;
  bool reuse = true;     // false: every storage on bytes of its own
  bool in_place = true;  // a result may take over the bytes of an operand that dies (in_place.h)
  // kPack and kLines: outputs lie in a pool of their own, where no intermediate ever lies. So the
  // next run writes an output that the caller still holds only when it makes that output again.
  bool outputs_apart = false;
  PoolRule pool_rule = PoolRule::kIntermediates;
  // Of every place; what cudaMalloc guarantees, and enough for any vector access.
  std::int64_t alignment_bytes = 256;
  // Ops ("aten.mm", or "aten.mm.default" for one overload) whose results nobody promises to align,
  // as fallback kernels that hand out a view into their own storage. These lie in a pool of their
  // own, at multiples of kElementAlignment only.
  std::vector<std::string> unaligned_ops;
  PackOptions pack;
};

// kBadInput for an unaligned op that the table lacks.
[[nodiscard]] Result<void> validate_options(const MemoryOptions& options, const spec::OpTable& ops);

inline constexpr std::int64_t kElementAlignment = 16;  // of the largest element, complex128

// Nothing here is owned. `hint_bytes`: what every storage would take at the hints of the program's
// symbols (hints.h); empty where the sizes themselves are to be taken for hints.
struct MemoryInput {
  const SizedGraph& graph;
  const Partitions& partitions;
  const Signatures& signatures;
  const Liveness& liveness;
  std::vector<std::int64_t> hint_bytes;

  [[nodiscard]] std::int64_t hint_of(StorageIndex storage) const {
    return hint_bytes.empty() ? graph.storages[storage].bytes : hint_bytes[storage];
  }
};

}  // namespace graphgate::optimized
