// What `graphgate bench judges` measures: what watching a run costs beside the run itself, and what
// the plan verifier takes of a check. bench.cpp prints it.
//
// Processor time of one thread, both sides in turns (stopwatch.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/bench/stopwatch.h"

namespace graphgate::tools {

// The programs (.pt2) of a folder, by name. kBadInput for a folder that has none.
[[nodiscard]] Result<std::vector<std::string>> find_models(const std::string& folder);

// The recorded calls of one program, on executors that have been called before, watched by plain.
// `repeats`: how often the calls are made for one measurement.
struct WatchTimes {
  std::string model;
  std::size_t nodes = 0;
  int repeats = 0;
  Comparison watched_by_plain;
};
// Whose calls, and what watches them: the optimized executor's instruments, or the reference's
// provenance mode beside its eager one.
enum class Watched : std::uint8_t { kReferenceProvenance, kProvenance, kShadow };
[[nodiscard]] Result<WatchTimes> measure_watching(const std::string& path, Watched what);

// A check of one program, its recorded calls compiled and run in it: the judges that it is asked by
// default (bounds, state), and the verifier, with the reference's run that it takes facts from.
struct VerifierTimes {
  std::string model;
  std::size_t nodes = 0;
  double check_seconds = 0;     // all three
  double verifier_seconds = 0;  // the verifier, the run included
  double run_seconds = 0;       // that run alone

  [[nodiscard]] double share() const { return (verifier_seconds - run_seconds) / check_seconds; }
  [[nodiscard]] double share_with_run() const { return verifier_seconds / check_seconds; }
};
[[nodiscard]] Result<VerifierTimes> measure_verifier(const std::string& path);

}  // namespace graphgate::tools
