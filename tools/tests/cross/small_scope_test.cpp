// Every program of one or two nodes, with and without a cut between them.
#include "tools/tests/cross/small_scope_test.h"

namespace graphgate::tools {
namespace {

TEST(SmallScope, HoldsForEveryProgramOfOneNode) {
  const SmallScopeCount count = SmallScopeRun().run(1);
  EXPECT_EQ(count.programs, 21U);
  EXPECT_EQ(count.runs, 21U);
}

TEST(SmallScope, HoldsForEveryProgramOfTwoNodes) {
  const SmallScopeCount count = SmallScopeRun().run(2);
  EXPECT_EQ(count.programs, 1482U);
  EXPECT_EQ(count.runs, 2U * 1482U);
  EXPECT_GT(count.plans_with_cuts, 500U);
}

TEST(SmallScope, HasEveryOpAtEveryPlace) {
  std::size_t programs = 0;
  std::vector<std::size_t> first(fuzz::small_alphabet().size());
  fuzz::for_each_small_program(2, [&](const fuzz::SmallProgram& small) {
    ++programs;
    for (std::size_t i = 0; i < first.size(); ++i) {
      const fuzz::SmallOp& op = fuzz::small_alphabet()[i];
      const std::string head = "%n1 = " + std::string(op.name) + "(";
      const std::size_t at = small.text.find(head);
      const std::size_t end = small.text.find(")\n", at);
      const bool is_it =
          at != std::string::npos && small.text.substr(0, end).ends_with(std::string(op.arguments));
      first[i] += is_it ? 1 : 0;
    }
    return true;
  });
  EXPECT_EQ(programs, 1482U);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_GT(first[i], 0U) << fuzz::small_alphabet()[i].name;
  }
}

TEST(SmallScope, StopsWhenItIsTold) {
  std::size_t seen = 0;
  EXPECT_EQ(fuzz::for_each_small_program(3, [&](const auto&) { return ++seen < 7; }), 7U);
  EXPECT_EQ(fuzz::for_each_small_program(0, [](const auto&) { return true; }), 0U);
}

}  // namespace
}  // namespace graphgate::tools
