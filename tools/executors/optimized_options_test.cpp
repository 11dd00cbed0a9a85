#include "tools/executors/optimized_options.h"

#include <malloc.h>

#include <fstream>

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

namespace option = spec::option;
using D = spec::Deviation;
using spec::Configuration;

optimized::Options options(const Configuration& asked) {
  return options_of(asked, spec::builtin_op_table()).value();
}

std::string error(const Configuration& asked) {
  const auto chosen = options_of(asked, spec::builtin_op_table());
  if (chosen.ok()) return "accepted";
  EXPECT_EQ(chosen.error().kind, ErrorKind::kBadInput);
  return chosen.error().message;
}

TEST(OptimizedOptions, ChooseNothingByDefault) {
  const optimized::Options chosen = options({});
  const optimized::Options expected;
  EXPECT_TRUE(chosen.compile.deviations.empty());
  EXPECT_EQ(chosen.compile.memory.strategy, optimized::MemoryStrategy::kPack);
  EXPECT_TRUE(chosen.compile.memory.reuse);
  EXPECT_EQ(chosen.compile.memory.alignment_bytes, expected.compile.memory.alignment_bytes);
  EXPECT_TRUE(chosen.compile.memory.unaligned_ops.empty());
  EXPECT_EQ(chosen.compile.streams.count, 1U);
  EXPECT_EQ(chosen.compile.compiler.realize.recompute, expected.compile.compiler.realize.recompute);
  EXPECT_TRUE(chosen.runtime.capture_sizes.empty());
  EXPECT_TRUE(chosen.runtime.compile_ranges.empty());
  EXPECT_EQ(chosen.runtime.size_multiple, expected.runtime.size_multiple);
  EXPECT_EQ(chosen.runtime.warm_up_runs, 0U);
  EXPECT_EQ(chosen.plans_kept, expected.plans_kept);
  EXPECT_EQ(chosen.plan_store, nullptr);
  EXPECT_EQ(chosen.device, nullptr);
}

TEST(OptimizedOptions, StandOverTheProfilesChoice) {
  const Configuration release = {{option::kProfile, "torch-2.9.0"}};
  EXPECT_EQ(options(release).compile.memory.strategy, optimized::MemoryStrategy::kLines);
  EXPECT_EQ(options(spec::merged(release, {{option::kMemory, "pools"}})).compile.memory.strategy,
            optimized::MemoryStrategy::kPools);
  const Configuration vllm = {{option::kProfile, "vllm-0.16.0"}};
  EXPECT_EQ(options(vllm).compile.partition.split_generation,
            optimized::SplitGeneration::kAdjacent);
  EXPECT_EQ(options(spec::merged(vllm, {{option::kPartition, "split-graph-older"}}))
                .compile.partition.split_generation,
            optimized::SplitGeneration::kOlder);
  EXPECT_EQ(options(spec::merged(vllm, {{option::kPartition, "split-graph"}}))
                .compile.partition.split_generation,
            optimized::SplitGeneration::kAdjacent)
      << "the profile's own";
  EXPECT_EQ(options({{option::kPartition, "split-graph"}}).compile.partition.split_generation,
            optimized::SplitGeneration::kNewer);
  EXPECT_EQ(options(spec::merged(vllm, {{option::kPartition, "split-graph-newer"}}))
                .compile.partition.split_generation,
            optimized::SplitGeneration::kNewer);
  EXPECT_EQ(
      options({{option::kPartition, "split-graph-adjacent"}}).compile.partition.split_generation,
      optimized::SplitGeneration::kAdjacent);
  EXPECT_EQ(options(spec::merged(vllm, {{option::kPartition, "scheduler"}}))
                .compile.partition.split_generation,
            optimized::SplitGeneration::kAdjacent);
}

TEST(OptimizedOptions, AddDeviationsToTheProfile) {
  const optimized::Options chosen = options(
      {{option::kProfile, "torch-2.9.0"}, {option::kDeviation, "frees_twice,key_without_dtype"}});
  EXPECT_TRUE(chosen.compile.deviations.has(D::kFreesTwice));
  EXPECT_TRUE(chosen.compile.deviations.has(D::kKeyWithoutDtype));
  EXPECT_TRUE(chosen.compile.deviations.has(D::kTailAllocationsByGraphOutputs));
}

TEST(OptimizedOptions, RemarkOnEveryOverride) {
  std::vector<std::string> remarks;
  const auto chosen = options_of({{option::kProfile, "torch-2.9.0"}, {option::kOverrides, "vllm"}},
                                 spec::builtin_op_table(), &remarks);
  EXPECT_FALSE(chosen.value().compile.deviations.has(D::kTailAllocationsByGraphOutputs));
  ASSERT_GT(remarks.size(), 5U);
  EXPECT_EQ(remarks.front(),
            "override memory_plan_reuse (pytorch#165514) removes "
            "tail_allocations_by_graph_outputs");
}

TEST(OptimizedOptions, ReadOverridesFromAFile) {
  const std::string path = testing::TempDir() + "overrides.json";
  const Configuration asked = {{option::kProfile, "torch-2.10"}, {option::kOverrides, path}};
  std::ofstream(path) << R"({"overrides": [{"name": "mine", "link": "x#1", "axis": "torch",
      "at_least": "2.9.0", "removes": ["output_by_exact_name"], "sets": {"realize": "bytes"}}]})";
  const optimized::Options chosen = options(asked);
  EXPECT_FALSE(chosen.compile.deviations.has(D::kOutputByExactName));
  EXPECT_EQ(chosen.compile.compiler.realize.rule, optimized::RealizeRule::kByteCost);
  std::ofstream(path) << R"({"overrides": [{"name": "mine", "link": "x#1", "axis": "torch",
      "at_least": "2.9.0", "sets": {"realize": "never"}}]})";
  EXPECT_EQ(error(asked), "profile torch-2.10: there is no choice realize = never");
}

TEST(OptimizedOptions, PadToVllmsDefaultSizes) {
  EXPECT_EQ(options({{option::kMaxCaptureSize, "32"}}).runtime.capture_sizes,
            (std::vector<std::int64_t>{1, 2, 4, 8, 16, 24, 32}));
  EXPECT_EQ(options({{option::kCaptureSizes, "2,6"}}).runtime.capture_sizes,
            (std::vector<std::int64_t>{2, 6}));
}

// A row of the table that nothing is made of ends the process.
TEST(OptimizedOptions, AreMadeOfEveryRow) {
  using Kind = spec::OptionKind;
  std::size_t rows = 0;
  for (const spec::OptionRow& row : spec::option_rows()) {
    if (row.group == spec::OptionGroup::kReference) continue;
    std::string value = "1";
    if (!row.values.empty()) value = spec::split_list(row.values).front();
    if (row.kind == Kind::kSwitch) value = "";
    if (row.kind == Kind::kSeveralRanges) value = "1:2";
    if (row.kind == Kind::kOverrides) value = "vllm";
    const auto checked = check_options({{std::string(row.name), value}});
    const bool is_refused = !checked.ok() && checked.error().kind != ErrorKind::kBadInput;
    EXPECT_FALSE(is_refused) << row.name << ": " << checked.error().message;
    ++rows;
  }
  EXPECT_EQ(rows, 63U);
}

TEST(OptimizedOptions, ReachTheExecutor) {
  const optimized::Options chosen = options({{option::kWarmUp, "2"},
                                             {option::kPlansKept, "1"},
                                             {option::kCompileRange, "1:5,5:9"},
                                             {option::kSizeMultiple, "4"},
                                             {option::kPlaceAlignment, "64"},
                                             {option::kUnalignedOp, "aten.mm.default"},
                                             {option::kUnsafeUnbackedOp, "aten.nonzero"},
                                             {option::kSkipDynamicGraphs, ""},
                                             {option::kNoRecompute, ""},
                                             {option::kNoReuse, ""},
                                             {option::kCompiler, "eager"},
                                             {option::kRealize, "bytes"},
                                             {option::kPoison, "0x7f"},
                                             {option::kStreams, "2"},
                                             {option::kInterleaving, "7"},
                                             {option::kReorder, "minimize"},
                                             {option::kMemory, "pools"},
                                             {option::kMemoryPool, "combined"},
                                             {option::kMode, "full_decode_only"},
                                             {option::kPadFill, "huge"},
                                             {option::kInstrument, "provenance"},
                                             {option::kArithmetic, "fast"}});
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
  EXPECT_FALSE(chosen.compile.memory.reuse);
  EXPECT_EQ(chosen.compile.compiler.name, "eager");
  EXPECT_EQ(chosen.compile.compiler.realize.rule, optimized::RealizeRule::kByteCost);
  EXPECT_EQ(chosen.runtime.poison, std::byte{0x7F});
  EXPECT_EQ(chosen.compile.streams.count, 2U);
  EXPECT_EQ(chosen.interleaving_seed, 7U);
  EXPECT_EQ(chosen.compile.reorder.reorder, optimized::Reorder::kMinimize);
  EXPECT_EQ(chosen.compile.memory.strategy, optimized::MemoryStrategy::kPools);
  EXPECT_EQ(chosen.compile.memory.pool_rule, optimized::PoolRule::kCombined);
  EXPECT_EQ(chosen.runtime.mode, optimized::GraphMode::kFullDecodeOnly);
  EXPECT_EQ(chosen.runtime.pad_fill, optimized::PadFill::kHuge);
  EXPECT_EQ(chosen.runtime.instrument, optimized::InstrumentKind::kProvenance);
  EXPECT_EQ(chosen.compile.arithmetic, optimized::Arithmetic::kFast);
}

TEST(OptimizedOptions, RefuseWhatThereIsNot) {
  EXPECT_TRUE(contains(error({{option::kSplitOp, "aten.no_such"}}), "aten.no_such"));
  EXPECT_TRUE(contains(error({{option::kNoPass, "no_such"}}), "no_such"));
  EXPECT_TRUE(contains(error({{option::kProfile, "torch-1.0"}}), "versions from 2.8.0"));
  EXPECT_EQ(error({{option::kDeviation, "no_such"}}),
            "--deviation: none is called 'no_such' (see docs/deviations.md)");
  EXPECT_TRUE(contains(error({{option::kOverrides, "/no/such.json"}}), "/no/such.json"));
  EXPECT_TRUE(contains(error({{option::kStreams, "0"}}), "stream"));
  EXPECT_EQ(error({{option::kCompileRange, "5"}}),
            "--compile-range: expected BEGIN:END, found '5'");
  EXPECT_EQ(error({{option::kCompileRange, "a:9"}}),
            "--compile-range: expected BEGIN:END, found 'a:9'");
  EXPECT_NE(error({{option::kCompileRange, "9:5"}}), "accepted");
  EXPECT_EQ(error({{option::kPoison, "0x100"}}),
            "--poison: expected a byte, 0x00 to 0xff, found '0x100'");
  EXPECT_EQ(error({{option::kKernels, "cuda"}}),
            "option 'kernels': the optimized executor has none such");
}

TEST(OptimizedOptions, RefuseContradictions) {
  EXPECT_EQ(error({{option::kMemoryPool, "none"}}), "--memory-pool goes with --memory pools");
  EXPECT_EQ(error({{option::kNoCapture, ""}, {option::kMode, "full"}}),
            "--no-capture and --mode full contradict each other");
  EXPECT_EQ(error({{option::kNoCapture, ""}, {option::kCaptureSizes, "1"}}),
            "--no-capture and capture sizes contradict each other");
  EXPECT_EQ(error({{option::kDeviceMemory, "guarded"}}),
            "--device-memory guarded goes with --device cuda or emulated");
  EXPECT_EQ(error({{option::kDevice, "host"}, {option::kDeviceMemory, "guarded-front"}}),
            "--device-memory guarded-front goes with --device cuda or emulated");
  EXPECT_EQ(error({{option::kDevice, "host"}, {option::kDeviceMemory, "plain"}}), "accepted");
  EXPECT_TRUE(
      contains(error({{option::kCaptureSizes, "8,64"}, {option::kMaxCaptureSize, "32"}}), "64"));
  EXPECT_TRUE(contains(error({{option::kCaptureSizes, "8,4"}}), "4"));
  EXPECT_TRUE(contains(error({{option::kPartition, "split-graph"}, {option::kReorder, "minimize"}}),
                       "reorder"));
}

// Ops of a case are in a table that the command line does not know.
TEST(OptimizedOptions, AreCheckedWithoutTheOpsThatTheyName) {
  EXPECT_TRUE(check_options({{option::kSplitOp, "custom.op"}}).ok());
  EXPECT_FALSE(check_options({{option::kMemoryPool, "none"}}).ok());
}

TEST(OptimizedOptions, OpenACacheWithItsEnvironment) {
  const Configuration cache = {{option::kCache, testing::TempDir() + "cache"}};
  optimized::Options chosen;
  ASSERT_TRUE(open_cache(spec::merged(cache, {{option::kCacheEnv, "LAYERS=2"}}), chosen).ok());
  EXPECT_NE(chosen.plan_store, nullptr);
  EXPECT_EQ(
      open_cache(spec::merged(cache, {{option::kCacheEnv, "LAYERS"}}), chosen).error().message,
      "--cache-env: expected NAME=VALUE, found 'LAYERS'");
}

// A worker of a campaign makes some hundred thousand.
TEST(OptimizedOptions, KeepNoMemory) {
  const Configuration some = {
      {option::kMemory, "lines"}, {option::kNoReuse, ""}, {option::kCaptureSizes, "2,4"}};
  const auto allocated_bytes = [] { return static_cast<std::int64_t>(::mallinfo2().uordblks); };
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(check_options(some).ok());
  const std::int64_t before = allocated_bytes();
  for (int i = 0; i < 4096; ++i) ASSERT_TRUE(check_options(some).ok());
  EXPECT_LT(allocated_bytes() - before, 4096);
}

TEST(WrapperOptions, GoTogetherOrAreRefused) {
  EXPECT_EQ(error({{option::kGuards, "all"}}), "--guards goes with --wrapper");
  EXPECT_EQ(error({{option::kEncoder, ""}}), "--encoder goes with --wrapper");
  EXPECT_EQ(error({{option::kModelTag, "drafter"}}), "--model-tag goes with --wrapper");
  EXPECT_EQ(error({{option::kRefuseUpdates, ""}}), "--refuse-updates goes with --wrapper");
  EXPECT_EQ(error({{option::kWrapper, "stock"}, {option::kGuards, "none"}}),
            "--wrapper stock compiles again when guards fail: it needs --guards all");
  EXPECT_EQ(error({{option::kWrapper, "split"}, {option::kPartition, "scheduler"}}),
            "--wrapper split and --partition scheduler contradict each other");
  EXPECT_EQ(error({{option::kWrapper, "partition"}, {option::kPartition, "split-graph"}}),
            "--wrapper partition and --partition split-graph contradict each other");
  EXPECT_EQ(error({{option::kWrapper, "none"}, {option::kCache, "temporary"}}),
            "--wrapper none compiles nothing: it does not go with --cache");
  EXPECT_EQ(error({{option::kWrapper, "none"}, {option::kMode, "full"}}),
            "--wrapper none captures nothing: it does not go with --mode full");
  EXPECT_EQ(error({{option::kWrapper, "split"}, {option::kEncoder, ""}}),
            "--encoder opens the last --compile-range, and there is none");
  EXPECT_EQ(error({{option::kWrapper, "split"}, {option::kModelTag, "a/b"}}),
            "the model tag 'a/b' cannot be the name of a folder");
  EXPECT_EQ(error({{option::kCache, "temporary"}, {option::kAheadOfTime, "temporary"}}),
            "plans are kept by --cache or by --ahead-of-time, not by both");
  EXPECT_EQ(error({{option::kWrapper, "split"}, {option::kPartition, "split-graph-older"}}),
            "accepted");
}

TEST(WrapperOptions, CutAsTheWrapperSays) {
  using optimized::PartitionMode;
  EXPECT_EQ(options({{option::kWrapper, "split"}}).compile.partition.mode,
            PartitionMode::kSplitGraph);
  EXPECT_EQ(options({{option::kWrapper, "partition"}}).compile.partition.mode,
            PartitionMode::kScheduler);
  EXPECT_EQ(error({{option::kMode, "full"}, {option::kAttentionSupport, "never"}}),
            "mode full captures attention, which is never captured: ask for piecewise");
}

}  // namespace
}  // namespace graphgate::tools
