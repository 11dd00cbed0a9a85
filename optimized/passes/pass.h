// Passes: graph to graph, before sizes are known.
//
// Each pass is a small file with its precondition; run_passes lists them on one screen, in order. A
// pass keeps the values of everything that stays, and may add values and nodes.
#pragma once

#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::optimized {

// auto_functionalized_v2 becomes what it was made from: copies of the bases, views of them, and the
// op that writes. (The copies stay: whether a base may be written in place is for a later pass.)
void undo_functionalization(spec::Graph& graph, const spec::OpTable& ops);

// Nodes whose results nobody reads go, unless they do something: write, order, assert, or reach
// hidden state. Conditionals stay.
void eliminate_dead_code(spec::Graph& graph, const spec::OpTable& ops);

// All passes, in order, on the graph and its subgraphs.
[[nodiscard]] spec::Graph run_passes(spec::Graph graph, const spec::OpTable& ops);

}  // namespace graphgate::optimized
