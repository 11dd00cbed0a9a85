// Planted faults, shown by cases with much around them, and how small the reducer makes these.
//
// For each mutant (mutants.h): the first golden case that shows it, buried among nodes, calls and
// options that have nothing to do with it, or a case that the generator draws; then the reducer.
// The slow test and the bench `reduction` measure all mutants so, the quick test some.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/reduce/reducer.h"
#include "tools/mutants/mutants.h"
#include "tools/tests/suites/case_header.h"

namespace graphgate::tools {

struct BurySettings {
  std::size_t nodes = 40;  // for each program
  std::size_t calls = 8;   // about so many in all
};

// Returns the case with that much around it, of which nothing reads or writes what the case is
// about. Around it are a chain of ops on inputs of its own between the nodes of each program, calls
// made again and options that change no plan. `shows` says whether the fault is still seen: what
// hides it is left away.
[[nodiscard]] spec::CaseFile buried(const spec::CaseFile& the_case, const BurySettings& settings,
                                    const fuzz::CheckCase& shows);

struct MutantReduction {
  std::string mutant;
  std::string path;       // of the golden case, or the id of the drawn one; empty: none shows it
  std::string signature;  // that is kept
  fuzz::CaseSize before;  // buried
  fuzz::CaseSize after;
  std::size_t checks = 0;
  double seconds = 0;  // wall-clock time of the reduction alone
  bool is_finished = false;
  std::string text;   // the reduced case
  std::string error;  // why there is none though a case shows it; else empty
};

struct ReductionSettings {
  std::uint64_t drawn = 0;  // looks for the fault in so many drawn cases; 0: in the golden ones
  double seconds = 5;       // for one reduction
  int jobs = 1;
  std::uint32_t timeout_seconds = 300;  // for one mutant with all that it takes
  BurySettings bury;
};

// By the mutants given; each in processes of its own. kInfrastructure when no process can be made.
[[nodiscard]] Result<std::vector<MutantReduction>> reduce_mutants(
    const std::vector<Mutant>& mutants, const std::vector<GoldenCase>& cases,
    const ReductionSettings& settings);

// All cases of golden/cases/ that a right executor passes.
[[nodiscard]] Result<std::vector<GoldenCase>> passing_golden_cases(const std::string& root);

struct ReductionMedians {
  std::size_t mutants = 0;  // that a case shows
  double nodes = 0;
  double calls = 0;
  double seconds = 0;
  double seconds_max = 0;
};
[[nodiscard]] ReductionMedians medians_of(const std::vector<MutantReduction>& reductions);

}  // namespace graphgate::tools
