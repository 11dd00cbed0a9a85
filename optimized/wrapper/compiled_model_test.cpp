#include "optimized/wrapper/compiled_model.h"

#include <gtest/gtest.h>

#include "optimized/cache/cache_test_support.h"

namespace graphgate::optimized {
namespace {

namespace fs = std::filesystem;
using spec::InputValue;

class CompiledModelTest : public testing::Test {
 protected:
  std::unique_ptr<CompiledModel> make(CompiledModelOptions options,
                                      const char* text = kScaleProgram) {
    programs_.push_back(std::make_unique<spec::Program>(program_of(text)));
    options.log = &log_;
    return must(CompiledModel::make(*programs_.back(), std::move(options)));
  }
  static std::vector<float> numbers(CompiledModel& model, const Inputs& inputs) {
    auto result = model.call(inputs);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? floats(result.value().outputs[0]) : std::vector<float>{};
  }
  static std::string refusal(CompiledModel& model, const Inputs& inputs) {
    const auto result = model.call(inputs);
    if (result.ok()) return "";
    EXPECT_EQ(result.error().kind, ErrorKind::kBadInput);
    return result.error().message;
  }

  TestFolder folder_;
  RecordingLog log_;
  std::vector<std::unique_ptr<spec::Program>> programs_;
};

spec::HostTensor transposed(std::int64_t rows) {
  spec::HostTensor tensor = f32({4, rows}, std::vector<float>(static_cast<std::size_t>(4 * rows)));
  const auto values = floats(rows_of(rows));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < 4; ++c) {
      std::memcpy(tensor.storage->bytes.data() + 4 * (c * rows + r),
                  &values[static_cast<std::size_t>(4 * r + c)], 4);
    }
  }
  tensor.sizes = {rows, 4};
  tensor.strides = {1, rows};
  return tensor;
}

constexpr CompileMode kModes[] = {CompileMode::kNone, CompileMode::kStock, CompileMode::kSplit,
                                  CompileMode::kPartition};

TEST_F(CompiledModelTest, ComputesTheSameBitsInEveryMode) {
  for (const CompileMode mode : kModes) {
    const auto model = make({.mode = mode});
    EXPECT_FALSE(model->is_compiled());
    for (const std::int64_t rows : {3, 5, 3}) {
      const auto values = numbers(*model, {rows_of(rows)});
      ASSERT_EQ(values.size(), static_cast<std::size_t>(4 * rows));
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(values[i], 3 * static_cast<float>(i + 1));
      }
    }
    EXPECT_TRUE(model->is_compiled());
  }
}

TEST_F(CompiledModelTest, CompilesOnceForASizeAndTellsWhenItIsDone) {
  int fired = 0;
  CompiledModelOptions options;
  options.on_compiled = [&](const CompileCounters& counters) {
    ++fired;
    EXPECT_EQ(counters.plans_compiled, 1);
  };
  const auto model = make(std::move(options));
  EXPECT_EQ(model->counters(), CompileCounters{});
  for (int i = 0; i < 3; ++i) numbers(*model, {rows_of(3)});
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(unmet({}, model->counters(),
                  {.graphs_seen = 1,
                   .plans_compiled = 1,
                   .partitions = 1,
                   .captured_partitions = 1,
                   .recompiles = 0}),
            "");
  numbers(*model, {rows_of(4)});
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(unmet({}, model->counters(), {.graphs_seen = 1, .plans_compiled = 2, .recompiles = 0}),
            "");
}

TEST_F(CompiledModelTest, RunsAnOpAtATimeInModeNone) {
  const auto model = make({.mode = CompileMode::kNone});
  numbers(*model, {rows_of(3)});
  EXPECT_EQ(unmet({}, model->counters(), {.partitions = 2, .captured_partitions = 0}), "");
}

TEST_F(CompiledModelTest, CutsAsTheModeSays) {
  for (const CompileMode mode : {CompileMode::kSplit, CompileMode::kPartition}) {
    CompiledModelOptions options;
    options.mode = mode;
    options.executor.compile.partition.split_ops = {"aten.mul.Tensor"};
    const auto model = make(std::move(options));
    numbers(*model, {rows_of(3)});
    EXPECT_EQ(unmet({}, model->counters(), {.partitions = 2, .captured_partitions = 1}), "");
  }
}

TEST_F(CompiledModelTest, RefusesToRecompileSilently) {
  for (const CompileMode mode : {CompileMode::kSplit, CompileMode::kPartition}) {
    const auto model = make({.mode = mode});
    numbers(*model, {rows_of(3)});
    const CompileCounters before = model->counters();
    EXPECT_EQ(refusal(*model, {transposed(3)}),
              "scale: this call would need another compilation: input 0 ('x') has other strides");
    spec::HostTensor shifted = rows_of(4);
    shifted.sizes = {3, 4};
    shifted.storage_offset = 4;
    EXPECT_TRUE(contains(refusal(*model, {shifted}), "begins elsewhere in its storage"));
    spec::HostTensor half = rows_of(3);
    half.dtype = spec::DType::kFloat16;
    EXPECT_TRUE(contains(refusal(*model, {half}), "has dtype float16, expected float32"));
    EXPECT_TRUE(contains(refusal(*model, {rows_of(65)}), "expected a value in [2, 64]"));
    EXPECT_TRUE(contains(refusal(*model, {rows_of(1)}), "expected a value in [2, 64]"));
    EXPECT_EQ(model->counters(), before);
    numbers(*model, {rows_of(3)});
  }
}

TEST_F(CompiledModelTest, CountsRecompilationsInModeStock) {
  int fired = 0;
  CompiledModelOptions options;
  options.mode = CompileMode::kStock;
  options.on_compiled = [&](const CompileCounters&) { ++fired; };
  const auto model = make(std::move(options));
  const auto expected = numbers(*model, {rows_of(3)});
  EXPECT_EQ(numbers(*model, {transposed(3)}), expected);
  EXPECT_EQ(numbers(*model, {transposed(3)}), expected);
  EXPECT_EQ(numbers(*model, {rows_of(3)}), expected);
  EXPECT_EQ(unmet({}, model->counters(), {.plans_compiled = 2, .recompiles = 1}), "");
  EXPECT_EQ(fired, 2);
}

TEST_F(CompiledModelTest, CopiesWhatNobodyGuardsIntoTheCompiledLayout) {
  for (const GuardPolicy guards : {GuardPolicy::kShapesOnly, GuardPolicy::kNone}) {
    const auto model = make({.guards = guards});
    const auto expected = numbers(*model, {rows_of(3)});
    EXPECT_EQ(numbers(*model, {transposed(3)}), expected);
    EXPECT_EQ(model->counters().plans_compiled, 1);
  }
}

TEST_F(CompiledModelTest, GivesBackAnInputInItsOwnLayout) {
  const auto model = make({.guards = GuardPolicy::kShapesOnly}, R"(program "writes" {
    symbol s0 in [2, 64]
    input %x : f32[s0, 4]
    %y = aten.mul_.Tensor(%x, 2.0)
    %z = aten.neg.default(%y)
    output %z
  })");
  numbers(*model, {rows_of(3)});
  const spec::HostTensor input = transposed(3);
  auto result = must(model->call(Inputs{input}));
  const auto& final = std::get<spec::HostTensor>(result.final_inputs[0]);
  EXPECT_EQ(final.strides, input.strides);
  EXPECT_NE(final.storage, input.storage);
  const auto before = floats(input);
  const auto after = floats(final);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], 2 * before[i]);
}

TEST_F(CompiledModelTest, WidensRangesAsGuardsAreDropped) {
  auto model = make({.guards = GuardPolicy::kAll});
  EXPECT_NE(refusal(*model, {rows_of(1)}), "");
  model = make({.guards = GuardPolicy::kShapesOnly});
  for (const std::int64_t rows : {1, 3, 0}) numbers(*model, {rows_of(rows)});
  EXPECT_NE(refusal(*model, {rows_of(65)}), "");
  model = make({.guards = GuardPolicy::kNone});
  for (const std::int64_t rows : {1, 3, 65}) numbers(*model, {rows_of(rows)});
}

TEST_F(CompiledModelTest, NeverDropsWhatResultsHangOn) {
  const auto model = make({.guards = GuardPolicy::kNone}, R"(program "p" {
    input %x : f32[2]
    input %y : f32[2]
    input %k : symfloat
    %z = aten.add.Tensor(%x, %y)
    %r = aten.mul.Tensor(%z, %k)
    output %r
  })");
  const InputValue a = f32({2}, {1, 2});
  const InputValue b = f32({2}, {3, 4});
  EXPECT_EQ(numbers(*model, {a, b, 2.0}), (std::vector<float>{8, 12}));
  EXPECT_TRUE(contains(refusal(*model, {a, a, 2.0}),
                       "input 1 ('y') had storage of its own and now shares that of input 0"));
  EXPECT_TRUE(contains(refusal(*model, {a, b, 3.0}), "input 2 ('k') was 2 and is 3"));
}

TEST_F(CompiledModelTest, CompilesAgainAfterAFailedFirstCall) {
  const auto model = make({});
  EXPECT_NE(refusal(*model, {rows_of(65)}), "");
  EXPECT_FALSE(model->is_compiled());
  EXPECT_EQ(numbers(*model, {rows_of(2)}).size(), 8U);
  EXPECT_TRUE(model->is_compiled());
}

TEST_F(CompiledModelTest, RefusesContradictoryOptions) {
  const spec::Program program = program_of(kScaleProgram);
  const auto message = [&](CompiledModelOptions options) {
    const auto model = CompiledModel::make(program, std::move(options));
    if (model.ok()) return std::string();
    EXPECT_EQ(model.error().kind, ErrorKind::kBadInput);
    return model.error().message;
  };
  EXPECT_NE(message({.mode = CompileMode::kStock, .guards = GuardPolicy::kNone}), "");
  EXPECT_NE(message({.mode = CompileMode::kNone, .cache_root = folder_.path()}), "");
  CompiledModelOptions both;
  both.cache_root = folder_.path();
  both.executor.plan_store = make_disk_store({});
  EXPECT_NE(message(both), "");
  EXPECT_EQ(message({}), "");
}

TEST_F(CompiledModelTest, StartsWarmFromItsCacheFolder) {
  const auto cold = make({.cache_root = folder_.path()});
  const auto expected = numbers(*cold, {rows_of(3)});
  EXPECT_EQ(unmet({}, cold->counters(), {.plans_compiled = 1, .entries_saved = 1}), "");
  const auto warm = make({.cache_root = folder_.path()});
  EXPECT_EQ(numbers(*warm, {rows_of(3)}), expected);
  EXPECT_EQ(unmet({}, warm->counters(), {.plans_compiled = 0, .cache_hits = 1}), "");
  const auto without = make({});
  numbers(*without, {rows_of(3)});
  EXPECT_EQ(
      unmet({}, without->counters(), {.plans_compiled = 1, .cache_hits = 0, .cache_misses = 0}),
      "");
}

TEST_F(CompiledModelTest, LivesBesideOthersUnderTags) {
  const auto backbone = make({.cache_root = folder_.path()});
  std::unique_ptr<CompiledModel> drafter;
  {
    const auto scope = ModelTagScope::enter("drafter");
    ASSERT_TRUE(scope.ok());
    drafter = make({.cache_root = folder_.path()});
  }
  numbers(*backbone, {rows_of(3)});
  numbers(*drafter, {rows_of(3)});
  EXPECT_EQ(drafter->tag().name, "drafter");
  EXPECT_EQ(drafter->counters().cache_hits, 0);
  std::vector<std::string> tags;
  for (const fs::path& entry : files_in(folder_.path(), "entries")) {
    tags.push_back(entry.parent_path().parent_path().filename());
  }
  EXPECT_EQ(tags, (std::vector<std::string>{"backbone", "drafter"}));
}

TEST_F(CompiledModelTest, OpensTheLastRangeOfAnEncoder) {
  CompiledModelOptions options;
  options.executor.runtime.compile_ranges = {{2, 4}, {4, 6}};
  const auto last_end = [&] {
    return make(options)->executor_options().runtime.compile_ranges.back().end;
  };
  EXPECT_EQ(last_end(), 6);
  const auto scope = ModelTagScope::enter("vision", true);
  ASSERT_TRUE(scope.ok());
  EXPECT_EQ(last_end(), std::int64_t{1} << 31);
  const auto model = make(options);
  for (const std::int64_t rows : {3, 64}) numbers(*model, {rows_of(rows)});
}

TEST_F(CompiledModelTest, DumpsEachPlanReadably) {
  CompiledModelOptions options;
  options.dump_folder = folder_.path() / "dump";
  options.dump_forms["steps.txt"] = [](const spec::Plan& plan, const spec::OpTable&) {
    return std::to_string(plan.steps.size());
  };
  const auto model = make(std::move(options));
  for (const std::int64_t rows : {3, 4, 3}) numbers(*model, {rows_of(rows)});
  std::vector<std::string> names;
  for (const fs::path& file : files_under(folder_.path())) names.push_back(file.filename());
  EXPECT_EQ(names, (std::vector<std::string>{"backbone.0.plan.txt", "backbone.0.steps.txt",
                                             "backbone.1.plan.txt", "backbone.1.steps.txt"}));
  const std::string text =
      read_file(folder_.path() / "dump" / "backbone.1.plan.txt").value().value();
  EXPECT_TRUE(contains(text, "symbol s0 = 4"));
}

TEST_F(CompiledModelTest, LogsTheStages) {
  const auto model = make({});
  numbers(*model, {rows_of(3)});
  std::vector<std::string> stages = log_.stages;
  EXPECT_EQ(stages.front(), "passes");
  EXPECT_EQ(stages.back(), "lower");
  for (const char* stage : {"specialize", "partition", "liveness", "signatures", "memory"}) {
    EXPECT_EQ(std::count(stages.begin(), stages.end(), stage), 1) << stage;
  }
}

const char* const kSharesProgram = R"(program "shares" {
  input %x : f32[2, 2]
  input %y : f32[2, 2]
  %a = aten.add_.Tensor(%x, 1.0)
  %b = aten.mul.Tensor(%y, 10.0)
  output %b
})";

// A copy of one of two inputs over the same bytes would not see what is written through the other.
TEST_F(CompiledModelTest, CopiesNoInputThatSharesItsStorage) {
  const auto model = make({.guards = GuardPolicy::kShapesOnly}, kSharesProgram);
  const spec::HostTensor x = f32({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(numbers(*model, {x, x}), (std::vector<float>{20, 30, 40, 50}));
  spec::HostTensor turned = x;
  turned.strides = {1, 2};
  EXPECT_EQ(refusal(*model, {x, turned}),
            "shares: input 1 shares its storage, and cannot be copied into the layout that was "
            "compiled");
}

const char* const kReturnsAView = R"(program "view" {
  input %x : f32[2, 2]
  %t = aten.transpose.int(%x, 0, 1)
  output %t
})";

// An output that is a view of an input would be one of the copy.
TEST_F(CompiledModelTest, CopiesNoInputThatAnOutputLiesOver) {
  const auto model = make({.guards = GuardPolicy::kNone}, kReturnsAView);
  const spec::HostTensor x = f32({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(numbers(*model, {x}), (std::vector<float>{1, 3, 2, 4}));
  spec::HostTensor turned = x;
  turned.strides = {1, 2};
  EXPECT_EQ(refusal(*model, {turned}),
            "view: input 0 shares its storage, and cannot be copied into the layout that was "
            "compiled");
}

const char* const kCounterProgram = R"(program "counter" {
  buffer %b "b" : f32[2] = [0.0, 1.0]
  parameter %w "w" : f32[2] = [10.0, 20.0]
  input %x : f32[2]
  %t = aten.add_.Tensor(%b, 1.0)
  %y = aten.mul.Tensor(%w, %x)
  %z = aten.add.Tensor(%y, %t)
  output %z
})";

TEST_F(CompiledModelTest, RefusesAGraphThatWritesABufferWhereThatIsAskedFor) {
  const Inputs inputs = {f32({2}, {1, 1})};
  EXPECT_EQ(numbers(*make({}, kCounterProgram), inputs), (std::vector<float>{11, 22}));
  const auto strict = make({.refuses_updates = true}, kCounterProgram);
  EXPECT_EQ(refusal(*strict, inputs), "counter: buffer 'b' is written by a graph that is captured");
  EXPECT_FALSE(strict->is_compiled());
  const auto eager = make({.mode = CompileMode::kNone, .refuses_updates = true}, kCounterProgram);
  EXPECT_EQ(numbers(*eager, inputs), (std::vector<float>{11, 22})) << "nothing is captured";
  CompiledModelOptions planted{.refuses_updates = true};
  planted.executor.compile.deviations.add(spec::Deviation::kCapturesWrittenState);
  EXPECT_EQ(numbers(*make(planted, kCounterProgram), inputs), (std::vector<float>{11, 22}));
}

const char* const kWeightedProgram = R"(program "weighted" {
  parameter %w "w" : f32[2] = [10.0, 20.0]
  input %x : f32[2]
  %y = aten.mul.Tensor(%w, %x)
  output %y
})";

TEST_F(CompiledModelTest, RefusesABufferThatIsBoundAnewBehindACapture) {
  const Inputs inputs = {f32({2}, {1, 1})};
  const auto model = make({.refuses_updates = true}, kWeightedProgram);
  const spec::HostTensor other = f32({2}, {3, 4});
  must(model->set_state("w", other, true));
  EXPECT_EQ(numbers(*model, inputs), (std::vector<float>{3, 4})) << "before the first call";
  must(model->set_state("w", f32({2}, {5, 6}), false));
  EXPECT_EQ(numbers(*model, inputs), (std::vector<float>{5, 6})) << "written where it lay";
  must(model->set_state("w", other, true));
  EXPECT_EQ(refusal(*model, inputs),
            "weighted: buffer 'w' was bound anew, and graphs are captured that read it where it "
            "lay");
}

TEST_F(CompiledModelTest, KeepsNewStateThroughAFailedFirstCall) {
  const auto model = make({}, kWeightedProgram);
  must(model->set_state("w", f32({2}, {3, 4}), false));
  spec::HostTensor half = f32({2}, {1, 1});
  half.dtype = spec::DType::kFloat16;
  EXPECT_NE(refusal(*model, {half}), "");
  EXPECT_EQ(numbers(*model, {f32({2}, {1, 1})}), (std::vector<float>{3, 4}));
}

TEST_F(CompiledModelTest, CountsByName) {
  CompiledModelOptions options;
  options.mode = CompileMode::kStock;
  const auto model = make(options);
  for (const bool turned : {false, true, true, false}) {
    numbers(*model, {turned ? transposed(3) : rows_of(3)});
  }
  EXPECT_EQ(model->counts().at("recompiles"), 1);
  EXPECT_EQ(model->counts().at("completions"), 2);
  options.executor.compile.deviations.add(spec::Deviation::kForgetsRecompiles);
  const auto forgetful = make(options);
  for (const bool turned : {false, true, true, false}) {
    numbers(*forgetful, {turned ? transposed(3) : rows_of(3)});
  }
  EXPECT_EQ(forgetful->counts().at("recompiles"), 2);
}

TEST_F(CompiledModelTest, IsOneOfSeveralThatAnExecutorServes) {
  const spec::Program scale = program_of(kScaleProgram);
  const spec::Program counter = program_of(kCounterProgram);
  const auto executor = must(make_wrapped_executor({}));
  const auto first = must(executor->load(scale));
  const auto second = must(executor->load(counter));
  must(first->call(Inputs{rows_of(3)}));
  must(second->call(Inputs{f32({2}, {1, 1})}));
  EXPECT_EQ(second->counts().at("graphs_seen"), 2) << "counted together";
  EXPECT_EQ(second->counts().at("completions"), 1);
  EXPECT_EQ(failure_of(first->call(Inputs{transposed(3)})).kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace graphgate::optimized
