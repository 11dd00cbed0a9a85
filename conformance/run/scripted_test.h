// Executors for tests of the harness: they answer what they are told to. No real executor is behind
// them, so that whatever the harness says of them, it says from spec::Executor alone.
#pragma once

#include <functional>

#include "base/result_test.h"
#include "conformance/run/runs.h"
#include "spec/graph_check.h"
#include "spec/graph_text.h"
#include "spec/host_tensor_test.h"

namespace graphgate::conformance::scripted {

// What a call answers, given the inputs and how many calls came before.
using ScriptedAnswer =
    std::function<Result<spec::CallResult>(std::span<const spec::InputValue>, std::size_t call)>;

// States that a script gave to programs, in its order.
using GivenStates = std::vector<std::pair<std::string, spec::HostTensor>>;

class ScriptedExecutor final : public spec::Executor {
 public:
  // `given` outlives it. `refusal`: what loading a program comes to, if not to a program.
  ScriptedExecutor(std::string name, ScriptedAnswer answer, GivenStates& given,
                   bool is_as_unwatched, std::optional<Error> refusal = {},
                   Result<void> closed = {})
      : name_(std::move(name)),
        answer_(std::move(answer)),
        given_(given),
        is_as_unwatched_(is_as_unwatched),
        refusal_(std::move(refusal)),
        closed_(std::move(closed)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program&) override {
    struct Loaded final : spec::LoadedProgram {
      Loaded(ScriptedAnswer scripted, GivenStates& states, bool as_unwatched)
          : answer(std::move(scripted)), given(states), says_as_unwatched(as_unwatched) {}
      Result<spec::CallResult> call(std::span<const spec::InputValue> inputs) override {
        return answer(inputs, calls++);
      }
      Result<void> set_state(std::string_view target, const spec::HostTensor& value,
                             bool /*rebind*/) override {
        given.emplace_back(target, value);
        return {};
      }
      [[nodiscard]] bool is_as_unwatched() const override { return says_as_unwatched; }
      ScriptedAnswer answer;
      GivenStates& given;
      bool says_as_unwatched = false;
      std::size_t calls = 0;
    };
    if (refusal_) return *refusal_;
    return std::unique_ptr<spec::LoadedProgram>(
        std::make_unique<Loaded>(answer_, given_, is_as_unwatched_));
  }
  Result<void> close() override { return closed_; }

 private:
  std::string name_;
  ScriptedAnswer answer_;
  GivenStates& given_;
  bool is_as_unwatched_;
  std::optional<Error> refusal_;
  Result<void> closed_;
};

// Answers by the configuration's "mode", with "" for none; kUnsupported for others.
class ScriptedSource final : public ExecutorSource {
 public:
  ScriptedSource(std::string name, std::map<std::string, ScriptedAnswer> answers)
      : name_(std::move(name)), answers_(std::move(answers)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Promises promises(const Configuration& /*options*/) const override {
    return promised;
  }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(const Configuration& configuration,
                                                             const spec::OpTable&) const override {
    asked = configuration;
    const auto mode = configuration.find("mode");
    const auto found = answers_.find(mode == configuration.end() ? "" : mode->second);
    if (found == answers_.end()) return unsupported("no such mode");
    ++made;
    if (made == opening_that_fails) return Error{ErrorKind::kInternal, "ended"};
    return std::unique_ptr<spec::Executor>(std::make_unique<ScriptedExecutor>(
        name_, found->second, given, is_as_unwatched, refusal, closed));
  }
  [[nodiscard]] bool has_ended() const override { return ends; }

  mutable int made = 0;         // executors so far
  mutable Configuration asked;  // the last one
  mutable GivenStates given;
  Promises promised;
  bool is_as_unwatched = false;
  std::optional<Error> refusal;  // of every program
  Result<void> closed;           // what closing comes to
  int opening_that_fails = 0;    // of the executors made, counted from 1
  bool ends = false;             // what goes wrong ends its process

 private:
  std::string name_;
  std::map<std::string, ScriptedAnswer> answers_;
};

// y = relu(x) over one float32[2] input.
inline std::shared_ptr<const spec::Program> relu_program() {
  auto program = must(spec::parse_program(R"(program "p" {
  input %x : f32[2]
  %y = aten.relu.default(%x) as the_node
  output %y
})",
                                          spec::builtin_op_table()));
  return std::make_shared<const spec::Program>(std::move(program));
}

// That output, with inputs as they were, and what an oracle would know of them.
inline spec::CallResult result_of(const std::vector<float>& output,
                                  std::span<const spec::InputValue> inputs, double radius = 0) {
  spec::CallResult result;
  result.outputs = {spec::float_tensor(output)};
  result.final_inputs.assign(inputs.begin(), inputs.end());
  result.output_spreads = {spec::Spread{{output.begin(), output.end()}, {}}};
  result.output_spreads[0].radii.assign(output.size(), radius);
  for (const spec::InputValue& input : inputs) {
    const auto given = spec::elements_of(input);
    result.final_input_spreads.push_back({{given.begin(), given.end()}, {}});
    result.final_input_spreads.back().radii.assign(given.size(), 0);
  }
  return result;
}

inline ScriptedAnswer answering(std::vector<float> output, double radius = 0) {
  return [=](std::span<const spec::InputValue> inputs, std::size_t) -> Result<spec::CallResult> {
    return result_of(output, inputs, radius);
  };
}

inline std::shared_ptr<const spec::OpTable> builtin_ops() {
  return {&spec::builtin_op_table(), [](const spec::OpTable*) {}};
}

}  // namespace graphgate::conformance::scripted
