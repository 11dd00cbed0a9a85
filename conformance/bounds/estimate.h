// One call against the oracle's estimate, as bounds and state ask for it.
#pragma once

#include "conformance/bounds/judge_call.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {

struct EstimatedCall {
  // Without the differences that trials explain, and the worst by their radii where they did.
  CallReport call;
  // By difference: what no rounding can explain. Other differences are suspect.
  std::vector<bool> is_proved;
  std::int64_t explained = 0;  // differences that trials explained
};

// Judges call `index` of the subject's trace by the mode "sampled", which must have it. What is off
// is asked of the worst case, which proves it where it is off there too; and, where it is not
// proved, of trials (trials.h), which may explain it. Errors are the oracle's.
[[nodiscard]] Result<EstimatedCall> judge_by_estimate(Runs& runs, const Trace& subject,
                                                      std::size_t index,
                                                      const ExpectedCall& expected,
                                                      const JudgeOptions& options);

}  // namespace graphgate::conformance
