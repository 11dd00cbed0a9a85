// The harness, judged with executors that are wrong on purpose. No real executor is used: whatever
// the harness says here, it says from spec::Executor alone.
#include "conformance/harness/check_program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

namespace graphgate::conformance {
namespace {

using spec::CallResult;
using spec::DType;
using spec::HostTensor;
using spec::Outcome;

HostTensor floats(const std::vector<float>& elements) {
  HostTensor tensor =
      spec::make_host_tensor(DType::kFloat32, {static_cast<std::int64_t>(elements.size())});
  std::memcpy(tensor.storage->bytes.data(), elements.data(), elements.size() * sizeof(float));
  return tensor;
}

// An executor that answers what it is told to.
class Scripted final : public spec::Executor {
 public:
  using Answer = std::function<Result<CallResult>(std::span<const spec::InputValue>)>;
  Scripted(std::string name, Answer answer) : name_(std::move(name)), answer_(std::move(answer)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program&) override {
    struct Loaded final : spec::LoadedProgram {
      explicit Loaded(Answer scripted) : answer(std::move(scripted)) {}
      Result<CallResult> call(std::span<const spec::InputValue> inputs) override {
        return answer(inputs);
      }
      Answer answer;
    };
    return std::unique_ptr<spec::LoadedProgram>(std::make_unique<Loaded>(answer_));
  }

 private:
  std::string name_;
  Answer answer_;
};

// y = f(x) over one float32[2] input.
spec::Program program() {
  spec::Program program;
  program.name = "p";
  spec::Value x;
  x.name = "x";
  x.type = spec::TensorType{DType::kFloat32, {2}, {1}, 0, {}, {}};
  spec::Value y = x;
  y.name = "y";
  program.graph.values = {x, y};
  program.graph.inputs = {{0}};
  spec::Node node;
  node.name = "the_node";
  node.op = "aten.relu.default";
  node.arguments = {{"self", {spec::ValueId{0}}}};
  node.results = {{false, {{1}}}};
  program.graph.nodes = {node};
  program.graph.outputs = {{spec::ValueId{1}}};
  program.inputs = {{spec::InputKind::kUserInput, {0}, "x", true, std::nullopt}};
  program.outputs = {{spec::OutputKind::kUserOutput, ""}};
  return program;
}

CallResult result_of(const std::vector<float>& output, std::span<const spec::InputValue> inputs,
                     double radius = 0) {
  CallResult result;
  result.outputs = {floats(output)};
  result.final_inputs.assign(inputs.begin(), inputs.end());
  spec::Spread spread;
  for (const float x : output) spread.values.push_back(static_cast<long double>(x));
  spread.radii.assign(output.size(), radius);
  result.output_spreads = {spread};
  const auto& given = std::get<HostTensor>(inputs[0]);
  std::vector<float> elements(2);
  std::memcpy(elements.data(), given.storage->bytes.data(), 2 * sizeof(float));
  result.final_input_spreads = {spec::Spread{{elements[0], elements[1]}, {0, 0}}};
  return result;
}

Scripted answering(std::string name, std::vector<float> output, double radius = 0) {
  return {std::move(name), [=](std::span<const spec::InputValue> inputs) -> Result<CallResult> {
            return result_of(output, inputs, radius);
          }};
}

ExpectedCall recording(const std::vector<float>& output) {
  ExpectedCall call;
  call.inputs = {floats({1, 2})};
  call.outputs = {floats(output)};
  call.geometries = {geometry_of(floats(output))};
  call.shared_with = {""};
  return call;
}

ProgramReport check(Scripted& executor, Scripted& oracle, Scripted& bounds,
                    std::vector<ExpectedCall> calls) {
  const spec::Program p = program();
  spec::Executor* const executors[] = {&executor};
  auto report = check_program(p, calls, {executors, &oracle, &bounds}, {});
  EXPECT_TRUE(report.ok());
  return std::move(report).value();
}

TEST(CheckProgram, PassesWhatLiesWithinTheEstimate) {
  Scripted executor = answering("e", {1, 2});
  Scripted oracle = answering("o", {1, 2}, 1e-3);
  const auto report = check(executor, oracle, oracle, {recording({1.0005F, 2})});
  EXPECT_EQ(report.outcome, Outcome::kPass) << report.reason;
  EXPECT_GT(report.worst_ratio, 0);
}

TEST(CheckProgram, CallsANumberOutsideTheEstimateButWithinItsBoundSuspect) {
  Scripted executor = answering("e", {1, 2});
  Scripted oracle = answering("o", {1, 2}, 1e-6);
  Scripted bounds = answering("b", {1, 2}, 1.0);
  const auto report = check(executor, oracle, bounds, {recording({1.5F, 2})});
  EXPECT_EQ(report.outcome, Outcome::kSuspect);
}

TEST(CheckProgram, FailsANumberOutsideItsBoundAndNamesTheNode) {
  Scripted executor = answering("e", {1, 2});
  Scripted oracle = answering("o", {1, 2}, 1e-6);
  Scripted bounds = answering("b", {1, 2}, 1e-5);
  const auto report = check(executor, oracle, bounds, {recording({1.5F, 2})});
  EXPECT_EQ(report.outcome, Outcome::kFail);
  EXPECT_EQ(report.node, "the_node");
  EXPECT_NE(report.reason.find("recording: call 0, output 0: element [0]"), std::string::npos)
      << report.reason;
}

TEST(CheckProgram, FailsAnExecutorThatIsOffThoughTheRecordingIsRight) {
  Scripted executor = answering("off", {1, 3});
  Scripted oracle = answering("o", {1, 2}, 1e-6);
  const auto report = check(executor, oracle, oracle, {recording({1, 2})});
  EXPECT_EQ(report.outcome, Outcome::kFail);
  EXPECT_EQ(report.differences.front().subject, "off");
}

TEST(CheckProgram, FailsAnInputThatWasChangedThoughNotRecordedSo) {
  Scripted executor{"mutant", [](std::span<const spec::InputValue> inputs) -> Result<CallResult> {
                      CallResult result = result_of({1, 2}, inputs);
                      result.final_inputs = {floats({9, 9})};
                      return result;
                    }};
  Scripted oracle = answering("o", {1, 2});
  const auto report = check(executor, oracle, oracle, {recording({1, 2})});
  EXPECT_EQ(report.outcome, Outcome::kFail);
}

TEST(CheckProgram, FailsAnOutputThatSharesAnInputsStorageUnrecorded) {
  Scripted executor{"alias", [](std::span<const spec::InputValue> inputs) -> Result<CallResult> {
                      CallResult result = result_of({1, 2}, inputs);
                      result.outputs = {std::get<HostTensor>(inputs[0])};
                      return result;
                    }};
  Scripted oracle = answering("o", {1, 2});
  const auto report = check(executor, oracle, oracle, {recording({1, 2})});
  EXPECT_EQ(report.outcome, Outcome::kFail);
  EXPECT_NE(report.reason.find("shares storage with input0"), std::string::npos) << report.reason;
}

TEST(CheckProgram, FailsAnotherStrideThanRecorded) {
  Scripted executor = answering("e", {1, 2});
  Scripted oracle = answering("o", {1, 2});
  ExpectedCall call = recording({1, 2});
  call.geometries[0]->strides = {2};
  EXPECT_EQ(check(executor, oracle, oracle, {call}).outcome, Outcome::kFail);
}

TEST(CheckProgram, IsUndecidedWhenTheOracleCanTellOfNothing) {
  Scripted executor = answering("e", {1, 2});
  Scripted oracle{
      "o", [](std::span<const spec::InputValue> inputs) -> Result<CallResult> {
        CallResult result = result_of({1, 2}, inputs, std::numeric_limits<double>::infinity());
        result.final_input_spreads[0].radii.assign(2, std::numeric_limits<double>::infinity());
        return result;
      }};
  EXPECT_EQ(check(executor, oracle, oracle, {recording({5, 6})}).outcome, Outcome::kUndecided);
}

TEST(CheckProgram, MistrustsAProgramWithoutNodes) {
  Scripted executor = answering("e", {1, 2});
  spec::Program empty = program();
  empty.graph.nodes.clear();
  spec::Executor* const executors[] = {&executor};
  const auto report = check_program(empty, {}, {executors, &executor, &executor}, {});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().outcome, Outcome::kMistrusted);
}

TEST(CheckProgram, AllowsAnInputToChangeWithTheOneItWasGivenOver) {
  Scripted executor{
      "e", [](std::span<const spec::InputValue> inputs) -> Result<CallResult> {
        CallResult result = result_of({1, 2}, inputs);
        result.final_inputs = {floats({9, 9}), floats({9, 9})};
        result.final_input_spreads = {spec::Spread{{9, 9}, {0, 0}}, spec::Spread{{9, 9}, {0, 0}}};
        return result;
      }};
  ExpectedCall call = recording({1, 2});
  call.inputs.push_back(call.inputs[0]);  // the same storage
  call.final_inputs.emplace(0, floats({9, 9}));
  const auto report = check(executor, executor, executor, {call});
  EXPECT_EQ(report.outcome, Outcome::kPass) << report.reason;
}

TEST(CheckProgram, ReportsAnExecutorThatCannotRunTheProgram) {
  struct Refusing final : spec::Executor {
    [[nodiscard]] std::string_view name() const override { return "refusing"; }
    Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program&) override {
      return unsupported("no kernel for aten.relu.default");
    }
  } refusing;
  Scripted oracle = answering("o", {1, 2});
  const spec::Program p = program();
  spec::Executor* const executors[] = {&refusing};
  const auto report = check_program(p, {}, {executors, &oracle, &oracle}, {});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().outcome, Outcome::kUnsupported);
  EXPECT_EQ(report.value().reason, "no kernel for aten.relu.default");
}

TEST(SeededInputs, AreTheSameForTheSameSeedAndDifferBetweenCalls) {
  const spec::Program p = program();
  const auto bytes = [&](std::uint64_t seed, int call) {
    return std::get<HostTensor>(seeded_inputs(p, seed, call).value()[0]).storage->bytes;
  };
  EXPECT_EQ(bytes(1, 0), bytes(1, 0));
  EXPECT_NE(bytes(1, 0), bytes(1, 1));
  EXPECT_NE(bytes(1, 0), bytes(2, 0));
}

TEST(SeededInputs, StayWithinTheRangeOfASymbol) {
  spec::Program p = program();
  p.symbols["s0"] = {3, 5, 4};
  p.graph.values[0].type->sizes = {spec::SymExpr::symbol("s0")};
  std::vector<std::int64_t> seen;
  for (int call = 0; call < 4; ++call) {
    seen.push_back(std::get<HostTensor>(seeded_inputs(p, 1, call).value()[0]).sizes[0]);
  }
  EXPECT_EQ(seen, (std::vector<std::int64_t>{4, 5, 3, 4}));
}

TEST(SeededInputs, HaveTheStridesThatTheProgramDeclares) {
  spec::Program p = program();
  p.symbols["s0"] = {3, 3, 3};
  p.graph.values[0].type->sizes = {spec::SymExpr::symbol("s0"), 2};
  p.graph.values[0].type->strides = {1, spec::SymExpr::symbol("s0")};
  const auto transposed = std::get<HostTensor>(seeded_inputs(p, 1, 0).value()[0]);
  EXPECT_EQ(transposed.strides, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(transposed.storage->bytes.size(), 6 * sizeof(float));
  p.graph.values[0].type->strides = {2, 1};
  const auto packed = std::get<HostTensor>(seeded_inputs(p, 1, 0).value()[0]);
  EXPECT_EQ(spec::packed_bytes(packed), spec::packed_bytes(transposed));
}

// Strides that put two elements into one place cannot hold what a packed tensor holds.
TEST(SeededInputs, StayPackedWhereTheDeclaredStridesOverlap) {
  spec::Program p = program();
  p.graph.values[0].type->sizes = {3, 2};
  p.graph.values[0].type->strides = {1, 1};
  EXPECT_EQ(std::get<HostTensor>(seeded_inputs(p, 1, 0).value()[0]).strides,
            (std::vector<std::int64_t>{2, 1}));
}

}  // namespace
}  // namespace graphgate::conformance
