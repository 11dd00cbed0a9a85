// From launches to fused nodes.
//
// A compiler (compilers/compiler.h) says which nodes of a partition run in one launch; this builds
// the graph that says so. Nodes of one launch become the body of a fused node. Storages that only
// that body touches become inner ones, without bytes; a view of one takes a node in the body
// (as_strided), so that the plan can say what it is a view of. A node that stands in several
// launches is made anew in each, under a name of its own: what its readers need is computed where
// they are.
//
// Results keep their bits: each node of a body computes what it did, and every value has its dtype.
#pragma once

#include "optimized/partition/partition.h"
#include "optimized/schedule/fuse_groups.h"

namespace graphgate::optimized {

// The launches of one partition; places are counted from its first node.
struct PartitionLaunches {
  std::uint32_t block = 0;
  std::uint32_t partition = 0;
  std::vector<Launched> launches;
};

// Rewrites every block, and the node ranges of the partitions. `all` has each partition once, in
// order. Every launch holds places of its partition, ascending; every place stands in one at least.
// Scratch bytes of fused nodes are part of what it fills in.
//
// Deviations: RealizationMovesRounding.
void fuse_launches(SizedGraph& graph, Partitions& partitions,
                   const std::vector<PartitionLaunches>& all, const spec::OpTable& ops,
                   const spec::DeviationSet& deviations);

}  // namespace graphgate::optimized
