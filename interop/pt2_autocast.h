// The casts of autocast, put into a graph that was traced with it on.
//
// torch.export leaves such a part of a program as a subgraph whose nodes stand as they were called;
// the casts happen when the part runs. For each node they follow from its op: autocast's lists say
// which ops run in the lower dtype, which in float32, and which in the widest dtype of what they
// are given. Other ops run as they are; those that call listed ops in their turn would cast inside.
// Source: aten/src/ATen/autocast_mode.cpp and .h, PyTorch 2.15.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "spec/graph.h"

namespace graphgate::interop {

// Names of nodes that stood in a region of autocast of their own, which has had its casts.
using SettledNodes = std::unordered_set<std::string>;

// Returns whether the casts of every node of the graph are known, for autocast on this type of
// device to this dtype. Then no node holds a graph, and each op is on one of the lists or known to
// call none of them. Nothing is asked of settled nodes.
[[nodiscard]] bool knows_casts(const spec::Graph& graph, std::string_view device, spec::DType lower,
                               const SettledNodes& settled);

// Puts nodes "aten.to.dtype" before the nodes that read what is to be cast, but for settled ones.
// knows_casts() holds.
void add_casts(spec::Graph& graph, spec::DType lower, const SettledNodes& settled);

}  // namespace graphgate::interop
