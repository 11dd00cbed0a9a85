// Nodes that nothing depends on.
//
// An oracle that cannot tell a size or which arm runs ends there. Where what is asked for does not
// depend on it, the program runs on without: rounded_index.h, through lone_taps.h.
#pragma once

#include <vector>

#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::conformance {

// Takes out the nodes of the root graph that make nothing wanted, and write into no storage in
// which something that is wanted behind them may lie. What a node that stays is given is wanted,
// too. Ops without a row stay, as do those that write hidden state or wait for their turn,
// and conditionals with one of either in an arm. Outputs of the graph are left as they are: those
// that nobody makes any more are the caller's business.
void drop_idle_nodes(spec::Graph& graph, const std::vector<spec::ValueId>& wanted,
                     const spec::OpTable& ops);

}  // namespace graphgate::conformance
