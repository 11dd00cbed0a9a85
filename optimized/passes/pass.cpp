#include "optimized/passes/pass.h"

namespace graphgate::optimized {
namespace {

using PassFunction = void (*)(spec::Graph&, const spec::OpTable&);

constexpr PassFunction kPasses[] = {undo_functionalization, eliminate_dead_code};

}  // namespace

spec::Graph run_passes(spec::Graph graph, const spec::OpTable& ops) {
  for (spec::Graph& subgraph : graph.subgraphs) subgraph = run_passes(std::move(subgraph), ops);
  for (const PassFunction pass : kPasses) pass(graph, ops);
  return graph;
}

}  // namespace graphgate::optimized
