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

TEST(CampaignHistory, TracesTheFirstCasesAndCountsTheOthers) {
  Listener listener;
  HistoryView view(listener);
  view.begin({}, {}, 1);
  const std::uint64_t begin = fuzz::Journal::now_nanoseconds();
  for (std::uint64_t index = 0; index < 50'002; ++index) {
    view.ran(
        {index % 2, index, begin + 1000 * index, begin + 1000 * index + 500, spec::Outcome::kPass});
  }
  EXPECT_EQ(view.history().cases.size(), 50'000U);
  EXPECT_EQ(view.history().further_cases, 2U);
  EXPECT_NEAR(view.history().cases.front().seconds, 5e-7, 1e-12);
  EXPECT_TRUE(contains(campaign_trace(view.history()), "cases (2 later ones left out)"));
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
