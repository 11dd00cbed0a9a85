#include "conformance/harness/scripted_test.h"

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
    const auto given = elements_of(std::get<HostTensor>(inputs[0]));
    if (given[0] < 0) return bad_input("negative");
    last_ = floats({given[0] + calls_++, given[1]});
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
  Script script;
  script.ops = builtin_ops();
  script.programs = {relu_program()};
  script.steps = std::move(steps);
  return script;
}

ScriptCall call_with(float x) { return {0, {floats({x, 1})}, {}, std::nullopt}; }

float first(const HostTensor& tensor) { return elements_of(tensor)[0]; }
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

TEST(RunScript, TellsASwapThatTheExecutorCannotDo) {
  CountingExecutor executor;
  ScriptSwap swap;
  swap.values.emplace("w", floats({1}));
  const Trace trace = run_script(script_with({swap, call_with(1)}), executor, {});
  ASSERT_TRUE(trace.error);
  EXPECT_EQ(trace.error->kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace graphgate::conformance
