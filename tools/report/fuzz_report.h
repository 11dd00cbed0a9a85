// What a campaign came to: lines for people, and the reports that other programs read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign_state.h"
#include "fuzz/campaign/ledger.h"
#include "fuzz/campaign/replay_corpus.h"
#include "tools/report/exit_code.h"
#include "tools/report/report.h"

namespace graphgate::tools {

using fuzz::ReplayedCase;

struct FuzzOutcome {
  fuzz::CampaignState state;
  std::vector<ReplayedCase> replayed;
  std::string corpus;           // the folder that the findings' files lie below
  bool is_interrupted = false;  // by a signal
};

// 1 for what no ledger knows (an unexpected pass too), 2 where all that was found is suspect, where
// it was interrupted, or where nothing was judged at all, else 0. A case that the reference refuses
// is a defect of the generator: 5.
[[nodiscard]] ExitCode exit_code_of(const FuzzOutcome& outcome, const fuzz::Ledger& ledger);

// "50 cases in 0.5s: 48 PASS, 2 FAIL", what was found, one line each with the line that replays it,
// how likely the next case is to show more, and "48 passed, 2 failed, 0 skipped".
[[nodiscard]] std::string describe(const FuzzOutcome& outcome, const fuzz::Ledger& ledger);

[[nodiscard]] nlohmann::ordered_json json_of(const FuzzOutcome& outcome,
                                             const fuzz::Ledger& ledger);

// For print_junit and print_sarif: one for the campaign, one for each finding and each stored case.
// Known findings are XFAIL.
[[nodiscard]] std::vector<FileReport> file_reports(const FuzzOutcome& outcome,
                                                   const fuzz::Ledger& ledger);

}  // namespace graphgate::tools
