// What the verbs `fuzz`, `fuzz merge` and `gate` share.
#pragma once

#include "tools/fuzz_report.h"
#include "tools/verbs.h"

namespace graphgate::tools {

// What judges a drawn case where nothing else is asked for: what finds most for its time.
inline constexpr const char* kQuickJudges = "provenance,bounds,verifier,state,happens-before";

CLI::App* add_fuzz_merge(CLI::App& fuzz, FuzzVerb& verb);
[[nodiscard]] Result<ExitCode> run_fuzz_merge(const FuzzVerb& verb);

// The file, or the ledger of the corpus; empty where there is none.
[[nodiscard]] Result<fuzz::Ledger> read_ledger(const std::string& path, const std::string& corpus);

// Writes what --json, --junit and --sarif ask for.
[[nodiscard]] Result<void> write_fuzz_reports(const FuzzVerb& verb, const FuzzOutcome& outcome,
                                              const fuzz::Ledger& ledger);

}  // namespace graphgate::tools
