#include "conformance/judges/judge_report.h"

#include <algorithm>

namespace graphgate::conformance {

int severity(spec::Outcome outcome) {
  using spec::Outcome;
  switch (outcome) {
    case Outcome::kPass:
    case Outcome::kXFail:
      return 0;
    case Outcome::kUnsupported:
      return 1;
    case Outcome::kMistrusted:
      return 2;
    case Outcome::kUndecided:
      return 3;
    case Outcome::kSuspect:
      return 4;
    case Outcome::kFlaky:
      return 5;
    case Outcome::kInfra:
      return 6;
    case Outcome::kTimeout:
      return 7;
    case Outcome::kCrash:
      return 8;
    case Outcome::kXPass:
      return 9;
    case Outcome::kFail:
      return 10;
  }
  return 0;
}

bool is_refusal(const Error& error) {
  return error.kind == ErrorKind::kUnsupported || error.kind == ErrorKind::kBadInput;
}

void conclude(JudgeReport& report, const StopWatch& watch, spec::Outcome unchecked,
              const std::string& remark) {
  report.outcome = report.checks > 0 ? spec::Outcome::kPass : unchecked;
  if (report.checks == 0 && report.remark.empty()) report.remark = remark;
  for (const spec::Finding& finding : report.findings) {
    if (severity(finding.outcome) > severity(report.outcome)) report.outcome = finding.outcome;
  }
  report.seconds = watch.seconds();
}

Result<JudgeReport> not_run(JudgeReport report, const StopWatch& watch, const Error& error) {
  if (!is_refusal(error)) return error;
  report.remark = error.message;
  conclude(report, watch, spec::Outcome::kUnsupported, "");
  return report;
}

std::string join_names(const std::vector<std::string>& names, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

}  // namespace graphgate::conformance
