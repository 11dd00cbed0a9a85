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

}  // namespace
}  // namespace graphgate::fuzz
