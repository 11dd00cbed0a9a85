// What docs/fuzzing.md says of the reducer: every planted fault that a golden case shows.
#include <gtest/gtest.h>

#include "tools/tests/suites/reduced_mutant.h"

namespace graphgate::tools {
namespace {

TEST(ReductionOfAllMutants, LeavesFiveNodesAndThreeCallsInFiveSeconds) {
  const auto cases = passing_golden_cases(GRAPHGATE_GOLDEN_DIR "/cases");
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  ReductionSettings settings;
  settings.jobs = 2;
  const auto made = reduce_mutants(all_mutants(), cases.value(), settings);
  ASSERT_TRUE(made.ok()) << made.error().message;
  // Buried, some show another finding than alone, or none: the options that bury turn them off.
  std::size_t hidden = 0;
  for (const MutantReduction& one : made.value()) hidden += one.error.empty() ? 0 : 1;
  EXPECT_LE(hidden, 2U);
  const ReductionMedians medians = medians_of(made.value());
  EXPECT_LE(medians.nodes, 5);
  EXPECT_LE(medians.calls, 3);
  EXPECT_LE(medians.seconds, 5);
  // No golden case shows these: they end the process, fail to compile, or need a stored baseline.
  EXPECT_GE(medians.mutants + 11, made.value().size() - hidden);
}

}  // namespace
}  // namespace graphgate::tools
