// What extensions are given and answer, as text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "optimized/compilers/compiler.h"
#include "optimized/passes/pass.h"

namespace graphgate::optimized {

// Returns the graph as the text of a program: its inputs are user inputs, its symbols those of the
// context.
[[nodiscard]] std::string print_graph(const spec::Graph& graph, const PassContext& context);

// Makes the graph what the text of a program says: values keep the ids that their names have, new
// ones are added. False where the text is the graph's own. kBadInput where it is no program, where
// inputs differ, and where a subgraph was changed: each is given to passes by itself. `source` is
// whose text it is.
[[nodiscard]] Result<bool> take_graph(std::string_view text, const std::string& source,
                                      spec::Graph& graph, const PassContext& context);

// Returns one partition at known sizes: its number, symbols and limits, what comes from outside, a
// line for each node, and the launches that the default compiler makes of it.
[[nodiscard]] std::string print_partition(const CompilerSource& source,
                                          const CompilerContext& context,
                                          const CompiledPartition& usual);

}  // namespace graphgate::optimized
