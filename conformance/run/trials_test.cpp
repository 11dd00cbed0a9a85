#include "conformance/run/trials.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace graphgate::conformance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Trace trace_of(const std::vector<spec::Spread>& calls) {
  Trace out;
  for (const spec::Spread& spread : calls) {
    out.calls.emplace_back().result.output_spreads = {spread};
  }
  return out;
}

// 16 trials, of which each has 1 + `away` or 1 - `away`.
std::vector<Trace> trials_at(long double away) {
  std::vector<Trace> out;
  for (int i = 0; i < 16; ++i) {
    out.push_back(trace_of({{{i % 2 == 0 ? 1 + away : 1 - away}, {0}}}));
  }
  return out;
}

double widened(double radius, const std::vector<Trace>& plain, const std::vector<Trace>& far = {}) {
  return widened_by_trials(trace_of({{{1}, {radius}}}), {plain, far})
      .at(0)
      .output_spreads[0]
      .radii[0];
}

TEST(WidenedByTrials, HasRadiiAsLargeAsTrialsLieApart) {
  EXPECT_EQ(widened(1e-6, trials_at(0x1p-10L)), (1 + 3 / std::sqrt(32.0)) * 0x1p-10);
}

TEST(WidenedByTrials, KeepsRadiiThatTrialsDoNotReach) {
  EXPECT_EQ(widened(1e-2, trials_at(1e-3L)), 1e-2);
  EXPECT_EQ(widened(0, trials_at(1e-3L)), 0) << "an exact number has no errors";
}

TEST(WidenedByTrials, LeavesOpenWhatIsNoNumberInSomeTrial) {
  std::vector<Trace> trials = trials_at(1e-3L);
  trials[5].calls[0].result.output_spreads[0].values[0] = std::nanl("");
  EXPECT_EQ(widened(1e-6, trials), kInfinity);
}

TEST(WidenedByTrials, ReachesInSixRadiiAsFarAsTheFurthestFarTrial) {
  std::vector<Trace> far = trials_at(1e-3L);
  far[3].calls[0].result.output_spreads[0].values[0] = -11;
  EXPECT_EQ(widened(1e-6, trials_at(0), far), 2);
  far[4].calls[0].result.output_spreads[0].values[0] = static_cast<long double>(kInfinity);
  EXPECT_EQ(widened(1e-6, trials_at(0), far), 2) << "far trials leave nothing open";
}

TEST(WidenedByTrials, KeepsRadiiWhereMostTrialsCameToOtherSizes) {
  std::vector<Trace> trials = trials_at(1e-3L);
  for (std::size_t i = 0; i < 7; ++i) trials[i].calls.clear();
  EXPECT_GT(widened(1e-6, trials), 1e-3);
  trials[7].calls[0].result.output_spreads[0] = {{1, 1}, {0, 0}};
  EXPECT_EQ(widened(1e-6, trials), 1e-6);
}

}  // namespace
}  // namespace graphgate::conformance
