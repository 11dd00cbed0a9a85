// What torch._inductor makes of nodes, where its buffers differ from the storages of this planner.
//
// Here bytes have one storage with one name, and every node that launches is one. Inductor knows
// bytes by the names of buffers. Some views are buffers of their own, and some writes leave a name
// without bytes. A pointwise value becomes a buffer only when somebody needs it in memory.
// Deviations that stand for its mistakes act where its buffers are like that, and nowhere else.
#pragma once

#include <vector>

#include "optimized/sized_graph.h"

namespace graphgate::optimized {

// Returns, by value, whether it is a view that is a buffer of its own: one whose dtype has another
// item size than what was made (FallbackKernel of aten.view.dtype). All other views are arithmetic
// over the buffer that they view.
[[nodiscard]] std::vector<bool> views_with_names(const SizedGraph& graph);

// Returns the storage that the node leaves to a buffer without a layout (IndexPutFallback and
// ScatterFallback, on a GPU), else kNoStorage. Such nodes are index_put and index_add with a mask
// or by atomic adds of integers, and scatters that reduce. Everything else that writes in place,
// custom ops among it, has a MutationOutput or a layout.
[[nodiscard]] StorageIndex written_without_layout(const SizedGraph& graph, const SizedNode& node);

// Returns whether the node's results are surely buffers as soon as it is lowered: products,
// convolutions, plain reductions, custom ops, and what is written without a layout. What ends in a
// pointwise op waits for a reader.
[[nodiscard]] bool is_realized_at_once(const SizedGraph& graph, const SizedNode& node);

}  // namespace graphgate::optimized
