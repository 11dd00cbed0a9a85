// What a campaign came to, as a report.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign_state.h"
#include "fuzz/campaign/ledger.h"
#include "fuzz/campaign/replay_corpus.h"
#include "fuzz/campaign/run_campaign.h"
#include "tools/report/report.h"

namespace graphgate::tools {

using fuzz::ReplayedCase;

struct FuzzOutcome {
  fuzz::CampaignState state;
  std::vector<ReplayedCase> replayed;
  std::string corpus;           // the folder that the findings' files lie below
  bool is_interrupted = false;  // by a signal
  // Of the subject, by name: the address of its issue, or empty.
  std::map<std::string, std::string> known_issues;
  fuzz::CampaignTimes times;  // of this run
};

// Returns the line of sh that shows a finding of the campaign again. `what`: a case's file, or an
// id
// (`is_drawn`), which means a case together with what the campaign was given.
[[nodiscard]] std::string campaign_replay_line(const fuzz::CampaignState& state,
                                               const std::string& what, bool is_drawn,
                                               const std::string& signature);

// Returns the ops at fault, or kinds of them, that a signature names; none of what is no signature.
[[nodiscard]] std::vector<std::string> ops_at_fault(const std::string& signature);

// Returns the campaign's report. Its code is 1 for what no ledger knows (an unexpected pass too,
// but not of a finding that ships with the subject's adapter, which is told of as mended). It is 2
// where all that was found is suspect, where it was interrupted, or where nothing was judged at
// all, else 0. It is 5 for a defect of the generator. It has an item for the campaign, one for each
// finding and each stored case; known findings are XFAIL.
[[nodiscard]] Report report_of(const FuzzOutcome& outcome, const fuzz::Ledger& ledger);

}  // namespace graphgate::tools
