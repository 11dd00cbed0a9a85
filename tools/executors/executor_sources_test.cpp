#include "tools/executors/executor_sources.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include "tools/executors/case_sources.h"

namespace graphgate::tools {
namespace {

using conformance::Configuration;

std::string error_of(const Configuration& configuration) {
  const auto made = optimized_source()->make(configuration, spec::builtin_op_table());
  if (made.ok()) return "made";
  EXPECT_EQ(made.error().kind, ErrorKind::kBadInput);
  return made.error().message;
}

TEST(PlannerConfigurations, AreTheFlagsOfTheCommandLine) {
  const PlannerFlags flags = planner_flags({{"memory", "lines"},
                                            {"no-reuse", ""},
                                            {"deviation", "frees_twice,key_without_dtype"},
                                            {"capture-sizes", "2,4"},
                                            {"profile", "torch-2.9.1,vllm-0.11.1"}})
                                 .value();
  EXPECT_EQ(flags.memory, "lines");
  EXPECT_FALSE(flags.reuse);
  EXPECT_EQ(flags.deviations, (std::vector<std::string>{"frees_twice", "key_without_dtype"}));
  EXPECT_EQ(flags.capture_sizes, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(flags.profile, "torch-2.9.1,vllm-0.11.1");
}

TEST(PlannerConfigurations, OweNothingToThoseBefore) {
  const auto are_default = [](const PlannerFlags& flags) {
    const PlannerFlags fresh;
    return flags.memory == fresh.memory && flags.reuse == fresh.reuse &&
           flags.capture_sizes == fresh.capture_sizes && flags.poison == fresh.poison &&
           flags.streams == fresh.streams;
  };
  const Configuration many = {
      {"capture-sizes", "2,4"}, {"memory", "lines"}, {"no-reuse", ""}, {"poison", "0xFF"}};
  EXPECT_FALSE(are_default(planner_flags(many).value()));
  EXPECT_TRUE(are_default(planner_flags({}).value()));
  Configuration broken = many;
  broken["streams"] = "few";
  EXPECT_FALSE(planner_flags(broken).ok());
  EXPECT_TRUE(are_default(planner_flags({}).value()));
  EXPECT_EQ(planner_flags({{"capture-sizes", "8"}}).value().capture_sizes,
            (std::vector<std::int64_t>{8}));
}

TEST(PlannerConfigurations, ReadBackFromACommandLine) {
  CLI::App app;
  PlannerFlags flags;
  add_planner_flags(app, flags);
  app.parse("--memory lines --no-reuse --capture-sizes 2,4 --deviation a --deviation b", false);
  const Configuration expected = {
      {"memory", "lines"}, {"no-reuse", ""}, {"capture-sizes", "2,4"}, {"deviation", "a,b"}};
  EXPECT_EQ(planner_configuration(app), expected);
}

// A worker of a campaign reads some hundred thousand.
TEST(PlannerConfigurations, KeepNoMemory) {
  const Configuration some = {
      {"memory", "lines"}, {"no-reuse", ""}, {"capture-sizes", "2,4"}, {"streams", "2"}};
  const auto allocated_bytes = [] { return static_cast<std::int64_t>(::mallinfo2().uordblks); };
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(planner_flags(some).ok());
  const std::int64_t before = allocated_bytes();
  for (int i = 0; i < 4096; ++i) ASSERT_TRUE(planner_flags(some).ok());
  EXPECT_LT(allocated_bytes() - before, 4096);
}

TEST(PlannerConfigurations, RefuseWhatThereIsNot) {
  EXPECT_EQ(error_of({}), "made");
  EXPECT_EQ(error_of({{"speed", "high"}}), "option 'speed': the optimized executor has none such");
  EXPECT_EQ(error_of({{"memory", ""}}), "option 'memory': expected a value");
  EXPECT_EQ(error_of({{"no-reuse", "yes"}}), "option 'no-reuse': expected no value");
  EXPECT_NE(error_of({{"memory", "stacks"}}).find("stacks"), std::string::npos);
  EXPECT_EQ(error_of({{"help", ""}}), "option 'help': the optimized executor has none such");
  EXPECT_NE(error_of({{"memory-pool", "outputs"}}).find("--memory pools"), std::string::npos);
}

TEST(ReferenceSource, HasModesAndNoPlanner) {
  const auto source = reference_source(/*allow_zero_and_one=*/false);
  const auto& ops = spec::builtin_op_table();
  for (const char* mode : {"eager", "worst-case", "sampled", "provenance", "geometry"}) {
    EXPECT_TRUE(source->make({{"mode", mode}}, ops).ok()) << mode;
  }
  EXPECT_EQ(source->make({{"mode", "fast"}}, ops).error().kind, ErrorKind::kBadInput);
  for (const char* dtypes : {"f16", "bf16", "bf16,f16"}) {
    EXPECT_TRUE(source->make({{"split-sums", dtypes}}, ops).ok()) << dtypes;
  }
  EXPECT_EQ(source->make({{"split-sums", "f16,f32"}}, ops).error().message,
            "option 'split-sums': expected f16, bf16 or both, found 'f32'");
  EXPECT_TRUE(source->make({{"mode", "sampled"}, {"trial", "7"}}, ops).ok());
  EXPECT_TRUE(source->make({{"mode", "sampled"}, {"trial", "7x3"}}, ops).ok());
  for (const char* trial : {"", "7th", "7x", "7x0", "-1"}) {
    EXPECT_EQ(source->make({{"trial", trial}}, ops).error().message,
              "option 'trial': expected a number, or one x another as 7x3, found '" +
                  std::string(trial) + "'");
  }
  EXPECT_EQ(source->make({{"memory", "lines"}}, ops).error().kind, ErrorKind::kUnsupported);
}

// A campaign with --memory lines goes on with cases that drew a rule of pools.
TEST(OptionsUnderFlags, AreThoseThatGoWithThem) {
  using conformance::Configuration;
  const Configuration pools = {{"memory", "pools"}, {"memory-pool", "none"}, {"poison", "0xff"}};
  EXPECT_EQ(options_under(pools, {{"streams", "2"}}),
            conformance::merged(pools, {{"streams", "2"}}));
  EXPECT_EQ(options_under(pools, {{"memory", "lines"}}),
            (Configuration{{"memory", "lines"}, {"poison", "0xff"}}));
  EXPECT_EQ(options_under({{"no-capture", ""}, {"poison", "0xff"}}, {{"max-capture-size", "16"}}),
            (Configuration{{"max-capture-size", "16"}, {"poison", "0xff"}}));
  EXPECT_EQ(options_under({{"reorder", "minimize"}, {"split-op", "custom.op"}},
                          {{"partition", "split-graph"}}),
            (Configuration{{"partition", "split-graph"}, {"split-op", "custom.op"}}));
  const Configuration unknown = {{"no-such", ""}};
  EXPECT_EQ(options_under(pools, unknown), unknown) << "who reads it refuses it";
}

}  // namespace
}  // namespace graphgate::tools
