#include "optimized/partition/partition.h"

#include "optimized/analysis/sized_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;

CompileOptions with(PartitionMode mode, SplitGeneration generation = SplitGeneration::kNewer) {
  CompileOptions options;
  options.partition.mode = mode;
  options.partition.split_generation = generation;
  return options;
}

// Attention, then another right behind it; two allocations that stand alone between split ops.
constexpr const char* kTwoLayers = R"(program "p" {
  input %q : f32[2, 2, 4]
  %k = aten.relu.default(%q)
  %o1 = aten.neg.default(%q)
  vllm.unified_attention_with_output.default(%q, %k, %k, %o1, "one") as attn1
  vllm.unified_attention_with_output.default(%k, %k, %k, %o1, "two") as attn2
  %o2 = aten.empty_like.default(%q)
  vllm.unified_attention_with_output.default(%q, %o1, %o1, %o2, "three") as attn3
  %y = aten.mul.Tensor(%o2, 2.0)
  %z = aten.add.Tensor(%y, %o1)
  output %z
})";

std::string cut(const char* text, const CompileOptions& options) {
  return partitions_of(good_plan_of(program_of(text), {counting({2, 2, 4})}, options));
}

TEST(SplitGraph, GivesEachSplitOpAPartitionInTheOlderGeneration) {
  EXPECT_EQ(cut(kTwoLayers, with(PartitionMode::kSplitGraph, SplitGeneration::kOlder)),
            "k o1 | (attn1) | (attn2) | (o2) | (attn3) | y z");
}

TEST(SplitGraph, LetsNeighboursShareInTheMiddleGeneration) {
  EXPECT_EQ(cut(kTwoLayers, with(PartitionMode::kSplitGraph, SplitGeneration::kAdjacent)),
            "k o1 | (attn1 attn2) | (o2) | (attn3) | y z");
}

TEST(SplitGraph, LetsNeighboursShareAndMovesLoneAllocationsInTheNewerGeneration) {
  EXPECT_EQ(cut(kTwoLayers, with(PartitionMode::kSplitGraph)),
            "k o1 o2 | (attn1 attn2) | (attn3) | y z");
}

TEST(SplitGraph, LeavesAnAllocationWhereWhatItReadsIsMadeLater) {
  EXPECT_EQ(cut(R"(program "p" {
  input %q : f32[2, 2, 4]
  %k = aten.relu.default(%q)
  %o = aten.neg.default(%k)
  %m, %at = aten.sort.default(%k) as sorted
  %e = aten.empty_like.default(%m)
  vllm.unified_attention_with_output.default(%k, %k, %k, %o, "one") as attn
  %y = aten.copy_.default(%e, %o)
  output %y
})",
                [] {
                  CompileOptions options = with(PartitionMode::kSplitGraph);
                  options.partition.split_ops.emplace_back("aten.sort");
                  return options;
                }()),
            "k o | (sorted) | (e) | (attn) | y");
}

// As vLLM 0.33 cuts it: five pieces, of which the middle one launches nothing.
TEST(SplitGraph, CountsViewsAsNodes) {
  CompileOptions options = with(PartitionMode::kSplitGraph);
  options.partition.split_ops = {"aten.exp", "aten.sigmoid"};
  const auto cut_views = [&](SplitGeneration generation, const char* sizes) {
    options.partition.split_generation = generation;
    const std::string text = std::string(R"(program "p" {
  input %x : f32[2, 2, 4]
  %a = aten.relu.default(%x)
  %e = aten.exp.default(%a)
  %v = aten.view.default(%e, )") +
                             sizes + R"()
  %s = aten.sigmoid.default(%v)
  %z = aten.neg.default(%s)
  output %z
})";
    return cut(text.c_str(), options);
  };
  EXPECT_EQ(cut_views(SplitGeneration::kNewer, "[16]"), "a | (e) | () | (s) | z");
  EXPECT_EQ(cut_views(SplitGeneration::kOlder, "[16]"), "a | (e) | () | (s) | z");
  // A pass drops this one behind the cut, as upstream's passes work on pieces.
  EXPECT_EQ(cut_views(SplitGeneration::kNewer, "[2, 2, 4]"), "a | (e) | () | (s) | z");
}

TEST(SplitGraph, LetsNobodyShareBehindANodeThatIsTakenApart) {
  CompileOptions options = with(PartitionMode::kSplitGraph);
  options.partition.split_ops = {"aten.sort", "aten.exp"};
  EXPECT_EQ(cut(R"(program "p" {
  input %x : f32[2, 2, 4]
  %s, %i = aten.sort.default(%x) as sorted
  %e = aten.exp.default(%s)
  %f = aten.exp.default(%e)
  %z = aten.neg.default(%f)
  output %z
})",
                options),
            "(sorted) | (e f) | z");
}

TEST(SplitGraph, TakesANameWithoutAnOverloadForTheDefaultOne) {
  constexpr const char* kSum = R"(program "p" {
  input %x : f32[2, 2, 4]
  %a = aten.relu.default(%x)
  %b = aten.add.Tensor(%a, %x)
  %c = aten.neg.default(%b)
  output %c
})";
  CompileOptions options = with(PartitionMode::kSplitGraph);
  options.compiler.name = "eager";
  options.partition.split_ops = {"aten.add"};
  EXPECT_EQ(cut(kSum, options), "a b c");
  options.partition.split_ops = {"aten::add.Tensor"};
  EXPECT_EQ(cut(kSum, options), "a | (b) | c");
  options.partition.split_ops = {"aten.add"};
  options.partition.mode = PartitionMode::kScheduler;
  EXPECT_EQ(cut(kSum, options), "a | (b) | c");
}

// celu may be taken apart where it is specialized; its parts stay with it.
TEST(SplitGraph, CutsOutAllPartsOfASplitOp) {
  CompileOptions options = with(PartitionMode::kSplitGraph);
  options.partition.split_ops = {"aten.celu"};
  const spec::Plan plan = good_plan_of(program_of(R"(program "p" {
  input %x : f32[2, 2, 4]
  %a = aten.relu.default(%x)
  %b = aten.celu.default(%a)
  %c = aten.neg.default(%b)
  output %c
})"),
                                       {counting({2, 2, 4})}, options);
  ASSERT_EQ(plan.blocks[0].partitions.size(), 3U);
  EXPECT_EQ(plan.blocks[0].partitions[1].reason, "split op aten.celu");
}

TEST(SplitGraph, CutsByNothingButSplitOps) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[4]
  %a = aten.relu.default(%x)
  %i = aten.nonzero.default(%a)
  %b = aten.neg.default(%a)
  %c = aten.exp.default(%b)
  %d = aten.relu.default(%c)
  output %i
  output %d
})");
  CompileOptions options = with(PartitionMode::kSplitGraph);
  options.partition.split_ops = {"aten.exp"};
  const spec::Plan plan = good_plan_of(program, {counting({4})}, options);
  EXPECT_EQ(partitions_of(plan), "(a i b) | (c) | d");
  EXPECT_EQ(plan.blocks[0].partitions[0].reason, "unbacked symbol");
  options.partition.mode = PartitionMode::kScheduler;
  EXPECT_EQ(partitions_of(good_plan_of(program, {counting({4})}, options)),
            "a | (i) | b | (c) | d");
}

TEST(SplitGraph, IgnoresTheSplitOpsWhereADeviationAsksForIt) {
  CompileOptions options = with(PartitionMode::kSplitGraph);
  options.deviations.add(Deviation::kIgnoresPartitionOption);
  EXPECT_EQ(cut(kTwoLayers, options), "k o1 attn1 attn2 o2 attn3 y z");
}

constexpr const char* kSmallAndEmpty = R"(program "p" {
  input %q : f32[2, 2, 4]
  %o = aten.empty_like.default(%q)
  vllm.unified_attention_with_output.default(%q, %q, %q, %o, "one") as attn1
  %a = aten.relu.default(%o)
  %e = aten.empty_like.default(%q)
  vllm.unified_attention_with_output.default(%q, %a, %a, %e, "two") as attn2
  %b = aten.neg.default(%e)
  %c = aten.relu.default(%b)
  output %c
})";

TEST(Partition, CapturesNothingThatLaunchesNothing) {
  const spec::Plan plan =
      good_plan_of(program_of(kSmallAndEmpty), {counting({2, 2, 4})}, CompileOptions());
  EXPECT_EQ(partitions_of(plan), "(o) | (attn1) | a e | (attn2) | b c");
  EXPECT_EQ(plan.blocks[0].partitions[0].reason, "nothing to launch");
}

// PyTorch 176619.
TEST(Partition, CapturesNothingAllTheSameWhereADeviationAsksForIt) {
  CompileOptions options;
  options.deviations.add(Deviation::kEmptyCaptureSucceeds);
  EXPECT_EQ(cut(kSmallAndEmpty, options), "o | (attn1) | a e | (attn2) | b c");
}

TEST(Partition, RunsPartitionsWithFewLaunchesEagerly) {
  CompileOptions options;
  options.partition.min_partition_size = 2;
  const spec::Plan plan = good_plan_of(program_of(kSmallAndEmpty), {counting({2, 2, 4})}, options);
  EXPECT_EQ(partitions_of(plan), "(o) | (attn1) | (a e) | (attn2) | b c");
  EXPECT_EQ(plan.blocks[0].partitions[2].reason, "fewer than 2 launches");
}

TEST(Partition, CutsOftenerThanSplitOpsDoOnRequest) {
  for (const PartitionMode mode : {PartitionMode::kScheduler, PartitionMode::kSplitGraph}) {
    CompileOptions options = with(mode);
    options.partition.max_nodes = 1;
    EXPECT_EQ(cut(kTwoLayers, options), "k | o1 | (attn1) | (attn2) | (o2) | (attn3) | y | z");
  }
}

TEST(Partition, CutsWhereItIsTold) {
  for (const PartitionMode mode : {PartitionMode::kScheduler, PartitionMode::kSplitGraph}) {
    CompileOptions options = with(mode);
    options.partition.split_ops = {"aten.neg"};
    const std::string uncut = cut(kTwoLayers, options);
    options.partition.cut_after = {"attn1", "attn3", "nobody"};
    EXPECT_EQ(cut(kTwoLayers, options), "k | (o1) | attn1 | attn2 o2 attn3 | y z") << uncut;
  }
}

// Two compiles of one process, each by its own split ops.
TEST(Partition, ScopesSplitOpsToOneCompile) {
  CompileOptions other;
  other.partition.split_ops = {"aten.neg"};
  EXPECT_EQ(cut(kTwoLayers, other), "k | (o1) | attn1 attn2 o2 attn3 y z");
  EXPECT_EQ(cut(kTwoLayers, CompileOptions()), "k o1 | (attn1 attn2) | (o2) | (attn3) | y z");
}

}  // namespace
}  // namespace graphgate::optimized
