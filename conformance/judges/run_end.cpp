#include "conformance/judges/run_end.h"

#include <algorithm>

#include "conformance/judges/other_arms.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::Finding;
using spec::Outcome;

// Whether both end at one step, one as the other loads or calls.
bool end_alike(const Trace& a, const Trace& b) {
  return a.error && b.error && a.error_step == b.error_step && a.is_loaded == b.is_loaded;
}

// The step of the n-th call.
std::size_t step_of_call(const Script& script, std::size_t call) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    if (std::holds_alternative<ScriptCall>(script.steps[i]) && seen++ == call) return i;
  }
  return script.steps.size();
}

// Whether a step is that call, or the restart that it comes behind.
bool is_begin_of(const Script& script, std::size_t step, std::size_t call) {
  if (step == call) return true;
  return step < call && std::holds_alternative<ScriptRestart>(script.steps[step]) &&
         std::none_of(script.steps.begin() + static_cast<std::ptrdiff_t>(step),
                      script.steps.begin() + static_cast<std::ptrdiff_t>(call),
                      [](const ScriptStep& s) { return std::holds_alternative<ScriptCall>(s); });
}

Finding finding(const char* rule, Outcome outcome, std::string message) {
  return Finding{.rule = rule, .outcome = outcome, .message = std::move(message)};
}

std::string place(const Trace& trace) {
  return trace.is_loaded ? "step " + std::to_string(trace.error_step) : "loading";
}

Finding broke_down(bool is_late, std::string message) {
  return finding(is_late ? "R2.no-answer" : "R2.broke-down",
                 is_late ? Outcome::kTimeout : Outcome::kCrash, std::move(message));
}

}  // namespace

Result<Finding> finding_of_end(const RunEnd& end) {
  std::string where = end.executor + ": ";
  if (!end.changes.empty()) where += "with " + print_configuration(end.changes) + ": ";
  if (end.is_at_closing) where += "closing: ";
  switch (end.error.kind) {
    case ErrorKind::kInfrastructure:
      return end.error;
    case ErrorKind::kUnsupported:
      return finding("R4.unsupported", Outcome::kUnsupported, where + end.error.message);
    case ErrorKind::kBadInput:
      return finding("R1.refused-wrongly", Outcome::kFail,
                     where + "refuses what the reference takes: " + end.error.message);
    case ErrorKind::kInternal:
      break;
  }
  return broke_down(end.is_late, where + end.error.message);
}

bool is_refused_as_expected(const Script& script, const Trace& subject) {
  const auto& refusal = script.expectation.refusal;
  if (!subject.error || subject.error->kind != ErrorKind::kBadInput || !subject.is_loaded) {
    return false;
  }
  if (!refusal) return subject.is_refusal_due && subject.once_findings.empty();
  const std::size_t call = step_of_call(script, refusal->call);
  return is_begin_of(script, subject.error_step, call) &&
         subject.error->message.find(refusal->text) != std::string::npos;
}

Script without_refused_call(const Script& script, const Trace& subject) {
  Script out = script;
  out.steps.resize(subject.error_step);
  out.expectation.refusal.reset();
  return out;
}

Result<std::optional<std::string>> refusal_of_cuda(Runs& runs, const Trace& subject) {
  std::optional<std::string> out;
  const bool is_refused = subject.error && subject.error->kind == ErrorKind::kBadInput;
  if (!is_refused || runs.promises().kernels != "cuda") return out;
  GRAPHGATE_TRY(const Trace checked, runs.oracle_with_kernels("cuda-checked"));
  if (end_alike(checked, subject) && checked.error->kind == ErrorKind::kBadInput) {
    out = checked.error->message;
  }
  return out;
}

Result<std::vector<Finding>> findings_of_end(Runs& runs, const Trace& subject) {
  const Script& script = runs.script();
  const auto& refusal = script.expectation.refusal;
  if (is_refused_as_expected(script, subject)) return std::vector<Finding>();
  if (!subject.once_findings.empty()) return subject.once_findings;
  if (!subject.error) {
    if (!refusal) return std::vector<Finding>();
    return std::vector{
        finding("R3.not-refused", Outcome::kFail,
                "call " + std::to_string(refusal->call) + " was to be refused, and ran")};
  }
  const Error& error = *subject.error;
  switch (error.kind) {
    case ErrorKind::kInfrastructure:
      return error;
    case ErrorKind::kUnsupported:
      return std::vector{finding("R4.unsupported", Outcome::kUnsupported, error.message)};
    case ErrorKind::kInternal:
      return std::vector{broke_down(
          subject.is_late, subject.executor + ": " + place(subject) + ": " + error.message)};
    case ErrorKind::kBadInput:
      break;
  }
  if (refusal && !refusal->text.empty() &&
      subject.error_step == step_of_call(script, refusal->call)) {
    return std::vector{finding("R3.not-refused", Outcome::kFail,
                               "call " + std::to_string(refusal->call) +
                                   " was to be refused with '" + refusal->text +
                                   "', and was with: " + error.message)};
  }
  // Fed-back outputs make the oracle's run depend on the subject's, which ended.
  GRAPHGATE_TRY(const Trace oracle, runs.oracle_on(script, "eager"));
  const bool both = end_alike(oracle, subject);
  const bool has_cuda_kernels = runs.promises().kernels == "cuda";
  if (both && oracle.error->kind == ErrorKind::kBadInput) {
    if (!has_cuda_kernels) return error;
    // Saved statistics and buffers have other sizes there.
    GRAPHGATE_TRY(const Trace on_host, runs.oracle_with_kernels("cpu"));
    if (on_host.error) return error;
    return std::vector{finding("R4.unsupported", Outcome::kUnsupported,
                               error.message + "; the program is one for the CPU's kernels")};
  }
  if (both && oracle.error->kind == ErrorKind::kUnsupported) {
    return std::vector{finding("R4.unsupported", Outcome::kUnsupported,
                               error.message + "; the reference: " + oracle.error->message)};
  }
  GRAPHGATE_TRY(const auto by_cuda, refusal_of_cuda(runs, subject));
  if (by_cuda) {
    return std::vector{
        finding("R4.unsupported", Outcome::kUnsupported,
                error.message + "; CUDA's kernels, in the reference's words: " + *by_cuda)};
  }
  GRAPHGATE_TRY(const auto other_arm, refusal_in_other_arm(runs, subject));
  if (other_arm) {
    return std::vector{
        finding("R4.unsupported", Outcome::kUnsupported,
                error.message + "; the arm that is not taken cannot run here: " + *other_arm)};
  }
  return std::vector{finding("R1.refused-wrongly", Outcome::kFail,
                             subject.executor + ": " + place(subject) +
                                 ": refuses what the reference takes: " + error.message)};
}

}  // namespace graphgate::conformance
