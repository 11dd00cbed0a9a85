#include "tools/tests/suites/judged_case.h"

#include <algorithm>

#include "base/file_io.h"
#include "conformance/judges/plan_quality.h"
#include "conformance/run/runs.h"
#include "tools/executors/executor_sources.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

using conformance::CaseReport;
using conformance::JudgeReport;
using spec::Outcome;

constexpr const char* kQualityFile = "quality.txt";  // beside the cases

bool is_failure(Outcome outcome) {
  return outcome == Outcome::kFail || outcome == Outcome::kCrash || outcome == Outcome::kTimeout;
}

std::string first_of(const std::vector<spec::Finding>& findings, const std::string& remark) {
  if (findings.empty()) return remark.empty() ? "" : " (" + remark + ")";
  return ": " + findings.front().rule + " " + findings.front().message;
}

}  // namespace

const std::vector<GoldenCase>& catalogue() {
  static const std::vector<GoldenCase> kCases =
      golden_cases(GRAPHGATE_GOLDEN_DIR "/cases", "catalogue").value();
  return kCases;
}

Result<CaseReport> judge_golden(const GoldenCase& golden, const conformance::Configuration& changes,
                                conformance::JudgeSet judges) {
  GRAPHGATE_TRY(conformance::Script script, read_case(golden.text, golden.path.string()));
  script.options = conformance::merged(script.options, changes);
  const auto subject = optimized_source();
  const auto oracle = reference_source(script.options.contains("allow-zero-and-one"));
  conformance::Runs runs(script, *subject, *oracle);
  conformance::JudgeSettings settings;
  settings.localize = false;
  const std::string baseline = (golden.path.parent_path() / kQualityFile).string();
  GRAPHGATE_TRY(const bool has_baseline, graphgate::is_there(baseline));
  if (has_baseline) {
    GRAPHGATE_TRY(settings.quality_baseline, read_text(baseline));
  }
  return conformance::judge_script(runs, judges, settings);
}

Result<std::string> quality_lines(const GoldenCase& golden) {
  GRAPHGATE_TRY(const conformance::Script script, read_case(golden.text, golden.path.string()));
  const auto source = optimized_source();
  const auto oracle = reference_source(false);
  conformance::Runs runs(script, *source, *oracle);
  GRAPHGATE_TRY(const conformance::Trace* trace, runs.subject());
  std::string text;
  for (std::size_t c = 0; c < trace->calls.size(); ++c) {
    const auto& plan = trace->calls[c].plan;
    if (!plan) continue;
    const std::string line =
        conformance::print_quality(script.name, c, conformance::quality_of(*plan));
    const std::size_t colon = line.find(": peak");
    text +=
        line.substr(0, colon) + conformance::quality_suffix(script.options) + line.substr(colon);
  }
  return text;
}

bool run_failed(const CaseReport& report) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [](const spec::Finding& finding) { return is_failure(finding.outcome); });
}

std::vector<std::string> judges_that_object(const CaseReport& report) {
  std::vector<std::string> names;
  for (const JudgeReport& judge : report.judges) {
    if (is_failure(judge.outcome) || judge.outcome == Outcome::kSuspect)
      names.emplace_back(conformance::judge_name(judge.judge));
  }
  return names;
}

std::string print_outcomes(const CaseReport& report) {
  std::string text = std::string(spec::outcome_name(report.outcome)) + " " + report.name +
                     first_of(report.findings, report.reason) + "\n";
  for (const JudgeReport& judge : report.judges) {
    text += "  " + std::string(conformance::judge_name(judge.judge)) + " " +
            std::string(spec::outcome_name(judge.outcome)) +
            first_of(judge.findings, judge.remark) + "\n";
  }
  return text;
}

}  // namespace graphgate::tools
