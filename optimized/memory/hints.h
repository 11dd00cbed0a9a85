// What storages take at the sizes that a program was traced with: the hints of its symbols.
#pragma once

#include "optimized/memory/options.h"
#include "optimized/sized_graph.h"

namespace graphgate::optimized {

// Whether a plan of memory may look at hints at all; under deviations it may.
[[nodiscard]] bool asks_for_hints(const MemoryOptions& options,
                                  const spec::DeviationSet& deviations);

// By StorageIndex, for MemoryInput::hint_bytes. `prepared` is the graph that `sized` was made from:
// the values there have types over symbols. What has no such type, and what has no hint, takes what
// it takes now. Empty for a program without symbols: hints and sizes are the same.
[[nodiscard]] std::vector<std::int64_t> hinted_bytes(const spec::Program& program,
                                                     const spec::Graph& prepared,
                                                     const SizedGraph& sized);

}  // namespace graphgate::optimized
