// Nodes of higher-order ops that are given another op and its operands.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "spec/graph.h"

namespace graphgate::interop {

// The op that such a node runs, and its operands by the names of the op's schema.
struct OperatorCall {
  std::string op;
  std::vector<spec::NamedArgument> arguments;
};

// Returns the call of a node whose argument `place` is an op of the built-in table and whose later
// arguments are its operands; nothing for any other node.
[[nodiscard]] std::optional<OperatorCall> operator_call(const spec::Node& node, std::size_t place);

}  // namespace graphgate::interop
