// For tests of judges: executors that answer what a function says, made by options like real ones.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/run/scripted_test.h"

namespace graphgate::conformance {

// What an executor under `configuration` returns as output 0 of its `call`-th call (from 0) on
// inputs of floats; a program has no states here. Oracles say all radii are 0.
using Answer =
    std::function<Result<std::vector<float>>(const Configuration& configuration, std::size_t call,
                                             const std::vector<std::vector<float>>& inputs)>;

class ScriptedSource final : public ExecutorSource {
 public:
  // `options`: the names that the executor knows; others are kBadInput.
  ScriptedSource(Answer answer, std::vector<std::string> options = {"mode"})
      : answer_(std::move(answer)), options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(const Configuration& configuration,
                                                             const spec::OpTable&) const override {
    for (const auto& [name, value] : configuration) {
      if (std::find(options_.begin(), options_.end(), name) == options_.end()) {
        return bad_input("no option '" + name + "'");
      }
    }
    const auto call = [answer = answer_, configuration](
                          std::span<const spec::InputValue> inputs,
                          std::size_t index) -> Result<spec::CallResult> {
      std::vector<std::vector<float>> elements;
      for (const spec::InputValue& input : inputs) elements.push_back(spec::elements_of(input));
      GRAPHGATE_TRY(const std::vector<float> output, answer(configuration, index, elements));
      return scripted::result_of(output, inputs);
    };
    return std::unique_ptr<spec::Executor>(
        std::make_unique<scripted::ScriptedExecutor>("scripted", call, given_, false));
  }

 private:
  Answer answer_;
  std::vector<std::string> options_;
  mutable scripted::GivenStates given_;
};

// One program over inputs %x and %w of three floats each, called with each of `calls`.
inline Script script_over_floats(const std::vector<std::vector<std::vector<float>>>& calls,
                                 const char* text = R"(program "p" {
  input %x : f32[3]
  input %w : f32[3]
  %y = aten.mul.Tensor(%x, %w)
  output %y
})") {
  Script script{.name = "p",
                .ops = std::make_shared<const spec::OpTable>(spec::builtin_op_table())};
  script.programs = {
      std::make_shared<const spec::Program>(spec::parse_program(text, *script.ops).value())};
  for (const auto& inputs : calls) {
    ScriptCall call;
    for (const std::vector<float>& input : inputs)
      call.inputs.emplace_back(spec::float_tensor(input));
    script.steps.emplace_back(std::move(call));
  }
  return script;
}

inline Answer product() {
  return [](const Configuration&, std::size_t,
            const std::vector<std::vector<float>>& inputs) -> Result<std::vector<float>> {
    std::vector<float> out = inputs[0];
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= inputs[1][i];
    return out;
  };
}

}  // namespace graphgate::conformance
