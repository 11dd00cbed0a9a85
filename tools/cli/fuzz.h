// What the verbs `fuzz`, `fuzz merge` and `gate` share.
#pragma once

#include "tools/cli/verbs.h"
#include "tools/report/fuzz_report.h"

namespace graphgate::tools {

// What judges a drawn case where nothing else is asked for: what finds most for its time.
inline constexpr const char* kQuickJudges = "provenance,bounds,verifier,state,happens-before";

// Seconds for one case where --timeout says nothing: long enough that none is stopped that would
// have ended, with as many workers as processors. A device's kernels are compiled in the case, a
// command may compile all of it.
[[nodiscard]] inline double usual_timeout(const FuzzVerb& verb) {
  if (!verb.subject.executor.empty()) return 600;
  return verb.planner.device.is_host() ? 20 : 120;
}

CLI::App* add_fuzz_merge(CLI::App& fuzz, FuzzVerb& verb);
[[nodiscard]] Result<ExitCode> run_fuzz_merge(const FuzzVerb& verb);

// The file, or the ledger of the corpus; empty where there is none.
[[nodiscard]] Result<fuzz::Ledger> read_ledger(const std::string& path, const std::string& corpus);

// Writes what --json, --junit and --sarif ask for.
[[nodiscard]] Result<void> write_fuzz_reports(const FuzzVerb& verb, const FuzzOutcome& outcome,
                                              const fuzz::Ledger& ledger);

}  // namespace graphgate::tools
