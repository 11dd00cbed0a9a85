// Which symbols a node depends on: those of the sizes, strides and offsets of what it reads and
// makes, and of the numbers it is given.
//
// Signatures pass them to partitions, and rules cut nodes by them. What an expression only seems to
// depend on does not count: s0 - s0 + 4 is 4. The specializer asks for every node.
#pragma once

#include <string>
#include <vector>

#include "spec/deviation.h"
#include "spec/graph.h"

namespace graphgate::optimized {

// The symbols that remain when the expression is simplified as a polynomial over its symbols;
// sorted. Divisions, remainders, extrema and comparisons depend on whatever their operands depend
// on, but where the operands are constants, or a division by a constant comes out even.
[[nodiscard]] std::vector<std::string> needed_symbols(const spec::SymExpr& expr);

// Of the node's operands and results; sorted, each once.
[[nodiscard]] std::vector<std::string> symbols_of(const spec::Graph& graph, const spec::Node& node,
                                                  const spec::DeviationSet& deviations);

// Of values of `graph`.
[[nodiscard]] std::vector<std::string> symbols_of(const spec::Graph& graph,
                                                  const std::vector<spec::ValueId>& values,
                                                  const spec::DeviationSet& deviations);

}  // namespace graphgate::optimized
