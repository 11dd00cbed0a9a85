// Reading what the user named: programs with their recordings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/harness/judge_call.h"
#include "spec/op_table.h"
#include "spec/program.h"

namespace graphgate::tools {

// A .pt2 archive, or graph text (any other name).
[[nodiscard]] Result<spec::Program> read_program(const std::string& path, const spec::OpTable& ops);

// The recording of a program: `data` when given, else NAME.safetensors beside NAME.pt2 (for
// NAME.core.pt2 too). Empty when there is none. `data` that does not exist is kBadInput.
[[nodiscard]] Result<std::vector<conformance::ExpectedCall>> read_expected_calls(
    const std::string& program_path, const std::string& data);

}  // namespace graphgate::tools
