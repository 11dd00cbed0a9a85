#include "tools/cli/fine_options.h"

#include <gtest/gtest.h>

#include "tools/cli/planner_options.h"

namespace graphgate::tools {
namespace {

PlannerFlags parse(const std::string& arguments) {
  CLI::App app;
  PlannerFlags flags;
  add_planner_flags(app, flags);
  app.parse(arguments, false);
  return flags;
}

optimized::Options options(const std::string& arguments) {
  return choose_planner(parse(arguments), spec::builtin_op_table()).value().options;
}

std::string error(const std::string& arguments) {
  const auto choice = choose_planner(parse(arguments), spec::builtin_op_table());
  return choice.ok() ? "accepted" : choice.error().message;
}

TEST(FineFlags, ChangeNothingByDefault) {
  const optimized::Options chosen = options("");
  const optimized::Options expected;
  EXPECT_EQ(chosen.runtime.warm_up_runs, 0U);
  EXPECT_EQ(chosen.plans_kept, expected.plans_kept);
  EXPECT_TRUE(chosen.runtime.compile_ranges.empty());
  EXPECT_EQ(chosen.runtime.size_multiple, expected.runtime.size_multiple);
  EXPECT_EQ(chosen.compile.memory.alignment_bytes, expected.compile.memory.alignment_bytes);
  EXPECT_TRUE(chosen.compile.memory.unaligned_ops.empty());
  EXPECT_EQ(chosen.compile.compiler.realize.recompute, expected.compile.compiler.realize.recompute);
}

TEST(FineFlags, ReachTheExecutor) {
  const optimized::Options chosen = options(
      "--warm-up 2 --plans-kept 1 --compile-range 1:5 --compile-range 5:9 "
      "--size-multiple 4 --place-alignment 64 --unaligned-op aten.mm.default "
      "--unsafe-unbacked-op aten.nonzero --skip-dynamic-graphs --no-recompute");
  EXPECT_EQ(chosen.runtime.warm_up_runs, 2U);
  EXPECT_EQ(chosen.plans_kept, 1U);
  ASSERT_EQ(chosen.runtime.compile_ranges.size(), 2U);
  EXPECT_EQ(chosen.runtime.compile_ranges[1].begin, 5);
  EXPECT_EQ(chosen.runtime.compile_ranges[1].end, 9);
  EXPECT_EQ(chosen.runtime.size_multiple, 4);
  EXPECT_EQ(chosen.compile.memory.alignment_bytes, 64);
  EXPECT_EQ(chosen.compile.memory.unaligned_ops, std::vector<std::string>{"aten.mm.default"});
  EXPECT_EQ(chosen.compile.partition.unsafe_unbacked_ops, std::vector<std::string>{"aten.nonzero"});
  EXPECT_TRUE(chosen.compile.partition.skip_dynamic_graphs);
  EXPECT_FALSE(chosen.compile.compiler.realize.recompute);
}

TEST(FineFlags, RefuseWhatIsNoRangeAndNoAssignment) {
  EXPECT_EQ(error("--compile-range 5"), "--compile-range: expected BEGIN:END, found '5'");
  EXPECT_EQ(error("--compile-range a:9"), "--compile-range: expected BEGIN:END, found 'a:9'");
  EXPECT_NE(error("--compile-range 9:5"), "accepted");
  FineFlags flags;
  flags.cache_environment = {"LAYERS=2"};
  flags.cache_rank = 3;
  optimized::KeyContext context;
  ASSERT_TRUE(choose_fine(flags, context).ok());
  EXPECT_EQ(context.environment.at("LAYERS"), "2");
  EXPECT_EQ(context.rank, 3);
  flags.cache_environment = {"LAYERS"};
  EXPECT_EQ(choose_fine(flags, context).error().message,
            "--cache-env: expected NAME=VALUE, found 'LAYERS'");
}

}  // namespace
}  // namespace graphgate::tools
