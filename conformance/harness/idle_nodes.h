// Nodes that nothing hangs on.
//
// An oracle that cannot tell a size or which arm runs ends there. Where what is asked for does not
// hang on it, the program runs on without: rounded_index.h, through lone_taps.h.
#pragma once

#include <vector>

#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::conformance {

// Takes out the nodes of the root graph that make nothing that is wanted or that a node needs which
// stays, and write nothing that may lie in one storage with such a value or an input of the graph;
// of those only what has a row, or arms of such nodes, and neither writes hidden state nor waits
// for its turn. Outputs of the graph stay as they are: those that nobody makes any more are the
// caller's business.
void drop_idle_nodes(spec::Graph& graph, const std::vector<spec::ValueId>& wanted,
                     const spec::OpTable& ops);

}  // namespace graphgate::conformance
