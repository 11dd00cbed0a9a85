// What a call means: states, inputs, aliasing and errors. No test here depends on what an op
// computes beyond adding numbers.
#include "reference/program_test.h"
#include "spec/spread_limit.h"

namespace graphgate::reference {
namespace {

using test::elements;
using test::final_input;
using test::floats;
using test::Inputs;
using test::Loaded;
using test::output;
using Floats = std::vector<float>;

constexpr std::string_view kCounter = R"(program "counter" {
  buffer %state "state" : f32[2] = [1.0, 2.0]
  input %x : f32[2]
  %y = aten.add_.Tensor(%state, %x)
  output %y
}
)";

TEST(ReferenceExecutor, CarriesBuffersFromCallToCall) {
  const spec::Program program = test::program(kCounter);
  Loaded loaded(program);
  EXPECT_EQ(elements(output(loaded.call({floats({2}, {10, 10})}), 0)), (Floats{11, 12}));
  const spec::CallResult second = loaded.call({floats({2}, {1, 1})});
  EXPECT_EQ(elements(output(second, 0)), (Floats{12, 13}));
  ASSERT_EQ(second.state_targets, std::vector<std::string>{"state"});
  EXPECT_EQ(elements(second.final_states[0]), (Floats{12, 13}));
  EXPECT_EQ(second.final_states[0].storage, output(second, 0).storage);
}

TEST(ReferenceExecutor, NeverWritesTheBytesOfTheProgramNorOfAnEarlierResult) {
  const spec::Program program = test::program(kCounter);
  Loaded loaded(program);
  const spec::CallResult first = loaded.call({floats({2}, {1, 1})});
  (void)loaded.call({floats({2}, {1, 1})});
  EXPECT_EQ(elements(output(first, 0)), (Floats{2, 3}));
  EXPECT_EQ(elements(program.tensors.at("state")), (Floats{1, 2}));
}

TEST(ReferenceExecutor, StatesOfTwoLoadsAreApart) {
  const spec::Program program = test::program(kCounter);
  Loaded a(program);
  Loaded b(program);
  (void)a.call({floats({2}, {5, 5})});
  EXPECT_EQ(elements(output(b.call({floats({2}, {0, 0})}), 0)), (Floats{1, 2}));
}

TEST(ReferenceExecutor, ReportsMutationOfAnInputWithoutTouchingTheCallersBytes) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2]
  input %z : f32[2]
  %v = aten.slice.Tensor(%x, 0, 1, 2)
  %y = aten.add_.Tensor(%v, 5)
  output %y
}
)");
  Loaded loaded(program);
  const spec::HostTensor x = floats({2}, {1, 2});
  const spec::CallResult result = loaded.call({x, floats({2}, {3, 4})});
  EXPECT_EQ(elements(x), (Floats{1, 2}));
  EXPECT_EQ(elements(final_input(result, 0)), (Floats{1, 7}));
  EXPECT_EQ(elements(final_input(result, 1)), (Floats{3, 4}));
  EXPECT_EQ(output(result, 0).storage, final_input(result, 0).storage);
  EXPECT_EQ(output(result, 0).storage_offset, 1);
}

TEST(ReferenceExecutor, InputsThatShareAStorageAlias) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2]
  input %y : f32[2]
  %a = aten.add_.Tensor(%x, 1)
  %b = aten.add.Tensor(%y, 0)
  output %b
}
)");
  Loaded loaded(program);
  const spec::HostTensor x = floats({2}, {1, 2});
  EXPECT_EQ(elements(output(loaded.call({x, x}), 0)), (Floats{2, 3}));
}

TEST(ReferenceExecutor, AUserOutputThatIsAMutationsValueIsTheInputItself) {
  const spec::Program program = test::program(R"(program "p" {
  buffer %state "state" : f32[2] = [1.0, 2.0]
  input %x : f32[2]
  %s = aten.add.Tensor(%state, %x)
  %y = aten.add.Tensor(%x, 1)
  mutation buffer "state" %s
  mutation input "x" %y
  output %y
  output %s
}
)");
  Loaded loaded(program);
  const spec::HostTensor x = floats({2}, {1, 2});
  const spec::CallResult result = loaded.call({x});
  ASSERT_EQ(result.outputs.size(), 2U);
  EXPECT_EQ(elements(final_input(result, 0)), (Floats{2, 3}));
  EXPECT_EQ(elements(x), (Floats{1, 2}));
  EXPECT_EQ(output(result, 0).storage, final_input(result, 0).storage);
  EXPECT_EQ(output(result, 1).storage, result.final_states[0].storage);
  EXPECT_EQ(elements(output(loaded.call({x}), 1)), (Floats{3, 6}));
}

TEST(ReferenceExecutor, WeightsThatShareAStorageStayShared) {
  spec::Program program = test::program(R"(program "p" {
  parameter %a "a" : f32[2] = [1.0, 2.0]
  parameter %b "b" : f32[2] = [0.0, 0.0]
  input %x : f32[2]
  %y = aten.add_.Tensor(%a, %x)
  output %b
}
)");
  program.tensors["b"] = program.tensors["a"];
  Loaded loaded(program);
  const spec::CallResult result = loaded.call({floats({2}, {1, 1})});
  EXPECT_EQ(elements(output(result, 0)), (Floats{2, 3}));
  EXPECT_EQ(result.final_states[0].storage, result.final_states[1].storage);
}

TEST(ReferenceExecutor, ResultsThatAliasInTheProgramAliasInTheResult) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2, 3]
  %y = aten.add.Tensor(%x, 1)
  %t = aten.t.default(%y)
  output %y
  output %t
  output %x
  output None
  output 4
}
)");
  Loaded loaded(program);
  const spec::CallResult result = loaded.call({floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(output(result, 0).storage, output(result, 1).storage);
  EXPECT_EQ(elements(output(result, 1)), (Floats{2, 5, 3, 6, 4, 7}));
  EXPECT_EQ(output(result, 2).storage, final_input(result, 0).storage);
  EXPECT_TRUE(std::holds_alternative<spec::None>(result.outputs[3]));
  EXPECT_EQ(std::get<std::int64_t>(result.outputs[4]), 4);
}

constexpr std::string_view kRanged = R"(program "ranged" {
  symbol s0 in [2, 8]
  input %x : f32[s0, 2]
  input %y : f32[s0]
  %z = aten.sum.default(%x)
  output %z
}
)";

TEST(ReferenceExecutor, RefusesInputsThatAreNotWhatTheProgramTakes) {
  const spec::Program program = test::program(kRanged);
  Loaded loaded(program);
  const auto x = [](std::int64_t n) {
    return floats({n, 2}, Floats(static_cast<std::size_t>(n) * 2, 1));
  };
  const auto y = [](std::int64_t n) { return floats({n}, Floats(static_cast<std::size_t>(n), 1)); };
  const auto message = [&](const Inputs& inputs) {
    const Error error = loaded.failure(inputs);
    EXPECT_EQ(error.kind, ErrorKind::kBadInput);
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
    return error.message;
  };
  EXPECT_EQ(message({x(3)}), "ranged: 1 inputs given, expected 2");
  EXPECT_TRUE(contains(message({x(9), y(9)}), "size s0 is 9, outside its range [2, 8]"));
  EXPECT_TRUE(contains(message({x(3), y(4)}), "'y': dimension 0 is 4, expected 3"));
  EXPECT_TRUE(contains(message({floats({3, 1}, {1, 1, 1}), y(3)}), "dimension 1 is 1, expected 2"));
  EXPECT_TRUE(contains(message({y(3), y(3)}), "rank is 1, expected 2"));
  EXPECT_TRUE(contains(message({spec::make_host_tensor(spec::DType::kInt64, {3, 2}), y(3)}),
                       "dtype is int64, expected float32"));
  EXPECT_TRUE(contains(message({x(3), std::int64_t{3}}), "a number"));
  spec::HostTensor beyond = x(3);
  beyond.storage_offset = 1;
  EXPECT_TRUE(contains(message({beyond, y(3)}), "does not fit its storage"));
}

TEST(ReferenceExecutor, AcceptsSizesZeroAndOneOnlyWhereAsked) {
  const spec::Program program = test::program(kRanged);
  const Inputs one = {floats({1, 2}, {1, 2}), floats({1}, {0})};
  EXPECT_EQ(Loaded(program).failure(one).kind, ErrorKind::kBadInput);
  Options options;
  options.allow_zero_and_one = true;
  EXPECT_EQ(elements(output(Loaded(program, options).call(one), 0)), Floats{3});
}

TEST(ReferenceExecutor, AFailedCallLeavesTheStateUsableAndNamesItsNode) {
  const spec::Program program = test::program(R"(program "p" {
  buffer %state "state" : f32[2] = [1.0, 2.0]
  input %x : f32[2]
  input %n : symint
  %v = aten.select.int(%x, 0, %n)
  %y = aten.add_.Tensor(%state, %v)
  output %y
}
)");
  Loaded loaded(program);
  const Error error = loaded.failure({floats({2}, {1, 1}), std::int64_t{5}});
  EXPECT_EQ(error.kind, ErrorKind::kBadInput);
  EXPECT_TRUE(contains(error.message, "aten.select.int"));
  const auto result = loaded.call({floats({2}, {1, 1}), std::int64_t{1}});
  EXPECT_EQ(elements(output(result, 0)), (Floats{2, 3}));
}

TEST(ReferenceExecutor, RefusesAProgramWithAnOpItHasNoBodyFor) {
  spec::Program program = test::program(kCounter);
  program.graph.nodes[0].op = "aten.no_such_op.default";
  const auto executor = make_executor({});
  EXPECT_FALSE(executor->load(program).ok());
}

TEST(ReferenceExecutor, OracleRunsTellTheRadiusOfEveryElement) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2]
  %y = aten.add.Tensor(%x, 1)
  output %y
}
)");
  Options options;
  options.mode = Mode::kWorstCase;
  Loaded loaded(program, options);
  const spec::CallResult result = loaded.call({floats({2}, {2, 0x1p-30F})});
  ASSERT_EQ(result.output_spreads.size(), 1U);
  EXPECT_EQ(result.output_spreads[0].radii[0], 0);
  EXPECT_GT(result.output_spreads[0].radii[1], 0);
  EXPECT_LE(result.output_spreads[0].radii[1], 0x1p-23);
  EXPECT_EQ(result.output_spreads[0].values[1], 1.0L + 0x1p-30L);
}

TEST(ReferenceExecutor, OracleRunsTellTheRadiusOfAFloatThatIsAnOutput) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[]
  %y = aten.add.Tensor(%x, 1)
  %rounded : symfloat = aten._local_scalar_dense.default(%y)
  %exact : symfloat = aten._local_scalar_dense.default(%x)
  output %rounded
  output %exact
}
)");
  Options options;
  options.mode = Mode::kWorstCase;
  const spec::CallResult result = Loaded(program, options).call({floats({}, {0x1p-30F})});
  ASSERT_EQ(result.output_spreads.size(), 2U);
  EXPECT_EQ(result.output_spreads[0].values[0], 1.0L + 0x1p-30L);
  EXPECT_GT(result.output_spreads[0].radii[0], 0);
  EXPECT_LE(result.output_spreads[0].radii[0], 0x1p-23);
  EXPECT_EQ(std::get<double>(result.outputs[1]), 0x1p-30);
  EXPECT_LE(result.output_spreads[1].radii[0], 0x1p-82);
}

// The new contents of a mutated input are copied: they broadcast to it, or are refused. Sizes that
// are not stated show in the call only.
TEST(ReferenceExecutor, CopiesNewContentsThatBroadcastAndRefusesOthers) {
  const auto with = [](const std::string& contents) {
    return test::program("program \"p\" {\n  input %x : f32[2, 3]\n  %y = " + contents +
                         "\n  mutation input \"x\" %y\n  output %y\n}\n");
  };
  const spec::HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const spec::Program row = with("aten.select.int(%x, 0, 1)");
  EXPECT_EQ(Loaded(row).failure({x}).kind, ErrorKind::kUnsupported);  // a view of what is written
  const spec::Program copied = with("aten.sum.dim_IntList(%x, [0])");
  Loaded loaded(copied);
  const spec::CallResult result = loaded.call({x});
  EXPECT_EQ(elements(final_input(result, 0)), (Floats{5, 7, 9, 5, 7, 9}));
  EXPECT_EQ(output(result, 0).sizes, (std::vector<std::int64_t>{2, 3}));
  for (const char* contents :
       {"aten.arange.start_step(0, 0, dtype=f32)", "aten.arange.start_step(0, 6, dtype=f32)",
        "aten.arange.start_step(0, 2, dtype=f32)", "aten.full.default([3, 2], 1.0, dtype=f32)",
        "aten.full.default([1, 2, 3], 1.0, dtype=f32)"}) {
    const spec::Program other = with(contents);
    const Error error = Loaded(other).failure({x});
    EXPECT_EQ(error.kind, ErrorKind::kBadInput) << contents;
    EXPECT_TRUE(contains(error.message, "the new contents of 'x' have sizes ["));
  }
}

TEST(ReferenceExecutor, RefusesNewContentsOfABufferThatDoNotFit) {
  const spec::Program program = test::program(R"(program "p" {
  buffer %state "state" : f32[4] = [1.0, 2.0, 3.0, 4.0]
  input %x : f32[3]
  %y = aten.neg.default(%x)
  mutation buffer "state" %y
  output %y
}
)");
  Loaded loaded(program);
  EXPECT_EQ(loaded.failure({floats({3}, {1, 2, 3})}).message,
            "p: the new contents of 'state' have sizes [3], which do not broadcast to its sizes "
            "[4]");
}

// PyTorch resizes an out= tensor in its storage: who else looks at that sees the new bytes.
TEST(ReferenceExecutor, ResizesAnOutTensorInItsOwnStorage) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[6]
  input %z : f32[2]
  %v = aten.slice.Tensor(%x, 0, 1, 5)
  %y = aten.neg.out(%z, out=%v)
  output %y
}
)");
  Loaded loaded(program);
  const spec::CallResult result =
      loaded.call({floats({6}, {0, 1, 2, 3, 4, 5}), floats({2}, {7, 8})});
  EXPECT_EQ(elements(output(result, 0)), (Floats{-7, -8}));
  EXPECT_EQ(output(result, 0).storage_offset, 1);
  EXPECT_EQ(output(result, 0).storage, final_input(result, 0).storage);
  EXPECT_EQ(elements(final_input(result, 0)), (Floats{0, -7, -8, 3, 4, 5}));
}

TEST(ReferenceExecutor, GrowsTheStorageOfAnOutTensor) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2]
  input %z : f32[4]
  %v = aten.slice.Tensor(%x, 0, 1, 2)
  %y = aten.neg.out(%z, out=%v)
  output %y
}
)");
  for (const Mode mode : {Mode::kEager, Mode::kWorstCase, Mode::kProvenance}) {
    Options options;
    options.mode = mode;
    Loaded loaded(program, options);
    const spec::CallResult result = loaded.call({floats({2}, {0, 1}), floats({4}, {5, 6, 7, 8})});
    EXPECT_EQ(elements(output(result, 0)), (Floats{-5, -6, -7, -8}));
    EXPECT_EQ(elements(final_input(result, 0)), (Floats{0, -5}));
    EXPECT_EQ(output(result, 0).storage, final_input(result, 0).storage);
  }
}

TEST(ReferenceExecutor, LeavesOpenAnOutTensorThatIsResizedOverAnOperand) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[6]
  %v = aten.slice.Tensor(%x, 0, 0, 1)
  %w = aten.slice.Tensor(%x, 0, 2, 6)
  %y = aten.neg.out(%w, out=%v)
  output %y
}
)");
  EXPECT_EQ(Loaded(program).failure({floats({6}, {0, 1, 2, 3, 4, 5})}).kind,
            ErrorKind::kUnsupported);
}

// Which strides a resized tensor has depends on the kernel: neg.out has those of its operand,
// relu.out is row-major.
TEST(ReferenceExecutor, LeavesOpenTheStridesOfAResizedOutTensor) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2, 3]
  input %o : f32[0]
  %t = aten.t.default(%x)
  %y = aten.neg.out(%t, out=%o)
  output %y
}
)");
  const Inputs inputs = {floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({0}, {})};
  EXPECT_EQ(Loaded(program).failure(inputs).kind, ErrorKind::kUnsupported);
}

TEST(ReferenceExecutor, HasNoOpinionOfOpsThatTheTableLacks) {
  spec::Program program = test::program(kCounter);
  program.graph.nodes[0].op = "mine.op.default";
  EXPECT_EQ(failure_of(make_executor({})->load(program)).kind, ErrorKind::kUnsupported);
}

// Only the elements of an input are known: what a view reads around them is open, until something
// is written there.
TEST(ReferenceExecutor, LeavesOpenWhatLiesAroundTheElementsOfAnInput) {
  const spec::Program program = test::program(R"(program "part" {
  input %x : f32[2, 2]{3, 1}@1
  %v = aten.as_strided.default(%x, [6], [1], 0)
  %a = aten.add.Tensor(%v, 1.0)
  %first = aten.slice.Tensor(%v, 0, 0, 1)
  %w = aten.fill_.Scalar(%first, 7.0)
  %b = aten.add.Tensor(%v, 1.0)
  output %a
  output %b
}
)");
  spec::HostTensor x = floats({6}, {0, 1, 2, 0, 4, 5});
  x.sizes = {2, 2};
  x.strides = {3, 1};
  x.storage_offset = 1;
  for (const Mode mode : {Mode::kWorstCase, Mode::kSampled}) {
    Options options;
    options.mode = mode;
    options.open_gaps = {0};
    const spec::CallResult result = Loaded(program, options).call({x});
    const auto open_at = [&](std::size_t output) {
      std::vector<int> places;
      const std::vector<double>& radii = result.output_spreads.at(output).radii;
      for (std::size_t i = 0; i < radii.size(); ++i) {
        if (std::isinf(radii[i])) places.push_back(static_cast<int>(i));
      }
      return places;
    };
    EXPECT_EQ(open_at(0), (std::vector<int>{0, 3}));
    EXPECT_EQ(open_at(1), (std::vector<int>{3}));
    EXPECT_EQ(result.final_input_spreads.at(0).radii, (std::vector<double>{0, 0, 0, 0}));
    EXPECT_EQ(elements(output(result, 1)), (Floats{8, 2, 3, 1, 5, 6}));
  }
}

// Of a large input that nobody wrote an oracle says nothing: each element is its bytes.
TEST(ReferenceExecutor, LeavesOutWhatItKnowsOfLargeInputsThatNobodyWrote) {
  const std::string rows = std::to_string(spec::kMostSpreadElements / 2 + 1);
  const spec::Program program = test::program("program \"large\" {\n  input %x : i8[" + rows +
                                              ", 2]\n  input %y : i8[" + rows + R"(, 2]
  %first = aten.slice.Tensor(%y, 0, 0, 1)
  %w = aten.fill_.Scalar(%first, 7)
  %a = aten.amax.default(%x, [0, 1])
  output %a
}
)");
  const spec::HostTensor large =
      spec::make_host_tensor(spec::DType::kInt8, {spec::kMostSpreadElements / 2 + 1, 2});
  for (const Mode mode : {Mode::kWorstCase, Mode::kSampled}) {
    Options options;
    options.mode = mode;
    spec::HostTensor written = large;
    written.storage = std::make_shared<spec::HostStorage>(*large.storage);
    const spec::CallResult result = Loaded(program, options).call({large, written});
    EXPECT_TRUE(result.final_input_spreads.at(0).values.empty());
    const std::vector<long double>& of_written = result.final_input_spreads.at(1).values;
    ASSERT_EQ(std::ssize(of_written), spec::kMostSpreadElements + 2);
    EXPECT_EQ(of_written.front(), 7);
    EXPECT_EQ(of_written.back(), 0);
  }
}

}  // namespace
}  // namespace graphgate::reference
