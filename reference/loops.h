// Loops: while_loop, scan and map, as PyTorch's eager mode runs them.
#pragma once

#include <vector>

#include "reference/interpreter.h"

namespace graphgate::reference {

// Runs one loop (spec/loops.h) and returns its results. Throws OpError for operands that are none
// of the op, and for a while_loop that is not over after spec::kMostIterations.
//   while_loop  the last results of the body; copies of what is carried where the body never ran.
//               The condition is asked before each iteration: one that depends on a
//               rounding is Undecidable, as that of a conditional is.
//   scan        the last carried, then the others stacked along a new first dimension. What is
//               carried into a scan of no slices comes out as it is, not copied.
//   map_impl    the body's results, stacked.
// Source: torch/_higher_order_ops/while_loop.py, scan.py, map.py.
[[nodiscard]] std::vector<Datum> run_loop(const Prepared& prepared, const spec::Node& node,
                                          const Environment& environment, Run& run);

}  // namespace graphgate::reference
