// What becomes of a campaign's findings. Each new signature is looked at again in a process of its
// own: does it come again, alone, or only in its order? It is reduced there, and kept in the
// corpus.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/child_processes.h"
#include "fuzz/campaign/campaign_state.h"
#include "fuzz/campaign/campaign_view.h"
#include "fuzz/campaign/corpus.h"
#include "fuzz/campaign/ledger.h"
#include "fuzz/campaign/workers.h"

namespace graphgate::fuzz {

struct TriageTask {
  std::string signature;  // as in the tally
  std::uint64_t index = 0;
  Batch batch;  // that it ended: the cases that ran before it, and itself
  [[nodiscard]] Batch alone() const { return batch.part(batch.end - 1, batch.end); }
  [[nodiscard]] Descent descent() const;
  // Of a crash, a hang, no memory.
  [[nodiscard]] bool ends_process() const;
};

struct TriageResult {
  Triage triage;
  CorpusFolder folder = CorpusFolder::kQuarantine;
  std::string case_text;         // empty: there is no case to keep
  std::string script_text = {};  // is kept beside the case; empty: there is none
};

// Runs in a process of its own and may end it.
using LookAgain = std::function<TriageResult(const TriageTask& task)>;

// Whether a case, as it was drawn, may show a finding that is known (known_findings.h); one that
// may not is looked at, whatever became of others of its signature.
using MayBeKnown = std::function<bool(const TriageTask& task)>;

struct FindingOptions {
  std::size_t most_looked_at = 200;     // signatures that are looked at in one campaign
  std::uint32_t timeout_seconds = 300;  // for one of them
};

class Findings {
 public:
  Findings(const FindingOptions& options, LookAgain look_again, MayBeKnown may_be_known,
           const Corpus& corpus, const Ledger& ledger, CampaignView& view, CampaignState& state);

  // Queues the signatures of a resumed state that nobody has looked at yet.
  void resume(const Shard& shard);
  // A signature that the state has not had. Known ones, and ones that the corpus holds a case of,
  // are told of and not looked at.
  void add(const TriageTask& task);
  // Another case of a signature that the state has. Where the first one turns out to be a known
  // finding, the next ones are looked at as well, and all that may not be it, until one is new.
  void add_another(const TriageTask& task);

  [[nodiscard]] bool has_work() const { return !queue_.empty() || children_.running() > 0; }
  [[nodiscard]] std::size_t running() const { return children_.running(); }
  [[nodiscard]] std::size_t waiting() const { return queue_.size() + children_.running(); }
  [[nodiscard]] bool can_start() const { return !queue_.empty(); }
  // Starts the next in the queue.
  [[nodiscard]] Result<void> start();
  // Takes what has come out, and keeps the cases. kInfrastructure where the corpus cannot be
  // written.
  [[nodiscard]] Result<void> collect(int milliseconds);

  // Of the processes that looked at findings again, but for those that were ended.
  [[nodiscard]] const StageTimes& times() const { return times_; }
  [[nodiscard]] std::uint64_t unknown() const;
  [[nodiscard]] std::uint64_t known() const;

 private:
  // Of a signature whose first case is a known finding, or is still looked at.
  struct Others {
    std::vector<TriageTask> waiting;  // at most kFirstCases
    int looked_at = 0;
  };
  [[nodiscard]] bool has_room() const { return next_ + queue_.size() < options_.most_looked_at; }
  void consider_others(const std::string& signature);
  [[nodiscard]] FindingNews news_of(const TriageTask& task) const;
  // What the ledger knows of the finding of this name, or null.
  [[nodiscard]] const LedgerEntry* known_entry(const std::string& name) const;
  [[nodiscard]] Result<void> finish(const TriageTask& task, const ChildResult& child);

  FindingOptions options_;
  LookAgain look_again_;
  MayBeKnown may_be_known_;
  const Corpus& corpus_;
  const Ledger& ledger_;
  CampaignView& view_;
  CampaignState& state_;
  ChildPool children_;
  std::deque<TriageTask> queue_;
  std::map<std::size_t, TriageTask> started_;
  std::map<std::string, Others> others_;  // by signature
  std::size_t next_ = 0;
  StageTimes times_;
};

}  // namespace graphgate::fuzz
