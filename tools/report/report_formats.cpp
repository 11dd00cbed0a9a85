#include "tools/report/report_formats.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "conformance/verify/verify.h"
#include "tools/store/json.h"

namespace graphgate::tools {
namespace {

using conformance::JudgeReport;

// Calls `take(executor, judge name, finding)` for every finding of a file.
template <class Take>
void for_each_finding(const FileReport& file, Take take) {
  for (const ExecutorReport& executor : file.executors) {
    for (const spec::Finding& finding : executor.judged.findings) take(executor, "", finding);
    for (const JudgeReport& judge : executor.judged.judges) {
      for (const spec::Finding& finding : judge.findings) {
        take(executor, std::string(conformance::judge_name(judge.judge)), finding);
      }
    }
  }
}

// The length of the UTF-8 sequence at `at`, or 0 where there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong =
      (lead == 0xe0 && byte(at + 1) < 0xa0) || (lead == 0xf0 && byte(at + 1) < 0x90);
  const bool not_a_character =
      (lead == 0xed && byte(at + 1) >= 0xa0) || (lead == 0xf4 && byte(at + 1) >= 0x90);
  return overlong || not_a_character ? 0 : length;
}

// Text for XML 1.0: what it has no place for becomes U+FFFD.
std::string escaped(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const char c = text[i];
    const bool is_control =
        length == 1 && static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
    if (length == 0 || is_control) {
      out += kReplacement;
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return out;
}

double seconds_of(const FileReport& file) {
  double seconds = 0;
  for (const ExecutorReport& executor : file.executors) {
    for (const JudgeReport& judge : executor.judged.judges) seconds += judge.seconds;
  }
  return seconds;
}

std::string findings_text(const FileReport& file) {
  std::string text;
  for_each_finding(file, [&](const ExecutorReport& executor, const std::string& judge,
                             const spec::Finding& finding) {
    text += finding.rule + " (" + executor.executor + (judge.empty() ? "" : ", " + judge) +
            "): " + finding.message + "\n" + finding.drawing;
  });
  for (const ExecutorReport& executor : file.executors) {
    for (const std::string& line : executor.judged.localization) text += line + "\n";
  }
  return text;
}

std::string print_test_case(const FileReport& file, std::string class_name) {
  std::replace(class_name.begin(), class_name.end(), ' ', '.');
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.3f", seconds_of(file));
  const std::string head = "    <testcase classname=\"" + class_name + "\" name=\"" +
                           escaped(file.file) + "\" time=\"" + seconds + "\"";
  const Count counted = count_of(file);
  if (counted == Count::kPassed) return head + "/>\n";
  std::string reason;
  if (file.error) {
    reason = file.error->message;
  } else if (const ExecutorReport* worst = file.worst()) {
    reason = std::string(spec::outcome_name(file.outcome())) + ": " + worst->judged.reason;
  }
  const std::string message = " message=\"" + escaped(reason) + "\"";
  if (counted == Count::kSkipped) {
    return head + ">\n      <skipped" + message + "/>\n    </testcase>\n";
  }
  const std::string kind = file.error ? "error" : "failure";
  return head + ">\n      <" + kind + message + ">" + escaped(findings_text(file)) + "</" + kind +
         ">\n    </testcase>\n";
}

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

// Percent-encoding of what a URI reference has no place for.
std::string uri_of(const std::string& path) {
  constexpr std::string_view kPlain = "-._~/!$'()*,;=@";
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
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

Json sarif_result(const FileReport& file, const ExecutorReport& executor, const std::string& judge,
                  const spec::Finding& finding, std::size_t rule_index) {
  Json result;
  result["ruleId"] = finding.rule;
  result["ruleIndex"] = rule_index;
  result["level"] = sarif_level(finding.outcome);
  if (!file.baseline_state.empty()) result["baselineState"] = file.baseline_state;
  result["message"] = {{"text", finding.message}};
  result["locations"] =
      Json::array({{{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(file.file)}}}}}}});
  for (const std::string& node : finding.nodes) {
    result["locations"][0]["logicalLocations"].push_back({{"name", node}, {"kind", "function"}});
  }
  result["properties"] = {{"executor", executor.executor},
                          {"judge", judge},
                          {"outcome", spec::outcome_name(finding.outcome)}};
  return result;
}

}  // namespace

std::string print_junit(const std::vector<FileReport>& reports, const std::string& suite) {
  std::size_t errors = 0;
  for (const FileReport& report : reports) {
    errors += report.error && count_of(report) == Count::kFailed ? 1 : 0;
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  text += "  <testsuite name=\"" + suite + "\" tests=\"" + std::to_string(reports.size()) +
          "\" failures=\"" + std::to_string(count(reports, Count::kFailed) - errors) +
          "\" errors=\"" + std::to_string(errors) + "\" skipped=\"" +
          std::to_string(count(reports, Count::kSkipped)) + "\">\n";
  for (const FileReport& report : reports) text += print_test_case(report, suite);
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string print_sarif(const std::vector<FileReport>& reports) {
  std::map<std::string, std::size_t> rules;
  Json results = Json::array();
  for (const FileReport& file : reports) {
    for_each_finding(file, [&](const auto&, const auto&, const spec::Finding& finding) {
      rules.emplace(finding.rule, 0);
    });
  }
  Json driver = {{"name", "graphgate"}, {"version", GRAPHGATE_VERSION}, {"rules", Json::array()}};
  for (auto& [id, index] : rules) {
    index = driver["rules"].size();
    driver["rules"].push_back(sarif_rule(id));
  }
  Json notifications = Json::array();
  bool is_complete = true;
  for (const FileReport& file : reports) {
    for_each_finding(file, [&](const ExecutorReport& executor, const std::string& judge,
                               const spec::Finding& finding) {
      results.push_back(sarif_result(file, executor, judge, finding, rules.at(finding.rule)));
    });
    if (!file.error) continue;
    is_complete = false;
    notifications.push_back({{"level", "error"}, {"message", {{"text", file.error->message}}}});
  }
  Json run;
  run["tool"] = {{"driver", driver}};
  run["invocations"] = Json::array(
      {{{"executionSuccessful", is_complete}, {"toolExecutionNotifications", notifications}}});
  run["results"] = results;
  Json sarif;
  sarif["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  sarif["version"] = "2.1.0";
  sarif["runs"] = Json::array({run});
  return print_json(sarif);
}

}  // namespace graphgate::tools
