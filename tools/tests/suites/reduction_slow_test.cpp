// What docs/fuzzing.md says of the reducer: every planted fault that a golden case shows.

#include "base/result_test.h"
#include "tools/tests/suites/reduced_mutant.h"

namespace graphgate::tools {
namespace {

TEST(ReductionOfAllMutants, LeavesFiveNodesAndThreeCallsInFiveSeconds) {
  const auto cases = must(passing_golden_cases(GRAPHGATE_GOLDEN_DIR "/cases"));
  ReductionSettings settings;
  settings.jobs = 2;
  const auto made = must(reduce_mutants(all_mutants(), cases, settings));
  // Buried, some show another finding than alone, or none: the options that bury turn them off.
  std::size_t hidden = 0;
  for (const MutantReduction& one : made) hidden += one.error.empty() ? 0 : 1;
  EXPECT_LE(hidden, 2U);
  const ReductionMedians medians = medians_of(made);
  EXPECT_LE(medians.nodes, 5);
  EXPECT_LE(medians.calls, 3);
  EXPECT_LE(medians.seconds, 5);
  // No golden case shows these: they end the process, fail to compile, or need a stored baseline.
  EXPECT_GE(medians.mutants + 11, made.size() - hidden);
}

}  // namespace
}  // namespace graphgate::tools
