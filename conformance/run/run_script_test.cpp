#include "conformance/run/scripted_test.h"

namespace graphgate::conformance {
namespace {

using namespace scripted;

using spec::CallResult;
using spec::HostTensor;

// y = x + (number of calls before), and state "s" that can be set.
class CountingProgram final : public spec::LoadedProgram {
 public:
  explicit CountingProgram(bool can_hold) : can_hold_(can_hold) {}

  Result<CallResult> call(std::span<const spec::InputValue> inputs) override {
    const auto given = spec::elements_of(std::get<HostTensor>(inputs[0]));
    if (given[0] < 0) return bad_input("negative");
    last_ = spec::float_tensor({given[0] + calls_++, given[1]});
    CallResult result;
    result.outputs = {last_};
    result.final_inputs.assign(inputs.begin(), inputs.end());
    return result;
  }

  // The weakest output there is: it shows what the last call made.
  Result<std::shared_ptr<spec::HeldOutput>> hold(std::size_t) override {
    if (!can_hold_) return unsupported("cannot hold");
    struct Weak final : spec::HeldOutput {
      explicit Weak(const HostTensor& seen) : last(seen) {}
      [[nodiscard]] Result<HostTensor> read() const override { return last; }
      const HostTensor& last;
    };
    return std::shared_ptr<spec::HeldOutput>(std::make_shared<Weak>(last_));
  }

 private:
  bool can_hold_;
  float calls_ = 0;
  HostTensor last_;
};

class CountingExecutor final : public spec::Executor {
 public:
  explicit CountingExecutor(bool can_hold = true) : can_hold_(can_hold) {}
  [[nodiscard]] std::string_view name() const override { return "counting"; }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program&) override {
    return std::unique_ptr<spec::LoadedProgram>(std::make_unique<CountingProgram>(can_hold_));
  }

 private:
  bool can_hold_;
};

Script script_with(std::vector<ScriptStep> steps) {
  return Script{.ops = builtin_ops(), .programs = {relu_program()}, .steps = std::move(steps)};
}

ScriptCall call_with(float x) { return {0, {spec::float_tensor({x, 1})}, {}, std::nullopt}; }

float first(const HostTensor& tensor) { return spec::elements_of(tensor)[0]; }
float output(const Trace& trace, std::size_t call) {
  return first(std::get<HostTensor>(trace.calls.at(call).result.outputs[0]));
}

TEST(RunScript, PassesAnOutputBackToTheNextCallAlone) {
  CountingExecutor executor;
  const Trace trace = run_script(
      script_with({call_with(1), ScriptFeedBack{{0, 0}, {0, 0}}, call_with(5), call_with(7)}),
      executor, {});
  ASSERT_FALSE(trace.error) << trace.error->message;
  EXPECT_EQ(output(trace, 1), 2);
  EXPECT_EQ(first(std::get<HostTensor>(trace.calls[1].inputs[0])), 1);
  EXPECT_EQ(output(trace, 2), 9);
}

// What each call was passed: where it lay, how much, and the first element that the executor saw.
struct Passed {
  const std::byte* address = nullptr;
  std::size_t bytes = 0;
  float first = 0;
  bool shares = false;  // with the second input
};

// Hands its inputs back as results, as an executor may that copies nothing.
class PassingExecutor final : public spec::Executor {
 public:
  explicit PassingExecutor(std::vector<Passed>& passed) : passed_(passed) {}
  [[nodiscard]] std::string_view name() const override { return "passing"; }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program&) override {
    struct Loaded final : spec::LoadedProgram {
      explicit Loaded(std::vector<Passed>& seen) : passed(seen) {}
      Result<CallResult> call(std::span<const spec::InputValue> inputs) override {
        const auto& tensor = std::get<HostTensor>(inputs[0]);
        const bool shares =
            inputs.size() > 1 && std::get<HostTensor>(inputs[1]).storage == tensor.storage;
        const auto elements = spec::elements_of(tensor);
        passed.push_back({tensor.storage->bytes.data(), tensor.storage->bytes.size(),
                          elements.empty() ? 0 : elements[0], shares});
        CallResult result;
        result.outputs = {tensor};
        result.final_inputs.assign(inputs.begin(), inputs.end());
        return result;
      }
      std::vector<Passed>& passed;
    };
    return std::unique_ptr<spec::LoadedProgram>(std::make_unique<Loaded>(passed_));
  }

 private:
  std::vector<Passed>& passed_;
};

TEST(RunScript, WritesAStaticInputInPlaceAndKeepsWhatEarlierCallsGave) {
  std::vector<Passed> passed;
  PassingExecutor executor(passed);
  ScriptCall longer{0, {spec::float_tensor({5, 6, 7})}, {}, std::nullopt};
  ScriptCall empty{0, {spec::float_tensor({})}, {}, std::nullopt};
  const Trace trace = run_script(
      script_with({call_with(1), ScriptStatic{{0, 0}}, call_with(2), longer, empty, call_with(3)}),
      executor, {});
  ASSERT_FALSE(trace.error) << trace.error->message;
  ASSERT_EQ(passed.size(), 5U);
  EXPECT_NE(passed[0].address, passed[1].address) << "it was not static yet";
  for (std::size_t call = 1; call < passed.size(); ++call) {
    EXPECT_EQ(passed[call].address, passed[1].address) << call;
    if (passed[call].bytes == 0) continue;
    EXPECT_EQ(passed[call].first, first(std::get<HostTensor>(trace.calls[call].inputs[0]))) << call;
  }
  EXPECT_EQ(passed[2].bytes, 3 * sizeof(float));
  EXPECT_EQ(passed[3].bytes, 0U);
  EXPECT_EQ(output(trace, 1), 2) << "a result over the caller's memory is as it was";
  EXPECT_EQ(output(trace, 2), 5);
  const auto& result = trace.calls[1].result;
  EXPECT_EQ(std::get<HostTensor>(result.outputs[0]).storage,
            std::get<HostTensor>(result.final_inputs[0]).storage);
}

TEST(RunScript, PutsWhatSharesAStorageWithAStaticInputWhereThatLies) {
  std::vector<Passed> passed;
  PassingExecutor executor(passed);
  const HostTensor x = spec::float_tensor({1, 2});
  const ScriptCall shared{0, {x, x}, {}, std::nullopt};
  const ScriptCall apart{0, {x, spec::float_tensor({1, 2})}, {}, std::nullopt};
  const Script script = script_with({ScriptStatic{{0, 0}}, shared, apart});
  ASSERT_FALSE(run_script(script, executor, {}).error);
  EXPECT_TRUE(passed[0].shares);
  EXPECT_FALSE(passed[1].shares);
  EXPECT_EQ(passed[0].address, passed[1].address);
}

TEST(RunScript, CopiesWhatIsFedBackToAStaticInput) {
  std::vector<Passed> passed;
  PassingExecutor executor(passed);
  const Script script = script_with({ScriptStatic{{0, 0}}, call_with(1), call_with(2),
                                     ScriptFeedBack{{0, 0}, {0, 0}}, call_with(3), call_with(4)});
  ASSERT_FALSE(run_script(script, executor, {}).error);
  ASSERT_EQ(passed.size(), 4U);
  EXPECT_EQ(passed[2].first, 2);
  EXPECT_EQ(passed[3].first, 4);
  EXPECT_EQ(passed[2].address, passed[0].address);
}

TEST(RunScript, RefusesWhatDoesNotFitAStaticInput) {
  std::vector<Passed> passed;
  PassingExecutor executor(passed);
  ScriptCall longer{0, {spec::float_tensor({5, 6, 7})}, {}, std::nullopt};
  Script script = script_with({longer, ScriptStatic{{0, 0}}, call_with(1)});
  script.programs.push_back(script.programs.front());
  script.steps.emplace_back(ScriptStatic{{1, 0}});
  script.steps.emplace_back(ScriptFeedBack{{0, 0}, {1, 0}});
  script.steps.emplace_back(ScriptCall{1, {spec::float_tensor({1})}, {}, std::nullopt});
  const Trace trace = run_script(script, executor, {});
  ASSERT_TRUE(trace.error);
  EXPECT_EQ(trace.error->message, "static input 0 does not fit where it was");
}

TEST(RunScript, SeesAHeldOutputThatALaterRunOverwrote) {
  CountingExecutor executor;
  const Trace trace = run_script(script_with({call_with(1), ScriptHold{{0, 0}}, call_with(5),
                                              ScriptCheck{}, ScriptRelease{{0, 0}}}),
                                 executor, {});
  ASSERT_FALSE(trace.error) << trace.error->message;
  ASSERT_EQ(trace.held.size(), 2U) << "at the check, and before the release";
  EXPECT_EQ(trace.held[0].step, 3U);
  EXPECT_EQ(trace.held[0].held_at, 1U);
  EXPECT_EQ(first(trace.held[0].then), 1);
  EXPECT_EQ(first(*trace.held[0].now), 6);
}

TEST(RunScript, HoldsTheReturnedCopyOfAnExecutorThatCannotHold) {
  CountingExecutor executor(false);
  const Trace trace =
      run_script(script_with({call_with(1), ScriptHold{{0, 0}}, call_with(5)}), executor, {});
  ASSERT_EQ(trace.held.size(), 1U) << "at the end";
  EXPECT_EQ(trace.held[0].step, 3U);
  EXPECT_EQ(first(*trace.held[0].now), 1);
}

TEST(RunScript, EndsAtTheStepThatIsRefusedAndKeepsWhatCameBefore) {
  CountingExecutor executor;
  const Trace trace =
      run_script(script_with({call_with(1), call_with(-1), call_with(2)}), executor, {});
  ASSERT_TRUE(trace.error);
  EXPECT_EQ(trace.error->message, "negative");
  EXPECT_EQ(trace.error_step, 1U);
  EXPECT_TRUE(trace.is_loaded);
  EXPECT_EQ(trace.calls.size(), 1U);
}

TEST(RunScript, StartsAnewAfterARestart) {
  CountingExecutor executor;
  const Script script = script_with({call_with(1), call_with(1), ScriptRestart{}, call_with(1)});
  const Trace trace = run_script(script, executor, {}, [](const ScriptRestart&) {
    return Result<std::unique_ptr<spec::Executor>>(std::make_unique<CountingExecutor>());
  });
  ASSERT_FALSE(trace.error) << trace.error->message;
  EXPECT_EQ(output(trace, 1), 2);
  EXPECT_EQ(output(trace, 2), 1);
  const Trace without = run_script(script, executor, {});
  ASSERT_TRUE(without.error);
  EXPECT_EQ(without.error->kind, ErrorKind::kUnsupported);
  EXPECT_EQ(without.error_step, 2U);
}

// Sleeps, and serves a call all the same where it is told to.
class SleepingExecutor final : public spec::Executor {
 public:
  explicit SleepingExecutor(bool serves) : serves_(serves) {}
  [[nodiscard]] std::string_view name() const override { return "sleeping"; }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program&) override {
    struct Loaded final : spec::LoadedProgram {
      explicit Loaded(const bool& refuses) : is_refused(refuses) {}
      Result<CallResult> call(std::span<const spec::InputValue> inputs) override {
        if (is_refused) return bad_input("asleep");
        CallResult result;
        result.outputs = {std::get<HostTensor>(inputs[0])};
        result.final_inputs.assign(inputs.begin(), inputs.end());
        return result;
      }
      const bool& is_refused;
    };
    return std::unique_ptr<spec::LoadedProgram>(std::make_unique<Loaded>(is_refused_));
  }
  Result<bool> sleep(const spec::SleepRequest& asked) override {
    level = asked.level;
    is_refused_ = !serves_;
    return true;
  }
  Result<void> wake(std::optional<spec::SleepPart> part) override {
    woken.push_back(part);
    if (!part || *part == spec::SleepPart::kCaches) is_refused_ = false;
    return {};
  }

  int level = 0;
  std::vector<std::optional<spec::SleepPart>> woken;

 private:
  bool serves_;
  bool is_refused_ = false;
};

TEST(RunScript, TakesTheRefusalOfACallWhileMemorySleepsForDue) {
  const auto trace_of = [](bool serves) {
    SleepingExecutor executor(serves);
    return run_script(
        script_with({call_with(1), ScriptSleep{}, ScriptWake{spec::SleepPart::kWeights},
                     call_with(2), call_with(3)}),
        executor, {});
  };
  const Trace refused = trace_of(false);
  ASSERT_TRUE(refused.error);
  EXPECT_TRUE(refused.is_refusal_due);
  EXPECT_EQ(refused.error_step, 3U);
  EXPECT_TRUE(refused.once_findings.empty());
  const Trace served = trace_of(true);
  EXPECT_FALSE(served.error);
  ASSERT_EQ(served.once_findings.size(), 2U) << "each call that was to be refused";
  EXPECT_EQ(served.once_findings[0].rule, "R3.not-refused");
}

TEST(RunScript, CallsWhatIsAwakeAgain) {
  SleepingExecutor executor(false);
  const Trace trace = run_script(
      script_with({call_with(1), ScriptSleep{{2, {"k"}}}, ScriptWake{spec::SleepPart::kWeights},
                   ScriptWake{spec::SleepPart::kCaches}, call_with(2)}),
      executor, {});
  ASSERT_FALSE(trace.error) << trace.error->message;
  EXPECT_FALSE(trace.is_refusal_due);
  EXPECT_EQ(executor.level, 2);
  EXPECT_EQ(executor.woken.size(), 2U);
  EXPECT_EQ(output(trace, 1), 2);
}

TEST(RunScript, HoldsNoSleepAgainstAnExecutorThatHasNone) {
  CountingExecutor executor;
  const Trace awake = run_script(
      script_with({call_with(1), ScriptSleep{}, ScriptWake{}, call_with(1)}), executor, {});
  ASSERT_FALSE(awake.error) << awake.error->message;
  EXPECT_EQ(output(awake, 1), 2);
  Script called = script_with({call_with(1), ScriptSleep{}, call_with(1)});
  const Trace served = run_script(called, executor, {});
  ASSERT_FALSE(served.error) << served.error->message;
  EXPECT_TRUE(served.once_findings.empty());
  called.expectation.refusal = spec::ExpectedRefusal{1, ""};
  const Trace refused = run_script(called, executor, {});
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->kind, ErrorKind::kUnsupported);
  EXPECT_FALSE(refused.is_refusal_due);
}

TEST(RunScript, TellsASwapThatTheExecutorCannotDo) {
  CountingExecutor executor;
  ScriptSwap swap;
  swap.values.emplace("w", spec::float_tensor({1}));
  const Trace trace = run_script(script_with({swap, call_with(1)}), executor, {});
  ASSERT_TRUE(trace.error);
  EXPECT_EQ(trace.error->kind, ErrorKind::kUnsupported);
}

TEST(RunScript, TakesStatesInAnyOrder) {
  GivenStates given;
  const auto answer = [](std::span<const spec::InputValue> inputs, std::size_t) {
    CallResult result;
    result.final_inputs.assign(inputs.begin(), inputs.end());
    result.state_targets = {"w", "b", "c"};
    result.final_states = {spec::float_tensor({3}), spec::float_tensor({1}),
                           spec::float_tensor({2})};
    return Result<CallResult>(result);
  };
  ScriptedExecutor executor("scripted", answer, given, /*is_as_unwatched=*/false);
  const Trace trace = run_script(script_with({call_with(1)}), executor, {});
  ASSERT_EQ(trace.calls.size(), 1U);
  const CallResult& result = trace.calls[0].result;
  EXPECT_EQ(result.state_targets, (std::vector<std::string>{"b", "c", "w"}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(spec::elements_of(result.final_states[i])[0], static_cast<float>(i + 1));
  }
}

}  // namespace
}  // namespace graphgate::conformance
