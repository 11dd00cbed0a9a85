// Pools that are split in time and in space, as torch._inductor's memory_planning does it.
//
//   TemporalSplit   children with one begin and disjoint lifetimes; as large as the largest
//   SpatialSplit    left, then right behind it
//
//   offset
//   0x300   [ c                 ]        Temporal[ Spatial( Temporal[ Spatial(a, Temporal[gap]), d
//   ], 0x200   [   d               ]                           Temporal[ c ] ) ] 0x000   [ a
//   ]---gap---[ d ]
//
// Outputs are placed first, by ascending size, then the rest by descending size and length of life.
// A block goes to the first pool and there to the first split that takes it. That is one where
// nothing overlaps it in time and that is large enough, or the last one of the last pool, which may
// grow.
//
// All these decisions are made on the sizes that the symbols' hints give, so that they are the same
// for every size; offsets follow from the true sizes, by the same sums and maxima. So a plan never
// depends on how good the hints are, only the peak does.
#pragma once

#include <vector>

#include "base/result.h"
#include "optimized/analysis/liveness.h"
#include "optimized/memory/options.h"

namespace graphgate::optimized {

// Sizes are multiples of the alignment, > 0.
struct PoolBlock {
  Lifetime lifetime;
  std::int64_t bytes = 0;
  std::int64_t hint_bytes = 0;
  bool is_output = false;
};

struct PoolPlace {
  std::size_t pool = 0;
  std::int64_t offset_bytes = 0;
};

struct PoolPlan {
  std::vector<PoolPlace> places;          // parallel to the blocks
  std::vector<std::int64_t> sizes_bytes;  // by pool
};

// For blocks of one device. kBadInput when a pool is larger than 64 bits can say.
[[nodiscard]] Result<PoolPlan> plan_pools(const std::vector<PoolBlock>& blocks, PoolRule rule);

}  // namespace graphgate::optimized
