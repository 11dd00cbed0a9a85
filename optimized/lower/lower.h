// Turns what the stages decided into a spec::Plan: everything that a runtime needs, and nothing
// else.
#pragma once

#include "optimized/memory/placement.h"
#include "optimized/partition/signature.h"

namespace graphgate::optimized {

// Steps of block 0 come first, then those of the other blocks, each block's in order. The last
// stage: the plan takes what the graph and the placement hold.
[[nodiscard]] spec::Plan lower(std::string_view name, SizedGraph graph,
                               const Partitions& partitions, const Signatures& signatures,
                               Placement placement);

}  // namespace graphgate::optimized
