#include "tools/cli/planner_options.h"

#include <gtest/gtest.h>

#include <fstream>

namespace graphgate::tools {
namespace {

using D = spec::Deviation;

// Flags as typed behind a verb.
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
  if (choice.ok()) return "accepted";
  EXPECT_EQ(choice.error().kind, ErrorKind::kBadInput);
  return choice.error().message;
}

TEST(PlannerFlags, ChooseNothingByDefault) {
  const optimized::Options chosen = options("");
  EXPECT_TRUE(chosen.compile.deviations.empty());
  EXPECT_EQ(chosen.compile.memory.strategy, optimized::MemoryStrategy::kPack);
  EXPECT_TRUE(chosen.runtime.capture_sizes.empty());
  EXPECT_EQ(chosen.plan_store, nullptr);
}

// `check --capture-sizes 1,2,4 model.pt2`: the file is no size.
TEST(PlannerFlags, LeaveTheArgumentsBehindThemAlone) {
  CLI::App app;
  PlannerFlags flags;
  add_planner_flags(app, flags);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() <= 1) continue;
    EXPECT_FALSE(option->get_allow_extra_args()) << option->get_name();
  }
  std::vector<std::string> files;
  app.add_option("files", files);
  app.parse("--capture-sizes 1,2,4 a.pt2 --compile-sizes 8 b.pt2", false);
  EXPECT_EQ(files, (std::vector<std::string>{"a.pt2", "b.pt2"}));
  EXPECT_EQ(flags.capture_sizes, (std::vector<std::int64_t>{1, 2, 4}));
}

TEST(PlannerFlags, StandOverTheProfilesChoice) {
  EXPECT_EQ(options("--profile torch-2.9.0").compile.memory.strategy,
            optimized::MemoryStrategy::kLines);
  EXPECT_EQ(options("--profile torch-2.9.0 --memory pools").compile.memory.strategy,
            optimized::MemoryStrategy::kPools);
  EXPECT_EQ(options("--profile vllm-0.16.0 --partition split-graph-older")
                .compile.partition.split_generation,
            optimized::SplitGeneration::kOlder);
  EXPECT_EQ(options("--profile vllm-0.16.0").compile.partition.split_generation,
            optimized::SplitGeneration::kAdjacent);
}

TEST(PlannerFlags, AddDeviationsToTheProfile) {
  const optimized::Options chosen = options("--profile torch-2.9.0 --deviation frees_twice");
  EXPECT_TRUE(chosen.compile.deviations.has(D::kFreesTwice));
  EXPECT_TRUE(chosen.compile.deviations.has(D::kTailAllocationsByGraphOutputs));
}

TEST(PlannerFlags, ReportWhatCameOfEveryOverride) {
  const PlannerFlags flags = parse("--profile torch-2.9.0 --overrides vllm");
  const PlannerChoice choice = choose_planner(flags, spec::builtin_op_table()).value();
  EXPECT_FALSE(choice.options.compile.deviations.has(D::kTailAllocationsByGraphOutputs));
  EXPECT_EQ(choice.remarks.front(),
            "override memory_plan_reuse (pytorch#165514) removes "
            "tail_allocations_by_graph_outputs");
  EXPECT_GT(choice.remarks.size(), 5U);
}

TEST(PlannerFlags, ReadOverridesFromAFile) {
  const std::string path = testing::TempDir() + "overrides.json";
  std::ofstream(path) << R"({"overrides": [{"name": "mine", "link": "x#1", "axis": "torch",
      "at_least": "2.9.0", "removes": ["output_by_exact_name"], "sets": {"realize": "bytes"}}]})";
  const optimized::Options chosen = options("--profile torch-2.10 --overrides " + path);
  EXPECT_FALSE(chosen.compile.deviations.has(D::kOutputByExactName));
  EXPECT_EQ(chosen.compile.compiler.realize.rule, optimized::RealizeRule::kByteCost);
  std::ofstream(path) << R"({"overrides": [{"name": "mine", "link": "x#1", "axis": "torch",
      "at_least": "2.9.0", "sets": {"realize": "never"}}]})";
  EXPECT_EQ(error("--profile torch-2.10 --overrides " + path),
            "profile torch-2.10: there is no choice realize = never");
}

TEST(PlannerFlags, ChooseTheCompilerAndItsRule) {
  EXPECT_EQ(options("").compile.compiler.name, "fused");
  EXPECT_EQ(options("--compiler eager").compile.compiler.name, "eager");
  EXPECT_EQ(options("--realize bytes").compile.compiler.realize.rule,
            optimized::RealizeRule::kByteCost);
}

TEST(PlannerFlags, PadToVllmsDefaultSizes) {
  const auto sizes = options("--max-capture-size 32").runtime.capture_sizes;
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{1, 2, 4, 8, 16, 24, 32}));
  EXPECT_EQ(options("--capture-sizes 2,6").runtime.capture_sizes,
            (std::vector<std::int64_t>{2, 6}));
}

TEST(PlannerFlags, RefuseWhatThereIsNot) {
  EXPECT_NE(error("--split-op aten.no_such").find("aten.no_such"), std::string::npos);
  EXPECT_NE(error("--no-pass no_such").find("no_such"), std::string::npos);
  EXPECT_NE(error("--profile torch-1.0").find("versions from 2.8.0"), std::string::npos);
  EXPECT_EQ(error("--deviation no_such"),
            "--deviation: none is called 'no_such' (see docs/deviations.md)");
  EXPECT_NE(error("--overrides /no/such.json").find("/no/such.json"), std::string::npos);
  EXPECT_NE(error("--streams 0").find("stream"), std::string::npos);
}

TEST(PlannerFlags, RefuseContradictions) {
  EXPECT_EQ(error("--memory-pool none"), "--memory-pool goes with --memory pools");
  EXPECT_EQ(error("--no-capture --mode full"),
            "--no-capture and --mode full contradict each other");
  EXPECT_EQ(error("--no-capture --capture-sizes 1"),
            "--no-capture and capture sizes contradict each other");
  EXPECT_EQ(error("--device-memory guarded"),
            "--device-memory guarded goes with --device cuda or emulated");
  EXPECT_EQ(error("--device host --device-memory guarded-front"),
            "--device-memory guarded-front goes with --device cuda or emulated");
  EXPECT_EQ(error("--device host --device-memory plain"), "accepted");
  EXPECT_NE(error("--capture-sizes 8,64 --max-capture-size 32").find("64"), std::string::npos);
  EXPECT_NE(error("--capture-sizes 8,4").find("4"), std::string::npos);
  EXPECT_NE(error("--partition split-graph --reorder minimize").find("reorder"), std::string::npos);
}

}  // namespace
}  // namespace graphgate::tools
