// Recorded calls of single ops as programs of one node, ready for an executor and a judge.
//
// Built from op_calls.h, whose comment gives the file format: every tensor argument becomes a user
// input, every other argument stays in the node, every result becomes a user output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "interop/op_calls.h"
#include "spec/executor.h"
#include "spec/op_table.h"
#include "spec/program.h"

namespace graphgate::interop {

struct OpCase {
  std::int64_t id = 0;
  std::string op;
  spec::Program program;                 // named "OP case ID"
  std::vector<spec::InputValue> inputs;  // share storages where the recorded arguments did
  std::vector<spec::OutputValue> expected;
  std::map<std::size_t, spec::HostTensor> mutated;  // final contents, by position in `inputs`
};

// The program of one call. Fails when the op is unknown or the call does not fit its schema: too
// many arguments, an unknown name, another number of results.
[[nodiscard]] Result<OpCase> make_op_case(const OpCall& call, const spec::OpTable& ops);

// Reads FILE.jsonl with FILE.safetensors beside it and calls `visit` for each case in order, until
// it returns false. Calls `pass_over`, where there is one, with a call of an op that the table
// lacks and the reason. Else such a call is an error. Errors start with FILE:LINE.
[[nodiscard]] Result<void> read_op_cases(
    const std::string& jsonl_path, const spec::OpTable& ops,
    const std::function<bool(const OpCase&)>& visit,
    const std::function<void(const OpCall&, const Error&)>& pass_over = {});

}  // namespace graphgate::interop
