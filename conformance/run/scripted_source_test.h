// For tests of judges: executors that answer what a function says, made by options like real ones.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/run/runs.h"
#include "spec/graph_text.h"

namespace graphgate::conformance {

inline spec::HostTensor packed_floats(const std::vector<float>& elements) {
  spec::HostTensor tensor =
      spec::make_host_tensor(spec::DType::kFloat32, {static_cast<std::int64_t>(elements.size())});
  if (elements.empty()) return tensor;  // null pointers are none of memcpy's
  std::memcpy(tensor.storage->bytes.data(), elements.data(), elements.size() * sizeof(float));
  return tensor;
}

inline std::vector<float> floats_of(const spec::InputValue& value) {
  const std::vector<std::byte> bytes = spec::packed_bytes(std::get<spec::HostTensor>(value));
  std::vector<float> out(bytes.size() / sizeof(float));
  if (out.empty()) return out;
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

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
    return std::unique_ptr<spec::Executor>(std::make_unique<Scripted>(answer_, configuration));
  }

 private:
  struct Loaded final : spec::LoadedProgram {
    Loaded(Answer the_answer, Configuration the_configuration)
        : answer(std::move(the_answer)), configuration(std::move(the_configuration)) {}
    Result<spec::CallResult> call(std::span<const spec::InputValue> inputs) override {
      std::vector<std::vector<float>> elements;
      for (const spec::InputValue& input : inputs) elements.push_back(floats_of(input));
      GRAPHGATE_TRY(const std::vector<float> output, answer(configuration, calls++, elements));
      spec::CallResult result;
      result.outputs = {packed_floats(output)};
      result.final_inputs.assign(inputs.begin(), inputs.end());
      result.output_spreads = {spread_of(output)};
      for (const auto& input : elements) result.final_input_spreads.push_back(spread_of(input));
      return result;
    }
    static spec::Spread spread_of(const std::vector<float>& elements) {
      spec::Spread spread;
      for (const float x : elements) spread.values.push_back(static_cast<long double>(x));
      spread.radii.assign(elements.size(), 0);
      return spread;
    }
    Answer answer;
    Configuration configuration;
    std::size_t calls = 0;
  };
  struct Scripted final : spec::Executor {
    Scripted(Answer the_answer, Configuration the_configuration)
        : answer(std::move(the_answer)), configuration(std::move(the_configuration)) {}
    [[nodiscard]] std::string_view name() const override { return "scripted"; }
    Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program&) override {
      return std::unique_ptr<spec::LoadedProgram>(std::make_unique<Loaded>(answer, configuration));
    }
    Answer answer;
    Configuration configuration;
  };

  Answer answer_;
  std::vector<std::string> options_;
};

// One program over inputs %x and %w of three floats each, called with each of `calls`.
inline Script script_over_floats(const std::vector<std::vector<std::vector<float>>>& calls,
                                 const char* text = R"(program "p" {
  input %x : f32[3]
  input %w : f32[3]
  %y = aten.mul.Tensor(%x, %w)
  output %y
})") {
  Script script;
  script.name = "p";
  script.ops = std::make_shared<const spec::OpTable>(spec::builtin_op_table());
  script.programs = {
      std::make_shared<const spec::Program>(spec::parse_program(text, *script.ops).value())};
  for (const auto& inputs : calls) {
    ScriptCall call;
    for (const std::vector<float>& input : inputs) call.inputs.emplace_back(packed_floats(input));
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
