// Which node of the graph a node of a plan stands for.
//
// A plan's nodes keep the names of the graph's nodes that they come from. Only the name is taken
// from the plan; whether it can be true is looked at here.
#pragma once

#include "conformance/verify/plan_flow.h"

namespace graphgate::verify {

// Sets `flow.match` and `flow.graph_node`. The node stands in `block`, which runs the graph of
// `frame`.
void match_node(const spec::Plan& plan, const spec::OpTable& ops, const GraphFacts& facts,
                std::uint32_t frame, std::uint32_t block, FlowNode& flow);

}  // namespace graphgate::verify
