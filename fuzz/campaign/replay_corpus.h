// The cases that a corpus keeps, run again: a finding that is gone, one that is still there, and
// what the ledger says to either.
#pragma once

#include <string>
#include <vector>

#include "fuzz/campaign/campaign_cases.h"
#include "fuzz/campaign/campaign_view.h"
#include "fuzz/campaign/corpus.h"
#include "fuzz/campaign/ledger.h"

namespace graphgate::fuzz {

struct ReplayedCase {
  std::string file;  // below the corpus; of a known finding, where its ledger lies
  std::string name;  // of the finding
  // PASS, XFAIL where the ledger expects it, XPASS where it does and the case passes, or how it
  // fails.
  spec::Outcome outcome = spec::Outcome::kPass;
  std::string message;
  std::string issue;  // of the ledger
  std::vector<std::string> nodes;
  bool is_known = false;   // a finding that is known of the subject
  bool is_mended = false;  // it was expected, and passes
};

// The cases of regression/ and crashing/, by all judges, several at a time, each file's crash its
// own; one with an op that the table lacks is UNSUPPORTED. kBadInput for a file that is no case,
// and for a known finding of the ledger that the corpus has no case of: nobody would see that it is
// gone. Ends early, with what there is, when `stop` says so.
[[nodiscard]] Result<std::vector<ReplayedCase>> replay_corpus(
    const Corpus& corpus, const Ledger& ledger, const CampaignCases& cases,
    const PoolOptions& options, const std::function<bool()>& stop, CampaignView& view);

// Returns what the first case of each known finding shows, by those of the campaign's judges whose
// findings it is. Where none of them is asked, it is left out. XFAIL where it shows one of its
// signatures; PASS where it is mended, which is no failure; else what it shows.
[[nodiscard]] Result<std::vector<ReplayedCase>> replay_known(const KnownFindings& known,
                                                             const CampaignCases& cases,
                                                             const PoolOptions& options,
                                                             const std::function<bool()>& stop,
                                                             CampaignView& view);

}  // namespace graphgate::fuzz
