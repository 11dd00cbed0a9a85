// What a page draws of a campaign (Report::panels), and how it is heard of while the campaign runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign_view.h"
#include "fuzz/campaign/ledger.h"
#include "tools/report/fuzz_report.h"

namespace graphgate::tools {

// What happened to a finding, in order.
struct FindingEvent {
  double seconds = 0;  // since the campaign began, before a resume too
  std::string what;
};

struct CampaignPoint {
  double seconds = 0;
  std::uint64_t cases = 0;
  double cases_per_second = 0;
  std::uint64_t features = 0;
  std::uint64_t findings = 0;
};

// When a worker was at a case, and what it came to.
struct CaseSpan {
  std::size_t worker = 0;
  std::uint64_t index = 0;
  double begin_seconds = 0;  // as those of FindingEvent
  double seconds = 0;
  std::string outcome;
};

struct CampaignHistory {
  std::vector<CampaignPoint> points;                        // at most kMostPoints
  std::map<std::string, std::vector<FindingEvent>> events;  // by signature
  std::vector<CaseSpan> cases;                              // the first kMostCases
  std::uint64_t further_cases = 0;                          // that ran
};

// Hands on what it hears to another view, which outlives it, and keeps the history.
class HistoryView final : public fuzz::CampaignView {
 public:
  explicit HistoryView(fuzz::CampaignView& shown) : shown_(shown) {}

  [[nodiscard]] const CampaignHistory& history() const { return history_; }

  void begin(const fuzz::CampaignState& state, const fuzz::Shard& shard, int jobs) override;
  void progress(const fuzz::CampaignProgress& progress) override;
  [[nodiscard]] double progress_seconds() const override;
  void ran(const fuzz::CaseTime& time) override;
  void found(const fuzz::FindingNews& news) override;
  void looked_at(const fuzz::FindingNews& news, const fuzz::Triage& triage) override;
  void replayed(const std::string& file, const std::string& outcome,
                const std::string& why) override;
  void remark(const std::string& line) override;
  void end(const std::string& summary) override;

 private:
  static constexpr std::size_t kMostPoints = 600;
  static constexpr std::size_t kMostCases = 50'000;  // 200 bytes of a trace each

  void note(const std::string& signature, std::string what);

  fuzz::CampaignView& shown_;
  CampaignHistory history_;
  double begin_seconds_ = 0;  // spent before
  std::uint64_t begin_nanoseconds_ = fuzz::Journal::now_nanoseconds();
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double told_seconds_ = -1;     // when the other view heard of progress last
  double interval_seconds_ = 1;  // between two points
};

// {"panel": "campaign", ...}. Reads the cases and scripts of findings below the corpus, but where
// the report leaves data out (Report::left_out); a file that cannot be read is left out.
[[nodiscard]] nlohmann::ordered_json campaign_panel(const FuzzOutcome& outcome,
                                                    const Report& report,
                                                    const CampaignHistory& history);

// Returns a trace (trace_events.h). It has a track for each worker with the cases that it was at,
// and one for each finding, from the case that showed it to the end of looking at it again.
[[nodiscard]] std::string campaign_trace(const CampaignHistory& history);

}  // namespace graphgate::tools
