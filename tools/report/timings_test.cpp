#include "tools/report/timings.h"

#include <gtest/gtest.h>

#include "fuzz/campaign/workers.h"

namespace graphgate::tools {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Two workers over ten seconds: one worked 9 of them, one 6 and waited for 2.
fuzz::CampaignTimes two_workers() {
  fuzz::CampaignTimes times;
  times.seconds = 10;
  times.workers.resize(2);
  times.workers[0].add("", "drawing", {kSecond, 100});
  times.workers[0].add("bounds", "reference: sampled", {5 * kSecond, 90});
  times.workers[0].add("bounds", "judging", {3 * kSecond, 100});
  times.workers[1].add("verifier", "judging", {6 * kSecond, 70});
  times.workers[1].add("", fuzz::kWaitsForCases, {2 * kSecond, 3});
  times.findings.add("", "reducing", {kSecond, 1});
  times.campaign.add("", "waiting for workers", {9 * kSecond, 50});
  return times;
}

double sum_of(const Json& rows) {
  double sum = 0;
  for (const Json& row : rows) sum += row["seconds"].get<double>();
  return sum;
}

const Json* row_of(const Json& rows, const char* what, const std::string& name) {
  for (const Json& row : rows) {
    if (row[what] == name) return &row;
  }
  return nullptr;
}

TEST(Timings, AddUpToTheTimeOfAllWorkers) {
  const Json json = json_of(timings_of(two_workers()));
  EXPECT_DOUBLE_EQ(json["whole"].get<double>(), 20);
  EXPECT_DOUBLE_EQ(json["idle"].get<double>(), 4);
  EXPECT_DOUBLE_EQ(sum_of(json["judges"]), 20);
  EXPECT_DOUBLE_EQ(sum_of(json["stages"]), 20);
  EXPECT_DOUBLE_EQ((*row_of(json["judges"], "judge", "bounds"))["seconds"].get<double>(), 8);
  EXPECT_DOUBLE_EQ((*row_of(json["judges"], "judge", "no judge"))["seconds"].get<double>(), 2);
  EXPECT_DOUBLE_EQ((*row_of(json["stages"], "stage", "judging"))["seconds"].get<double>(), 9);
  EXPECT_DOUBLE_EQ(json["lanes"][0]["idle"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(json["lanes"][1]["idle"].get<double>(), 4);
  EXPECT_EQ(row_of(json["stages"], "stage", std::string(fuzz::kWaitsForCases)), nullptr);
}

TEST(Timings, StandBeforeTheLastLineOfTheTotals) {
  Report report = one_section("graphgate fuzz");
  report.totals = "3 cases\n3 passed, 0 failed, 0 skipped\n";
  add_timings(timings_of(two_workers()), /*with_panel=*/true, report);
  EXPECT_TRUE(report.totals.starts_with("3 cases\ntimings: 10.000 s by the clock, on 2 at a time"))
      << report.totals;
  EXPECT_TRUE(report.totals.ends_with("\n3 passed, 0 failed, 0 skipped\n")) << report.totals;
  EXPECT_NE(report.totals.find("reference: sampled              5.000   25.0%        90\n"),
            std::string::npos)
      << report.totals;
  ASSERT_EQ(report.panels.size(), 1U);
  EXPECT_EQ(report.panels[0]["panel"], "timings");
  EXPECT_EQ(report.panels[0]["stages"], report.facts["timings"]["stages"]);
  Report one_line = one_section("graphgate check");
  one_line.totals = "1 passed\n";
  add_timings(timings_of(two_workers()), /*with_panel=*/false, one_line);
  EXPECT_TRUE(one_line.totals.starts_with("timings: ")) << one_line.totals;
  EXPECT_TRUE(one_line.totals.ends_with("\n1 passed\n")) << one_line.totals;
  EXPECT_TRUE(one_line.panels.empty());
}

}  // namespace
}  // namespace graphgate::tools
