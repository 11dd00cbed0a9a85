#include "tools/report/fuzz_view.h"

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

CampaignProgress some_progress() {
  CampaignProgress progress;
  progress.cases = 1500;
  progress.planned_cases = 6000;
  progress.seconds = 10;
  progress.cases_per_second = 150;
  progress.features = 321;
  progress.findings = 1;
  progress.known = 2;
  progress.waiting = 1;
  progress.seconds_since_new = 75;
  return progress;
}

// What a view writes to a terminal of so many columns.
template <class Use>
std::string on_terminal(unsigned short columns, Use use) {
  int master = -1;
  int slave = -1;
  winsize size{};
  size.ws_col = columns;
  size.ws_row = 24;
  if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0) return "no terminal";
  std::FILE* file = ::fdopen(slave, "w");
  use(*view_for(file));
  std::fflush(file);
  std::string shown;
  std::array<char, 4096> bytes{};
  (void)::fcntl(master, F_SETFL, O_NONBLOCK);
  for (;;) {
    const ssize_t count = ::read(master, bytes.data(), bytes.size());
    if (count <= 0) break;
    shown.append(bytes.data(), static_cast<std::size_t>(count));
  }
  std::fclose(file);
  ::close(master);
  return shown;
}

TEST(CampaignView, RedrawsOneLineOnATerminal) {
  const std::string shown = on_terminal(200, [](CampaignView& view) {
    view.progress(some_progress());
    view.remark("a remark");
  });
  const std::string status =
      "1500/6000 cases, 150/s, 321 features, 1 finding (2 known), 1 being reduced, last new 1m 15s "
      "ago, ETA 30s";
  EXPECT_EQ(shown, "\r\x1b[K" + status + "\r\x1b[Ka remark\r\n" + status);
}

TEST(CampaignView, KeepsToTheWidthOfATerminal) {
  const std::string shown =
      on_terminal(30, [](CampaignView& view) { view.progress(some_progress()); });
  EXPECT_EQ(shown, "\r\x1b[K1500/6000 cases, 150/s, 321 f");
}

TEST(CampaignView, TellsWhichCasesTheWorkersAreAt) {
  CampaignProgress progress = some_progress();
  progress.in_work = {{4711, fuzz::CasePhase::kJudging, 63.04},
                      {4712, fuzz::CasePhase::kDrawing, 0.1}};
  const auto show = [&](CampaignView& view) { view.progress(progress); };
  EXPECT_TRUE(
      contains(on_terminal(200, show), "last new 1m 15s ago, case 4711 for 1m 03s, ETA 30s"));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  show(*view_for(file.get()));
  std::rewind(file.get());
  std::array<char, 1024> line{};
  ASSERT_NE(std::fgets(line.data(), line.size(), file.get()), nullptr);
  EXPECT_TRUE(contains(line.data(),
                       "\"in_work\":[{\"case\":4711,\"phase\":\"judging\",\"seconds\":63.0},"
                       "{\"case\":4712,\"phase\":\"drawing\",\"seconds\":0.1}]"));
}

TEST(CampaignView, TellsWhoseTheTimeIs) {
  CampaignProgress progress = some_progress();
  progress.spent = {200, 150, 80};
  const auto show = [&](CampaignView& view) { view.progress(progress); };
  EXPECT_TRUE(contains(on_terminal(200, show), "ago, 75% subject (40% compiling), ETA 30s"));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  show(*view_for(file.get()));
  std::rewind(file.get());
  std::array<char, 1024> line{};
  ASSERT_NE(std::fgets(line.data(), line.size(), file.get()), nullptr);
  EXPECT_TRUE(
      contains(line.data(), "\"seconds_of\":{\"subject\":150.0,\"compile\":80.0,\"judges\":50.0}"));
}

TEST(CampaignView, TellsFindingsInLines) {
  const std::string shown = on_terminal(80, [](CampaignView& view) {
    FindingNews news{"verifier-V3-1", "verifier V3 [] {}", "FAIL",
                     "two overlap",   {1, 2, {3, {}}},     ""};
    view.found(news);
    news.issue = "https://example.org/1";
    view.found(news);
    view.looked_at(news,
                   {fuzz::TriageStatus::kConfirmed, 3, 1, 2, "regression/x.case", "slow", ""});
    view.end("done\n");
  });
  EXPECT_TRUE(contains(shown, "found FAIL verifier-V3-1 (g1:2:3): two overlap\r\n"));
  EXPECT_TRUE(contains(shown, "known verifier-V3-1 (g1:2:3): https://example.org/1\r\n"));
  EXPECT_TRUE(
      contains(shown, "confirmed verifier-V3-1: 1 node, 2 calls; slow; regression/x.case\r\n"));
  EXPECT_TRUE(shown.ends_with("done\r\n")) << shown;
}

TEST(CampaignView, IsNdjsonElsewhere) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  const auto view = view_for(file.get());
  view->progress(some_progress());
  std::rewind(file.get());
  std::array<char, 1024> line{};
  ASSERT_NE(std::fgets(line.data(), line.size(), file.get()), nullptr);
  EXPECT_EQ(std::string(line.data()),
            "{\"event\":\"progress\",\"cases\":1500,\"planned_cases\":6000,\"seconds\":10.0,"
            "\"cases_per_second\":150.0,\"features\":321,\"findings\":1,\"known\":2,\"waiting\":1,"
            "\"seconds_since_new\":75.0,\"seconds_left\":30.0}\n");
}

TEST(CampaignView, TellsTheEndByCasesOrTime) {
  CampaignProgress progress = some_progress();
  EXPECT_EQ(seconds_left(progress).value(), 30);
  progress.planned_seconds = 25;
  EXPECT_EQ(seconds_left(progress).value(), 15);
  progress.planned_cases = 0;
  progress.seconds = 60;
  EXPECT_EQ(seconds_left(progress).value(), 0);
  progress.planned_seconds = 0;
  EXPECT_FALSE(seconds_left(progress));
}

}  // namespace
}  // namespace graphgate::tools
