// A script: a scenario with its data at hand. What a case file or a recorded program becomes before
// anything runs.
//
// run_script() (trace.h) runs one on an executor and gives a trace; judges compare traces.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conformance/run/executor_source.h"
#include "conformance/run/expected_call.h"
#include "spec/case_file.h"
#include "spec/op_table.h"
#include "spec/program.h"
#include "spec/scenario.h"

namespace graphgate::conformance {

// Programs are meant by their place in Script::programs, outputs and inputs by their place among
// user outputs and user inputs.
struct ScriptPort {
  std::size_t program = 0;
  std::size_t index = 0;
};

struct ScriptCall {
  std::size_t program = 0;
  // Feed-backs replace some of them when the script runs.
  std::vector<spec::InputValue> inputs = {};
  spec::CallOptions options;
  // What a recording or the case says of this call; its `inputs` are unused.
  std::optional<ExpectedCall> expected = {};
};
// Keeps an output of the program's latest call, and a copy of its bytes.
struct ScriptHold {
  ScriptPort output;
};
struct ScriptRelease {
  ScriptPort output;
};
// New contents for these targets.
struct ScriptSwap {
  std::size_t program = 0;
  std::map<std::string, spec::HostTensor, std::less<>> values = {};
  bool rebind = false;
};
// The next call of input.program takes that output, the very tensor that the executor returned.
struct ScriptFeedBack {
  ScriptPort output;
  ScriptPort input;
};
// Looks at what is held, or at the state of all programs, now.
struct ScriptCheck {
  spec::CheckStep::What what = spec::CheckStep::What::kHeld;
};
// As if another process began: every program is loaded anew by an executor with `changes` over the
// options. Ends the trace (kUnsupported) where run_script has no source of executors.
struct ScriptRestart {
  Configuration changes;
  std::shared_ptr<const spec::OpTable> ops;  // null: Script::ops
};
// From here on calls pass this input at one address (spec::StaticStep). In one call no two such
// inputs share a storage.
struct ScriptStatic {
  ScriptPort input;
};
// The executor gives memory back, and takes it again (spec::SleepStep). A call in between is to be
// refused, and ends the trace. An executor that does not sleep serves it: kUnsupported where the
// script says of the call that it is to be refused.
struct ScriptSleep {
  spec::SleepRequest asked;
};
struct ScriptWake {
  std::optional<spec::SleepPart> part = {};
};
using ScriptStep = std::variant<ScriptCall, ScriptHold, ScriptRelease, ScriptSwap, ScriptFeedBack,
                                ScriptCheck, ScriptRestart, ScriptStatic, ScriptSleep, ScriptWake>;

struct Script {
  std::string name = {};
  // The builtin ops and the case's own. Shared: traces and executors outlive a script's copies.
  std::shared_ptr<const spec::OpTable> ops;
  std::vector<std::shared_ptr<const spec::Program>> programs = {};  // with their tensors
  std::vector<ScriptStep> steps = {};
  Configuration options = {};  // of the executor under test
  spec::Expectation expectation = {};

  [[nodiscard]] std::size_t calls() const;
};

// The op table at a step of the script: the latest restart may replace rows.
[[nodiscard]] const spec::OpTable& ops_at(const Script& script, std::size_t step);
// What options an executor that began with `options` has at a step: the latest restart changes
// them.
[[nodiscard]] Configuration options_at(const Script& script, const Configuration& options,
                                       std::size_t step);

// Reads the files that a case names.
class CaseFiles {
 public:
  virtual ~CaseFiles() = default;
  // The tensors of a safetensors file, by key. `file` is as the case has it.
  [[nodiscard]] virtual Result<std::map<std::string, spec::HostTensor, std::less<>>> tensors(
      const std::string& file) const = 0;
};

// Draws what the case leaves to seeds. kBadInput, naming the step, where a size, a set or an input
// does not fit. The case must pass check_case.
[[nodiscard]] Result<Script> script_of(const spec::CaseFile& the_case, const CaseFiles& files);

// One program and its recorded calls, or `seeded_calls` drawn ones where there are none.
[[nodiscard]] Result<Script> script_of(std::shared_ptr<const spec::Program> program,
                                       std::span<const ExpectedCall> recorded, int seeded_calls,
                                       std::uint64_t seed,
                                       std::shared_ptr<const spec::OpTable> ops);

}  // namespace graphgate::conformance
