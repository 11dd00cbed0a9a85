#include "optimized/schedule/fuse_realize.h"

#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

// A pointwise value with `users` users, computed from `reads` tensors of 1000 bytes.
Reuse reuse_of(std::int64_t users, std::int64_t reads, std::int64_t made_bytes = 1000) {
  Reuse reuse;
  reuse.users = users;
  reuse.reads = reads;
  reuse.ops = 3;
  reuse.read_bytes = 1000 * reads;
  reuse.made_bytes = made_bytes;
  reuse.is_pointwise_or_reduction = true;
  return reuse;
}

TEST(ShouldRealizeOnReuse, CountsReadsByDefault) {
  const RealizeOptions options;
  EXPECT_FALSE(should_realize_on_reuse(reuse_of(2, 4), options));
  EXPECT_TRUE(should_realize_on_reuse(reuse_of(2, 5), options));
  EXPECT_FALSE(should_realize_on_reuse(reuse_of(1, 5), options));
  Reuse other = reuse_of(2, 5);
  other.is_pointwise_or_reduction = false;
  EXPECT_FALSE(should_realize_on_reuse(other, options));
}

TEST(ShouldRealizeOnReuse, RealizesHeavyOpsOnACpuAndLargeFunctions) {
  const RealizeOptions options;
  Reuse heavy = reuse_of(2, 1);
  heavy.is_heavy = true;
  EXPECT_FALSE(should_realize_on_reuse(heavy, options));
  heavy.is_on_cpu = true;
  EXPECT_TRUE(should_realize_on_reuse(heavy, options));
  Reuse large = reuse_of(2, 1);
  large.ops = 30;
  EXPECT_FALSE(should_realize_on_reuse(large, options));
  large.ops = 31;
  EXPECT_TRUE(should_realize_on_reuse(large, options));
  large.is_on_cpu = true;
  EXPECT_FALSE(should_realize_on_reuse(large, options)) << "a CPU takes 50";
  large.ops = 51;
  EXPECT_TRUE(should_realize_on_reuse(large, options));
}

TEST(ShouldRealizeOnReuse, AsksForLessWhereManyReadOnACpu) {
  RealizeOptions options;
  Reuse reuse = reuse_of(6, 1);
  reuse.users = 6;
  reuse.is_on_cpu = true;
  reuse.ops = 48;
  EXPECT_FALSE(should_realize_on_reuse(reuse, options));
  reuse.ops = 49;
  EXPECT_TRUE(should_realize_on_reuse(reuse, options));
  reuse.users = 5;
  EXPECT_FALSE(should_realize_on_reuse(reuse, options));
  reuse.users = 6;
  options.opusers_threshold = 0;  // before 2.14
  EXPECT_FALSE(should_realize_on_reuse(reuse, options));
  options.cpu_opcount_threshold = 30;  // before 2.13
  EXPECT_TRUE(should_realize_on_reuse(reuse, options));
}

TEST(ShouldRealizeOnReuse, KnowsHeavyOpsByWhatTheyAreLoweredTo) {
  EXPECT_TRUE(is_heavy_on_cpu("aten.exp", false));
  EXPECT_TRUE(is_heavy_on_cpu("aten.sigmoid", false));
  EXPECT_FALSE(is_heavy_on_cpu("aten.tanh", false));
  EXPECT_TRUE(is_heavy_on_cpu("aten.tanh", true));
  EXPECT_TRUE(is_heavy_on_cpu("aten.log1p", true));
  EXPECT_FALSE(is_heavy_on_cpu("aten.mul", true));
  EXPECT_TRUE(is_heavy_on_cpu("aten.silu", false));
  EXPECT_FALSE(is_heavy_on_cpu("aten.gelu", true)) << "it is lowered to erf";
  EXPECT_TRUE(is_heavy_on_cpu("aten.gelu", true, "tanh"));
  EXPECT_FALSE(is_heavy_on_cpu("aten.gelu", false, "tanh"));
  for (const char* name : {"aten.logical_not", "aten.logical_and", "aten.logical_or"}) {
    EXPECT_FALSE(is_heavy_on_cpu(name, true)) << name;
  }
}

// The examples of the cost model: R reads and U users, all of one size.
TEST(ShouldRealizeOnReuse, ComparesBytes) {
  RealizeOptions options;
  options.rule = RealizeRule::kByteCost;
  EXPECT_FALSE(should_realize_on_reuse(reuse_of(2, 2), options));
  EXPECT_TRUE(should_realize_on_reuse(reuse_of(3, 2), options));
  EXPECT_TRUE(should_realize_on_reuse(reuse_of(2, 3), options));
  EXPECT_FALSE(should_realize_on_reuse(reuse_of(9, 1), options));
  // A result of twice the size makes writing it dearer.
  EXPECT_FALSE(should_realize_on_reuse(reuse_of(3, 2, 2000), options));
}

TEST(ShouldRealizeOnReuse, CountsReadsWhereBytesAreUnknown) {
  RealizeOptions options;
  options.rule = RealizeRule::kByteCost;
  EXPECT_FALSE(should_realize_on_reuse(reuse_of(2, 3, 0), options));
  EXPECT_TRUE(should_realize_on_reuse(reuse_of(2, 5, 0), options));
  Reuse unknown = reuse_of(2, 5);
  unknown.read_bytes = 0;
  EXPECT_TRUE(should_realize_on_reuse(unknown, options));
}

// %a is read in two launches, with a matrix product between them.
std::string program_with(const std::string& op) {
  return R"(program "p" {
  input %x : f32[4, 4] 
  %a = )" +
         op + R"(
  %b = aten.neg.default(%a)
  %m = aten.mm.default(%b, %b)
  %c = aten.add.Tensor(%m, %a)
  %d = aten.mm.default(%c, %c)
  output %d
})";
}

spec::Plan plan_with(const std::string& op, const CompileOptions& options = {}) {
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<float>(i) - 6.5F);
  return good_plan_of(program_of(program_with(op)), {f32({4, 4}, values)}, options,
                      Launches::kAsAsked);
}

// How many nodes of the plan run an op.
std::size_t count_op(const spec::Plan& plan, std::string_view op) {
  std::size_t count = 0;
  for (const spec::PlanStep& step : plan.steps) {
    if (step.node.op == op) ++count;
    for (const spec::Node& node : step.body) count += node.op == op ? 1U : 0U;
  }
  return count;
}

TEST(Recompute, ComputesACheapValueWhereItIsRead) {
  CompileOptions fused;
  fused.compiler.name = "fused";
  CompileOptions stored = fused;
  stored.compiler.realize.recompute = false;
  const std::string cheap = "aten.mul.Tensor(%x, 3.0)";
  EXPECT_EQ(count_op(plan_with(cheap, fused), "aten.mul.Tensor"), 2U);
  EXPECT_EQ(count_op(plan_with(cheap, stored), "aten.mul.Tensor"), 1U);
  EXPECT_EQ(count_op(plan_with("aten.exp.default(%x)", fused), "aten.exp.default"), 1U);
  CompileOptions none = fused;
  none.compiler.realize.reads_threshold = 0;
  EXPECT_EQ(count_op(plan_with(cheap, none), "aten.mul.Tensor"), 1U);
}

// Without %c, the first launch has two rows, and %s is one of them for both.
TEST(Recompute, LeavesNoLaunchWhoseRowsDoNotGoTogether) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[2, 1]
  input %t : f32[1, 1]
  input %y : f32[1]
  %a = aten.atan2.default(%x, %x)
  %s = aten.select.int(%a, 0, 0)
  %c = aten.gt.Scalar(%s, 0)
  %d = aten.div.Tensor(%a, %s)
  %m = aten.mm.default(%d, %t)
  %w = aten.where.self(%c, %m, %x)
  %z = aten.where.self(%c, %s, %y)
  output %w
  output %z
})");
  CompileOptions options;
  options.compiler.name = "fused";
  const spec::Plan plan =
      good_plan_of(program, {f32({2, 1}, {1, -2}), f32({1, 1}, {3}), f32({1}, {4})}, options,
                   Launches::kAsAsked);
  EXPECT_EQ(count_op(plan, "aten.gt.Scalar"), 1U);
}

TEST(Recompute, KeepsTheBits) {
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<float>(i) * 0.37F - 2.0F);
  const spec::Program program = program_of(program_with("aten.mul.Tensor(%x, 0.1)"));
  Options eager;
  eager.compile.compiler.name = "eager";
  Options fused;
  fused.compile.compiler.name = "fused";
  const auto expected = run_calls(program, {{f32({4, 4}, values)}}, eager);
  const auto actual = run_calls(program, {{f32({4, 4}, values)}}, fused);
  ASSERT_EQ(expected.size(), 1U);
  ASSERT_EQ(actual.size(), 1U);
  EXPECT_EQ(floats(actual[0].outputs[0]), floats(expected[0].outputs[0]));
}

// What it reads is overwritten before the second reader runs.
TEST(Recompute, StoresWhatCannotBeReadAgain) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[4, 4]
  %a = aten.mul.Tensor(%x, 3.0)
  %b = aten.neg.default(%a)
  %m = aten.mm.default(%b, %b)
  %w = aten.copy_.default(%x, %m)
  %n = aten.mm.default(%m, %m)
  %c = aten.add.Tensor(%n, %a)
  output %c
})");
  CompileOptions fused;
  fused.compiler.name = "fused";
  const spec::Plan plan =
      good_plan_of(program, {f32({4, 4}, std::vector<float>(16, 0.5F))}, fused, Launches::kAsAsked);
  EXPECT_EQ(count_op(plan, "aten.mul.Tensor"), 1U);
}

}  // namespace
}  // namespace graphgate::optimized
