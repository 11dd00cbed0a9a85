// Line-based reuse, as torch._inductor's wrapper does it (memory_plan_reuse).
//
// Each partition is a list of lines: a node allocates what it makes, launches, and frees what dies
// with it. A freed buffer waits in a list of its key; an allocation of the same key takes the one
// that was freed last, as it is. What nothing can be found for is allocated anew.
//
//   allocate a   launch   allocate b   launch   free a   allocate c (reuses a)   launch   free b
//
// The rules, each of which a deviation can break (spec/deviation.h):
//
//   key        device, dtype, bytes, whether the place is aligned. Only equal keys match, and of
//              them only the last freed is looked at.
//   order      what is freed by a node is on offer from the next node on
//   peak       reuse by the very next node is free; else the buffer, held from its free to the
//              allocation, must not lift the estimated peak of the whole program (peak_guard.h)
//   arms       an arm of a conditional has lists of its own: nothing passes into it or out of it,
//              and what arms use of the outside is freed behind the conditional
//   partition  lists begin and end with the partition; what it frees of earlier partitions counts
//   in place   a result that took over its operand's place (in_place.h) is no allocation, and the
//              operand is not freed
//   tail       allocations behind the last launch of a partition are dropped unless the partition
//              outputs them: no one will write there
//   never      inputs, state, and what the program returns
#pragma once

#include "optimized/memory/groups.h"

namespace graphgate::optimized {

// `takes_over`: of decide_in_place. Near-linear in the number of nodes.
[[nodiscard]] MemoryGroups plan_lines(const MemoryInput& input, const std::vector<StorageUse>& uses,
                                      const std::vector<StorageIndex>& takes_over,
                                      const spec::DeviationSet& deviations);

}  // namespace graphgate::optimized
