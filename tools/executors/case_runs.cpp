#include "tools/executors/case_runs.h"

#include <cstring>
#include <new>

#include "tools/executors/executor_sources.h"
#include "tools/store/json.h"

namespace graphgate::tools {
namespace {

using fuzz::CheckResult;
using fuzz::Signature;

constexpr const char* kOutOfMemory = "out of memory";

Result<CaseLook> look(const spec::CaseFile& the_case, const fuzz::CaseExecutors& executors,
                      const fuzz::JudgeChoice& choice) {
  GRAPHGATE_TRY(const conformance::CaseReport report,
                fuzz::judge_case(the_case, executors, choice));
  return CaseLook{report.outcome, report.reason, fuzz::signatures_of(report, the_case)};
}

std::string to_text(const Result<CaseLook>& look) {
  nlohmann::json json;
  if (!look.ok()) {
    json["error"] = look.error().message;
    json["kind"] = static_cast<int>(look.error().kind);
    return child_text(json);
  }
  json["outcome"] = spec::outcome_name(look.value().outcome);
  json["reason"] = look.value().reason;
  json["signatures"] = nlohmann::json::array();
  for (const Signature& signature : look.value().signatures) {
    json["signatures"].push_back(fuzz::print_signature(signature));
  }
  return child_text(json);
}

// What our own child wrote.
Result<CaseLook> from_text(const nlohmann::json& json) {
  if (json.contains("error")) {
    return Error{static_cast<ErrorKind>(json["kind"].get<int>()), json["error"]};
  }
  CaseLook look;
  look.outcome =
      spec::parse_outcome(json["outcome"].get<std::string>()).value_or(spec::Outcome::kInfra);
  look.reason = json["reason"];
  for (const auto& text : json["signatures"]) {
    GRAPHGATE_TRY(Signature signature, fuzz::parse_signature(text.get<std::string>()));
    look.signatures.push_back(std::move(signature));
  }
  return look;
}

// Runs the work in a child; what it says, or how it ended.
Result<ChildResult> run_child(const Isolation& isolation,
                              const std::function<std::string()>& work) {
  const auto safely = [&](std::size_t) -> std::string {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      return kOutOfMemory;
    }
  };
  GRAPHGATE_TRY(std::vector<ChildResult> children,
                run_children(1, {1, isolation.timeout_seconds, isolation.memory_bytes}, safely));
  return std::move(children.front());
}

}  // namespace

CaseSources::CaseSources(const conformance::CaseFiles& files,
                         std::shared_ptr<const Subject> subject)
    : subject_(subject ? std::move(subject) : optimized_source()),
      oracle_(reference_source(false)),
      wide_oracle_(reference_source(true)),
      files_(files) {}

namespace {

bool go_together(const conformance::Configuration& options) {
  const auto flags = planner_flags(options);
  return flags.ok() && check_together(flags.value()).ok();
}

}  // namespace

conformance::Configuration options_under(const conformance::Configuration& own,
                                         const conformance::Configuration& flags) {
  conformance::Configuration merged = conformance::merged(own, flags);
  if (go_together(merged)) return merged;
  conformance::Configuration kept = flags;
  if (!go_together(flags)) return kept;
  for (const auto& [name, value] : own) {
    if (!kept.emplace(name, value).second || go_together(kept)) continue;
    kept.erase(name);
  }
  return kept;
}

spec::CaseFile with_flags(spec::CaseFile the_case, const conformance::Configuration& flags,
                          const Subject& subject) {
  if (!flags.empty()) the_case.options = options_under(the_case.options, flags);
  the_case.options = taken_of(subject, std::move(the_case.options));
  return the_case;
}

Result<CaseLook> look_at_case(const spec::CaseFile& the_case, const fuzz::CaseExecutors& executors,
                              const fuzz::JudgeChoice& choice, const Isolation& isolation) {
  if (!isolation.is_on) return look(the_case, executors, choice);
  GRAPHGATE_TRY(const ChildResult child,
                run_child(isolation, [&] { return to_text(look(the_case, executors, choice)); }));
  if (const auto ending = ending_of(child, the_case)) {
    const bool is_late = child.ending == ChildEnding::kTimedOut;
    const std::string words = child.describe();
    return CaseLook{is_late ? spec::Outcome::kTimeout : spec::Outcome::kCrash,
                    words.empty() ? kOutOfMemory : words,
                    {*ending}};
  }
  const auto json = nlohmann::json::parse(child.output, nullptr, false);
  if (json.is_discarded()) return Error{ErrorKind::kInternal, "a process said nothing"};
  return from_text(json);
}

CheckResult check_case_for(const spec::CaseFile& the_case, const fuzz::CaseExecutors& executors,
                           const Signature& signature, const conformance::JudgeSettings& settings,
                           const Isolation& isolation) {
  const auto check = [&] {
    return fuzz::check_signature(the_case, executors, signature, settings);
  };
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
                       fuzz::check_reference_takes(the_case, executors).ok();
  return is_same ? CheckResult::kSame : CheckResult::kOther;
}

std::optional<Signature> ending_of(const ChildResult& child, const spec::CaseFile& the_case) {
  if (child.output == kOutOfMemory) {
    return fuzz::signature_of_ending("memory", "out-of-memory", the_case);
  }
  switch (child.ending) {
    case ChildEnding::kExited:
    case ChildEnding::kStopped:
      return std::nullopt;
    case ChildEnding::kTimedOut:
      return fuzz::signature_of_ending("timeout", "no-end", the_case);
    case ChildEnding::kSignaled:
      break;
  }
  return fuzz::signature_of_ending("crash", crash_rule(child.signal), the_case);
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

}  // namespace graphgate::tools
