#include "fuzz/campaign/case_runs.h"

#include <cstring>
#include <new>

namespace graphgate::fuzz {
namespace {

Result<CaseLook> look(const spec::CaseFile& the_case, const CaseExecutors& executors,
                      const JudgeChoice& choice) {
  GRAPHGATE_TRY(const conformance::CaseReport report, judge_case(the_case, executors, choice));
  return CaseLook{report.outcome, report.reason, signatures_of(report, the_case),
                  report.not_compared};
}

// What the process that looks hands back.
std::string to_text(const Result<CaseLook>& look) {
  if (!look.ok()) {
    const int kind = static_cast<int>(look.error().kind);
    return join_texts({"error", std::to_string(kind), look.error().message});
  }
  std::vector<std::string> texts = {"look", std::string(spec::outcome_name(look.value().outcome)),
                                    look.value().reason, look.value().not_compared};
  for (const Signature& signature : look.value().signatures) {
    texts.push_back(print_signature(signature));
  }
  return join_texts(texts);
}

Result<CaseLook> from_text(const std::string& text) {
  const std::vector<std::string> texts = take_texts(text);
  const bool is_error = texts.size() == 3 && texts[0] == "error";
  if (is_error) return Error{static_cast<ErrorKind>(std::stoi(texts[1])), texts[2]};
  if (texts.size() < 4) return Error{ErrorKind::kInternal, "a process said nothing"};
  CaseLook look;
  look.outcome = spec::parse_outcome(texts[1]).value_or(spec::Outcome::kInfra);
  look.reason = texts[2];
  look.not_compared = texts[3];
  for (std::size_t i = 4; i < texts.size(); ++i) {
    GRAPHGATE_TRY(look.signatures.emplace_back(), parse_signature(texts[i]));
  }
  return look;
}

// Runs the work in a child; what it says, or how it ended. Memory may be short for a moment,
// whoever takes it: that counts where it comes twice.
Result<ChildResult> run_child(const Isolation& isolation,
                              const std::function<std::string()>& work) {
  ChildOptions options{1, isolation.timeout_seconds, isolation.memory_bytes};
  options.should_stop = isolation.should_stop;
  const auto once = [&]() -> Result<ChildResult> {
    GRAPHGATE_TRY(std::vector<ChildResult> children,
                  run_children(1, options, [&](std::size_t) { return work(); }));
    return std::move(children.front());
  };
  GRAPHGATE_TRY(ChildResult child, once());
  if (child.ending != ChildEnding::kNoMemory) return child;
  return once();
}

}  // namespace

Result<CaseLook> look_at_case(const spec::CaseFile& the_case, const CaseExecutors& executors,
                              const JudgeChoice& choice, const Isolation& isolation) {
  if (!isolation.is_on) return look(the_case, executors, choice);
  GRAPHGATE_TRY(const ChildResult child,
                run_child(isolation, [&] { return to_text(look(the_case, executors, choice)); }));
  if (child.ending == ChildEnding::kStopped) return infrastructure("was stopped");
  if (const auto ending = ending_of(child, the_case)) {
    const bool is_late = child.ending == ChildEnding::kTimedOut;
    return CaseLook{
        is_late ? spec::Outcome::kTimeout : spec::Outcome::kCrash, child.describe(), {*ending}};
  }
  return from_text(child.output);
}

CheckResult check_case_for(const spec::CaseFile& the_case, const CaseExecutors& executors,
                           const Signature& signature, const conformance::JudgeSettings& settings,
                           const Isolation& isolation) {
  const auto check = [&] { return check_signature(the_case, executors, signature, settings); };
  if (!isolation.is_on) return check();
  // What ends the process is asked for by no judge: all are, as when it was found.
  const bool wants_end = ends_process(signature);
  const auto child = run_child(isolation, [&]() -> std::string {
    if (!wants_end) return std::to_string(static_cast<int>(check()));
    const auto seen = look(the_case, executors, {});
    const bool passes = seen.ok() && seen.value().outcome == spec::Outcome::kPass;
    return std::to_string(static_cast<int>(passes ? CheckResult::kPasses : CheckResult::kOther));
  });
  if (!child.ok()) return CheckResult::kOther;
  const auto ending = ending_of(child.value(), the_case);
  if (!ending && child.value().output.size() == 1) {
    return static_cast<CheckResult>(child.value().output.front() - '0');
  }
  const bool is_same = wants_end && ending && ending->same_fault(signature) &&
                       check_reference_takes(the_case, executors).ok();
  return is_same ? CheckResult::kSame : CheckResult::kOther;
}

std::optional<Signature> ending_of(const ChildResult& child, const spec::CaseFile& the_case) {
  switch (child.ending) {
    case ChildEnding::kExited:
    case ChildEnding::kStopped:
      return std::nullopt;
    case ChildEnding::kNoMemory:
      return signature_of_ending("memory", "out-of-memory", the_case);
    case ChildEnding::kTimedOut:
      return signature_of_ending("timeout", "no-end", the_case);
    case ChildEnding::kSignaled:
      break;
  }
  return signature_of_ending("crash", crash_rule(child.signal), the_case);
}

const spec::Finding* finding_of(const conformance::CaseReport& report, const std::string& rule) {
  const auto find = [&](const std::vector<spec::Finding>& findings) -> const spec::Finding* {
    for (const spec::Finding& finding : findings) {
      if (finding.rule == rule) return &finding;
    }
    return nullptr;
  };
  if (const spec::Finding* found = find(report.findings)) return found;
  for (const conformance::JudgeReport& judge : report.judges) {
    if (const spec::Finding* found = find(judge.findings)) return found;
  }
  return nullptr;
}

std::string crash_rule(int signal) {
  const char* name = signal == 0 ? nullptr : sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "exit";
}

bool ends_process(const Signature& signature) {
  return signature.detector == "crash" || signature.detector == "timeout" ||
         signature.detector == "memory";
}

}  // namespace graphgate::fuzz
