// Nodes that run a subgraph once, whatever the call, replaced by what the subgraph does.
//
// torch.export wraps a part of a program in such a node to note how it was traced. It may be traced
// with gradients off (wrap_with_set_grad_enabled), outside of autocast, or as a part to recompute
// in a backward pass (tag_activation_checkpoint). It may be one of several equal parts
// (invoke_subgraph), or one that a compiler is given hints for (hints_wrapper). It may be one that
// may not break (strict_mode), or that depends on constants alone (run_const_graph). None of it
// changes what the part computes. Autocast that is on does: its casts are put into the part, where
// all of them are known (pt2_autocast.h). Else such a node stays, and no executor has it;
// decomposed programs hold the casts.
#pragma once

#include <string>

#include "interop/pt2_types.h"
#include "spec/graph.h"

namespace graphgate::interop {

// Replaces these nodes of a graph whose values are defined in order. Results keep their names;
// other values and nodes of the subgraph take a free one. Values that nothing defines any more stay
// in graph.values. `path` is the graph's (GraphReader).
void inline_wrapped_subgraphs(spec::Graph& graph, const std::string& path, ReadContext& context);

}  // namespace graphgate::interop
