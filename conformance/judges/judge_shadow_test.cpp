// The judges of memory and state on executors that answer what a test says.

#include "base/result_test.h"
#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "conformance/run/scripted_source_test.h"

namespace graphgate::conformance {
namespace {

using spec::Outcome;
using Floats = std::vector<float>;
using Elements = std::vector<std::vector<float>>;

bool has(const Configuration& configuration, const char* name, const char* value) {
  const auto found = configuration.find(name);
  return found != configuration.end() && found->second == value;
}

std::string rules_of(const JudgeReport& report) {
  std::string text;
  for (const spec::Finding& finding : report.findings) text += finding.rule + " ";
  return text;
}

struct Judged {
  explicit Judged(const Answer& answer, std::vector<std::string> options)
      : script(script_over_floats({{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {1, 1, 1}}})),
        subject(answer, std::move(options)),
        oracle(product()) {}

  JudgeReport shadow() const {
    Runs runs(script, subject, oracle);
    return judge_shadow(runs, {}).value();
  }
  JudgeReport state() const {
    Runs runs(script, subject, oracle);
    return judge_state(runs, {}).value();
  }

  Script script;
  ScriptedSource subject;
  ScriptedSource oracle;
};

// What stands where nobody wrote shows in the second element of the second call.
Answer hangs_on_poison(const char* poison) {
  return [poison](const Configuration& configuration, std::size_t call,
                  const Elements& inputs) -> Result<Floats> {
    Floats out = product()({}, call, inputs).value();
    if (call == 1 && has(configuration, "poison", poison)) out[1] += 1;
    return out;
  };
}

TEST(JudgeShadow, PassesWhatPoisonDoesNotChange) {
  const JudgeReport report = Judged(product(), {"poison", "mode"}).shadow();
  EXPECT_EQ(report.outcome, Outcome::kPass) << rules_of(report);
  EXPECT_GT(report.checks, 0);
  EXPECT_EQ(report.remark, "scripted has no shadow memory") << "no padded plan, so no pad to fill";
}

TEST(JudgeShadow, FindsResultsThatHangOnBytesThatNothingWrote) {
  for (const char* poison : {"0x00", "0xff", "0x7b"}) {
    const JudgeReport report = Judged(hangs_on_poison(poison), {"poison"}).shadow();
    EXPECT_EQ(report.outcome, Outcome::kFail);
    ASSERT_EQ(rules_of(report), "S9.poison ");
    EXPECT_TRUE(contains(report.findings[0].message, "call 1, output 0"));
    EXPECT_TRUE(contains(report.findings[0].message, poison));
  }
}

// An index out of poisoned bytes is refused by the op that takes it.
TEST(JudgeShadow, FindsPoisonThatEndsTheRun) {
  const Answer answer = [](const Configuration& configuration, std::size_t call,
                           const Elements& inputs) -> Result<Floats> {
    if (has(configuration, "poison", "0xff")) return bad_input("index -1 is out of range");
    return product()(configuration, call, inputs);
  };
  const JudgeReport report = Judged(answer, {"poison"}).shadow();
  ASSERT_EQ(rules_of(report), "S9.poison ");
  EXPECT_TRUE(contains(report.findings[0].message, "index -1"));
}

TEST(JudgeShadow, TakesWhatTheInstrumentSawOutOfTheReasonOfARefusal) {
  const Answer answer = [](const Configuration& configuration, std::size_t call,
                           const Elements& inputs) -> Result<Floats> {
    if (call == 1 && has(configuration, "instrument", "shadow")) {
      return bad_input("p: index 9 is out of range (S2.stale-read: 'a' reads $b)");
    }
    return product()(configuration, call, inputs);
  };
  const JudgeReport report = Judged(answer, {"instrument", "poison"}).shadow();
  EXPECT_EQ(rules_of(report), "S2.stale-read ");
}

TEST(JudgeShadow, IsUnsupportedWhereTheExecutorRefusesTheScript) {
  const Answer answer = [](const Configuration&, std::size_t, const Elements&) -> Result<Floats> {
    return unsupported("no such op");
  };
  EXPECT_EQ(Judged(answer, {}).shadow().outcome, Outcome::kUnsupported);
}

// --- State --------------------------------------------------------------------------------------

// Executors whose calls leave other inputs or states behind than they should.
struct Leaves final : ExecutorSource {
  enum class Fault { kNone, kInput, kState, kSharing };
  explicit Leaves(Fault what) : fault(what) {}

  struct Loaded final : spec::LoadedProgram {
    Loaded(const spec::Program& program, Fault what) : states(program.tensors), fault(what) {}
    Result<spec::CallResult> call(std::span<const spec::InputValue> inputs) override {
      spec::CallResult result;
      result.final_inputs.assign(inputs.begin(), inputs.end());
      ++calls;
      for (auto& [target, tensor] : states) {
        Floats values = spec::elements_of(tensor);
        // add_ of 1 per call; the last call goes wrong.
        const bool is_written = target == "b";
        for (float& x : values) x += is_written ? 1.0F : 0.0F;
        const bool is_wrong = fault == Fault::kState && is_written && calls == 2;
        if (is_wrong) values[0] += 1;
        tensor = spec::float_tensor(values);
        result.state_targets.push_back(target);
        result.final_states.push_back(spec::float_tensor(values));
        result.final_state_spreads.push_back(spread_of(values));
      }
      if (fault == Fault::kInput && calls == 2)
        result.final_inputs[0] = spec::float_tensor({1, 2, 4});
      if (fault == Fault::kSharing) result.final_states[1].storage = result.final_states[0].storage;
      for (const spec::InputValue& input : result.final_inputs) {
        result.final_input_spreads.push_back(spread_of(spec::elements_of(input)));
      }
      return result;
    }
    Result<void> set_state(std::string_view target, const spec::HostTensor& value,
                           bool /*rebind*/) override {
      states.insert_or_assign(std::string(target), value);
      return {};
    }
    static spec::Spread spread_of(const Floats& elements) {
      spec::Spread spread;
      for (const float x : elements) spread.values.push_back(static_cast<long double>(x));
      spread.radii.assign(elements.size(), 0);
      return spread;
    }
    std::map<std::string, spec::HostTensor, std::less<>> states;
    Fault fault;
    int calls = 0;
  };
  struct Made final : spec::Executor {
    explicit Made(Fault what) : fault(what) {}
    [[nodiscard]] std::string_view name() const override { return "leaves"; }
    Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
      return std::unique_ptr<spec::LoadedProgram>(std::make_unique<Loaded>(program, fault));
    }
    Fault fault;
  };
  [[nodiscard]] std::string_view name() const override { return "leaves"; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(const Configuration&,
                                                             const spec::OpTable&) const override {
    return std::unique_ptr<spec::Executor>(std::make_unique<Made>(fault));
  }
  Fault fault;
};

JudgeReport state_of(Leaves::Fault fault) {
  const Script script = script_over_floats({{{1, 2, 3}}, {{1, 2, 3}}}, R"(program "p" {
  buffer %b "b" : f32[3] = [0.0, 0.0, 0.0]
  parameter %w "w" : f32[3] = [1.0, 2.0, 3.0]
  input %x : f32[3]
  %t = aten.add_.Tensor(%b, 1.0)
})");
  const Leaves subject(fault);
  const Leaves oracle(Leaves::Fault::kNone);
  Runs runs(script, subject, oracle);
  return judge_state(runs, {}).value();
}

TEST(JudgeState, PassesWhatTheOracleLeavesBehindToo) {
  const JudgeReport report = state_of(Leaves::Fault::kNone);
  EXPECT_EQ(report.outcome, Outcome::kPass) << rules_of(report);
  EXPECT_GT(report.checks, 12);
}

TEST(JudgeState, LooksAfterEveryCall) {
  const JudgeReport report = state_of(Leaves::Fault::kState);
  ASSERT_EQ(rules_of(report), "T1.state-differs ");
  EXPECT_TRUE(contains(report.findings[0].message, "call 1, state 'b'"));
}

TEST(JudgeState, FindsWritesThatNoNodeMayMake) {
  const JudgeReport report = state_of(Leaves::Fault::kInput);
  EXPECT_EQ(rules_of(report), "T2.undeclared-write T1.state-differs ");
  EXPECT_EQ(report.findings[0].message,
            "call 1, final input 0: has changed, and no node of the program may write it");
}

TEST(JudgeState, ComparesWhoSharesMemory) {
  const JudgeReport report = state_of(Leaves::Fault::kSharing);
  EXPECT_TRUE(contains(rules_of(report), "T3.state-geometry"));
}

}  // namespace
}  // namespace graphgate::conformance
