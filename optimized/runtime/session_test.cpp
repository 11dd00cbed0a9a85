// Keys, modes, static inputs, state and warm-up of a loaded program; and what each does when asked
// to be wrong.
#include "optimized/runtime/session_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::HostTensor;
using Values = std::vector<float>;

constexpr const char* kInPieces = R"(program "pieces" {
  input %x : f32[2]
  %a = aten.mul.Tensor(%x, 2.0)
  %b = aten.neg.default(%a)
  %c = aten.mul.Tensor(%b, 3.0)
  output %c
})";

Options split_at_neg(GraphMode mode) {
  Options options;
  options.runtime.mode = mode;
  options.compile.partition.split_ops = {"aten.neg"};
  options.compile.compiler.name = "eager";  // a step per node, to be counted
  return options;
}

TEST(GraphModes, DecideWhatIsCaptured) {
  const auto cuts = [](GraphMode mode, const spec::CallOptions& call = {}) {
    const Loaded loaded(kInPieces, split_at_neg(mode));
    EXPECT_EQ(floats(loaded.call({f32({2}, {1, 2})}, call).outputs[0]), (Values{-6, -12}));
    return partitions_of(loaded.plan());
  };
  const spec::CallOptions decode{{}, {{"uniform_decode", "true"}}};
  EXPECT_EQ(cuts(GraphMode::kPiecewise), "a | (b) | c");
  EXPECT_EQ(cuts(GraphMode::kFull), "a b c");
  EXPECT_EQ(cuts(GraphMode::kNone), "(a b c)");
  EXPECT_EQ(cuts(GraphMode::kFullAndPiecewise), "a | (b) | c");
  EXPECT_EQ(cuts(GraphMode::kFullAndPiecewise, decode), "a b c");
  EXPECT_EQ(cuts(GraphMode::kFullDecodeOnly), "(a b c)");
  EXPECT_EQ(cuts(GraphMode::kFullDecodeOnly, decode), "a b c");
  EXPECT_EQ(cuts(GraphMode::kFull, {spec::CallMode::kEager, {}}), "(a b c)");
}

TEST(GraphModes, HavePlansOfTheirOwnUnlessAsked) {
  const auto second = [](const Options& options) {
    const Loaded loaded(kInPieces, options);
    (void)loaded.call({f32({2}, {1, 2})}, {{}, {{"uniform_decode", "true"}}});
    (void)loaded.call({f32({2}, {1, 2})});
    return partitions_of(loaded.plan());
  };
  const Options options = split_at_neg(GraphMode::kFullAndPiecewise);
  EXPECT_EQ(second(options), "a | (b) | c");
  EXPECT_EQ(second(with_deviation(Deviation::kGraphKeyDropsMode, options)), "a b c");
}

TEST(PlanKeys, HoldEverySymbolUnlessAsked) {
  const char* const text = R"(program "two" {
  symbol s0 in [1, 64]
  symbol s1 in [1, 64]
  input %x : f32[s0, s1]
  %y : f32[s0, s1] = aten.mul.Tensor(%x, 2.0)
  output %y
})";
  const auto second = [&](const Options& options) {
    const Loaded loaded(text, options);
    (void)loaded.call({rows(2, 3, 1)});
    return loaded.run({rows(2, 2, 1)});
  };
  EXPECT_EQ(second({}), (Values{2, 4, 6, 8}));
  EXPECT_EQ(second(with_deviation(Deviation::kGraphKeyDropsSymbol)).size(), 6U);
}

TEST(PlanKeys, HoldNumbersUnlessAsked) {
  const char* const text = R"(program "number" {
  input %x : f32[2]
  input %f : symfloat
  %y : f32[2] = aten.mul.Tensor(%x, %f)
  output %y
})";
  const auto second = [&](const Options& options) {
    const Loaded loaded(text, options);
    (void)loaded.call({f32({2}, {1, 2}), 2.0});
    return loaded.run({f32({2}, {1, 2}), 3.0});
  };
  EXPECT_EQ(second({}), (Values{3, 6}));
  EXPECT_EQ(second(with_deviation(Deviation::kBakesNumbers)), (Values{2, 4}));
}

TEST(PlanKeys, HoldWhichInputsShareAStorageUnlessAsked) {
  const auto second = [&](const Options& options) {
    const Loaded loaded(programs::kTwoInputs, options);
    (void)loaded.call({f32({2}, {1, 2}), f32({2}, {1, 2})});
    const HostTensor both = f32({2}, {1, 2});
    return loaded.run({both, both});
  };
  EXPECT_EQ(second({}), (Values{4, 6}));
  EXPECT_EQ(second(with_deviation(Deviation::kNoInputOverlapCheck)), (Values{2, 4}));
}

TEST(Inputs, KeepTheirStridesUnlessAsked) {
  HostTensor x = rows(2, 4, 1);
  x.sizes = {2, 2};
  const char* const text = R"(program "strided" {
  input %x : f32[2, 2]
  %y : f32[2, 2] = aten.mul.Tensor(%x, 1.0)
  output %y
})";
  EXPECT_EQ(Loaded(text).run({x}), (Values{1, 2, 5, 6}));
  EXPECT_EQ(Loaded(text, with_deviation(Deviation::kStridesRecomputed)).run({x}),
            (Values{1, 2, 3, 4}));
}

TEST(Inputs, HaveTheStatedDtypeUnlessAsked) {
  const char* const text = R"(program "indices" {
  input %i : i64[2]
  %y : i64[2] = aten.mul.Tensor(%i, 1)
  output %y
})";
  HostTensor narrow = spec::make_host_tensor(spec::DType::kInt32, {2});
  const std::int32_t values[] = {3, 5};
  std::memcpy(narrow.storage->bytes.data(), values, sizeof values);
  EXPECT_EQ(Loaded(text).error({narrow}), "indices: input 'i' has dtype int32, expected int64");
  const Loaded wrong(text, with_deviation(Deviation::kSkipsDtypeCheck));
  const auto result = wrong.call({narrow});
  std::int64_t first = 0;
  std::memcpy(&first, std::get<HostTensor>(result.outputs[0]).storage->bytes.data(), 8);
  EXPECT_EQ(first, 3 + (std::int64_t{5} << 32));
}

TEST(StaticInputs, AreReadWhereTheyLieAndMustNotMove) {
  Options options;
  options.runtime.static_inputs = {"x"};
  const Loaded loaded(R"(program "static" {
  input %a : f32[2]
  input %x : f32[2]
  %y = aten.add.Tensor(%a, %x)
  output %y
})",
                      options);
  const HostTensor x = f32({2}, {10, 20});
  EXPECT_EQ(loaded.run({f32({2}, {1, 2}), x}), (Values{11, 22}));
  const float changed = 30;
  std::memcpy(x.storage->bytes.data(), &changed, sizeof changed);
  EXPECT_EQ(loaded.run({f32({2}, {1, 2}), x}), (Values{31, 22})) << "no copy was made";
  EXPECT_EQ(loaded.error({f32({2}, {1, 2}), f32({2}, {10, 20})}),
            "static: input 1 ('x') is static and has moved");
  const auto& buffer = loaded.plan().buffers[loaded.plan().values[1].buffer->index];
  EXPECT_EQ(loaded.plan().pools[buffer.pool.index].kind, spec::PoolKind::kCaller);
  EXPECT_TRUE(spec::check_plan(loaded.plan()).ok());
}

TEST(StaticInputs, MayBeEmpty) {
  Options options;
  options.runtime.static_inputs = {"0"};
  const Loaded loaded(R"(program "empty" {
  input %x : f32[0]
  %y = aten.add.Tensor(%x, 1.0)
  output %y
  output %x
})",
                      options);
  EXPECT_TRUE(loaded.run({f32({0}, {})}).empty());
}

TEST(StaticInputs, AreRefusedWhereTheyAreWrittenOrDoNotExist) {
  const char* const text = R"(program "written" {
  input %x : f32[2]
  %y = aten.add_.Tensor(%x, 1.0)
  output %y
})";
  Options options;
  options.runtime.static_inputs = {"0"};
  EXPECT_EQ(Loaded(text, options).error({f32({2}, {1, 2})}),
            "input 0 ('x') is static, and the program writes it");
  const spec::Program program = program_of(text);
  for (const char* name : {"z", "1"}) {
    options.runtime.static_inputs = {name};
    const Error loaded = failure_of(make_executor(options)->load(program));
    EXPECT_EQ(loaded.kind, ErrorKind::kBadInput);
    EXPECT_TRUE(contains(loaded.message, "does not exist"));
  }
}

TEST(RuntimeOptions, AreRefusedWhenAProgramIsLoaded) {
  Options options;
  options.runtime.capture_sizes = {8, 4};
  const spec::Program program = program_of(kInPieces);
  EXPECT_EQ(make_executor(options)->load(program).error().kind, ErrorKind::kBadInput);
  options.runtime.capture_sizes = {4};
  options.runtime.padded_symbol = "s7";
  EXPECT_TRUE(
      contains(make_executor(options)->load(program).error().message, "'s7' does not exist"));
}

TEST(WarmUp, LeavesNothingBehindUnlessAsked) {
  const auto first = [](const Options& options) {
    const Loaded loaded(programs::kCounter, options);
    return loaded.run({f32({1}, {1})});
  };
  Options options;
  options.runtime.warm_up_runs = 2;
  EXPECT_EQ(first({}), (Values{11}));
  EXPECT_EQ(first(options), (Values{11}));
  EXPECT_EQ(first(with_deviation(Deviation::kWarmUpMutates, options)), (Values{13}));
  EXPECT_EQ(first(with_deviation(Deviation::kWarmUpMutates)), (Values{12}));
}

TEST(State, TakesOtherContentsAtTheSameAddressOrAtAnother) {
  for (const bool rebind : {false, true}) {
    const Loaded loaded(programs::kCounter);
    ASSERT_TRUE(loaded.session->set_state("w", f32({1}, {20}), rebind).ok()) << "before any call";
    EXPECT_EQ(loaded.run({f32({1}, {1})}), (Values{21}));
    ASSERT_TRUE(loaded.session->set_state("w", f32({1}, {30}), rebind).ok());
    ASSERT_TRUE(loaded.session->set_state("b", f32({1}, {5}), rebind).ok());
    const auto result = loaded.call({f32({1}, {1})});
    EXPECT_EQ(floats(result.outputs[0]), (Values{36}));
    EXPECT_EQ(state_of(result, "w"), (Values{30}));
    EXPECT_EQ(state_of(result, "b"), (Values{6}));
    EXPECT_EQ(loaded.run({f32({1}, {1})}), (Values{37}));
  }
}

TEST(State, IsRecordedAnewOnlyWhenItHasMoved) {
  Options options;
  CompileCounters counters;
  options.compile.counters = &counters;
  const Loaded loaded(programs::kCounter, options);
  (void)loaded.call({f32({1}, {1})});
  ASSERT_TRUE(loaded.session->set_state("w", f32({1}, {20}), false).ok());
  (void)loaded.call({f32({1}, {1})});
  EXPECT_EQ(counters.captures, 0);
  ASSERT_TRUE(loaded.session->set_state("w", f32({1}, {20}), true).ok());
  (void)loaded.call({f32({1}, {1})});
  (void)loaded.call({f32({1}, {1})});
  EXPECT_EQ(counters.captures, 1);
}

TEST(State, IsRefusedInAnotherGeometryOrUnderAnUnknownName) {
  const Loaded loaded(programs::kCounter);
  EXPECT_EQ(loaded.session->set_state("v", f32({1}, {20}), false).error().message,
            "counter: state 'v' does not exist");
  EXPECT_EQ(loaded.session->set_state("w", f32({2}, {20, 1}), true).error().message,
            "counter: state 'w' has dtype float32 and sizes [1], is given float32[2]");
}

// Parameters by one deviation, buffers by the other; each leaves the other kind alone.
TEST(State, IsReadWhereItWasWhenAsked) {
  const auto after = [](const char* target, std::optional<Deviation> deviation) {
    Options options;
    if (deviation) options.compile.deviations.add(*deviation);
    const Loaded loaded(programs::kCounter, options);
    (void)loaded.call({f32({1}, {1})});
    EXPECT_TRUE(loaded.session->set_state(target, f32({1}, {100}), true).ok());
    return loaded.run({f32({1}, {1})});
  };
  EXPECT_EQ(after("w", {}), (Values{102}));
  EXPECT_EQ(after("b", {}), (Values{111}));
  EXPECT_EQ(after("w", Deviation::kStateAddressesUnchecked), (Values{12}));
  EXPECT_EQ(after("b", Deviation::kStateAddressesUnchecked), (Values{111}));
  EXPECT_EQ(after("b", Deviation::kReplaysReboundState), (Values{12}));
  EXPECT_EQ(after("w", Deviation::kReplaysReboundState), (Values{102}));
}

TEST(Outputs, AreAllThereThoughInputsAreWrittenUnlessAsked) {
  const char* const text = R"(program "writes" {
  input %x : f32[2]
  %a = aten.add_.Tensor(%x, 1.0)
  %y = aten.mul.Tensor(%x, 2.0)
  %z = aten.mul.Tensor(%x, 3.0)
  output %y
  output %z
})";
  const Inputs inputs = {f32({2}, {1, 2})};
  EXPECT_EQ(Loaded(text).call(inputs).outputs.size(), 2U);
  const auto wrong = Loaded(text, with_deviation(Deviation::kOutputsOffByMutations)).call(inputs);
  ASSERT_EQ(wrong.outputs.size(), 1U);
  EXPECT_EQ(floats(wrong.outputs[0]), (Values{6, 9}));
}

// An eager op that allocates per call hands its result over to what was captured.
TEST(EagerSteps, WriteWhereCapturedOnesReadUnlessAsked) {
  const auto second = [](const Options& options) {
    const Loaded loaded(kInPieces, options);
    EXPECT_EQ(loaded.run({f32({2}, {1, 2})}), (Values{-6, -12}));
    return loaded.run({f32({2}, {5, 6})});
  };
  const Options options = split_at_neg(GraphMode::kPiecewise);
  EXPECT_EQ(second(options), (Values{-30, -36}));
  EXPECT_NE(second(with_deviation(Deviation::kEagerOutputNotCopied, options)), (Values{-30, -36}));
}

TEST(EagerSteps, AreBoundAnewInEveryCallUnlessAsked) {
  const char* const text = R"(program "metadata" {
  input %x : f32[2]
  input %i : i64[]
  %n : symint = aten.item.default(%i)
  %y : f32[2] = aten.mul.Tensor(%x, %n)
  output %y
})";
  const auto second = [&](const Options& options) {
    const Loaded loaded(text, options);
    EXPECT_EQ(loaded.run({f32({2}, {1, 2}), i64({}, {2})}), (Values{2, 4}));
    return loaded.run({f32({2}, {1, 2}), i64({}, {3})});
  };
  EXPECT_EQ(second({}), (Values{3, 6}));
  EXPECT_EQ(second(with_deviation(Deviation::kPlansOnlyInWarmUp)), (Values{2, 4}));
}

TEST(EagerSteps, FollowStateThatIsBoundAnew) {
  Options options;
  options.runtime.mode = GraphMode::kNone;
  const Loaded loaded(programs::kCounter, options);
  EXPECT_EQ(loaded.run({f32({1}, {1})}), (Values{11}));
  EXPECT_EQ(loaded.run({f32({1}, {1})}), (Values{12}));
  ASSERT_TRUE(loaded.session->set_state("w", f32({1}, {100}), true).ok());
  EXPECT_EQ(loaded.run({f32({1}, {1})}), (Values{103}));
}

// The size of the result is planned, and still depends on what the step reads.
TEST(EagerSteps, AreHeldToWhatTensorsHoldInEveryCall) {
  Options options;
  options.runtime.mode = GraphMode::kNone;
  const Loaded loaded(R"(program "repeats" {
  input %r : i64[2]
  %y : i64[3] = aten.repeat_interleave.Tensor(%r, output_size=3)
  output %y
})",
                      options);
  EXPECT_EQ(loaded.error({i64({2}, {1, 2})}), "");
  EXPECT_EQ(loaded.error({i64({2}, {1, 1})}),
            "repeats: node 'y' (aten.repeat_interleave.Tensor): output_size is 3, the repeats' "
            "sum 2");
}

TEST(Poison, ChangesNoResultOfARightPlan) {
  for (const int byte : {0x00, 0xFF, 0x7F}) {
    Options options = split_at_neg(GraphMode::kPiecewise);
    options.runtime.poison = static_cast<std::byte>(byte);
    const Loaded loaded(kInPieces, options);
    EXPECT_EQ(loaded.run({f32({2}, {1, 2})}), (Values{-6, -12}));
    EXPECT_EQ(loaded.run({f32({2}, {3, 4})}), (Values{-18, -24}));
  }
}

}  // namespace
}  // namespace graphgate::optimized
