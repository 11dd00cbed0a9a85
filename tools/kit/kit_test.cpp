// The kit over engines that are the reference with a fault, or without one.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "base/folder_test.h"
#include "base/result_test.h"
#include "fuzz/reduce/reducer.h"
#include "reference/reference.h"
#include "spec/graph_text.h"
#include "tools/kit/matchers.h"
#include "tools/kit/rapidcheck.h"

namespace graphgate::kit {
namespace {

using spec::CallResult;
using spec::InputValue;
using ::testing::HasSubstr;
using ::testing::Not;

// What is done to each call of a program: to what it is given, and to what it returns.
struct Fault {
  std::function<void(const spec::Program&, std::span<const InputValue>)> before = {};
  std::function<void(const spec::Program&, CallResult&)> after = {};
};

class FaultyProgram final : public spec::LoadedProgram {
 public:
  FaultyProgram(const spec::Program& program, std::unique_ptr<spec::LoadedProgram> right,
                const Fault& fault)
      : program_(program), right_(std::move(right)), fault_(fault) {}
  Result<CallResult> call(std::span<const InputValue> inputs) override {
    GRAPHGATE_TRY(CallResult result, right_->call(inputs));
    if (fault_.before) fault_.before(program_, inputs);
    if (fault_.after) fault_.after(program_, result);
    return result;
  }
  Result<void> set_state(std::string_view target, const spec::HostTensor& value,
                         bool rebind) override {
    return right_->set_state(target, value, rebind);
  }

 private:
  const spec::Program& program_;
  std::unique_ptr<spec::LoadedProgram> right_;
  Fault fault_;
};

reference::Options options_of(const spec::OpTable& ops) {
  reference::Options options;
  options.ops = &ops;
  return options;
}

class FaultyExecutor final : public spec::Executor {
 public:
  FaultyExecutor(const spec::OpTable& ops, Fault fault)
      : right_(reference::make_executor(options_of(ops))), fault_(std::move(fault)) {}
  [[nodiscard]] std::string_view name() const override { return "faulty"; }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    GRAPHGATE_TRY(auto right, right_->load(program));
    return std::unique_ptr<spec::LoadedProgram>(
        std::make_unique<FaultyProgram>(program, std::move(right), fault_));
  }

 private:
  std::unique_ptr<spec::Executor> right_;
  Fault fault_;
};

Engine engine_with(Fault fault, EngineSettings settings = {.name = "faulty"}) {
  return Engine(std::move(settings),
                MakeExecutor([fault = std::move(fault)](const spec::Configuration&,
                                                        const spec::OpTable& ops) {
                  return Result<std::unique_ptr<spec::Executor>>(
                      std::make_unique<FaultyExecutor>(ops, fault));
                }));
}

bool has_op(const spec::Program& program, std::string_view op) {
  return std::any_of(program.graph.nodes.begin(), program.graph.nodes.end(),
                     [op](const spec::Node& node) { return node.op.starts_with(op); });
}

// Changes a bit of the first output that has elements, where the program has the op.
Fault flips_with(std::string op) {
  return {.after = [op = std::move(op)](const spec::Program& program, CallResult& result) {
    if (!has_op(program, op)) return;
    for (spec::OutputValue& output : result.outputs) {
      auto* tensor = std::get_if<spec::HostTensor>(&output);
      if (!tensor || spec::element_count(tensor->sizes) == 0) continue;
      const auto at = tensor->storage_offset * spec::item_size_bytes(tensor->dtype) + 3;
      tensor->storage->bytes[static_cast<std::size_t>(at)] ^= std::byte{0x40};
      return;
    }
  }};
}

const Draw kFewOps{.ops = "aten.add,aten.mul,aten.relu", .exclude = "special-data"};

spec::Program program_of(std::string_view text) {
  return must(spec::parse_program(text, spec::builtin_op_table(), "inline"));
}

constexpr const char* kRelu = R"(program "p" {
  input %x : f32[4]
  %y : f32[4] = aten.relu.default(%x)
  output %y
})";

// What RapidCheck says of the property, without its line on the terminal.
std::string falsified(const Engine& engine, const Draw& draw, int seed) {
  rc::detail::TestParams params;
  params.seed = static_cast<std::uint64_t>(seed);
  params.maxSuccess = 30;
  const auto result =
      rc::detail::checkTestable([&] { assert_conforms(engine, *cases_for(engine, draw)); },
                                rc::detail::TestMetadata(), params);
  std::ostringstream out;
  rc::detail::printResultMessage(result, out);
  return out.str();
}

TEST(Kit, FindsNothingInTheReference) {
  const Engine engine = engine_with({});
  EXPECT_TRUE(falsified(engine, kFewOps, 1).starts_with("OK, passed"))
      << falsified(engine, kFewOps, 1);
}

TEST(Kit, ShrinksAFaultToTheOpThatHasIt) {
  const std::string said = falsified(engine_with(flips_with("aten.relu")), kFewOps, 1);
  EXPECT_THAT(said, HasSubstr("Falsifiable after"));
  EXPECT_THAT(said, HasSubstr("aten.relu.default"));
  EXPECT_THAT(said, Not(HasSubstr("aten.mul.Tensor")));
  EXPECT_THAT(said, HasSubstr("  found: exact E1.exact"));
  EXPECT_THAT(said, HasSubstr("graphgate replay g13:"));
}

TEST(Kit, ShrinksTheSameSeedToTheSameCase) {
  const Engine engine = engine_with(flips_with("aten.relu"));
  EXPECT_EQ(falsified(engine, kFewOps, 3), falsified(engine, kFewOps, 3));
}

TEST(Kit, FindsCrashesAndHangsInProcessesOfTheirOwn) {
  const spec::CaseFile the_case = must(case_of(program_of(kRelu)));
  const auto raises = [](auto&&...) {
    (void)std::signal(SIGSEGV, SIG_DFL);  // sanitizers take it themselves
    (void)std::raise(SIGSEGV);
  };
  const Verdict crashed = judge(engine_with({.before = raises}), the_case);
  EXPECT_EQ(crashed.kind, Verdict::Kind::kFails);
  EXPECT_THAT(crashed.words, HasSubstr("crash SIGSEGV"));
  const auto waits = [](auto&&...) { std::this_thread::sleep_for(std::chrono::minutes(1)); };
  const Verdict late =
      judge(engine_with({.before = waits}, {.name = "late", .timeout_seconds = 1}), the_case);
  EXPECT_EQ(late.kind, Verdict::Kind::kFails);
  EXPECT_THAT(late.words, HasSubstr("timeout no-end"));
}

// One that is smaller may fail in another way, which is not what is looked for.
TEST(Kit, HoldsReducedCasesToTheFirstFailure) {
  const Engine engine = engine_with(flips_with("aten.relu"));
  DrawnCase drawn = must(draw_case(kFewOps, 1));
  drawn.the_case = must(case_of(program_of(kRelu)));
  drawn.is_reduced = true;
  EXPECT_EQ(judge(engine, drawn).kind, Verdict::Kind::kFails);
  drawn.origin->sought = must(fuzz::parse_signature("state T1.state-differs [] {}"));
  EXPECT_EQ(judge(engine, drawn).kind, Verdict::Kind::kConforms);
}

TEST(Kit, SaysNothingOfWhatTheEngineDoesNotTake) {
  struct Refusing final : spec::Executor {
    [[nodiscard]] std::string_view name() const override { return "small"; }
    Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program&) override {
      return unsupported("small has no op at all");
    }
  };
  const Engine refusing("small", [] { return std::make_unique<Refusing>(); });
  const Verdict verdict = judge(refusing, must(case_of(program_of(kRelu))));
  EXPECT_EQ(verdict.kind, Verdict::Kind::kUndecided);
  Draw draw = draw_for(refusing);
  draw.attempts = 20;
  const auto drawn = draw_case(draw, 1);
  ASSERT_FALSE(drawn.ok());
  EXPECT_EQ(drawn.error().message,
            "of 20 drawn cases none is taken: small has no op at all; Draw::ops names what is "
            "drawn");
}

TEST(Kit, DrawsWhatItIsLimitedTo) {
  Draw draw{.dtypes = {spec::DType::kFloat32, spec::DType::kInt64, spec::DType::kBool},
            .options = {"memory"}};
  bool has_options = false;
  for (std::uint64_t number = 0; number < 40; ++number) {
    const DrawnCase drawn = must(draw_case(draw, number));
    for (const auto& [option, value] : drawn.the_case.options) EXPECT_EQ(option, "memory");
    has_options |= !drawn.the_case.options.empty();
    for (const spec::Program& program : drawn.the_case.programs) {
      for (const spec::Value& value : program.graph.values) {
        EXPECT_FALSE(value.type && value.type->dtype == spec::DType::kBFloat16);
      }
    }
  }
  EXPECT_TRUE(has_options);
  draw.ops = "aten.nope";
  EXPECT_THAT(draw_case(draw, 1).error().message, HasSubstr("aten.nope"));
}

TEST(Kit, DrawsOtherCallsAndOptionsOfTheSamePrograms) {
  const Draw draw{.options = {"memory", "streams", "split-op", "max-partition"}};
  const DrawnCase drawn = must(draw_case(draw, 5));
  bool has_other_calls = false;
  bool has_other_options = false;
  for (std::uint64_t number = 0; number < 10; ++number) {
    const DrawnCase calls = with_other_calls(drawn, number);
    const DrawnCase options = with_other_options(drawn, number);
    for (const DrawnCase* other : {&calls, &options}) {
      EXPECT_TRUE(spec::check_case(other->the_case).ok());
      EXPECT_TRUE(spec::same_program(other->the_case.programs[0], drawn.the_case.programs[0]));
    }
    EXPECT_EQ(calls.the_case.options, drawn.the_case.options);
    has_other_calls |= !(calls.the_case.scenario == drawn.the_case.scenario);
    has_other_options |= options.the_case.options != drawn.the_case.options;
  }
  EXPECT_TRUE(has_other_calls);
  EXPECT_TRUE(has_other_options);
}

// An engine that writes the memory of its inputs does not change what it is compared with.
TEST(Kit, FindsAnEngineThatWritesItsInputs) {
  const auto writes = [](const spec::Program&, std::span<const InputValue> inputs) {
    for (const InputValue& input : inputs) {
      if (const auto* tensor = std::get_if<spec::HostTensor>(&input)) {
        std::fill(tensor->storage->bytes.begin(), tensor->storage->bytes.end(), std::byte{0});
      }
    }
  };
  const Verdict verdict = judge(engine_with({.before = writes}), must(case_of(program_of(kRelu))));
  EXPECT_EQ(verdict.kind, Verdict::Kind::kFails);
  EXPECT_THAT(verdict.words, HasSubstr("final input 0: element [0] is 0"));
}

TEST(Kit, RefusesTensorsThatAreNone) {
  const auto cuts = [](const spec::Program&, CallResult& result) {
    std::get<spec::HostTensor>(result.outputs[0]).storage->bytes.resize(2);
  };
  const Verdict verdict = judge(engine_with({.after = cuts}), must(case_of(program_of(kRelu))));
  EXPECT_EQ(verdict.kind, Verdict::Kind::kFails);
  EXPECT_THAT(verdict.words, HasSubstr("elements lie outside of its storage"));
}

TEST(Kit, MatchersTellTheCaseAndTheFinding) {
  const Engine engine = engine_with(flips_with("aten.relu"));
  const auto matcher = ConformsTo(program_of(kRelu));
  EXPECT_THAT(engine_with({}), matcher);
  ::testing::StringMatchResultListener listener;
  EXPECT_FALSE(matcher.MatchAndExplain(engine, listener.stream()));
  EXPECT_THAT(listener.str(), HasSubstr("which comes to FAIL: "));
  EXPECT_THAT(listener.str(), HasSubstr("exact E1.exact"));
  std::ostringstream wanted;
  matcher.DescribeTo(&wanted);
  EXPECT_THAT(wanted.str(), HasSubstr("aten.relu.default(%x)"));
  std::ostringstream not_wanted;
  matcher.DescribeNegationTo(&not_wanted);
  EXPECT_THAT(not_wanted.str(), HasSubstr("does not conform on the case"));
  EXPECT_THAT(engine, Not(ConformsOnFile("/nowhere/x.case")));
}

TEST(Kit, KeepsFailingCasesWhereItIsTold) {
  const TestFolder folder;
  ASSERT_EQ(::setenv("GRAPHGATE_CASES", folder.path().c_str(), 1), 0);
  const Engine engine = engine_with(flips_with("aten.relu"));
  const std::string said = falsified(engine, kFewOps, 1);
  ASSERT_EQ(::unsetenv("GRAPHGATE_CASES"), 0);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    files.push_back(entry.path());
  }
  ASSERT_EQ(files.size(), 1U);
  EXPECT_THAT(said, HasSubstr("kept: " + files[0]));
  EXPECT_THAT(engine, Not(ConformsOnFile(files[0])));
  EXPECT_LE(fuzz::size_of(must(read_case(files[0]))).nodes, 1U);
}

RC_GTEST_PROP(KitGenerators, GiveProgramsThatAreCases, ()) {
  const ProgramWithOps drawn = *programs(kFewOps);
  RC_ASSERT(case_of(drawn.program).ok());
}

RC_GTEST_PROP(KitGenerators, GiveScenariosAndOptions, (const DrawnCase& drawn)) {
  const DrawnCase other = *scenarios(drawn);
  RC_ASSERT(spec::check_case(other.the_case).ok());
  RC_ASSERT((*configurations(drawn)).empty());  // the draw has no options
}

}  // namespace
}  // namespace graphgate::kit
