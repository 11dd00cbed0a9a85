// Whether a program may be run at a larger size than it is called with: padding.
//
// A captured partition serves one size. Runtimes therefore keep graphs for a few sizes, and run a
// call of 13 tokens in the graph for 16, with three rows of whatever is there. That is right only
// if the first 13 rows of every result, all state and all that has no rows are what they would have
// been. This analysis proves it, over the graph as it was exported, with its declared types:
//
//   every tensor whose sizes depend on the symbol has its rows in one dimension (row_dim.h);
//   every op keeps rows apart (padding_rules.h);
//   nothing writes rows into a storage without them, or into state;
//   numbers that depend on the symbol are used as sizes only;
//   in inputs and outputs the symbol is exactly one whole dimension.
//
// What is not proven is refused, with the node and the reason. (Ops that mix rows but are told the
// true number of them would be right as well; there are none in the op table so far.)
//
// The session (runtime/session.h) asks once per program, and then runs what is refused at its exact
// size.
#pragma once

#include <string>
#include <string_view>

#include "optimized/analysis/padding_rules.h"
#include "spec/deviation.h"
#include "spec/plan.h"
#include "spec/program.h"

namespace graphgate::optimized {

// `padding` where it is legal, with `symbol` and the dimensions of inputs and user outputs; else
// `refusal`: "node 'sum_1' (aten.sum.default): works along the rows".
struct PaddingProof {
  std::optional<spec::PlanPadding> padding;
  std::string refusal;
};

// Nodes are looked up in `ops`. A program whose user inputs do not depend on the symbol is refused.
[[nodiscard]] PaddingProof prove_padding(const spec::Program& program, std::string_view symbol,
                                         const spec::OpTable& ops,
                                         const spec::DeviationSet& deviations = {});

// The dimensions of inputs and user outputs whose size is exactly the symbol, proven or not.
[[nodiscard]] spec::PlanPadding padded_dims(const spec::Program& program, std::string_view symbol);

}  // namespace graphgate::optimized
