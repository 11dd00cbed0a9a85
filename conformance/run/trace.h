// A trace: all that an executor showed while it ran a script, as plain data.
//
// Judges read traces, and nothing else of a run. So a trace that was stored can be judged again by
// later judges, without the executor (trace_store.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/run/script.h"
#include "spec/executor.h"
#include "spec/plan.h"

namespace graphgate::conformance {

// One call of the script. `step` is its place in Script::steps.
struct CallRecord {
  std::size_t step = 0;
  std::size_t program = 0;
  std::vector<spec::InputValue> inputs;  // as they were passed, feed-backs included
  spec::CallResult result = {};
  std::shared_ptr<const spec::Plan> plan = {};  // null from executors that make none
};

// A held output, looked at by a check step or before its release, and at the end of the script.
struct HeldRecord {
  std::size_t step = 0;  // of the look; the count of steps for the end
  std::size_t held_at = 0;
  ScriptPort output;
  spec::HostTensor then;                     // its bytes when it was held
  std::optional<spec::HostTensor> now = {};  // absent: refused
  std::string refusal = {};  // the executor's words, when it does not answer any more
};

struct Trace {
  std::string executor;
  Configuration configuration;
  std::vector<CallRecord> calls;
  std::vector<HeldRecord> held;
  // Where the script ended early: at this step, for this reason.
  std::optional<Error> error;
  std::size_t error_step = 0;
  // Of an executor that is to compile once (compile_once.h): calls that it served though they break
  // what the first one fixed (R3.not-refused), and counts that are off (R7.miscounted). Of one that
  // sleeps: a call that it served all the same (R3.not-refused). And whether
  // the error is such a refusal, and nothing to hold against it.
  std::vector<spec::Finding> once_findings;
  bool is_refusal_due = false;
  // Where the executor could not be closed when all was over: for this reason.
  std::optional<Error> closing_error;
  bool is_late = false;    // it ended because no answer came in time
  bool has_ended = false;  // the executor's process has ended or was ended, asked for no such thing
  bool is_loaded = false;  // all programs, by the first executor
  // Of a run that an instrument watched: all calls were as in one that nothing watches
  // (LoadedProgram::is_as_unwatched), and none was refused.
  bool is_as_unwatched = false;
  double seconds = 0;  // processor time of load and calls
};

// Runs the script's programs on one executor, loaded once, and closes it. What an executor refuses
// ends the trace (Trace::error); it is no failure of this function's. Held outputs are taken by
// LoadedProgram::hold, or, from an executor without it, by the copies that it returned.
[[nodiscard]] Trace run_script(const Script& script, spec::Executor& executor,
                               const Configuration& configuration);

// The same for scripts that restart: `restarted` makes the executor that goes on, which the script
// ends. Without it a restart ends the trace.
using MakeRestarted =
    std::function<Result<std::unique_ptr<spec::Executor>>(const ScriptRestart& restart)>;
[[nodiscard]] Trace run_script(const Script& script, spec::Executor& executor,
                               const Configuration& configuration, const MakeRestarted& restarted);

}  // namespace graphgate::conformance
