// Whether a refusal may be about an arm of a conditional that the run does not take.
//
// The reference runs the arm that is taken, and nothing else. An executor that plans before a call,
// as torch does when it traces, looks into both. Where the other arm cannot run at the sizes of the
// call, refusing is no mistake, and taking it is none either.
#pragma once

#include <optional>
#include <string>

#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "conformance/run/trace.h"

namespace graphgate::conformance {

// The oracle runs the script again with the conditions of the programs held at true and at false:
// one at a time, then all. What it says where it refuses such a run, at the step where the subject
// ended, or at any where that was while loading; nothing where it refuses none.
[[nodiscard]] Result<std::optional<std::string>> refusal_in_other_arm(Runs& runs,
                                                                      const Trace& subject);

}  // namespace graphgate::conformance
