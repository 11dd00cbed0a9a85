// Work in processes of its own: what crashes or hangs takes nothing else down.
//
// The mutants of `graphgate mutants` run so. Children are forks: they see everything that the
// parent has read, and hand back one text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spec/result.h"

namespace graphgate::tools {

enum class ChildEnding : std::uint8_t {
  kExited,    // the work returned
  kSignaled,  // by a signal, an abort, or an exit of its own
  kTimedOut,  // and was killed
};

struct ChildResult {
  ChildEnding ending = ChildEnding::kExited;
  int signal = 0;
  double seconds = 0;  // wall-clock time
  std::string output;  // what the work returned
  // "killed by signal 11 (Segmentation fault)"; "" for one that exited.
  [[nodiscard]] std::string describe() const;
};

struct ChildOptions {
  int jobs = 1;
  std::uint32_t timeout_seconds = 120;  // for each
  std::uint64_t memory_bytes = 0;       // address space of each; 0: as the parent's
};

// Runs `work(i)` for every i in [0, count), at most `jobs` at a time, each in its own process;
// results by i. To be called while the process has one thread. kInfrastructure when no process can
// be made. What work throws counts as an abort.
[[nodiscard]] Result<std::vector<ChildResult>> run_children(
    std::size_t count, const ChildOptions& options,
    const std::function<std::string(std::size_t)>& work);

}  // namespace graphgate::tools
