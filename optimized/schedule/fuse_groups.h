// Fusion groups: which nodes of a partition run in one launch.
//
// One scan in program order. A group waits for more nodes; what comes behind it and has nothing to
// do with it passes it by. So a group moves down to where it ends, and every node between its
// members and that place must be independent of the members in front of it:
//
//   a = relu(x)        {a}                      waits
//   b = mm(y, y)       {a}            b         does not touch what a reads or writes
//   c = a * 2          {a, c}         b         reads a: joins
//   x.copy_(y)         {a, c, copy_}  b         writes what a reads, row by row: joins, behind a
//   d = mm(x, x)       -> b {a, c, copy_} d     reads what the group writes: the group ends
//
// Independent means by bytes of storages: views, siblings and in-place writes are what they touch.
// Groups that wait are independent of each other. A node that touches several that wait joins them
// into one if it can, and ends the others. What a group reads must be there when it ends, so a
// write into it ends the group (or joins it).
//
// A node joins only if all rows go together (fuse_rows.h), and never behind a scatter, whose rows
// depend on each other: fuse_group.h decides.
//
// The scan is near-linear in the nodes: a join adds to what one of the groups knows, and a node is
// compared with accesses that wait and whose byte ranges it meets alone.
#pragma once

#include "optimized/schedule/fuse_group.h"

namespace graphgate::optimized {

// The nodes of one launch, by their places in the partition, ascending; one node, or a group.
using Launched = std::vector<std::uint32_t>;

// The nodes of a partition in the order of their launches; each node in exactly one. `accesses` are
// theirs.
//
// Deviations: WritesBeforePendingReaders, PendingReadersByName, PrunesWeakDependences,
// FusesReaderWithScatter.
[[nodiscard]] std::vector<Launched> find_groups(const SizedGraph& graph,
                                                std::span<const SizedNode> nodes,
                                                std::span<const Accesses> accesses,
                                                const FuseLimits& limits,
                                                const spec::DeviationSet& deviations);

// Whether these nodes, in this order, may be one group, whatever its size.
[[nodiscard]] bool can_fuse(const SizedGraph& graph, const std::vector<const SizedNode*>& nodes,
                            const spec::DeviationSet& deviations);

}  // namespace graphgate::optimized
