// What the memory of a plan comes to, pool by pool: for `graphgate plan`, benchmarks and tests.
//
// Derived from the plan's steps alone, so that it can be asked of any plan, a loaded one too.
#pragma once

#include "spec/op_table.h"
#include "spec/plan.h"

namespace graphgate::optimized {

// Of one arena. Sizes of buffers are rounded up to the pool's alignment.
struct PlacementStats {
  spec::PoolId pool;
  std::int64_t peak_bytes = 0;           // the pool's size
  std::int64_t bound_bytes = 0;          // the most that lives at one step
  std::int64_t without_reuse_bytes = 0;  // if every buffer had bytes of its own
  std::size_t buffers = 0;
  std::size_t in_place = 0;  // buffers that begin, in the step in which they do, as another ends
                             // in the same place, by a kernel that stands it; the other does not
                             // count to the bound in that step
  std::size_t reused = 0;    // other buffers that lie over bytes that were in use before
};

// One for every arena, in the order of pools. The plan must pass check_plan.
[[nodiscard]] std::vector<PlacementStats> placement_stats(
    const spec::Plan& plan, const spec::OpTable& ops = spec::builtin_op_table());

// Two buffers of an arena that are in use at one step and share a byte, but for results in place;
// nothing if there are none. First the one that comes first.
[[nodiscard]] std::optional<std::pair<spec::BufferId, spec::BufferId>> find_shared_bytes(
    const spec::Plan& plan, const spec::OpTable& ops = spec::builtin_op_table());

}  // namespace graphgate::optimized
