// Every program of three nodes, with each of the four sets of cuts. In 64 of them an op adds or
// copies one half of a tensor to another that overlaps it: PyTorch refuses these.
#include "tools/tests/cross/small_scope_test.h"

namespace graphgate::tools {
namespace {

TEST(SmallScope, HoldsForEveryProgramOfThreeNodes) {
  const SmallScopeCount count = SmallScopeRun().run(3);
  EXPECT_EQ(count.programs, 80352U);
  EXPECT_EQ(count.left_open, 64U);
  EXPECT_EQ(count.runs, 4U * (80352U - 64U));
  EXPECT_GT(count.plans_with_cuts, 100'000U);
}

}  // namespace
}  // namespace graphgate::tools
