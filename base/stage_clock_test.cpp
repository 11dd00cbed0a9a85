#include "base/stage_clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace graphgate {
namespace {

constexpr useconds_t kMoment = 3000;  // microseconds

double seconds_of(const StageTimes& times, const char* asker, const char* stage) {
  const auto row = times.rows().find({asker, stage});
  return row == times.rows().end() ? -1 : static_cast<double>(row->second.nanoseconds) * 1e-9;
}

TEST(StageClock, GivesEachMomentToTheInnermostStage) {
  const std::uint64_t before = monotonic_nanoseconds();
  StageClock clock("rest");
  const std::uint64_t begun = monotonic_nanoseconds();
  {
    const StageAsker judge("bounds", "comparing");
    ::usleep(kMoment);
    const Stage run("reference");
    ::usleep(kMoment);
  }
  const Stage write("writing");
  ::usleep(kMoment);
  const double least = static_cast<double>(monotonic_nanoseconds() - begun) * 1e-9;
  const StageTimes times = clock.take();
  const double most = static_cast<double>(monotonic_nanoseconds() - before) * 1e-9;
  EXPECT_GE(seconds_of(times, "bounds", "comparing"), 1e-6 * kMoment);
  EXPECT_GE(seconds_of(times, "bounds", "reference"), 1e-6 * kMoment);
  EXPECT_GE(seconds_of(times, "", "writing"), 1e-6 * kMoment);
  EXPECT_GE(times.seconds(), least);
  EXPECT_LE(times.seconds(), most);
  EXPECT_EQ(times.by_asker().at("bounds").times, 2U);
  EXPECT_EQ(times.by_stage().at("reference").times, 1U);
}

TEST(StageClock, SumsUpToTheTimeBetweenTwoLooks) {
  StageClock clock("rest");
  (void)clock.take();
  const std::uint64_t begin = clock.change("drawing");
  for (int i = 0; i < 100; ++i) {
    const Stage stage(i % 2 == 0 ? "even" : "odd");
    const StageAsker inner("judge", "judging");
  }
  const std::uint64_t end = clock.change("rest");
  StageTimes times = clock.take();
  std::uint64_t sum = 0;
  for (const auto& [key, time] : times.rows()) {
    if (key.second != "rest") sum += time.nanoseconds;
  }
  EXPECT_EQ(sum, end - begin);
  EXPECT_EQ(times.by_stage().at("even").times, 50U);
}

TEST(StageClock, IsOfItsThreadAlone) {
  StageClock clock("rest");
  std::thread([] {
    EXPECT_EQ(StageClock::of_thread(), nullptr);
    const Stage stage("elsewhere");
  }).join();
  EXPECT_EQ(StageClock::of_thread(), &clock);
  EXPECT_EQ(clock.take().by_stage().count("elsewhere"), 0U);
}

TEST(StageClock, KeepsTheSpansOfThoseWhoAsk) {
  StageClock clock("rest", /*keeps_spans=*/true);
  {
    const StageAsker outer("file", "judging");
    const Stage stage("reference");
    const StageAsker inner("bounds", "judging");
  }
  const auto spans = clock.take_spans();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].name, "bounds");
  EXPECT_EQ(spans[1].name, "file");
  EXPECT_LE(spans[1].begin_nanoseconds, spans[0].begin_nanoseconds);
  EXPECT_GE(spans[1].end_nanoseconds, spans[0].end_nanoseconds);
  EXPECT_TRUE(clock.take_spans().empty());
}

TEST(StageTimes, GoThroughTheirText) {
  StageTimes times;
  times.add("bounds", "reference: worst-case", {1'500'000'000, 3});
  times.add("", "drawing", {7, 1});
  StageTimes again;
  ASSERT_TRUE(parse_stage_times(print_stage_times(times), again));
  EXPECT_EQ(again, times);
  EXPECT_DOUBLE_EQ(again.seconds(), 1.500000007);
}

TEST(StageTimes, RefuseWhatIsNoSuchText) {
  for (const char* text :
       {"a", "a\tb\n", "a\tb\t1\n", "a\tb\tx\t1\n", "a\tb\t1\t1", "a\t\t1\t1\n"}) {
    StageTimes times;
    EXPECT_FALSE(parse_stage_times(text, times)) << text;
  }
}

}  // namespace
}  // namespace graphgate
