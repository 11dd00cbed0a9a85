// Calls in the plan of a larger size: where nothing may depend on the rows behind the last one.
#include <cmath>

#include "optimized/runtime/session_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::HostTensor;
using Values = std::vector<float>;

constexpr const char* kRows = R"(program "rows" {
  symbol s0 in [1, 64]
  input %x : f32[s0, 4]
  input %w : f32[4, 3]
  %h : f32[s0, 3] = aten.mm.default(%x, %w)
  %n : f32[s0, 3] = aten._softmax.default(%h, 1, False)
  %t : f32[3, s0]{1, 3} = aten.transpose.int(%n, 0, 1)
  %s : f32[s0] = aten.sum.dim_IntList(%n, [1])
  %a : f32[s0, 4] = aten.mul_.Tensor(%x, 2.0)
  output %t
  output %s
  output %x
})";

Options padded(std::vector<std::int64_t> sizes, PadFill fill = PadFill::kKeep) {
  Options options;
  options.runtime.capture_sizes = std::move(sizes);
  options.runtime.pad_fill = fill;
  return options;
}

void expect_same(const HostTensor& a, const HostTensor& b) {
  EXPECT_EQ(a.sizes, b.sizes);
  EXPECT_EQ(a.strides, b.strides);
  EXPECT_EQ(a.storage_offset, b.storage_offset);
  EXPECT_EQ(spec::packed_bytes(a), spec::packed_bytes(b));
}

void expect_same(const spec::CallResult& a, const spec::CallResult& b) {
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    expect_same(std::get<HostTensor>(a.outputs[i]), std::get<HostTensor>(b.outputs[i]));
  }
  ASSERT_EQ(a.final_inputs.size(), b.final_inputs.size());
  for (std::size_t i = 0; i < a.final_inputs.size(); ++i) {
    expect_same(std::get<HostTensor>(a.final_inputs[i]), std::get<HostTensor>(b.final_inputs[i]));
  }
}

TEST(PaddedCalls, HaveTheBitsAndTheGeometryOfExactOnesWhateverThePadHolds) {
  const Loaded exact(kRows);
  for (const PadFill fill : {PadFill::kKeep, PadFill::kNan, PadFill::kHuge}) {
    const Loaded loaded(kRows, padded({2, 4, 8}, fill));
    for (const std::int64_t n : {3, 8, 5, 1, 2, 7}) {
      const Inputs inputs = {rows(n, 4, 1), rows(4, 3, -6)};
      expect_same(loaded.call(inputs), exact.call(inputs));
      ASSERT_TRUE(loaded.plan().padding);
      EXPECT_EQ(loaded.plan().symbols.at("s0"), n <= 2 ? 2 : n <= 4 ? 4 : 8);
    }
  }
}

// What has rows may be a view of what has none.
TEST(PaddedCalls, ShareStoragesAsExactOnesDo) {
  const char* const text = R"(program "shared" {
    symbol s0 in [1, 64]
    buffer %b "b" : f32[3, 1] = [1.0, 2.0, 3.0]
    buffer %c "c" : f32[3, 1] = [4.0, 5.0, 6.0]
    input %x : f32[s0, 4]
    input %w : f32[3, 1]
    %n : symint(s0) = aten.sym_size.int(%x, 0)
    %a : f32[3, 1] = aten.add_.Tensor(%c, %w)
    %m : f32[3, 1] = aten.neg.default(%w)
    %eb : f32[3, s0]{1, 0} = aten.expand.default(%b, [3, %n])
    %ec : f32[3, s0]{1, 0} = aten.expand.default(%c, [3, %n])
    %ew : f32[3, s0]{1, 0} = aten.expand.default(%w, [3, %n])
    %em : f32[3, s0]{1, 0} = aten.expand.default(%m, [3, %n])
    %y : f32[s0, 4] = aten.neg.default(%x)
    %t : f32[4, s0]{1, 4} = aten.transpose.int(%y, 0, 1)
    output %eb
    output %ec
    output %ew
    output %em
    output %m
    output %y
    output %t
  })";
  const auto storage = [](const auto& value) { return std::get<HostTensor>(value).storage; };
  const Loaded exact(text);
  const Loaded loaded(text, padded({4}));
  for (const std::int64_t n : {3, 4}) {
    const Inputs inputs = {rows(n, 4, 1), rows(3, 1, 7)};
    const auto result = loaded.call(inputs);
    ASSERT_TRUE(loaded.plan().padding);
    expect_same(result, exact.call(inputs));
    EXPECT_EQ(storage(result.outputs[0]), result.final_states[0].storage);
    EXPECT_EQ(storage(result.outputs[1]), result.final_states[1].storage);
    EXPECT_EQ(storage(result.outputs[2]), storage(result.final_inputs[1]));
    EXPECT_EQ(storage(result.outputs[3]), storage(result.outputs[4]));
    EXPECT_EQ(storage(result.outputs[5]), storage(result.outputs[6]));
    EXPECT_NE(storage(result.outputs[3]), storage(result.outputs[5]));
  }
}

// A call that could run at its own size would hide that its padded plan is broken.
TEST(PaddedCalls, DoNotHideABrokenPlan) {
  Options options = padded({4, 8});
  options.alter_plan = [](spec::Plan& plan) {
    if (plan.padding) plan.padding->symbol = "nobody";
  };
  const Loaded loaded(kRows, options);
  const Error result = failure_of(loaded.session->call(Inputs{rows(3, 4, 1), rows(4, 3, -6)}));
  EXPECT_EQ(result.kind, ErrorKind::kInternal);
  EXPECT_TRUE(contains(result.message, "no symbol 'nobody'"));
}

TEST(PaddedCalls, ShareOnePlanPerCaptureSize) {
  Options options = padded({4, 8});
  CompileCounters counters;
  options.compile.counters = &counters;
  const Loaded loaded(kRows, options);
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 3}) {
    (void)loaded.call({rows(n, 4, 0), rows(4, 3, 0)});
  }
  EXPECT_EQ(counters.plans_compiled, 2);
  EXPECT_EQ(counters.captures, 0) << "recorded when the plans are made";
}

TEST(PaddedCalls, RunEagerlyAtTheirOwnSizeAboveTheLargest) {
  const Loaded loaded(kRows, padded({2, 4}));
  (void)loaded.call({rows(5, 4, 0), rows(4, 3, 0)});
  EXPECT_FALSE(loaded.plan().padding);
  EXPECT_EQ(loaded.plan().symbols.at("s0"), 5);
  for (const auto& partition : loaded.plan().blocks.front().partitions) {
    EXPECT_FALSE(partition.captured);
  }
}

TEST(PaddedCalls, HavePlansThatAreWellFormed) {
  const Loaded loaded(kRows, padded({4}));
  (void)loaded.call({rows(3, 4, 0), rows(4, 3, 0)});
  must(spec::check_plan(loaded.plan()));
  EXPECT_EQ(loaded.plan().key.at("mode"), "piecewise");
  const std::string text =
      spec::print_plan(spec::number_plan(loaded.plan()), spec::builtin_op_table());
  const auto parsed = must(spec::parse_plan(text, spec::builtin_op_table()));
  EXPECT_EQ(parsed.padding, loaded.plan().padding);
}

// A table that is as long as the true size allows, and no longer.
TEST(PaddedCalls, RunAtTheirOwnSizeWhereTheLargerOneCannotBeCompiled) {
  const Loaded loaded(R"(program "table" {
  symbol s0 in [1, 6]
  input %x : f32[s0, 2]
  input %p : f32[6, 2]
  %n : symint = aten.sym_size.int(%x, 0)
  %t : f32[s0, 2] = aten.slice.Tensor(%p, 0, 0, %n)
  %y : f32[s0, 2] = aten.add.Tensor(%x, %t)
  output %y
})",
                      padded({4, 8}));
  EXPECT_EQ(loaded.run({rows(1, 2, 1), rows(6, 2, 10)}), (Values{11, 13}));
  EXPECT_EQ(loaded.plan().symbols.at("s0"), 4);
  EXPECT_EQ(loaded.run({rows(5, 2, 1), rows(6, 2, 10)}).size(), 10U);
  EXPECT_EQ(loaded.plan().symbols.at("s0"), 5);
  EXPECT_FALSE(loaded.plan().padding);
}

TEST(PaddedCalls, RunAtTheirOwnSizeWhereOnlyTheCallKnowsTheSizesOfAnOutput) {
  const Loaded loaded(R"(program "chosen" {
  symbol s0 in [1, 6]
  symbol u0 in [0, 2]
  input %x : f32[s0, 1]
  input %w : f32[2]
  input %m : bool[2]
  %c : f32[u0] = aten.masked_select.default(%w, %m)
  %y : f32[s0, u0] = aten.add.Tensor(%x, %c)
  output %y
})",
                      padded({4}));
  EXPECT_EQ(loaded.run({rows(3, 1, 1), f32({2}, {10, 20}), bools({2}, {0, 1})}),
            (Values{21, 22, 23}));
  EXPECT_EQ(loaded.plan().symbols.at("s0"), 3);
  EXPECT_FALSE(loaded.plan().padding);
}

TEST(PaddedCalls, TakeInputsOfAnyStridesAndPadWhereTheSymbolIsNotInFront) {
  const char* const text = R"(program "inner" {
  symbol s0 in [1, 64]
  input %x : f32[2, s0, 3]
  %y : f32[2, s0, 3] = aten.neg.default(%x)
  output %y
})";
  HostTensor x = f32({2, 3, 3}, Values(18, 0));
  for (int i = 0; i < 18; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(x.storage->bytes.data() + 4 * i, &value, 4);
  }
  HostTensor transposed = x;
  transposed.sizes = {2, 2, 3};
  transposed.strides = {9, 3, 1};
  HostTensor swapped = x;
  swapped.sizes = {2, 3, 3};
  swapped.strides = {1, 2, 6};
  for (const HostTensor& input : {x, transposed, swapped}) {
    const Loaded exact(text);
    const Loaded loaded(text, padded({4}, PadFill::kNan));
    expect_same(loaded.call({input}), exact.call({input}));
    EXPECT_TRUE(loaded.plan().padding);
  }
}

TEST(PaddedCalls, AreExactWhereAnOpReducesOverTheRowsUnlessAsked) {
  const Loaded loaded(programs::kRowSum, padded({4}));
  EXPECT_EQ(loaded.run({rows(4, 2, 1)}), (Values{16, 20}));
  EXPECT_EQ(loaded.run({rows(2, 2, 1)}), (Values{4, 6}));
  EXPECT_FALSE(loaded.plan().padding);
  const Loaded wrong(programs::kRowSum,
                     with_deviation(Deviation::kPadsThroughReductions, padded({4})));
  EXPECT_EQ(wrong.run({rows(4, 2, 1)}), (Values{16, 20}));
  EXPECT_EQ(wrong.run({rows(2, 2, 1)}), (Values{16, 20})) << "rows 2 and 3 are the call's before";
}

TEST(PaddedCalls, AreExactWhereRowsAreScatteredUnlessAsked) {
  const Inputs inputs = {f32({3}, {9, 9, 9}), f32({2}, {1, 2}), i64({2}, {1, 2})};
  const Loaded loaded(programs::kScatter, [] {
    Options options = padded({4});
    options.runtime.padded_symbol = "s0";
    return options;
  }());
  EXPECT_EQ(loaded.run(inputs), (Values{9, 1, 2}));
  const Loaded wrong(programs::kScatter,
                     with_deviation(Deviation::kPadsThroughScatters, padded({4})));
  EXPECT_EQ(wrong.run(inputs), (Values{0, 1, 2})) << "a cleared index is an index";
}

TEST(PaddedCalls, AreExactWhereStateHasRowsUnlessAsked) {
  const char* const text = R"(program "cache" {
  symbol s0 in [1, 4]
  buffer %b "b" : f32[4] = [0.0, 0.0, 0.0, 0.0]
  input %x : f32[s0]
  %n : symint = aten.sym_size.int(%x, 0)
  %v : f32[s0] = aten.slice.Tensor(%b, 0, 0, %n)
  %a : f32[s0] = aten.add_.Tensor(%v, 1.0)
  %y : f32[s0] = aten.mul.Tensor(%x, 1.0)
  output %y
})";
  const Inputs inputs = {f32({2}, {5, 6})};
  const Loaded loaded(text, padded({4}));
  EXPECT_EQ(state_of(loaded.call(inputs), "b"), (Values{1, 1, 0, 0}));
  const Loaded wrong(text, with_deviation(Deviation::kPadsThroughState, padded({4})));
  EXPECT_EQ(state_of(wrong.call(inputs), "b"), (Values{1, 1, 1, 1}));
}

// Two plans of one pool share their input slots; what one leaves behind is no index of the other.
TEST(PaddedCalls, ClearIndicesBehindTheTrueSizeUnlessAsked) {
  Options options = padded({4});
  options.runtime.share_pools = true;
  const Inputs large = {i64({4}, {9, 8, 7, 6}), rows(10, 2, 0)};
  const Inputs small = {i64({2}, {1, 0}), rows(2, 2, 0)};
  const Loaded loaded(programs::kLookup, options);
  EXPECT_EQ(loaded.run(large), (Values{18, 19, 16, 17, 14, 15, 12, 13}));
  EXPECT_EQ(loaded.run(small), (Values{2, 3, 0, 1}));
  const Loaded wrong(programs::kLookup, with_deviation(Deviation::kKeepsStaleTail, options));
  EXPECT_EQ(wrong.run(large), (Values{18, 19, 16, 17, 14, 15, 12, 13}));
  EXPECT_TRUE(contains(wrong.error(small), "embedding"));
}

TEST(PaddedCalls, AreCompiledForTheirSizeAndNotForTheEndOfTheirRangeUnlessAsked) {
  Options options;
  options.runtime.compile_ranges = {{1, 5}, {5, 9}};
  const Loaded loaded(kRows, options);
  const Inputs inputs = {rows(6, 4, 0), rows(4, 3, 0)};
  EXPECT_EQ(loaded.run(inputs, 1).size(), 6U);
  EXPECT_EQ(loaded.plan().key.at("range"), "5..8");
  const Loaded wrong(kRows, with_deviation(Deviation::kRangeSpecializedToEnd, options));
  EXPECT_EQ(wrong.run(inputs, 1).size(), 8U);
}

// A program without symbols has no size to dispatch by.
TEST(Dispatching, DoesNotTakeAnyDimensionForTheSymbolUnlessAsked) {
  const char* const text = R"(program "static" {
  input %x : f32[8, 2]
  %y : f32[8, 2] = aten.relu.default(%x)
  output %y
})";
  const auto captured = [&](const Options& options) {
    const Loaded loaded(text, options);
    (void)loaded.call({rows(8, 2, 0)});
    return loaded.plan().blocks.front().partitions.front().captured;
  };
  EXPECT_TRUE(captured(padded({4})));
  EXPECT_FALSE(captured(with_deviation(Deviation::kAssumesASymbolIndex, padded({4}))));
}

}  // namespace
}  // namespace graphgate::optimized
