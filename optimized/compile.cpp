#include "optimized/compile.h"

#include "optimized/analysis/liveness.h"
#include "optimized/analysis/specialize.h"
#include "optimized/lower/lower.h"
#include "optimized/passes/pass.h"

namespace graphgate::optimized {

spec::Graph prepare(const spec::Program& program, const CompileOptions& options) {
  return run_passes(program.graph, *options.ops);
}

Result<spec::Plan> compile(const spec::Program& program, const spec::Graph& prepared,
                           std::span<const spec::InputValue> inputs,
                           const spec::SymbolValues& symbols, const CompileOptions& options) {
  try {
    const SizedGraph graph = specialize(program, prepared, inputs, symbols, *options.ops);
    const Partitions partitions = make_partitions(graph, options.partition);
    const Liveness liveness = analyze_liveness(graph);
    const Signatures signatures = derive_signatures(graph, partitions, liveness);
    GRAPHGATE_TRY(const Placement placement, plan_memory(graph, liveness, options.memory));
    return lower(program.name, graph, partitions, signatures, placement);
  } catch (const OpError& error) {
    return bad_input(program.name + ": " + error.what());
  } catch (const Unsupported& error) {
    return unsupported(program.name + ": " + error.what());
  }
}

}  // namespace graphgate::optimized
