// Outputs that callers keep, and memory that programs share.
#include "optimized/runtime/session_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using Values = std::vector<float>;

constexpr const char* kDouble = R"(program "double" {
  symbol s0 in [1, 1024]
  input %x : f32[s0]
  %y : f32[s0] = aten.mul.Tensor(%x, 2.0)
  output %y
})";
constexpr const char* kTriple = R"(program "triple" {
  symbol s0 in [1, 1024]
  input %x : f32[s0]
  %y : f32[s0] = aten.mul.Tensor(%x, 3.0)
  output %y
})";

Options options_of(bool weak, bool share) {
  Options options;
  options.runtime.weak_outputs = weak;
  options.runtime.share_pools = share;
  return options;
}

// Two programs of one executor.
struct Pair {
  explicit Pair(const Options& options)
      : executor(make_executor(options)),
        a_program(program_of(kDouble)),
        b_program(program_of(kTriple)),
        a(executor->load(a_program).value()),
        b(executor->load(b_program).value()) {}

  std::unique_ptr<spec::Executor> executor;
  spec::Program a_program;
  spec::Program b_program;
  std::unique_ptr<spec::LoadedProgram> a;
  std::unique_ptr<spec::LoadedProgram> b;
};

void run(spec::LoadedProgram& program, const spec::HostTensor& x) { must(program.call(Inputs{x})); }

std::string message_of(const spec::HeldOutput& held) { return message_of(held.read()); }

TEST(HeldOutputs, AreStrongUnlessAskedAndOutliveOtherRuns) {
  const Pair pair(options_of(false, true));
  run(*pair.a, f32({2}, {1, 2}));
  const auto held = pair.a->hold(0).value();
  EXPECT_EQ(floats(held->read().value()), (Values{2, 4}));
  run(*pair.b, f32({2}, {5, 5}));
  run(*pair.a, f32({2}, {7, 7}));
  EXPECT_EQ(floats(held->read().value()), (Values{2, 4}));
  run(*pair.b, f32({2}, {5, 5}));
  EXPECT_EQ(floats(pair.a->hold(0).value()->read().value()), (Values{14, 14}))
      << "held when its place was gone already";
}

TEST(HeldOutputs, NameTheRunThatTookThePlaceOfAWeakOne) {
  const Pair pair(options_of(true, true));
  run(*pair.a, f32({2}, {1, 2}));
  const auto held = pair.a->hold(0).value();
  EXPECT_EQ(floats(held->read().value()), (Values{2, 4}));
  run(*pair.b, f32({2}, {5, 5}));
  EXPECT_EQ(message_of(*held),
            "output 0 of 'double' is weak: run 1 of its pool made it, and run 2, of 'triple', "
            "took its place");
}

TEST(HeldOutputs, StayWhereAnotherPoolRuns) {
  const Pair pair(options_of(true, false));
  run(*pair.a, f32({2}, {1, 2}));
  const auto held = pair.a->hold(0).value();
  run(*pair.b, f32({2}, {5, 5}));
  EXPECT_EQ(floats(held->read().value()), (Values{2, 4}));
  run(*pair.a, f32({2}, {5, 5}));
  EXPECT_TRUE(contains(message_of(*held), "run 2, of 'double'"));
}

TEST(HeldOutputs, AreNotCheckedWhenAsked) {
  Options options = options_of(true, true);
  const Pair pair(with_deviation(Deviation::kNoGenerationCheck, options));
  run(*pair.a, f32({2}, {1, 2}));
  const auto held = pair.a->hold(0).value();
  run(*pair.b, f32({2}, {5, 5}));
  EXPECT_EQ(floats(held->read().value()), (Values{15, 15}));
}

TEST(HeldOutputs, BecomeWeakInSharedPoolsWhenAsked) {
  for (const bool share : {true, false}) {
    const Pair pair(with_deviation(Deviation::kWeakOutputInSharedPool, options_of(false, share)));
    run(*pair.a, f32({2}, {1, 2}));
    const auto held = pair.a->hold(0).value();
    run(*pair.b, f32({2}, {5, 5}));
    EXPECT_EQ(message_of(*held).empty(), !share);
  }
}

// A run of a smaller plan is taken to leave alone what a larger one has made.
TEST(HeldOutputs, AreLeftToSmallerRunsWhenAsked) {
  const auto after_small_run = [](const Options& options) {
    const Pair pair(options);
    const Values large(200, 1.0F);
    run(*pair.a, f32({200}, large));
    const auto held = pair.a->hold(0).value();
    run(*pair.b, f32({2}, {5, 5}));
    return floats(held->read().value()).front();
  };
  EXPECT_EQ(after_small_run(options_of(false, true)), 2);
  EXPECT_EQ(
      after_small_run(with_deviation(Deviation::kFreesBlocksOfLiveGraphs, options_of(false, true))),
      15);
}

TEST(HeldOutputs, AreRefusedWhereThereIsNone) {
  const Loaded loaded(kDouble);
  EXPECT_EQ(loaded.session->hold(0).error().message, "output 0 of 'double': there was no call");
  (void)loaded.call({f32({2}, {1, 2})});
  EXPECT_EQ(loaded.session->hold(1).error().message,
            "output 1 of 'double' is no tensor, or does not exist");
}

TEST(HeldOutputs, OfPaddedRunsAreCut) {
  Options options = options_of(true, false);
  options.runtime.capture_sizes = {4};
  const Loaded loaded(kDouble, options);
  (void)loaded.call({f32({3}, {1, 2, 3})});
  const auto held = loaded.session->hold(0).value()->read().value();
  EXPECT_EQ(held.sizes, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(floats(held), (Values{2, 4, 6}));
}

TEST(WeakOutputs, AreThoseOfTheLastCapturedPartition) {
  Options options = options_of(true, false);
  options.compile.partition.split_ops = {"aten.neg"};
  const Loaded loaded(R"(program "pieces" {
  input %x : f32[2]
  %a = aten.mul.Tensor(%x, 2.0)
  %b = aten.neg.default(%a)
  %c = aten.mul.Tensor(%b, 3.0)
  output %a
  output %b
  output %c
  output %x
})",
                      options);
  (void)loaded.call({f32({2}, {1, 2})});
  using spec::OutputLifetime;
  EXPECT_EQ(loaded.plan().output_lifetimes,
            (std::vector<OutputLifetime>{OutputLifetime::kStrong, OutputLifetime::kStrong,
                                         OutputLifetime::kWeak, OutputLifetime::kStrong}));
}

TEST(SharedPools, AreRecordedAnewWhenTheyGrow) {
  for (const bool share : {true, false}) {
    Options options = options_of(false, share);
    CompileCounters counters;
    options.compile.counters = &counters;
    const Loaded loaded(kDouble, options);
    EXPECT_EQ(loaded.run({f32({2}, {1, 2})}), (Values{2, 4}));
    EXPECT_EQ(loaded.run({f32({300}, Values(300, 1))}).back(), 2);
    EXPECT_EQ(loaded.run({f32({2}, {3, 4})}), (Values{6, 8}));
    EXPECT_EQ(counters.captures, share ? 1 : 0) << "the small one, since the pool has moved";
    (void)loaded.run({f32({2}, {3, 4})});
    EXPECT_EQ(counters.captures, share ? 1 : 0);
  }
}

TEST(SharedPools, DoNotMoveWhenTheLargestComesFirst) {
  Options options = options_of(false, true);
  options.runtime.capture_sizes = {4, 128, 256};
  CompileCounters counters;
  options.compile.counters = &counters;
  const Loaded loaded(kDouble, options);
  for (const std::int64_t size : capture_order(options.runtime)) {
    (void)loaded.run({f32({size}, Values(static_cast<std::size_t>(size), 1))});
  }
  EXPECT_EQ(loaded.run({f32({3}, {3, 4, 5})}), (Values{6, 8, 10}));
  EXPECT_EQ(counters.captures, 0);
}

// What an eager partition makes moves with the pool; a recording that takes it for static reads and
// writes where it was.
TEST(SharedPools, LeaveEagerResultsWhereTheyWereWhenAsked) {
  const auto third = [&](bool deviates) {
    Options options = options_of(false, true);
    options.compile.partition.split_ops = {"aten.neg"};
    if (deviates) options.compile.deviations.add(Deviation::kEagerResultsAreStatic);
    const Loaded loaded(programs::kPieces, options);
    EXPECT_EQ(loaded.run({f32({2}, {1, 2})}), (Values{-3, -6}));
    (void)loaded.run({f32({300}, Values(300, 1))});
    return loaded.run({f32({2}, {5, 6})});
  };
  EXPECT_EQ(third(false), (Values{-15, -18}));
  EXPECT_NE(third(true), (Values{-15, -18}));
}

// With one plan kept, the second size throws the plan out that was captured first.
TEST(SharedPools, OutliveTheirFirstUserUnlessAsked) {
  const auto last = [&](Options options) {
    options.runtime.share_pools = true;
    options.plans_kept = 1;
    const Loaded loaded(programs::kScaledRows, options);
    EXPECT_EQ(loaded.run({rows(2, 2, 1)}), (Values{3, 5, 7, 9}));
    EXPECT_EQ(loaded.run({rows(1, 2, 1)}), (Values{3, 5}));
    EXPECT_TRUE(loaded.session->set_state("w", f32({2}, {10, 10}), true).ok());
    return loaded.run({rows(1, 2, 1)});
  };
  EXPECT_EQ(last({}), (Values{12, 14}));
  EXPECT_NE(last(with_deviation(Deviation::kWorkspaceOfFirstCapturer)), (Values{12, 14}));
}

// The caller's bytes count, and not where they once lay.
TEST(OwnOutputs, AreReadFromTheCallerWhenFedBackUnlessAsked) {
  const auto fed_back = [](const Options& options) {
    const Loaded loaded(kDouble, options);
    const auto first = loaded.call({f32({2}, {1, 2})});
    const auto at_once = loaded.call({std::get<spec::HostTensor>(first.outputs[0])});
    EXPECT_EQ(floats(at_once.outputs[0]), (Values{4, 8}));
    (void)loaded.call({f32({2}, {10, 20})});
    return floats(loaded.call({std::get<spec::HostTensor>(first.outputs[0])}).outputs[0]);
  };
  EXPECT_EQ(fed_back({}), (Values{4, 8}));
  EXPECT_EQ(fed_back(with_deviation(Deviation::kOwnOutputIsStatic)), (Values{40, 80}));
}

}  // namespace
}  // namespace graphgate::optimized
