// The optimized executor's stages, on one screen.
//
//   program ─ passes ─ specialize ─ partition ─ liveness ─ signatures ─ memory ─ lower ─> Plan
//             once      for each binding of the symbols and geometry of the inputs
//
// Every stage is a function over plain data; nothing is shared between them but what is returned
// here. executor.cpp compiles when a call comes with sizes that have no plan yet; `graphgate plan`
// prints what comes out; the benchmark times the stages one by one.
#pragma once

#include "optimized/memory/placement.h"
#include "optimized/partition/partition.h"
#include "optimized/partition/signature.h"
#include "spec/deviation.h"
#include "spec/executor.h"

namespace graphgate::optimized {

struct CompileOptions {
  const spec::OpTable* ops = &spec::builtin_op_table();  // outlives the plan's use
  spec::DeviationSet deviations;
  PartitionOptions partition;
  MemoryOptions memory;
};

// What every plan of a program starts from: the graph after passes.
[[nodiscard]] spec::Graph prepare(const spec::Program& program, const CompileOptions& options);

// The plan for inputs of these geometries. kBadInput where an op refuses the sizes, kUnsupported
// for what has no kernel; both name the node.
[[nodiscard]] Result<spec::Plan> compile(const spec::Program& program, const spec::Graph& prepared,
                                         std::span<const spec::InputValue> inputs,
                                         const spec::SymbolValues& symbols,
                                         const CompileOptions& options);

}  // namespace graphgate::optimized
