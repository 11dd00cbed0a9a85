// Arenas: the pools in which intermediates, outputs and scratch bytes lie, and a place for each.
//
// What must not share bytes for reasons other than time goes to different pools: devices, places
// that nobody aligned, and, on request, outputs. Within a pool, items whose lifetimes do not meet
// may share bytes. Offsets are from the pool's base, and every pool may lie over any pool of
// another plan: nothing in it is kept between calls.
#pragma once

#include "optimized/memory/options.h"
#include "spec/plan.h"

namespace graphgate::optimized {

// A group of storages, or the workspace of a step.
struct ArenaItem {
  spec::Device device;
  Lifetime lifetime;
  std::int64_t bytes = 0;
  std::int64_t hint_bytes = 0;
  bool is_output = false;
  bool is_unaligned = false;
  bool has_place = true;  // false: offset 0, over whatever lies there
};

struct ArenaPlace {
  std::size_t pool = 0;
  std::int64_t offset_bytes = 0;
};

struct ArenaPlan {
  std::vector<spec::PlanPool> pools;  // names: "arena", "output", "unaligned", "arena_2"...
  std::vector<ArenaPlace> places;     // parallel to the items
  bool is_at_bound = false;           // every pool is as small as what lives at one time in it
};

// kBadInput when sizes add up to more than 64 bits hold. Here the deviation offsets_from_hints
// acts.
[[nodiscard]] Result<ArenaPlan> plan_arenas(std::vector<ArenaItem> items,
                                            const MemoryOptions& options,
                                            const spec::DeviationSet& deviations);

}  // namespace graphgate::optimized
