// Nodes against the schemas of their ops. check_program calls this after check_graph, whose
// invariants it relies on.
#pragma once

#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::spec {

// Checks every node of the graph and of its subgraphs. Higher-order ops have no schema and always
// pass, and so do ops that the table lacks (missing_op.h).
//
// What fits a schema type follows what PyTorch's exporter writes. A number or a symbolic number
// fits `Tensor` (it becomes a 0-dim tensor). An int fits `float`, one int fits a list with a fixed
// size, and a bool or an int fits `Scalar`. None fits optional types and types with no value here
// (Generator, Stream...). A tensor fits Generator: it holds the generator's state.
//
// Tensors of a pointwise op, and of some others whose kernels PyTorch lets run on one device alone,
// are on devices of one type, as far as their types say. A CPU tensor without dimensions goes with
// any.
[[nodiscard]] Result<void> check_nodes(const Graph& graph, const OpTable& ops);

}  // namespace graphgate::spec
