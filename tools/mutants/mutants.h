// Mutants: executors with one thing wrong, to judge the judges.
//
// A mutant is a deviation (spec/deviation.h: a wrong decision inside the executor) or a plan
// mutation (plan_mutations.h: a finished plan, changed in one place). The cases of the suites are
// run on it until a judge says that something is wrong. Each mutant runs in a process of its own:
// one that crashes, hangs or takes all memory is found out, too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/judges/judge.h"
#include "conformance/run/script.h"

namespace graphgate::tools {

struct Mutant {
  std::string name;
  bool is_deviation = false;
  std::string where;  // the row of the catalogue, or the field of the plan
  std::string what;   // in words
};
// Deviations in the order of the catalogue, then plan mutations.
[[nodiscard]] std::vector<Mutant> all_mutants();

// A case that a right executor passes.
struct MutantCase {
  std::string path;
  conformance::Script script;
  std::vector<std::string> deviations;  // that its header names
  std::string quality_baseline;         // JudgeSettings::quality_baseline; empty: none
};

// What became of one mutant. `judges` are all that found something in the case that ended the
// search (the first that a judge fails, or else the first that one suspects). "run" is among them
// where the run itself broke down, `crash` where the process did.
struct MutantVerdict {
  Mutant mutant;
  bool killed = false;
  bool is_suspect = false;  // killed, and in no case did a judge prove it: SUSPECT is all they say
  std::string path;         // the case
  std::vector<std::string> judges;
  std::string message;      // the first finding
  std::size_t cases = 0;    // that were run
  double seconds = 0;       // processor time
  bool by_outputs = false;  // some case's first call differs by torch's tolerances
  // What a list of known mutants says of one that no case kills.
  bool is_equivalent = false;
  bool is_tested = false;  // a test of its own finds it
  bool is_open = false;    // it was to stop before there was a verdict
};

// KILLED, KILLED (suspect), TESTED, EQUIVALENT, SURVIVED or NOT RUN.
[[nodiscard]] const char* verdict_word(const MutantVerdict& verdict);

struct MutantOptions {
  int jobs = 1;
  std::uint32_t timeout_seconds = 600;     // for one mutant
  std::function<bool()> should_stop = {};  // then the mutants without a verdict are open
};

// Runs every mutant on the cases, those that name it first. kInfrastructure when no process can be
// made, and when a mutant's time is up before its verdict: that is no kill.
[[nodiscard]] Result<std::vector<MutantVerdict>> run_mutants(const std::vector<Mutant>& mutants,
                                                             const std::vector<MutantCase>& cases,
                                                             const MutantOptions& options);

}  // namespace graphgate::tools
