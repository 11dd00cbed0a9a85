#include "tools/subjects.h"

#include <algorithm>

#include "tools/executor_sources.h"
#include "tools/executors.h"

namespace graphgate::tools {

using conformance::Configuration;
using spec::Outcome;

namespace {

void tell_late(const spec::Expectation& expected, conformance::CaseReport& report) {
  for (spec::Finding& finding : report.findings) {
    if (finding.rule != "R2.broke-down") continue;
    finding.rule = "R2.no-answer";
    finding.outcome = Outcome::kTimeout;
    report.outcome = expected.outcome == Outcome::kTimeout ? Outcome::kXFail : Outcome::kTimeout;
    report.reason = finding.message;
  }
}

}  // namespace

bool is_built_in(const std::string& executor) {
  const auto& names = executor_names();
  return std::find(names.begin(), names.end(), executor) != names.end();
}

Result<Subject> built_in_subject(const std::string& executor, const Configuration& options) {
  Subject subject;
  GRAPHGATE_TRY(subject.source, executor_source(executor, options.contains("allow-zero-and-one")));
  if (executor == "optimized") subject.options = options;  // the other has no planner
  return subject;
}

Result<Subject> external_subject(const ExternalCommand& command, const Configuration& options) {
  Subject subject;
  GRAPHGATE_TRY(auto source, external_source(command));
  for (const auto& option : options) {
    if (source->takes(option.first)) subject.options.insert(option);
  }
  subject.external = source.get();
  subject.source = std::move(source);
  return subject;
}

Result<conformance::CaseReport> judge_subject(conformance::Runs& runs, const Subject& subject,
                                              conformance::JudgeSet judges,
                                              const conformance::JudgeSettings& settings) {
  GRAPHGATE_TRY(auto report, conformance::judge_script(runs, judges, settings));
  // Behind a run that broke down nothing else has run.
  if (subject.external && subject.external->is_late()) {
    tell_late(runs.script().expectation, report);
  }
  return report;
}

std::chrono::milliseconds answer_time(double seconds) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace graphgate::tools
