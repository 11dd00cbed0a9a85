// Tokens that order ops with effects.
//
// run_decompositions() of PyTorch 2.14 hands a token, an input of no bytes, from one op with an
// effect to the next: higher_order.with_effects(token, op, operands...) returns the next token
// before the op's results, and the last one is an output. Here nodes run in their order, and an
// op's effects are known, so that a token says nothing.
#pragma once

#include <vector>

#include "spec/graph.h"

namespace graphgate::interop {

// Replaces these nodes by the ops that they run and removes tokens from the graph's inputs and
// outputs. Returns the tokens, in order. Where a node is no such call of an op of the built-in
// table, or a token goes anywhere else, all stays as it is, and none is returned. Values of tokens
// stay in graph.values.
std::vector<spec::ValueId> drop_effect_tokens(spec::Graph& graph);

}  // namespace graphgate::interop
