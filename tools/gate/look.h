// One look at one case on one side of a gate: judged in this process, and as a text that a process
// hands back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/child_processes.h"
#include "conformance/judges/judge.h"
#include "tools/executors/subject.h"
#include "tools/gate/gate_inputs.h"
#include "tools/gate/gate_results.h"

namespace graphgate::tools {

// What runs the cases.
struct SideExecutor {
  // Gets the options that it takes. A process that was started runs several cases, until one shows
  // something; a case that is looked at again has its own.
  std::shared_ptr<const Subject> subject;
  // Of one that is built in, over what each case asks for.
  conformance::Configuration flags = {};
};

struct LookOptions {
  conformance::JudgeSet judges = conformance::JudgeSet::all();
  std::uint64_t seed = 1;  // of inputs where there is no recording
  // Of programs: a case says its own.
  conformance::Configuration program_options = {};
};

// Judges the case. Ends the side's process where the case shows something, so that the next case
// has its own.
[[nodiscard]] Result<GateCase> look_at(const GateInput& input, const SideExecutor& executor,
                                       const LookOptions& options);

// Returns the text that look_of reads again.
[[nodiscard]] std::string look_text(const Result<GateCase>& looked);
// Returns what a child handed back by look_text, or what its end says. What the reference
// refuses, too, is kBadInput, with the file; what the machine or the harness could not do is the
// case's own outcome, INFRA.
[[nodiscard]] Result<GateCase> look_of(const GateInput& input, const SideExecutor& executor,
                                       const ChildResult& child);

// Adds another look at the same case. One that shows something else makes it flaky, and adds what
// it shows. A look that was not answered in time, or that the machine could not do, says nothing
// beside one that was.
void merge_look(const GateCase& again, GateCase& one);

}  // namespace graphgate::tools
