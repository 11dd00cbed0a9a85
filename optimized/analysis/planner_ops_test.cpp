#include "optimized/analysis/planner_ops.h"

#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

// batch_norm in training writes its running statistics, and its schema does not say so.
constexpr const char* kTraining = R"(program "training" {
  buffer %mean "mean" : f32[2] = [0.0, 0.0]
  buffer %var "var" : f32[2] = [1.0, 1.0]
  input %x : f32[3, 2]
  %y = aten.batch_norm.default(%x, None, None, %mean, %var, True, 0.5, 0.0, False)
  output %y
})";

std::string signature_with(const spec::DeviationSet& deviations) {
  CompileOptions options;
  options.deviations = deviations;
  const spec::Plan plan =
      good_plan_of(program_of(kTraining), {f32({3, 2}, {1, 2, 3, 4, 5, 6})}, options);
  return signature_of(plan, 0);
}

TEST(PlannerOps, KnowWhatOpsWriteWithoutDeclaringIt) {
  EXPECT_EQ(signature_with({}), "in mean var x free out mean var x y const");
}

TEST(IgnoresUndeclaredWrites, TakesWrittenStateForConstant) {
  spec::DeviationSet deviations;
  deviations.add(spec::Deviation::kIgnoresUndeclaredWrites);
  EXPECT_EQ(signature_with(deviations), "in x free out x y const mean var");
}

TEST(IgnoresUndeclaredWrites, LeavesEverythingElseOfTheTable) {
  spec::DeviationSet deviations;
  deviations.add(spec::Deviation::kIgnoresUndeclaredWrites);
  const spec::OpTable& ops = spec::builtin_op_table();
  const PlannerOps planner(ops, deviations);
  ASSERT_EQ(planner.table().size(), ops.size());
  for (const auto& [name, row] : ops.rows()) {
    spec::OpRow expected = *row;
    expected.undeclared_writes.clear();
    EXPECT_EQ(spec::print_row(*planner.table().find(name)), spec::print_row(expected));
  }
}

}  // namespace
}  // namespace graphgate::optimized
