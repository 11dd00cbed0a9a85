#include "tools/report/campaign_history.h"

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

// Counts what it hears.
class Listener final : public fuzz::CampaignView {
 public:
  void begin(const fuzz::CampaignState&, const fuzz::Shard&, int) override {}
  void progress(const fuzz::CampaignProgress&) override { ++heard; }
  [[nodiscard]] double progress_seconds() const override { return 10; }
  void found(const fuzz::FindingNews&) override { ++found_count; }
  void looked_at(const fuzz::FindingNews&, const fuzz::Triage&) override { ++found_count; }
  void replayed(const std::string&, const std::string&, const std::string&) override {}
  void remark(const std::string&) override {}
  void end(const std::string&) override {}

  int heard = 0;
  int found_count = 0;
};

TEST(CampaignHistory, HearsOftenAndHandsOnAsSeldomAsAsked) {
  Listener listener;
  HistoryView view(listener);
  EXPECT_EQ(view.progress_seconds(), 1);
  view.begin({}, {}, 1);
  for (int second = 0; second < 100; ++second) {
    fuzz::CampaignProgress progress;
    progress.seconds = second;
    progress.cases = static_cast<std::uint64_t>(second);
    view.progress(progress);
  }
  EXPECT_EQ(listener.heard, 10);
  ASSERT_EQ(view.history().points.size(), 100U);
  EXPECT_EQ(view.history().points.back().cases, 99U);
}

TEST(CampaignHistory, StaysSmallHoweverLongTheCampaign) {
  Listener listener;
  HistoryView view(listener);
  for (int second = 0; second < 50'000; ++second) {
    fuzz::CampaignProgress progress;
    progress.seconds = second;
    view.progress(progress);
  }
  const auto& points = view.history().points;
  EXPECT_LE(points.size(), 600U);
  EXPECT_GE(points.size(), 250U);
  EXPECT_EQ(points.front().seconds, 0);
  EXPECT_GT(points.back().seconds, 49'000);
}

TEST(CampaignHistory, KeepsWhatHappenedToEachFinding) {
  Listener listener;
  HistoryView view(listener);
  view.begin({}, {}, 1);
  fuzz::FindingNews news;
  news.signature = "verifier V3.overlap [mm] {}";
  view.found(news);
  fuzz::Triage triage;
  triage.status = fuzz::TriageStatus::kConfirmed;
  triage.nodes = 3;
  triage.calls = 1;
  view.looked_at(news, triage);
  EXPECT_EQ(listener.found_count, 2);
  const auto& events = view.history().events.at(news.signature);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(contains(events[0].what, "found in "));
  EXPECT_EQ(events[1].what, "confirmed, reduced to 3 nodes and 1 call");
}

}  // namespace
}  // namespace graphgate::tools
