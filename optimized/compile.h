// The optimized executor's stages, on one screen.
//
//   program ─ passes ─ specialize ─ reorder ─ partition ─ compilers ─ streams ─ liveness ─
//             once     └ for each binding of the symbols and geometry of the inputs
//                                                     ─ signatures ─ memory ─ lower ─> Plan
//
// Every stage is a function over plain data; nothing is shared between them but what is returned
// here. executor.cpp compiles when a call comes with sizes that have no plan yet; `graphgate plan`
// prints what comes out; the benchmark times the stages one by one.
#pragma once

#include "optimized/compile_counters.h"
#include "optimized/compile_log.h"
#include "optimized/compilers/options.h"
#include "optimized/memory/placement.h"
#include "optimized/partition/partition.h"
#include "optimized/partition/signature.h"
#include "optimized/passes/pass.h"
#include "optimized/schedule/reorder.h"
#include "optimized/schedule/streams.h"
#include "spec/deviation.h"
#include "spec/executor.h"

namespace graphgate::optimized {

// Strict: the same bits however a program is cut, fused, captured, padded or placed, on the host as
// on a device. Fast: a device takes the kernels that are fast, with tensor cores for products, and
// lets launches overlap; results keep to what tensor cores promise (docs/bounds.md). The host knows
// strict arithmetic alone, which is fast arithmetic, too.
enum class Arithmetic : std::uint8_t { kStrict, kFast };

struct CompileOptions {
  const spec::OpTable* ops = &spec::builtin_op_table();  // outlives the plan's use
  spec::DeviationSet deviations;
  PassOptions passes;
  ReorderOptions reorder;
  PartitionOptions partition;
  CompilerOptions compiler;
  StreamOptions streams;
  MemoryOptions memory;
  Arithmetic arithmetic = Arithmetic::kStrict;
  // Told how compiling goes; null: nobody. They alter nothing, and stand in no cache key.
  CompileLog* log = nullptr;
  CompileCounters* counters = nullptr;
};

// What every plan of a program starts from: the graph after passes. `counts`, where given, receives
// what each did. kBadInput for pass options that contradict each other or name no pass, and for a
// state without a tensor.
[[nodiscard]] Result<spec::Graph> prepare(const spec::Program& program,
                                          const CompileOptions& options,
                                          PassCounts* counts = nullptr);

// The plan for inputs of these geometries. kBadInput where an op refuses the sizes, kUnsupported
// for what has no kernel; both name the node.
[[nodiscard]] Result<spec::Plan> compile(const spec::Program& program, const spec::Graph& prepared,
                                         std::span<const spec::InputValue> inputs,
                                         const spec::SymbolValues& symbols,
                                         const CompileOptions& options);

}  // namespace graphgate::optimized
