// The JSON of `graphgate check`; declared in check_report.h.
#include <algorithm>
#include <cmath>

#include "tools/report/check_report.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

using conformance::JudgeReport;

// JSON has no infinity; an absent number says that there is none.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json json_of(const spec::Finding& finding) {
  Json json;
  json["rule"] = finding.rule;
  json["outcome"] = spec::outcome_name(finding.outcome);
  json["message"] = finding.message;
  if (!finding.nodes.empty()) json["nodes"] = finding.nodes;
  if (!finding.buffers.empty()) json["buffers"] = finding.buffers;
  for (const spec::FindingRange& range : finding.ranges) {
    json["ranges"].push_back({{"where", range.where},
                              {"begin_bytes", range.begin_bytes},
                              {"end_bytes", range.end_bytes}});
  }
  if (!finding.drawing.empty()) json["drawing"] = finding.drawing;
  return json;
}

Json json_of(const std::vector<spec::Finding>& findings) {
  Json json = Json::array();
  for (const spec::Finding& finding : findings) json.push_back(json_of(finding));
  return json;
}

Json json_of(const JudgeReport& judge, bool seconds) {
  Json json;
  json["judge"] = conformance::judge_name(judge.judge);
  json["outcome"] = spec::outcome_name(judge.outcome);
  json["checks"] = judge.checks;
  if (!judge.remark.empty()) json["remark"] = judge.remark;
  if (seconds) json["seconds"] = judge.seconds;
  for (const auto& [name, value] : judge.figures) json["figures"][name] = number(value);
  json["findings"] = json_of(judge.findings);
  return json;
}

Json json_of(const conformance::PlanStats& plan) {
  return {{"steps", plan.steps},
          {"captured_steps", plan.captured_steps},
          {"partitions", plan.partitions},
          {"captured_partitions", plan.captured_partitions},
          {"peak_bytes", plan.peak_bytes},
          {"no_reuse_bytes", plan.no_reuse_bytes},
          {"lower_bound_bytes", plan.lower_bound_bytes}};
}

Json json_of(const ExecutorReport& executor, bool seconds) {
  Json json;
  json["executor"] = executor.executor;
  json["outcome"] = spec::outcome_name(executor.judged.outcome);
  if (!executor.judged.reason.empty()) json["reason"] = executor.judged.reason;
  if (executor.plan) json["plan"] = json_of(*executor.plan);
  json["findings"] = json_of(executor.judged.findings);
  json["judges"] = Json::array();
  for (const JudgeReport& judge : executor.judged.judges) {
    json["judges"].push_back(json_of(judge, seconds));
  }
  if (!executor.judged.localization.empty()) json["localization"] = executor.judged.localization;
  return json;
}

Json json_of(const FileReport& file, bool seconds) {
  Json json;
  json["file"] = file.file;
  if (file.error) {
    json["outcome"] = file.error->kind == ErrorKind::kUnsupported ? "UNSUPPORTED" : "ERROR";
    json["reason"] = file.error->message;
    return json;
  }
  if (const std::string why = file.not_compared(); !why.empty()) json["not_compared"] = why;
  if (!file.interruption.empty()) {
    json["outcome"] = spec::outcome_name(file.outcome());
    json["reason"] = file.interruption;
    return json;
  }
  json[file.is_case ? "case" : "program"] = file.name;
  json["outcome"] = spec::outcome_name(file.outcome());
  const ExecutorReport* worst = file.worst();
  if (worst && !worst->judged.reason.empty()) json["reason"] = worst->judged.reason;
  if (!file.replay.empty() && file.exit_code() != ExitCode::kGood) json["replay"] = file.replay;
  json["nodes"] = file.nodes;
  json["calls"] = file.calls;
  json["recorded"] = file.recorded;
  json["elements"] = std::llround(file.sum("elements"));
  json["undecided"] = std::llround(file.sum("undecided"));
  json["worst_ratio"] = number(file.largest("worst_ratio"));
  json["executors"] = Json::array();
  for (const ExecutorReport& executor : file.executors) {
    json["executors"].push_back(json_of(executor, seconds));
  }
  return json;
}

}  // namespace

Json json_of(const std::vector<FileReport>& reports, bool seconds) {
  Json json;
  json["programs"] = Json::array();
  for (const FileReport& report : reports) json["programs"].push_back(json_of(report, seconds));
  json["passed"] = count(reports, Count::kPassed);
  json["failed"] = count(reports, Count::kFailed);
  json["skipped"] = count(reports, Count::kSkipped);
  json["not_compared"] =
      std::count_if(reports.begin(), reports.end(),
                    [](const FileReport& report) { return !report.not_compared().empty(); });
  json["missing_ops"] = json_of_missing_ops(missing_ops_of(reports));
  json["interrupted"] = std::any_of(reports.begin(), reports.end(), [](const FileReport& report) {
    return !report.interruption.empty();
  });
  return json;
}

}  // namespace graphgate::tools
