#include "conformance/run/script.h"

#include "conformance/run/scripted_test.h"

namespace graphgate::conformance {
namespace {

using namespace scripted;

using spec::HostTensor;

class NoFiles final : public CaseFiles {
 public:
  [[nodiscard]] Result<std::map<std::string, HostTensor, std::less<>>> tensors(
      const std::string& file) const override {
    if (file != "x.safetensors") return bad_input(file + ": is not there");
    return std::map<std::string, HostTensor, std::less<>>{{"key", spec::float_tensor({5, 6})}};
  }
};

const char* const kHead = R"(graphgate-case 1
seed 3
program "p" {
  symbol s0 in [1, 64] hint 4
  parameter %w "w" : f32[2]
  input %x : f32[s0, 2]
  input "flag" = True
  input %z : f32[2*s0]
  %y = aten.add.Tensor(%x, %w)
  output %y
  output %z
}
weights "p" seed 7
)";

Result<Script> script(const std::string& rest) {
  GRAPHGATE_TRY(const spec::CaseFile the_case, spec::parse_case(kHead + rest, "c"));
  GRAPHGATE_TRY_VOID(spec::check_case(the_case));
  return script_of(the_case, NoFiles());
}

const ScriptCall& call_at(const Script& made, std::size_t step) {
  return std::get<ScriptCall>(made.steps.at(step));
}

const HostTensor& input(const Script& made, std::size_t step, std::size_t index) {
  return std::get<HostTensor>(call_at(made, step).inputs.at(index));
}

TEST(CaseScript, DrawsInputsAtTheSizesThatTheCallNames) {
  const Script made = script("scenario {\n  call p\n  call p s0=3\n  call p size=5\n}\n").value();
  EXPECT_EQ(input(made, 0, 0).sizes, (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(input(made, 1, 0).sizes, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(input(made, 2, 0).sizes, (std::vector<std::int64_t>{5, 2}));
  EXPECT_EQ(input(made, 2, 1).sizes, (std::vector<std::int64_t>{10}));
  EXPECT_EQ(made.calls(), 3U);
}

TEST(CaseScript, TakesSizesFromTheInputsThatASetGives) {
  const Script made = script(R"(inputs "a" of "p" {
  x : f32[3, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
}
scenario {
  call p inputs=a
}
)")
                          .value();
  EXPECT_EQ(spec::elements_of(input(made, 0, 0)), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(input(made, 0, 1).sizes, (std::vector<std::int64_t>{6}));
}

TEST(CaseScript, RefusesASizeThatTheGivenInputsDoNotHave) {
  const Error made = failure_of(script(R"(inputs "a" of "p" {
  x : f32[3, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
}
scenario {
  call p s0=8 inputs=a
}
)"));
  EXPECT_EQ(made.kind, ErrorKind::kBadInput);
  EXPECT_EQ(made.message,
            "step 0 (call p s0=8 inputs=a): the inputs have s0 = 3, and the step names 8");
}

TEST(CaseScript, IsTheSameFromTheSameSeedAndDiffersBetweenCalls) {
  const std::string rest = "scenario {\n  call p\n  call p\n}\n";
  const Script a = script(rest).value();
  const Script b = script(rest).value();
  EXPECT_EQ(spec::elements_of(input(a, 0, 0)), spec::elements_of(input(b, 0, 0)));
  EXPECT_NE(spec::elements_of(input(a, 0, 0)), spec::elements_of(input(a, 1, 0)));
  EXPECT_EQ(spec::elements_of(a.programs[0]->tensors.at("w")),
            spec::elements_of(b.programs[0]->tensors.at("w")));
}

TEST(CaseScript, GivesASeededInputOfASetTheSameBytesInEveryCall) {
  const Script made = script(
                          "inputs \"a\" of \"p\" {\n  x seed 5\n}\nscenario {\n  call p inputs=a\n"
                          "  call p inputs=a\n}\n")
                          .value();
  EXPECT_EQ(spec::elements_of(input(made, 0, 0)), spec::elements_of(input(made, 1, 0)));
  EXPECT_NE(spec::elements_of(input(made, 0, 1)), spec::elements_of(input(made, 1, 1)));
}

TEST(CaseScript, ReadsTensorsFromFiles) {
  const Script made = script(
                          "inputs \"a\" of \"p\" {\n  z from \"x.safetensors\" key \"key\"\n}\n"
                          "scenario {\n  call p s0=1 inputs=a\n}\n")
                          .value();
  EXPECT_EQ(spec::elements_of(input(made, 0, 1)), (std::vector<float>{5, 6}));
  EXPECT_TRUE(contains(
      failure_of(script("inputs \"a\" of \"p\" {\n  z from \"y.safetensors\" key \"key\"\n}\n"
                        "scenario {\n  call p inputs=a\n}\n"))
          .message,
      "y.safetensors: is not there"));
}

TEST(CaseScript, CountsPortsWithoutConstantInputs) {
  const Script made =
      script("scenario {\n  call p\n  feed-back out1 -> in2\n  call p\n}\n").value();
  EXPECT_EQ(std::get<ScriptFeedBack>(made.steps[1]).input.index, 1U);
  EXPECT_TRUE(
      contains(failure_of(script("scenario {\n  call p\n  feed-back out1 -> in1\n}\n")).message,
               "input 'flag' is a constant"));
}

TEST(CaseScript, LetsInputsBeStaticThatShareNoStorageWithAnother) {
  const Script made = script("scenario {\n  static p.in2\n  call p\n}\n").value();
  EXPECT_EQ(std::get<ScriptStatic>(made.steps[0]).input.index, 1U) << "constants have no place";
  const std::string shared =
      "inputs \"a\" of \"p\" {\n  x : f32[1, 2] = [1.0, 2.0]\n  z : f32[2] = alias \"x\"\n}\n";
  EXPECT_TRUE(script(shared + "scenario {\n  static p.in2\n  call p inputs=a\n}\n").ok());
  EXPECT_EQ(failure_of(
                script(shared + "scenario {\n  static p.in0; static p.in2\n  call p inputs=a\n}\n"))
                .message,
            "step 2 (call p inputs=a): two static inputs share a storage");
}

TEST(CaseScript, SwapsEveryParameterBySeed) {
  const Script made =
      script("scenario {\n  call p\n  swap-weights p seed=9\n  swap-weights p\n}\n").value();
  const auto& first = std::get<ScriptSwap>(made.steps[1]);
  const auto& second = std::get<ScriptSwap>(made.steps[2]);
  ASSERT_EQ(first.values.size(), 1U);
  EXPECT_NE(spec::elements_of(first.values.at("w")), spec::elements_of(second.values.at("w")));
  EXPECT_NE(spec::elements_of(first.values.at("w")),
            spec::elements_of(made.programs[0]->tensors.at("w")));
}

TEST(CaseScript, RefusesToReleaseWhatIsNotHeld) {
  EXPECT_EQ(failure_of(script("scenario {\n  call p\n  release out0\n}\n")).message,
            "step 1 (release out0): that output is not held");
}

TEST(CaseScript, KeepsWhatTheCaseExpectsOfACallAndLeavesTheRestOpen) {
  const Script made = script(R"(scenario {
  call p s0=1
}
expect PASS
expect call 0 out1 : f32[2] = [1.0, 2.0]
)")
                          .value();
  const auto& expected = call_at(made, 0).expected;
  ASSERT_TRUE(expected.has_value());
  EXPECT_TRUE(expected->is_partial);
  EXPECT_TRUE(std::holds_alternative<spec::None>(expected->outputs.at(0)));
  EXPECT_EQ(spec::elements_of(std::get<HostTensor>(expected->outputs.at(1))),
            (std::vector<float>{1, 2}));
}

// A recording holds the elements alone; the program read on to the sixth number of the storage.
TEST(ProgramScript, MakesRoomInTheStorageOfARecordedInputForWhatTheProgramReads) {
  const spec::OpTable& builtin = spec::builtin_op_table();
  const auto ops = std::make_shared<const spec::OpTable>(builtin);
  const auto program = std::make_shared<const spec::Program>(must(spec::parse_program(R"(
program "part" {
  input %x : f32[2, 2]{3, 1}@1
  input %y : f32[2]
  %v : f32[4]{1}@1 = aten.as_strided.default(%x, [4], [1])
  %a : f32[3] = aten.as_strided.default(%v, [3], [2], 2)
  output %a
}
)",
                                                                                   builtin)));
  ExpectedCall call;
  HostTensor x = spec::float_tensor({1, 2, 4, 5});
  x.sizes = {2, 2};
  x.strides = {2, 1};
  call.inputs = {x, spec::float_tensor({7, 8})};
  const Script made = must(script_of(program, std::vector{call}, 1, 1, ops));
  const HostTensor& laid_out = input(made, 0, 0);
  EXPECT_EQ(laid_out.strides, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(laid_out.storage_offset, 1);
  EXPECT_EQ(laid_out.storage->bytes.size(), 7 * sizeof(float));
  EXPECT_EQ(spec::elements_of(laid_out), (std::vector<float>{1, 2, 4, 5}));
  EXPECT_EQ(input(made, 0, 1).storage->bytes.size(), 2 * sizeof(float));
}

}  // namespace
}  // namespace graphgate::conformance
