// Random ops that run from a given state of PyTorch's generator.
//
// PyTorch writes higher_order.run_with_rng_state(state, op, operands...). The draws alone depend on
// the state: afterwards the generator is as it was before. Here the state, a tensor of bytes, stands
// for the argument `generator` of an op that has one:
// aten.rand.generator([3], generator=%state).
#pragma once

#include <optional>

#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::interop {

// Replaces these nodes of a graph, but not of its subgraphs. dropout and native_dropout, which have
// no such argument, become their steps on the CPU. Nodes that run any other op without one stay as
// they are. Results keep their names.
void place_generator_states(spec::Graph& graph);

// The node as PyTorch writes it; nothing where a generator is no tensor.
[[nodiscard]] std::optional<spec::Node> run_with_rng_state(const spec::Node& node,
                                                           const spec::OpTable& ops);

}  // namespace graphgate::interop
