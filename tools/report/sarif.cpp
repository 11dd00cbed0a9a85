// Reports as SARIF 2.1.0, for code scanning.
#include <map>

#include "conformance/verify/verify.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

const char* sarif_level(spec::Outcome outcome) {
  switch (outcome) {
    case spec::Outcome::kSuspect:
    case spec::Outcome::kUndecided:
    case spec::Outcome::kMistrusted:
      return "warning";
    case spec::Outcome::kUnsupported:
      return "note";
    default:
      return "error";
  }
}

Json sarif_rule(const std::string& id) {
  Json rule;
  rule["id"] = id;
  for (const verify::Rule& known : verify::rules()) {
    if (known.id != id) continue;
    rule["shortDescription"] = {{"text", known.invariant}};
    rule["fullDescription"] = {
        {"text", std::string(known.invariant) + " Otherwise: " + std::string(known.consequence)}};
  }
  return rule;
}

Json sarif_result(const ReportItem& item, const ReportFinding& found, std::size_t rule_index) {
  const spec::Finding& finding = found.finding;
  Json result;
  result["ruleId"] = finding.rule;
  result["ruleIndex"] = rule_index;
  result["level"] = sarif_level(finding.outcome);
  if (!item.baseline_state.empty()) result["baselineState"] = item.baseline_state;
  result["message"] = {{"text", sarif_text(finding.message)}};
  result["locations"] = Json::array();
  const std::vector<std::string> places =
      item.files.empty() ? std::vector<std::string>{item.place} : item.files;
  for (const std::string& place : places) {
    result["locations"].push_back(
        {{"physicalLocation", {{"artifactLocation", {{"uri", uri_text(place)}}}}}});
  }
  for (const std::string& node : finding.nodes) {
    result["locations"][0]["logicalLocations"].push_back({{"name", node}, {"kind", "function"}});
  }
  result["properties"] = {{"executor", found.executor},
                          {"judge", found.judge},
                          {"outcome", spec::outcome_name(finding.outcome)}};
  if (!item.kind.empty()) result["properties"]["kind"] = item.kind;
  if (!item.replay.empty()) result["properties"]["replay"] = item.replay;
  return result;
}

}  // namespace

std::string print_sarif(const Report& report) {
  std::map<std::string, std::size_t> rules;
  for (const ReportItem* item : report.items()) {
    for (const ReportFinding& found : item->findings) rules.emplace(found.finding.rule, 0);
  }
  Json driver = {{"name", "graphgate"}, {"version", GRAPHGATE_VERSION}, {"rules", Json::array()}};
  for (auto& [id, index] : rules) {
    index = driver["rules"].size();
    driver["rules"].push_back(sarif_rule(id));
  }
  Json results = Json::array();
  Json notifications = Json::array();
  for (const ReportItem* item : report.items()) {
    for (const ReportFinding& found : item->findings) {
      results.push_back(sarif_result(*item, found, rules.at(found.finding.rule)));
    }
    if (!item->error) continue;
    notifications.push_back(
        {{"level", "error"}, {"message", {{"text", sarif_text(item->error->message)}}}});
  }
  if (!report.interruption.empty()) {
    notifications.push_back({{"level", "error"}, {"message", {{"text", report.interruption}}}});
  }
  Json run;
  run["tool"] = {{"driver", driver}};
  run["invocations"] = Json::array({{{"executionSuccessful", notifications.empty()},
                                     {"toolExecutionNotifications", notifications}}});
  run["results"] = results;
  if (!report.left_out.empty()) run["properties"] = {{"left_out", report.left_out}};
  Json sarif;
  sarif["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  sarif["version"] = "2.1.0";
  sarif["runs"] = Json::array({run});
  return print_json(sarif);
}

}  // namespace graphgate::tools
