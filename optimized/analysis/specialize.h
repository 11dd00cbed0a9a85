// A graph at known sizes: shapes inferred, sizes folded into constants, views resolved.
//
// The first stage of every compile. Kernels' `infer` halves say what nodes make; nothing is read
// from tensors. Assertions that hold at these sizes vanish, and those that do not fail here.
// Conditionals whose predicate is known are replaced by the arm that is taken. New contents that a
// functionalized program returns for its inputs and buffers become copies at the end, in order.
#pragma once

#include <span>

#include "optimized/sized_graph.h"
#include "spec/deviation.h"
#include "spec/executor.h"

namespace graphgate::optimized {

// `graph` is the program's graph, or what passes made of it. Only the geometry of `inputs` matters,
// and which of them share a storage. Throws OpError and Unsupported, with the node in front.
[[nodiscard]] SizedGraph specialize(const spec::Program& program, const spec::Graph& graph,
                                    std::span<const spec::InputValue> inputs,
                                    const spec::SymbolValues& symbols, const spec::OpTable& ops,
                                    const spec::DeviationSet& deviations = {});

}  // namespace graphgate::optimized
