#include "optimized/schedule/streams.h"

#include "optimized/runtime/host/host_program.h"
#include "optimized/schedule/streams_test.h"

namespace graphgate::optimized {
namespace {

// --- Assignment ---------------------------------------------------------------------------------

constexpr const char* kDiamond = R"(program "diamond" {
  input %x : f32[8]
  %a = aten.mul.Tensor(%x, 2.0)
  %b = aten.add.Tensor(%a, 1.0)
  %c = aten.mul.Tensor(%x, 3.0)
  %d = aten.add.Tensor(%b, %c)
  output %d
})";

TEST(Streams, KeepsEverythingOnOneByDefault) {
  CompileOptions options = on_streams(1);
  options.streams = {};
  const Plan plan = good_plan_of(program_of(kDiamond), eight(), options);
  EXPECT_EQ(streams_of(plan), "a0 | b0 | c0 | d0");
  EXPECT_EQ(plan.event_count, 0U);
}

TEST(Streams, ForksIndependentChainsAndJoinsBeforeUse) {
  const Plan plan = good_plan_of(program_of(kDiamond), eight(), on_streams(2));
  EXPECT_EQ(streams_of(plan), "a0 | b0 | c1 !0 | d0 ?0");
  EXPECT_EQ(plan.event_count, 1U);
}

TEST(Streams, KeepAChainTogether) {
  const Plan plan = good_plan_of(program_of(R"(program "chain" {
  input %x : f32[8]
  %a = aten.mul.Tensor(%x, 2.0)
  %b = aten.relu.default(%a)
  %c = aten.add.Tensor(%b, %a)
  output %c
})"),
                                 eight(), on_streams(4));
  EXPECT_EQ(streams_of(plan), "a0 | b0 | c0");
}

// e reads a, whose end c has waited for on the same stream.
TEST(Streams, WaitForNothingThatIsKnownToHaveRun) {
  const Plan plan = good_plan_of(program_of(R"(program "implied" {
  input %x : f32[8]
  %a = aten.mul.Tensor(%x, 2.0)
  %b = aten.mul.Tensor(%x, 3.0)
  %busy = aten.relu.default(%a)
  %more = aten.relu.default(%busy)
  %c = aten.add.Tensor(%b, %a)
  %e = aten.sub.Tensor(%c, %a)
  output %more
  output %e
})"),
                                 eight(), on_streams(2));
  EXPECT_EQ(streams_of(plan), "a0 !0 | b1 | busy0 | more0 | c1 ?0 | e1");
}

TEST(Streams, LeaveWhatIsNotCapturedOnTheFirst) {
  const Plan plan = good_plan_of(program_of(R"(program "eager" {
  input %x : f32[8]
  %a = aten.neg.default(%x)
  %b = aten.mul.Tensor(%x, 2.0)
  %c = aten.mul.Tensor(%x, 3.0)
  %d = aten.neg.default(%c)
  output %a
  output %b
  output %d
})"),
                                 eight(), on_streams(2));
  ASSERT_EQ(partitions_of(plan), "(a) | b c | (d)");
  // d reads c without an event: partitions end with their streams joined.
  EXPECT_EQ(streams_of(plan), "a0 | b0 | c1 | d0");
}

constexpr const char* kSiblings = R"(program "siblings" {
  input %x : f32[8]
  %y = aten.mul.Tensor(%x, 2.0)
  %low = aten.slice.Tensor(%y, 0, 0, 4)
  %high = aten.slice.Tensor(%y, 0, 4, 8)
  %a = aten.relu_.default(%low)
  %b = aten.mul_.Tensor(%high, 3.0)
  output %y
})";

TEST(Streams, RunDisjointSiblingViewsBesideEachOther) {
  const Plan plan = good_plan_of(program_of(kSiblings), eight(), on_streams(2));
  EXPECT_EQ(streams_of(plan), "y0 !0 | a0 | b1 ?0");
}

TEST(Streams, KeepTheOrderOfTokens) {
  spec::OpTable ops = spec::builtin_op_table();
  ASSERT_TRUE(ops.add_text("aten::relu.queued(Tensor self) -> Tensor ; orders=queue", "ops").ok());
  const auto program = must(spec::parse_program(R"(program "tokens" {
  input %x : f32[8]
  %a = aten.relu.queued(%x)
  %b = aten.relu.queued(%x)
  %c = aten.relu.default(%x)
  output %a
  output %b
  output %c
})",
                                                ops));
  CompileOptions options = on_streams(2);
  options.ops = &ops;
  const Plan plan = good_plan_of(program, eight(), options);
  EXPECT_EQ(streams_of(plan), "a0 | b0 | c1");
}

TEST(Streams, RefuseACountOfNone) {
  const Error plan = failure_of(plan_of(program_of(kDiamond), eight(), on_streams(0)));
  EXPECT_EQ(plan.kind, ErrorKind::kBadInput);
  EXPECT_EQ(plan.message, "streams: expected a count from 1 to 64, got 0");
  EXPECT_FALSE(plan_of(program_of(kDiamond), eight(), on_streams(65)).ok());
}

// --- Deviations ---------------------------------------------------------------------------------

TEST(Streams, WaitForReadersOfTheSameBytesUnderOtherNames) {
  const spec::Program program = program_of(programs::kSharedInput);
  const Plan plan = good_plan_of(program, eight(), on_streams(2));
  EXPECT_EQ(races_of(plan), (std::vector<std::string>{}));
  EXPECT_EQ(seeds_that_differ(program, on_streams(2), eight()), 0);
}

TEST(Streams, RaceWhenAskedToForkWithoutAnAliasTest) {
  const spec::Program program = program_of(programs::kSharedInput);
  const CompileOptions options = with(on_streams(2), spec::Deviation::kForksWithoutAliasTest);
  EXPECT_NE(races_of(good_plan_of(program, eight(), options)), (std::vector<std::string>{}));
  EXPECT_GT(seeds_that_differ(program, options, eight()), 0);
}

TEST(Streams, GiveNoBytesOnThatAnotherStreamStillReads) {
  const spec::Program program = program_of(programs::kSideStream);
  const Plan plan = good_plan_of(program, eight(), side_streams());
  EXPECT_EQ(streams_of(plan), "p0 | t1 | u1 !0 | v0 | w0 ?0");
  EXPECT_EQ(races_of(plan), (std::vector<std::string>{}));
  EXPECT_EQ(seeds_that_differ(program, side_streams(), eight()), 0);
}

TEST(Streams, RaceWhenAskedToFreeOnTheMainStream) {
  const spec::Program program = program_of(programs::kSideStream);
  const CompileOptions options = with(side_streams(), spec::Deviation::kFreesOnMainStream);
  const Plan plan = good_plan_of(program, eight(), options);
  EXPECT_EQ(races_of(plan), (std::vector<std::string>{"t v", "u v"}));
  EXPECT_GT(seeds_that_differ(program, options, eight()), 0);
}

// Both updates first copy what they would overwrite, each to scratch bytes of its own.
TEST(Streams, GiveNoScratchBytesToTwoAtOnce) {
  const spec::Program program = program_of(R"(program "scratch" {
  input %x : f32[8]
  %p = aten.mul.Tensor(%x, 2.0)
  %p_low = aten.slice.Tensor(%p, 0, 0, 4)
  %p_mid = aten.slice.Tensor(%p, 0, 2, 6)
  %q = aten.mul.Tensor(%x, 3.0)
  %q_low = aten.slice.Tensor(%q, 0, 0, 4)
  %q_mid = aten.slice.Tensor(%q, 0, 2, 6)
  %a = aten.mul_.Tensor(%p_low, %p_mid)
  %b = aten.mul_.Tensor(%q_low, %q_mid)
  output %p
  output %q
})");
  const Plan plan = good_plan_of(program, eight(), on_streams(2));
  ASSERT_EQ(streams_of(plan), "p0 | q1 | a0 | b1");
  ASSERT_TRUE(plan.steps[2].workspace && plan.steps[3].workspace);
  EXPECT_EQ(races_of(plan), (std::vector<std::string>{}));
}

std::vector<float> results_of(const Plan& plan, std::uint64_t seed) {
  StateMemory state;
  HostOptions options;
  options.interleaving_seed = seed;
  HostProgram program(plan, spec::builtin_op_table(), state, options);
  const Inputs inputs = eight();
  const spec::HostTensor* tensors[] = {&std::get<spec::HostTensor>(inputs.front())};
  program.run(tensors);
  const Tensor result = *program.read(plan.outputs.front()).as<Tensor>();
  std::vector<float> values(8);
  std::memcpy(values.data(), result.data(), 32);
  return values;
}

// A plan that lost an event is told from a right one by its results, for some seeds.
TEST(Streams, ShowAMissingEventByOtherResults) {
  const Plan plan = good_plan_of(program_of(kDiamond), eight(), on_streams(2));
  Plan without = plan;
  for (PlanStep& step : without.steps) step.waits.clear();
  EXPECT_EQ(races_of(without), (std::vector<std::string>{"c d"}));
  const std::vector<float> right = results_of(plan, 0);
  EXPECT_EQ(results_of(without, 0), right);
  int wrong = 0;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    EXPECT_EQ(results_of(plan, seed), right) << seed;
    wrong += results_of(without, seed) != right ? 1 : 0;
  }
  EXPECT_GT(wrong, 0);
}

}  // namespace
}  // namespace graphgate::optimized
