// For tests of sessions: one loaded program, and calls that must not fail.
#pragma once

#include "optimized/program_test.h"

namespace graphgate::optimized {

inline Options with_deviation(spec::Deviation deviation, Options options = {}) {
  options.compile.deviations.add(deviation);
  return options;
}

// Programs outlive what is loaded from them: keep them beside it.
struct Loaded {
  explicit Loaded(const std::string& text, const Options& options = {})
      : program(std::make_unique<spec::Program>(program_of(text))),
        executor(make_executor(options)) {
    session = must(executor->load(*program));
  }

  spec::CallResult call(const Inputs& inputs, const spec::CallOptions& options = {}) const {
    return must(session->call_with(inputs, options));
  }
  // The elements of output `index`.
  std::vector<float> run(const Inputs& inputs, std::size_t index = 0) const {
    const auto result = call(inputs);
    if (index >= result.outputs.size()) return {};
    return floats(result.outputs[index]);
  }
  std::string error(const Inputs& inputs) const { return message_of(session->call(inputs)); }
  [[nodiscard]] const spec::Plan& plan() const { return *session->plan(); }

  std::unique_ptr<spec::Program> program;
  std::unique_ptr<spec::Executor> executor;
  std::unique_ptr<spec::LoadedProgram> session;
};

inline std::vector<float> state_of(const spec::CallResult& result, const std::string& target) {
  for (std::size_t i = 0; i < result.state_targets.size(); ++i) {
    if (result.state_targets[i] == target) return floats(result.final_states[i]);
  }
  ADD_FAILURE() << "no state '" << target << "'";
  return {};
}

// n rows of `width` consecutive numbers, beginning with `first`.
inline spec::HostTensor rows(std::int64_t n, std::int64_t width, float first) {
  std::vector<float> values(static_cast<std::size_t>(n * width));
  for (float& value : values) value = first++;
  return f32({n, width}, values);
}

}  // namespace graphgate::optimized
