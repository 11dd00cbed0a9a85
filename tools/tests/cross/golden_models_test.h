// For tests over the golden models: reading them, running their recorded calls, comparing results
// bit by bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "conformance/bounds/judge_call.h"
#include "spec/executor.h"
#include "tools/store/programs.h"

namespace graphgate {

using spec::CallResult;
using spec::HostTensor;

struct Model {
  std::string path;
  spec::Program program;
  std::vector<conformance::ExpectedCall> calls;
};

inline const std::vector<std::string>& model_paths() {
  static const std::vector<std::string> kPaths = [] {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(GRAPHGATE_GOLDEN_DIR "/models")) {
      if (entry.path().extension() == ".pt2") out.push_back(entry.path().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }();
  return kPaths;
}

// For INSTANTIATE_TEST_SUITE_P: "llama_bf16.core.pt2" -> "llama_bf16_core".
inline std::string model_name(const testing::TestParamInfo<std::string>& tested) {
  std::string name = std::filesystem::path(tested.param).stem().string();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

inline Model read_model(const std::string& path) {
  const spec::OpTable& ops = spec::builtin_op_table();
  Model model{path, tools::read_program(path, ops).value(),
              tools::read_expected_calls(path, "").value()};
  return model;
}

inline std::vector<CallResult> run_calls(spec::LoadedProgram& program, const Model& model,
                                         std::size_t repeats = 1) {
  std::vector<CallResult> out;
  for (std::size_t r = 0; r < repeats; ++r) {
    for (const conformance::ExpectedCall& call : model.calls) {
      auto result = program.call(call.inputs);
      if (!result.ok()) {
        ADD_FAILURE() << result.error().message;
        return out;
      }
      out.push_back(std::move(result).value());
    }
  }
  return out;
}

inline std::vector<CallResult> run_calls(spec::Executor& executor, const Model& model,
                                         std::size_t repeats = 1) {
  auto loaded = executor.load(model.program);
  EXPECT_TRUE(loaded.ok()) << loaded.error().message;
  return loaded.ok() ? run_calls(*loaded.value(), model, repeats) : std::vector<CallResult>();
}

inline bool same_tensor(const HostTensor& a, const HostTensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides &&
         a.storage_offset == b.storage_offset && spec::packed_bytes(a) == spec::packed_bytes(b);
}

template <class Value>
bool same_value(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<HostTensor>(&a)) return same_tensor(*x, std::get<HostTensor>(b));
  if (const auto* i = std::get_if<std::int64_t>(&a)) return *i == std::get<std::int64_t>(b);
  if (const auto* x = std::get_if<double>(&a)) {
    return std::memcmp(x, &std::get<double>(b), sizeof *x) == 0;
  }
  if (const auto* flag = std::get_if<bool>(&a)) return *flag == std::get<bool>(b);
  return true;
}

// The first place where two calls differ in a bit, or "".
inline std::string first_difference(const CallResult& a, const CallResult& b) {
  if (a.outputs.size() != b.outputs.size() || a.final_states.size() != b.final_states.size()) {
    return "the count of results";
  }
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    if (!same_value(a.outputs[i], b.outputs[i])) return "output " + std::to_string(i);
  }
  for (std::size_t i = 0; i < a.final_inputs.size(); ++i) {
    if (!same_value(a.final_inputs[i], b.final_inputs[i])) return "input " + std::to_string(i);
  }
  for (std::size_t i = 0; i < a.final_states.size(); ++i) {
    if (!same_tensor(a.final_states[i], b.final_states[i])) return "state " + a.state_targets[i];
  }
  return "";
}

}  // namespace graphgate
