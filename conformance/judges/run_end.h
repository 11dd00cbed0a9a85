// How the subject's run of a script ended, where it ended early or was to be refused.
//
// judge_script asks before any judge: a run that the executor broke off is a verdict of its own,
// and judges compare the calls that both sides made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "conformance/run/script.h"
#include "conformance/run/trace.h"

namespace graphgate::conformance {

// Rules: R1.refused-wrongly (the reference takes what the executor refuses), R2.broke-down (an
// internal error), R2.no-answer (it did not answer in time), R3.not-refused (Expectation::refusal,
// or what an executor that compiles once owes), R4.unsupported, R7.miscounted. An Error where the
// script itself is wrong (the reference refuses it too) or the machine is. Nothing for a run that
// ended well, or was refused as expected.
[[nodiscard]] Result<std::vector<spec::Finding>> findings_of_end(Runs& runs, const Trace& subject);

// Returns why CUDA's kernels do not take what the reference does, in its words, where those are the
// subject's and it refuses the script at that step; nothing elsewhere.
[[nodiscard]] Result<std::optional<std::string>> refusal_of_cuda(Runs& runs, const Trace& subject);

// The finding of an end that came elsewhere than in the run that findings_of_end is asked of, or
// when all was over. The same rules; R1.refused-wrongly and R4.unsupported are refusals to close.
[[nodiscard]] Result<spec::Finding> finding_of_end(const RunEnd& end);

// Returns whether the subject refused the call that the script expects to be refused, in those
// words, or the restart that it comes behind. It also returns true for a call that an executor that
// compiles once owes to refuse.
[[nodiscard]] bool is_refused_as_expected(const Script& script, const Trace& subject);

// The script up to the step that the subject refused.
[[nodiscard]] Script without_refused_call(const Script& script, const Trace& subject);

}  // namespace graphgate::conformance
