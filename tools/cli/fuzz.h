// What the verbs `fuzz` and `fuzz merge` share.
#pragma once

#include "tools/cli/common_flags.h"
#include "tools/cli/subject_flags.h"
#include "tools/executors/optimized_options.h"
#include "tools/report/forms.h"
#include "tools/report/fuzz_report.h"

namespace graphgate::tools {

struct FuzzVerb {
  std::uint64_t seed = 1;
  std::uint64_t cases = 0;  // 0: by time; neither: kDefaultFuzzCases
  std::string time;         // "8h", "90s"
  int jobs = 0;             // 0: as many as the machine has processors
  std::string shard;        // "i/N"; empty: as the environment says
  std::string corpus = "fuzz-corpus";
  std::string ledger;  // empty: CORPUS/ledger.txt, if it is there
  bool resume = false;
  bool replay_only = false;
  bool no_replay = false;
  std::string judges;  // empty: the quick ones
  std::string ops;
  std::string exclude;
  std::uint64_t data_sets = 1;
  double timeout_seconds = 0;  // 0: as kFuzzTimeout and kCommandTimeout say
  std::string memory_limit;    // empty: 4GiB, none with a command
  double reduce_seconds = 10;
  std::string case_log;
  bool feedback = false;
  std::string target;          // a score; empty: none
  std::uint32_t lineages = 0;  // 0: as many as there are shards
  SubjectFlags subject;
  spec::Configuration planner;
  ReportPaths reports;
  std::vector<std::string> merge;  // corpora of the verb `fuzz merge`
  std::string merge_into;
  const CLI::App* merge_app = nullptr;  // the subcommand
};

// Seconds for one case where --timeout says nothing: long enough that none is stopped that would
// have ended, with as many workers as processors. A device's kernels are compiled in the case, a
// command may compile all of it.
[[nodiscard]] inline double usual_timeout(const FuzzVerb& verb) {
  if (!verb.subject.executor.empty()) return 600;
  return is_on_host(verb.planner) ? 20 : 120;
}

CLI::App* add_fuzz_merge(CLI::App& fuzz, FuzzVerb& verb);
[[nodiscard]] Result<ExitCode> run_fuzz_merge(const FuzzVerb& verb);

// The file, or the ledger of the corpus; empty where there is none.
[[nodiscard]] Result<fuzz::Ledger> read_ledger(const std::string& path, const std::string& corpus);

}  // namespace graphgate::tools
