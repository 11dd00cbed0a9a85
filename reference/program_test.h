// What tests of the interpreter and the executor share: programs from text, host tensors from
// lists.
#pragma once

#include <string_view>
#include <vector>

#include "base/result_test.h"
#include "reference/reference.h"
#include "spec/graph_text.h"
#include "spec/host_tensor_test.h"

namespace graphgate::reference::test {

inline spec::Program program(std::string_view text) {
  return must(spec::parse_program(text, spec::builtin_op_table()));
}

inline spec::HostTensor floats(std::vector<std::int64_t> sizes, const std::vector<float>& values) {
  return spec::host_tensor(spec::DType::kFloat32, std::move(sizes), values);
}

// The elements of a float32 tensor in row-major order.
inline std::vector<float> elements(const spec::HostTensor& tensor) {
  return spec::elements_of(tensor);
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
    program_ = must(executor_->load(program));
  }

  // A call that must succeed.
  spec::CallResult call(const Inputs& inputs) { return must(program_->call(inputs)); }
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
