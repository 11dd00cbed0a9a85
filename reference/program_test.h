// What tests of the interpreter and the executor share: programs from text, host tensors from
// lists.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "reference/reference.h"
#include "spec/graph_text.h"

namespace graphgate::reference::test {

inline spec::Program program(std::string_view text) {
  auto parsed = spec::parse_program(text, spec::builtin_op_table());
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  return parsed.ok() ? std::move(parsed).value() : spec::Program{};
}

inline spec::HostTensor floats(std::vector<std::int64_t> sizes, const std::vector<float>& values) {
  spec::HostTensor out = spec::make_host_tensor(spec::DType::kFloat32, std::move(sizes));
  EXPECT_EQ(out.storage->bytes.size(), values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(out.storage->bytes.data(), values.data(), values.size() * 4);
  return out;
}

// The elements of a float32 tensor in row-major order.
inline std::vector<float> elements(const spec::HostTensor& tensor) {
  const std::vector<std::byte> bytes = spec::packed_bytes(tensor);
  std::vector<float> out(bytes.size() / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}
inline const spec::HostTensor& output(const spec::CallResult& result, std::size_t index) {
  return std::get<spec::HostTensor>(result.outputs.at(index));
}
inline const spec::HostTensor& final_input(const spec::CallResult& result, std::size_t index) {
  return std::get<spec::HostTensor>(result.final_inputs.at(index));
}

using Inputs = std::vector<spec::InputValue>;

// A program loaded by the reference. The program must outlive it.
class Loaded {
 public:
  explicit Loaded(const spec::Program& program, const Options& options = {})
      : executor_(make_executor(options)) {
    auto loaded = executor_->load(program);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    if (loaded.ok()) program_ = std::move(loaded).value();
  }

  // A call that must succeed.
  spec::CallResult call(const Inputs& inputs) {
    auto result = program_->call(inputs);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? std::move(result).value() : spec::CallResult{};
  }
  // A call that must fail.
  Error failure(const Inputs& inputs) {
    auto result = program_->call(inputs);
    EXPECT_FALSE(result.ok());
    return result.ok() ? Error{} : result.error();
  }

 private:
  std::unique_ptr<spec::Executor> executor_;
  std::unique_ptr<spec::LoadedProgram> program_;
};

}  // namespace graphgate::reference::test
