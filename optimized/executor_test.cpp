// The optimized executor from outside: calls, state, sizes that change, and what only a call can
// tell.
#include <algorithm>

#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

using spec::HostTensor;

std::vector<float> state(const spec::CallResult& result, const std::string& target) {
  for (std::size_t i = 0; i < result.state_targets.size(); ++i) {
    if (result.state_targets[i] == target) return floats(result.final_states[i]);
  }
  ADD_FAILURE() << "no state '" << target << "'";
  return {};
}

TEST(OptimizedExecutor, CarriesBuffersFromCallToCallAtAnySize) {
  const spec::Program program = program_of(R"(program "count" {
  symbol s0 in [1, 8]
  buffer %b "b" : f32[1] = [0.0]
  input %x : f32[s0]
  %s = aten.sum.default(%x)
  %t = aten.add_.Tensor(%b, %s)
  %y = aten.mul.Tensor(%x, %b)
  output %y
})");
  const auto results =
      run_calls(program, {{f32({2}, {1, 2})}, {f32({3}, {1, 1, 1})}, {f32({2}, {5, 0})}});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(floats(results[0].outputs[0]), (std::vector<float>{3, 6}));
  EXPECT_EQ(floats(results[1].outputs[0]), (std::vector<float>{6, 6, 6}));
  EXPECT_EQ(floats(results[2].outputs[0]), (std::vector<float>{55, 0}));
  EXPECT_EQ(state(results[2], "b"), (std::vector<float>{11}));
  EXPECT_EQ(floats(program.tensors.at("b")), (std::vector<float>{0})) << "the program's own bytes";
}

TEST(OptimizedExecutor, WritesNoInputOfTheCallerAndShowsTheMutation) {
  const spec::Program program = program_of(R"(program "mutate" {
  input %x : f32[4]
  %v = aten.slice.Tensor(%x, 0, 1, 3)
  %w = aten.mul_.Tensor(%v, 10.0)
  output %w
})");
  const HostTensor x = f32({4}, {1, 2, 3, 4});
  const auto results = run_calls(program, {{x}, {x}});
  ASSERT_EQ(results.size(), 2U);
  for (const spec::CallResult& result : results) {
    EXPECT_EQ(floats(std::get<HostTensor>(result.final_inputs[0])),
              (std::vector<float>{1, 20, 30, 4}));
    const auto& view = std::get<HostTensor>(result.outputs[0]);
    EXPECT_EQ(view.storage, std::get<HostTensor>(result.final_inputs[0]).storage);
    EXPECT_EQ(view.storage_offset, 1);
  }
  EXPECT_EQ(floats(x), (std::vector<float>{1, 2, 3, 4}));
}

TEST(OptimizedExecutor, LeavesAnInputWithTheGeometryThatAnInPlaceViewGaveIt) {
  const auto results = run_calls(program_of(R"(program "reshape" {
  input %x : f32[2, 3]
  %t = aten.transpose_.default(%x, 0, 1)
  %y = aten.add.Tensor(%x, 1.0)
  output %y
})"),
                                 {{f32({2, 3}, {1, 2, 3, 4, 5, 6})}});
  ASSERT_EQ(results.size(), 1U);
  const auto& x = std::get<HostTensor>(results[0].final_inputs[0]);
  EXPECT_EQ(x.sizes, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(floats(results[0].outputs[0]), (std::vector<float>{2, 5, 3, 6, 4, 7}));
}

// Two inputs over one storage: a write through one is seen through the other.
TEST(OptimizedExecutor, KeepsInputsThatShareAStorageTogether) {
  const spec::Program program = program_of(programs::kTwoInputs);
  const HostTensor whole = f32({3}, {1, 2, 3});
  HostTensor a = whole;
  HostTensor b = whole;
  a.sizes = b.sizes = {2};
  b.storage_offset = 1;
  const auto results = run_calls(program, {{a, b}, {f32({2}, {1, 2}), f32({2}, {2, 3})}, {a, b}});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(floats(results[0].outputs[0]), (std::vector<float>{6, 6}));
  EXPECT_EQ(floats(results[1].outputs[0]), (std::vector<float>{4, 6}));
  EXPECT_EQ(floats(results[2].outputs[0]), (std::vector<float>{6, 6}));
}

constexpr const char* kNonzero = R"(program "nonzero" {
  input %x : f32[6]
  %m = aten.gt.Scalar(%x, 0)
  %i = aten.nonzero.default(%m)
  %n : symint = aten.sym_size.int(%i, 0)
  %f = aten.squeeze.dim(%i, 1)
  %y = aten.index.Tensor(%x, [%f])
  %s = aten.sum.default(%y)
  %z = aten.add.Tensor(%x, %s)
  output %y
  output %n
  output %z
})";

TEST(OptimizedExecutor, FollowsSizesThatOnlyACallCanTell) {
  const auto results = run_calls(program_of(kNonzero), {{f32({6}, {1, -1, 2, -2, 3, -3})},
                                                        {f32({6}, {-1, -1, -1, -1, -1, 7})},
                                                        {f32({6}, {-1, -1, -1, -1, -1, -1})}});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(floats(results[0].outputs[0]), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(std::get<std::int64_t>(results[0].outputs[1]), 3);
  EXPECT_EQ(floats(results[0].outputs[2]), (std::vector<float>{7, 5, 8, 4, 9, 3}));
  EXPECT_EQ(floats(results[1].outputs[0]), (std::vector<float>{7}));
  EXPECT_EQ(std::get<std::int64_t>(results[2].outputs[1]), 0);
  EXPECT_EQ(floats(results[2].outputs[2]), (std::vector<float>{-1, -1, -1, -1, -1, -1}));
}

// Of the program's call on an x of these sizes: the program states strides for x * 2.
Result<std::vector<float>> doubled(const std::string& sizes, const std::string& strides,
                                   const HostTensor& x) {
  const spec::Program program = program_of("program \"number\" {\n  input %x : f32[" + sizes + R"(]
  input %n : f32[]
  %f : symfloat = aten.item.default(%n)
  %y : f32[)" + sizes + "]{" + strides + R"(} = aten.mul.Tensor(%x, %f)
  output %y
})");
  GRAPHGATE_TRY(const auto loaded, make_executor()->load(program));
  GRAPHGATE_TRY(const auto result, loaded->call(Inputs{x, f32({}, {2})}));
  return floats(result.outputs[0]);
}

// PyTorch asserts no stride of a size of 1 either, and none of a tensor without elements.
TEST(OptimizedExecutor, TakesStatedStridesThatPlaceNoElementElsewhere) {
  EXPECT_EQ(doubled("0, 1", "1, 1", f32({0, 1}, {})).value(), std::vector<float>());
  EXPECT_EQ(doubled("2, 0", "7, 5", f32({2, 0}, {})).value(), std::vector<float>());
  EXPECT_EQ(doubled("2, 1", "1, 9", f32({2, 1}, {3, 4})).value(), (std::vector<float>{6, 8}));
  EXPECT_TRUE(contains(failure_of(doubled("2, 2", "1, 2", f32({2, 2}, {3, 4, 5, 6}))).message,
                       "makes [2, 2] with strides [2, 1]"));
}

TEST(OptimizedExecutor, CutsWhatHangsOnAnUnbackedSymbolOut) {
  const spec::Plan plan = good_plan_of(program_of(kNonzero), {f32({6}, {1, -1, 2, -2, 3, -3})});
  const auto& partitions = plan.blocks.front().partitions;
  EXPECT_TRUE(partitions.front().captured);
  ASSERT_GE(partitions.size(), 2U);
  EXPECT_FALSE(partitions[1].captured);
  EXPECT_EQ(partitions[1].reason, "unbacked symbol");
}

TEST(OptimizedExecutor, RunsTheArmThatThePredicatePicksInEveryCall) {
  const spec::Program program = program_of(R"(program "cond" {
  buffer %count "count" : f32[1] = [0.0]
  input %p : bool[]
  input %x : f32[2]
  graph @yes {
    input %u : f32[2]
    input %c : f32[1]
    %u1 = aten.add_.Tensor(%c, 1.0)
    %u2 = aten.mul.Tensor(%u, 2.0)
    output %u2
  }
  graph @no {
    input %v : f32[2]
    input %d : f32[1]
    %v1 = aten.neg.default(%v)
    output %v1
  }
  %y = higher_order.cond(%p, @yes, @no, [%x, %count])
  %z = aten.add.Tensor(%y, %x)
  output %z
})");
  const HostTensor x = f32({2}, {1, 2});
  const HostTensor yes = bools({}, {1});
  const HostTensor no = bools({}, {0});
  const auto results = run_calls(program, {{yes, x}, {no, x}, {yes, x}});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(floats(results[0].outputs[0]), (std::vector<float>{3, 6}));
  EXPECT_EQ(floats(results[1].outputs[0]), (std::vector<float>{0, 0}));
  EXPECT_EQ(floats(results[2].outputs[0]), (std::vector<float>{3, 6}));
  EXPECT_EQ(state(results[2], "count"), (std::vector<float>{2}));
}

// A capture must not freeze what a CPU scalar held when it was recorded.
TEST(OptimizedExecutor, ReadsAHostScalarAnewInEveryCall) {
  const spec::Program program = program_of(R"(program "scalar" {
  input %x : f32[2] on cuda
  input %s : f32[]
  %y = aten.mul.Tensor(%x, %s)
  %z = aten.add.Tensor(%y, %x)
  output %z
})");
  const HostTensor x = f32({2}, {1, 2});
  const auto results = run_calls(program, {{x, f32({}, {2})}, {x, f32({}, {10})}});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(floats(results[0].outputs[0]), (std::vector<float>{3, 6}));
  EXPECT_EQ(floats(results[1].outputs[0]), (std::vector<float>{11, 22}));
}

// The plan of the second size has no step that writes the buffer; what the first wrote is there.
TEST(OptimizedExecutor, ShowsStateThatOnlyThePlanOfAnotherSizeWrites) {
  const spec::Program program = program_of(R"(program "sizes" {
  symbol s0 in [2, 3]
  buffer %b "b" : f32[1] = [0.0]
  input %x : f32[s0]
  graph @yes {
    input %c : f32[1]
    %d = aten.add_.Tensor(%c, 1.0)
    %e = aten.neg.default(%c)
    output %e
  }
  graph @no {
    input %c : f32[1]
    %e = aten.neg.default(%c)
    output %e
  }
  %n : symint = aten.sym_size.int(%x, 0)
  %p : symbool = _operator.lt(%n, 3)
  %y = higher_order.cond(%p, @yes, @no, [%b])
  output %y
  output %b
})");
  const auto results =
      run_calls(program, {{f32({2}, {0, 0})}, {f32({3}, {0, 0, 0})}, {f32({2}, {0, 0})}});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(state(results[1], "b"), (std::vector<float>{1}));
  EXPECT_EQ(floats(results[1].outputs[1]), (std::vector<float>{1}));
  EXPECT_EQ(state(results[2], "b"), (std::vector<float>{2}));
}

TEST(OptimizedExecutor, ShowsStateThatIsWrittenThroughAViewThatOnlyTheCallKnows) {
  const spec::Program program = program_of(R"(program "dynamic_view" {
  buffer %b "b" : f32[3] = [0.0, 0.0, 0.0]
  input %i : i64[]
  %n : symint = aten.item.default(%i)
  %v = aten.select.int(%b, 0, %n)
  %w = aten.add_.Tensor(%v, 1.0)
  output %w
})");
  const auto results = run_calls(program, {{i64({}, {1})}, {i64({}, {2})}, {i64({}, {1})}});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(state(results[2], "b"), (std::vector<float>{0, 2, 1}));
  EXPECT_EQ(floats(results[2].outputs[0]), (std::vector<float>{2}));
}

// %v and %x are two tensors of one geometry; squeeze_ of what add.out returns changes %x alone.
TEST(OptimizedExecutor, ChangesTheGeometryOfTheTensorThatIsReturnedAndOfNoOther) {
  const auto results = run_calls(program_of(R"(program "two_tensors" {
  input %x : f32[1, 3]
  %v = aten.alias.default(%x)
  %r = aten.add.out(%v, %v, out=%x)
  %s = aten.squeeze_.default(%r)
  %a = aten.add.Tensor(%x, 0.0)
  %b = aten.add.Tensor(%v, 0.0)
  output %a
  output %b
})"),
                                 {{f32({1, 3}, {1, 2, 3})}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(std::get<HostTensor>(results[0].outputs[0]).sizes, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(std::get<HostTensor>(results[0].outputs[1]).sizes, (std::vector<std::int64_t>{1, 3}));
}

// torch.export's unlifting: the output is what the value was last written to.
TEST(OptimizedExecutor, ReturnsWhatAValueWasLastWrittenTo) {
  const auto results = run_calls(program_of(R"(program "twice" {
  buffer %b "b" : f32[2] = [0.0, 0.0]
  input %x : f32[2]
  %y = aten.add.Tensor(%x, 1.0)
  mutation buffer "b" %y
  mutation input "x" %y
  output %y
})"),
                                 {{f32({2}, {1, 2})}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(std::get<HostTensor>(results[0].outputs[0]).storage,
            std::get<HostTensor>(results[0].final_inputs[0]).storage);
  EXPECT_EQ(state(results[0], "b"), (std::vector<float>{2, 3}));
}

// The last target counts also where it holds the contents already.
TEST(OptimizedExecutor, ReturnsTheLastTargetThoughNothingIsLeftToCopy) {
  const auto results = run_calls(program_of(R"(program "in_place_already" {
  input %x : f32[2]
  input %y : f32[2]
  %z = aten.mul_.Tensor(%y, 2.0)
  mutation input "x" %z
  mutation input "y" %z
  output %z
})"),
                                 {{f32({2}, {1, 2}), f32({2}, {3, 4})}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(std::get<HostTensor>(results[0].outputs[0]).storage,
            std::get<HostTensor>(results[0].final_inputs[1]).storage);
  EXPECT_EQ(floats(std::get<HostTensor>(results[0].final_inputs[0])), (std::vector<float>{6, 8}));
}

// Another value of the graph that is the same tensor is not what was written.
TEST(OptimizedExecutor, TellsTheValueThatWasWrittenFromAnAliasOfIt) {
  const auto results = run_calls(program_of(R"(program "alias_of_new_contents" {
  buffer %b "b" : f32[2] = [0.0, 0.0]
  input %x : f32[2]
  %a = aten.flatten.using_ints(%x, 0, 0)
  mutation buffer "b" %x
  output %a
})"),
                                 {{f32({2}, {1, 2})}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(std::get<HostTensor>(results[0].outputs[0]).storage,
            std::get<HostTensor>(results[0].final_inputs[0]).storage);
  EXPECT_EQ(state(results[0], "b"), (std::vector<float>{1, 2}));
}

// flatten of one dimension is its argument, so unsqueeze_ of it changes the argument.
TEST(OptimizedExecutor, TakesAnOpThatReturnsItsArgumentForTheArgument) {
  const auto results = run_calls(program_of(R"(program "flat" {
  input %x : f32[2, 1]
  %a = aten.flatten.using_ints(%x, 0, 0)
  %b = aten.unsqueeze_.default(%a, 0)
  output %b
})"),
                                 {{f32({2, 1}, {1, 2})}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(std::get<HostTensor>(results[0].final_inputs[0]).sizes,
            (std::vector<std::int64_t>{1, 2, 1}));
}

TEST(OptimizedExecutor, WritesTensorsWithoutElementsInPlace) {
  const auto results = run_calls(program_of(R"(program "empty" {
  input %x : f32[4, 0]
  %a = aten.add.Scalar(%x, 1)
  %b = aten.neg_.default(%a)
  output %b
})"),
                                 {{f32({4, 0}, {})}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(std::get<HostTensor>(results[0].outputs[0]).sizes, (std::vector<std::int64_t>{4, 0}));
}

TEST(OptimizedExecutor, WritesBackIntoTheGeometryThatAnInputHasByThen) {
  const auto results = run_calls(program_of(R"(program "write_back" {
  input %x : f32[1, 2]
  %t = aten.t_.default(%x)
  %y = aten.add.Tensor(%x, 1.0)
  mutation input "x" %y
})"),
                                 {{f32({1, 2}, {1, 2})}});
  ASSERT_EQ(results.size(), 1U);
  const auto& x = std::get<HostTensor>(results[0].final_inputs[0]);
  EXPECT_EQ(x.sizes, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(floats(x), (std::vector<float>{2, 3}));
}

TEST(OptimizedExecutor, TakesListsThatAProgramKeepsWhole) {
  const auto results = run_calls(program_of(R"(program "lists" {
  input %x : f32[6]
  %l : tensors = aten.split.Tensor(%x, 2)
  %c : tensors = aten.split_with_sizes_copy.default(%x, [2, 4])
  %b = _operator.getitem(%l, 1)
  %d = _operator.getitem(%c, -1)
  %y = aten.cat.default(%l)
  %z = aten.mul.Tensor(%b, 10.0)
  output %y
  output %z
  output %d
})"),
                                 {{f32({6}, {1, 2, 3, 4, 5, 6})}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(floats(results[0].outputs[0]), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(floats(results[0].outputs[1]), (std::vector<float>{30, 40}));
  EXPECT_EQ(floats(results[0].outputs[2]), (std::vector<float>{3, 4, 5, 6}));
}

// It takes these only once a pass has made nodes of what they hold.
TEST(OptimizedExecutor, SupportsNoFunctionalizedOpWithoutThePassThatUndoesIt) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[2, 4]
  %t = aten.empty.memory_format([2, 2])
  %n : none, %y : f32[2, 2] = higher_order.auto_functionalized_v2(vllm.silu_and_mul.default, input=%x, _out_base_index=0, _all_bases=[%t])
  output %y
})");
  EXPECT_TRUE(make_executor({})->load(program).ok());
  Options options;
  options.compile.passes.disabled = {"undo_functionalization"};
  const Error loaded = failure_of(make_executor(options)->load(program));
  EXPECT_EQ(loaded.kind, ErrorKind::kUnsupported) << loaded.message;
}

// What a plan cannot say is refused, not run wrongly.
TEST(OptimizedExecutor, RefusesGeometriesThatHangOnTheCallTheArmOrTheCallBefore) {
  const char* const programs[] = {R"(program "call" {
  input %x : f32[3]
  input %i : i64[]
  %n : symint = aten.item.default(%i)
  %y = aten.relu.default(%x)
  %r = aten.resize_.default(%y, [%n])
  %s = aten.sum.default(%y)
  output %s
})",
                                  R"(program "arm" {
  input %p : bool[]
  input %x : f32[1, 3]
  graph @yes {
    input %u : f32[1, 3]
    %v = aten.squeeze_.default(%u)
    %w = aten.neg.default(%v)
    output %w
  }
  graph @no {
    input %u : f32[1, 3]
    %v = aten.squeeze.default(%u)
    %w = aten.neg.default(%v)
    output %w
  }
  %y = higher_order.cond(%p, @yes, @no, [%x])
  output %y
})",
                                  R"(program "state" {
  buffer %b "b" : f32[1, 2] = [1.0, 2.0]
  input %x : f32[2]
  %y = aten.sum.dim_IntList(%b, [0])
  %s = aten.squeeze_.default(%b)
  output %y
})"};
  const std::vector<Inputs> inputs = {{f32({3}, {1, 2, 3}), i64({}, {2})},
                                      {bools({}, {0}), f32({1, 3}, {1, 2, 3})},
                                      {f32({2}, {1, 2})}};
  for (std::size_t i = 0; i < std::size(programs); ++i) {
    const spec::Program program = program_of(programs[i]);
    auto loaded = must(make_executor()->load(program));
    const Error result = failure_of(loaded->call(inputs[i]), programs[i]);
    EXPECT_EQ(result.kind, ErrorKind::kUnsupported) << result.message;
    EXPECT_TRUE(contains(result.message, "geometry"));
  }
}

TEST(OptimizedExecutor, NamesTheNodeThatRefusesWhatItReads) {
  const spec::Program program = program_of(R"(program "range" {
  input %w : f32[3, 2]
  input %i : i64[2]
  %y = aten.embedding.default(%w, %i) as lookup
  output %y
})");
  auto loaded = must(make_executor()->load(program));
  const Error result =
      failure_of(loaded->call(Inputs{f32({3, 2}, {1, 2, 3, 4, 5, 6}), i64({2}, {0, 3})}));
  EXPECT_EQ(result.kind, ErrorKind::kBadInput);
  EXPECT_EQ(result.message.rfind("range: node 'lookup' (aten.embedding.default): ", 0), 0U)
      << result.message;
}

TEST(OptimizedExecutor, RefusesInputsThatTheProgramDoesNotState) {
  const spec::Program program = program_of(R"(program "inputs" {
  symbol s0 in [2, 4]
  input %x : f32[s0, 2]
  input %y : f32[s0]
  %z = aten.mul.Tensor(%x, 2.0)
  output %z
})");
  auto loaded = must(make_executor()->load(program));
  const auto message = [&](Inputs inputs) { return message_of(loaded->call(inputs)); };
  const HostTensor y = f32({3}, {1, 2, 3});
  EXPECT_EQ(message({y}), "inputs: got 1 inputs, expected 2");
  EXPECT_EQ(message({f32({3}, {1, 2, 3}), y}), "inputs: input 'x' has rank 1, expected 2");
  EXPECT_EQ(message({i64({3, 2}, {1, 2, 3, 4, 5, 6}), y}),
            "inputs: input 'x' has dtype int64, expected float32");
  EXPECT_EQ(message({f32({3, 1}, {1, 2, 3}), y}),
            "inputs: input 'x' dimension 1 is 1, expected 2 (2)");
  EXPECT_EQ(message({f32({2, 2}, {1, 2, 3, 4}), y}),
            "inputs: input 'y' dimension 0 is 3, expected 2 (s0)");
  EXPECT_EQ(message({f32({5, 2}, std::vector<float>(10)), f32({5}, std::vector<float>(5))}),
            "inputs: symbol s0 is 5, expected a value in [2, 4]");
}

// A node that stands for two has other words; where none does, one run serves for both.
TEST(OptimizedExecutor, SaysWhetherItRunsUnderWordsAsWithout) {
  const spec::Program gated = program_of(R"(program "gated" {
  input %x : f32[4]
  input %y : f32[4]
  %a : f32[4] = aten.silu.default(%x)
  %b : f32[4] = aten.mul.Tensor(%a, %y)
  output %b
})");
  const spec::Program plain = program_of(R"(program "plain" {
  input %x : f32[4]
  %a : f32[4] = aten.relu.default(%x)
  output %a
})");
  const auto says = [](const spec::Program& program, InstrumentKind instrument,
                       std::vector<SizeRange> ranges = {}) {
    Options options;
    options.runtime.instrument = instrument;
    options.runtime.compile_ranges = std::move(ranges);
    const auto executor = make_executor(options);
    return executor->load(program).value()->is_as_unwatched();
  };
  EXPECT_TRUE(says(plain, InstrumentKind::kProvenance));
  EXPECT_FALSE(says(gated, InstrumentKind::kProvenance)) << "silu_mul is taken apart";
  EXPECT_TRUE(says(gated, InstrumentKind::kShadow));
  EXPECT_FALSE(says(plain, InstrumentKind::kProvenance, {{1, 8}})) << "passes run again later";
  EXPECT_FALSE(says(plain, InstrumentKind::kNone)) << "nothing watches";
}

TEST(OptimizedExecutor, ForgetsThePlanUsedLongestAgoAndKeepsState) {
  Options options;
  options.plans_kept = 2;
  const spec::Program program = program_of(R"(program "many" {
  symbol s0 in [1, 64]
  buffer %b "b" : f32[1] = [0.0]
  input %x : f32[s0]
  %t = aten.add_.Tensor(%b, 1.0)
  %y = aten.mul.Tensor(%x, %b)
  output %y
})");
  std::vector<Inputs> calls;
  for (int round = 0; round < 2; ++round) {
    for (const std::int64_t size : {1, 5, 3, 64}) {
      calls.push_back({f32({size}, std::vector<float>(static_cast<std::size_t>(size), 1.0F))});
    }
  }
  const auto results = run_calls(program, calls, options);
  ASSERT_EQ(results.size(), 8U);
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(floats(results[i].outputs[0]).front(), static_cast<float>(i + 1));
  }
}

// The results of one call, each as its elements.
std::vector<std::vector<float>> results_of(const std::string& program, const Inputs& inputs) {
  std::vector<std::vector<float>> out;
  const auto calls = run_calls(program_of(program), {inputs});
  for (const spec::OutputValue& output : calls.at(0).outputs) out.push_back(floats(output));
  return out;
}

// 2 / 3 is one number, rounded once, and the gradient comes last (an MSE) or first.
TEST(GradientsOfLosses, MultiplyInTheOrderOfPyTorch) {
  const std::vector<float> x = {0.37F, 3e38F, -1.9F};
  const std::vector<float> y = {0.7F, 0.2F, 0.1F};
  const float g = 1e-38F;
  const auto found = results_of(R"(program "losses" {
  input %g : f32[]
  input %x : f32[3]
  input %y : f32[3]
  %a = aten.mse_loss_backward.default(%g, %x, %y, 1)
  %b = aten.smooth_l1_loss_backward.default(%g, %x, %y, 1, 2.7)
  %c = aten.smooth_l1_loss_backward.default(%g, %x, %y, 0, 1e+38)
  output %a
  output %b
  output %c
})",
                                {f32({}, {g}), f32({3}, x), f32({3}, y)});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float z = x[i] - y[i];
    EXPECT_EQ(found[0][i], z * static_cast<float>(2.0 / 3) * g) << i;
    const float shared = g * static_cast<float>(1.0 / 3);
    EXPECT_EQ(found[1][i], i == 1 ? shared : shared * z / 2.7F) << i;
    EXPECT_EQ(found[2][i], i == 1 ? g : g * z / 1e38F) << i;
  }
}

TEST(GradientsOfExponentialUnits, MultiplyTheGradientFirst) {
  const std::vector<float> g = {3e38F, 1.3F, -0.7F};
  const std::vector<float> x = {-2e-3F, -0.4F, -1.1F};
  const auto found = results_of(R"(program "elu" {
  input %g : f32[3]
  input %x : f32[3]
  %y = aten.elu_backward.default(%g, 1.7, 1.1, 1.3, True, %x)
  output %y
})",
                                {f32({3}, g), f32({3}, x)});
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(found[0][i], g[i] * 1.3F * (x[i] + static_cast<float>(1.7 * 1.1))) << i;
  }
}

// So that gradients which cancel do so before they are weighed.
TEST(GradientsOfBatchNorms, MultiplyByTheWeightLast) {
  const std::vector<float> x = {16, 23008, 0, 16, -23008, 5, 0.3F, -8};
  const std::vector<float> weights = {0.37F, 4.1e3F};
  for (const char* trains : {"True", "False"}) {
    const std::string program = std::string(R"(program "norm" {
  input %x : f32[4, 2]
  input %w : f32[2]
  input %m : f32[2]
  input %r : f32[2]
  %a, %b, %c = aten.native_batch_norm_backward.default(%x, %x, %w, %m, %r, %m, %r, )") +
                                trains + R"(, 0.001, [True, True, True])
  output %a
})";
    const auto gradient = [&](const std::vector<float>& weight) {
      return results_of(program, {f32({4, 2}, x), f32({2}, weight), f32({2}, {-5747.9F, 5755.2F}),
                                  f32({2}, {7.5e-5F, 6.3e-5F})})[0];
    };
    const std::vector<float> plain = gradient({1, 1});
    const std::vector<float> weighed = gradient(weights);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(weighed[i], plain[i] * weights[i % 2]) << trains << ", " << i;
    }
  }
}

}  // namespace
}  // namespace graphgate::optimized
