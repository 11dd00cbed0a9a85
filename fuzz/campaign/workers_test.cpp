#include "fuzz/campaign/workers.h"

#include <unistd.h>

#include <numeric>

#include "base/result_test.h"

namespace graphgate::fuzz {
namespace {

// The batch takes longer than a case may, and its worker is often between two: features are summed
// up there, and are more than the channel holds.
TEST(Workers, HaveTheTimeoutForOneCaseAndNotForItsBatch) {
  PoolOptions options;
  options.timeout_seconds = 1;
  const auto judge = [](const Descent& descent, const std::function<void()>& begin_judging) {
    begin_judging();
    ::usleep(30'000);
    CaseVerdict verdict;
    verdict.index = descent.index;
    verdict.content = hash_of(std::to_string(descent.index));
    verdict.features.resize(100'000);
    std::iota(verdict.features.begin(), verdict.features.end(), 0U);
    return verdict;
  };
  const auto news = must(run_apart(options, judge, Batch{0, 40, {}}));
  for (const CaseLost& lost : news.lost) {
    ADD_FAILURE() << "case " << lost.ordinal << " " << describe(lost, options.timeout_seconds);
  }
  ASSERT_EQ(news.done.size(), 1U);
  EXPECT_EQ(news.done.front().tally.cases, 40U);
}

// A case that takes a moment is followed by slow ones, which nobody could foresee.
TEST(Workers, GiveBackWhatTheyDidNotComeToInTime) {
  PoolOptions options;
  options.batch_seconds = 0.05;
  options.subject_time = [asked = 0]() mutable {
    return TimeSpent{0, static_cast<double>(++asked), 0};
  };
  options.data_sets = 4;
  const auto judge = [](const Descent& descent, const std::function<void()>&) {
    ::usleep(descent.index < 10 ? 1 : 60'000);
    CaseVerdict verdict;
    verdict.index = descent.index;
    return verdict;
  };
  Journal journal = must(Journal::in_memory(1));
  WorkerPool pool(options, journal, judge);
  Batch batch{0, 400, {}};
  for (std::uint64_t i = 0; i < 400; ++i) batch.ancestors.push_back({i});
  ASSERT_TRUE(pool.assign(batch).ok());
  PoolNews news;
  while (news.done.empty()) news = must(pool.wait(20));
  const BatchDone& done = news.done.front();
  // Where the machine is busy it may be earlier, and behind a whole draw in any case.
  EXPECT_LE(done.batch.end, 12U);
  EXPECT_EQ(done.batch.end % 4, 0U);
  EXPECT_EQ(done.tally.cases, done.batch.end);
  EXPECT_EQ(done.spent.asked, 1);
  EXPECT_GE(done.spent.whole, 0.05);
  EXPECT_EQ(done.rest.begin, done.batch.end);
  EXPECT_EQ(done.rest.end, 400U);
  EXPECT_EQ(done.rest.ancestors.front(), std::vector<std::uint64_t>{done.rest.begin});
}

}  // namespace
}  // namespace graphgate::fuzz
