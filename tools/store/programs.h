// Reading what the user named: programs with their recordings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/bounds/judge_call.h"
#include "spec/op_table.h"
#include "spec/program.h"

namespace graphgate::tools {

// An error about the program in `path`, with that path in front, once: readers name a file without
// its folder, executors name the program alone.
[[nodiscard]] Error in_file(const Error& error, const std::string& path);
template <class T>
[[nodiscard]] Result<T> in_file(Result<T> result, const std::string& path) {
  if (result.ok()) return result;
  return in_file(result.error(), path);
}

// The bytes of a text file; kBadInput when it cannot be read.
[[nodiscard]] Result<std::string> read_text(const std::string& path);

// builtin_op_table() and the user's files of ops.
[[nodiscard]] Result<spec::OpTable> load_op_table(const std::vector<std::string>& custom_ops);

// The checked program of a text that was read from `path`.
[[nodiscard]] Result<spec::Program> program_of_text(const std::string& text,
                                                    const std::string& path,
                                                    const spec::OpTable& ops);

// A .pt2 archive, or graph text (any other name).
[[nodiscard]] Result<spec::Program> read_program(const std::string& path, const spec::OpTable& ops);

// The recording of a program: `data` when given, else NAME.safetensors beside NAME.pt2 (for
// NAME.core.pt2 too). Empty when there is none. `data` that does not exist is kBadInput.
[[nodiscard]] Result<std::vector<conformance::ExpectedCall>> read_expected_calls(
    const std::string& program_path, const std::string& data);

}  // namespace graphgate::tools
