// A campaign. It hands out the cases of a shard to workers, adds up what comes back, and looks at
// findings again. It keeps its state in a file so that it can go on after anything.
#pragma once

#include <functional>
#include <string>

#include "base/stop_signals.h"
#include "fuzz/campaign/campaign_state.h"
#include "fuzz/campaign/campaign_view.h"
#include "fuzz/campaign/claim.h"
#include "fuzz/campaign/corpus.h"
#include "fuzz/campaign/findings.h"
#include "fuzz/campaign/ledger.h"
#include "fuzz/campaign/workers.h"
#include "fuzz/reduce/score.h"

namespace graphgate::fuzz {

struct CampaignOptions {
  CampaignKey key;
  std::map<std::string, std::string> run = {};  // CampaignState::run
  std::uint64_t cases = 0;  // of all shards together; 0: as many as there is time for
  // So many neighbouring cases are of one draw (genes_of); one worker takes those of a shard.
  std::uint64_t data_sets = 1;
  double seconds = 0;  // wall-clock time, earlier parts of a resumed campaign included; 0: any
  Shard shard;
  PoolOptions pool;
  FindingOptions findings;
  std::optional<Breeding> breeding;  // of a guided campaign
  std::optional<Score> target;       // whose best cases are kept
  bool resume = false;               // goes on with the state that is there, if there is one
  std::string case_log;              // a file that gets a line for each case; empty: none
};

// What a campaign is about. All outlive it.
struct CampaignParts {
  JudgeDrawn judge;
  LookAgain look_again;
  std::function<std::uint64_t(const Descent& descent)> content_of;  // CaseVerdict::content
  // The text of a case with these lines as its header.
  std::function<Result<std::string>(const Descent& descent, std::vector<std::string> header)>
      print_case;
  const Corpus& corpus;
  const Ledger& ledger;
  CampaignView& view;
  const StopSignals& stop;
  MayBeKnown may_be_known = {};  // empty: no findings of the subject are known
  ShardClaim* claim =
      nullptr;  // held before each write of the state; null: nobody else can be there
};

// Where the time of this run went, by the clock on the wall. What a worker is not told to have done
// it was idle for, or did for a case that ended it.
struct CampaignTimes {
  double seconds = 0;               // of the run
  std::vector<StageTimes> workers;  // of each
  StageTimes findings;              // of processes that looked at findings, in a worker's place
  StageTimes campaign;              // of the process that hands out cases
};

struct CampaignEnd {
  CampaignState state;
  CampaignTimes times;
  bool is_interrupted = false;      // by a signal
  std::uint64_t not_looked_at = 0;  // findings of this shard that are still pending
};

// Runs until cases or time are used up, or SIGINT or SIGTERM comes. The state is in the corpus when
// it returns, and at most some seconds old if it never does. kBadInput where the corpus holds the
// state of another campaign and `resume` is asked for; kInfrastructure where something cannot be
// written.
[[nodiscard]] Result<CampaignEnd> run_campaign(const CampaignOptions& options,
                                               const CampaignParts& parts);

}  // namespace graphgate::fuzz
