#include "optimized/compile.h"

#include <algorithm>

#include "optimized/analysis/liveness.h"
#include "optimized/analysis/planner_ops.h"
#include "optimized/analysis/specialize.h"
#include "optimized/compilers/compiler.h"
#include "optimized/lower/lower.h"
#include "optimized/memory/hints.h"
#include "optimized/passes/pass_manager.h"
#include "optimized/schedule/kernel_lifetimes.h"
#include "optimized/schedule/stream_lifetimes.h"

namespace graphgate::optimized {

namespace {

void count_plan(const spec::Plan& plan, CompileCounters* counters) {
  if (counters == nullptr) return;
  ++counters->plans_compiled;
  for (const spec::PlanBlock& block : plan.blocks) {
    counters->partitions += std::ssize(block.partitions);
    counters->captured_partitions += std::ranges::count_if(
        block.partitions, [](const spec::PlanPartition& partition) { return partition.captured; });
  }
}

std::string_view word_of(Origin origin) {
  switch (origin) {
    case Origin::kAllocated:
      return "allocated";
    case Origin::kInPlace:
      return "in place";
    case Origin::kReused:
      return "reused";
    case Origin::kNone:
      return "none";
  }
  return "";
}

void tell_origins(const Placement& placement, CompileLog* log) {
  if (log == nullptr) return;
  for (const PlaceOrigin& each : placement.origins) {
    const bool has_old = each.origin == Origin::kInPlace || each.origin == Origin::kReused;
    log->placed(placement.buffers[each.buffer.index].name, word_of(each.origin),
                has_old ? std::string_view(placement.buffers[each.old.index].name) : "");
  }
}

}  // namespace

Result<spec::Graph> prepare(const spec::Program& program, const CompileOptions& options,
                            PassCounts* counts) {
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind != spec::InputKind::kUserInput && !program.tensors.contains(input.target)) {
      return bad_input("no data for '" + input.target + "'");
    }
  }
  StageClock clock(options.log);
  clock.begin("passes");
  return run_passes(program, *options.ops, options.deviations, options.passes, counts);
}

Result<spec::Plan> compile(const spec::Program& program, const spec::Graph& prepared,
                           std::span<const spec::InputValue> inputs,
                           const spec::SymbolValues& symbols, const CompileOptions& options) {
  GRAPHGATE_TRY_VOID(validate_options(options.partition, *options.ops));
  GRAPHGATE_TRY_VOID(validate_options(options.memory, *options.ops));
  GRAPHGATE_TRY_VOID(validate_options(options.reorder, options.partition));
  GRAPHGATE_TRY_VOID(validate(options.compiler));
  GRAPHGATE_TRY_VOID(validate(options.streams));
  StageClock clock(options.log);
  const PlannerOps ops(*options.ops, options.deviations);
  try {
    clock.begin("specialize");
    SizedGraph graph =
        specialize(program, prepared, inputs, symbols, ops.table(), options.deviations);
    clock.begin("reorder");
    graph = reorder(std::move(graph), options.reorder, options.partition, options.deviations,
                    &program.graph);
    clock.begin("partition");
    Partitions partitions =
        make_partitions(graph, options.partition, options.deviations, &program.graph);
    clock.begin("compilers");
    GRAPHGATE_TRY_VOID(
        compile_partitions(graph, partitions, options.compiler, ops.table(), options.deviations));
    clock.begin("streams");
    graph = assign_streams(std::move(graph), partitions, options.streams, options.deviations);
    clock.begin("liveness");
    const Liveness liveness = analyze_liveness(graph, options.deviations);
    clock.begin("signatures");
    const Signatures signatures =
        derive_signatures(graph, partitions, liveness, options.deviations);
    clock.begin("memory");
    Liveness widened = widen_lifetimes(graph, partitions, liveness, options.deviations);
    if (options.arithmetic == Arithmetic::kFast) {
      widened = keep_for_readers(graph, partitions, std::move(widened));
    }
    std::vector<std::int64_t> hinted;
    if (asks_for_hints(options.memory, options.deviations)) {
      hinted = hinted_bytes(program, prepared, graph);
    }
    GRAPHGATE_TRY(Placement placement,
                  plan_memory({graph, partitions, signatures, widened, std::move(hinted)},
                              options.memory, options.deviations));
    tell_origins(placement, options.log);
    clock.begin("lower");
    spec::Plan plan =
        lower(program.name, std::move(graph), partitions, signatures, std::move(placement));
    if (options.arithmetic == Arithmetic::kFast) plan.arithmetic = "fast";
    count_plan(plan, options.counters);
    return plan;
  } catch (const OpError& error) {
    return bad_input(program.name + ": " + error.what());
  } catch (const Unsupported& error) {
    return unsupported(program.name + ": " + error.what());
  }
}

}  // namespace graphgate::optimized
