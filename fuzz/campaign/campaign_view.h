// The watcher of a campaign: what it hears while the campaign runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign_state.h"
#include "fuzz/campaign/shard.h"
#include "fuzz/campaign/workers.h"

namespace graphgate::fuzz {

struct CampaignProgress {
  std::uint64_t cases = 0;          // that ran, before a resume too
  std::uint64_t planned_cases = 0;  // of this shard; 0: as many as there is time for
  double seconds = 0;               // so far
  double planned_seconds = 0;       // 0: as many as it takes
  double cases_per_second = 0;      // lately
  std::uint64_t features = 0;
  std::uint64_t findings = 0;       // signatures that the ledger does not know
  std::uint64_t known = 0;          // signatures that it does
  std::uint64_t waiting = 0;        // findings that are still to be looked at
  double seconds_since_new = 0;     // since the latest new feature or finding
  TimeSpent spent;                  // by the workers, in this run
  std::vector<CaseInWork> in_work;  // what each busy worker is at, the longest first
};

struct FindingNews {
  std::string name;  // corpus.h, finding_name
  std::string signature;
  std::string outcome;
  std::string message;
  CaseId id;
  std::string issue;  // what the ledger knows; or empty
};

class CampaignView {
 public:
  virtual ~CampaignView() = default;
  virtual void begin(const CampaignState& state, const Shard& shard, int jobs) = 0;
  virtual void progress(const CampaignProgress& progress) = 0;
  // How often it wants to hear of it.
  [[nodiscard]] virtual double progress_seconds() const = 0;
  // Only of a campaign whose pool wants times (workers.h).
  virtual void ran(const CaseTime& /*time*/) {}
  virtual void found(const FindingNews& news) = 0;
  virtual void looked_at(const FindingNews& news, const Triage& triage) = 0;
  // A stored case that was run again: PASS, XFAIL...
  virtual void replayed(const std::string& file, const std::string& outcome,
                        const std::string& why) = 0;
  virtual void remark(const std::string& line) = 0;
  virtual void end(const std::string& summary) = 0;
};

}  // namespace graphgate::fuzz
