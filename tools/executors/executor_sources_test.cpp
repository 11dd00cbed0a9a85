#include "tools/executors/executor_sources.h"

#include "base/result_test.h"
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

TEST(OptimizedSource, RefusesWhatThereIsNot) {
  EXPECT_EQ(error_of({}), "made");
  EXPECT_EQ(error_of({{"speed", "high"}}), "option 'speed': the optimized executor has none such");
  EXPECT_EQ(error_of({{"memory", ""}}), "option 'memory': expected a value");
  EXPECT_EQ(error_of({{"no-reuse", "yes"}}), "option 'no-reuse': expected no value");
  EXPECT_TRUE(contains(error_of({{"memory", "stacks"}}), "stacks"));
  EXPECT_EQ(error_of({{"help", ""}}), "option 'help': the optimized executor has none such");
  EXPECT_TRUE(contains(error_of({{"memory-pool", "outputs"}}), "--memory pools"));
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

TEST(ExecutorSources, RefusalsOfOurExecutorAreNotOwedByAProcess) {
  const Configuration asked = {{"wrapper", "split"}};
  const auto suited = [&](const char* subject, bool is_refusal_expected) {
    conformance::Script script;
    if (is_refusal_expected) script.expectation.refusal = {1, "index 3"};
    suit(script, *make_subject(subject).value(), asked);
    return script;
  };
  const char* const process = "cmd:engine";
  EXPECT_TRUE(suited(process, false).options.empty());
  EXPECT_EQ(suited(process, true).options, asked) << "so that it says that it lacks one";
  EXPECT_EQ(suited(process, true).expectation.refusal->text, "");
  EXPECT_EQ(suited("optimized", true).expectation.refusal->text, "index 3");
  // A case that is replayed or reduced is asked for no more than one that is checked.
  spec::CaseFile the_case;
  the_case.options = asked;
  EXPECT_TRUE(with_flags(the_case, {}, *make_subject(process).value()).options.empty());
  the_case.expectation.refusal = {1, "index 3"};
  const spec::CaseFile replayed = with_flags(the_case, {}, *make_subject(process).value());
  EXPECT_EQ(replayed.options, asked);
  EXPECT_EQ(replayed.expectation.refusal->text, "");
  EXPECT_EQ(with_flags(the_case, {}, *make_subject("optimized").value()).expectation.refusal->text,
            "index 3");
}

}  // namespace
}  // namespace graphgate::tools
