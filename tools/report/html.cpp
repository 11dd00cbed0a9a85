#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/one_line.h"
#include "base/sha256.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"

namespace graphgate::tools {

// tools/report/html/: the page, its style, and its script in parts, which stand behind each other.
extern const std::string_view kPageTexts[];
extern const std::size_t kPageTextsCount;

namespace {

// To a millisecond: what a person reads, and what does not swell the page.
double rounded(double seconds) { return std::round(seconds * 1000) / 1000; }

Json json_of(const ReportFinding& found) {
  const spec::Finding& finding = found.finding;
  Json json{{"rule", finding.rule},
            {"outcome", spec::outcome_name(finding.outcome)},
            {"message", finding.message}};
  if (!found.judge.empty()) json["judge"] = found.judge;
  if (!found.executor.empty()) json["executor"] = found.executor;
  if (!finding.nodes.empty()) json["nodes"] = finding.nodes;
  if (!finding.buffers.empty()) json["buffers"] = finding.buffers;
  if (!finding.drawing.empty()) json["drawing"] = finding.drawing;
  return json;
}

Json json_of(const ReportJudge& judge) {
  Json json{{"name", judge.name},
            {"outcome", spec::outcome_name(judge.outcome)},
            {"checks", judge.checks},
            {"seconds", rounded(judge.seconds)}};
  if (!judge.executor.empty()) json["executor"] = judge.executor;
  if (!judge.remark.empty()) json["remark"] = judge.remark;
  return json;
}

// "ok", "bad", "open": what an item counts as.
const char* class_of(ExitCode code) {
  switch (count_of(code)) {
    case Count::kPassed:
      return "ok";
    case Count::kSkipped:
      return "open";
    default:
      return "bad";
  }
}

Json json_of(const ReportItem& item) {
  Json json{{"place", plain_name(item.place)},
            {"outcome", item.error ? "ERROR" : spec::outcome_name(item.outcome)},
            {"class", class_of(item.exit_code())}};
  json["reason"] = plain_text(item.error ? item.error->message : item.reason);
  if (!item.kind.empty()) json["kind"] = item.kind;
  if (item.seconds > 0) json["seconds"] = rounded(item.seconds);
  if (item.ratio) json["ratio"] = *item.ratio;
  if (!item.text.empty()) json["text"] = plain_lines(item.text);
  if (!item.replay.empty()) json["replay"] = item.replay;
  for (const std::string& remark : item.remarks) json["remarks"].push_back(plain_text(remark));
  if (!item.files.empty()) json["files"] = item.files;
  if (!item.ops.empty()) json["ops"] = item.ops;
  for (const ReportFinding& finding : item.findings) json["findings"].push_back(json_of(finding));
  for (const ReportJudge& judge : item.judges) json["judges"].push_back(json_of(judge));
  return json;
}

Json json_of(const ReportSection& section, const Report& report) {
  Json json{{"verdict", section.verdict.empty() ? verdict_word(report.code) : section.verdict},
            {"subjects", Json::array()}};
  for (const std::string& subject : section.subjects)
    json["subjects"].push_back(plain_name(subject));
  json["items"] = Json::array();
  for (const ReportItem& item : section.items) json["items"].push_back(json_of(item));
  // Of a comparison, whose items are what differs.
  if (!section.cases.empty()) {
    json["cases"] = Json::array();
    for (const ReportItem& one : section.cases) json["cases"].push_back(json_of(one));
  }
  return json;
}

Json json_of(const Report& report) {
  Json json{{"verb", report.verb},
            {"version", GRAPHGATE_VERSION},
            {"verdict", verdict_word(report.code)},
            {"class", class_of(report.code)},
            {"totals", plain_lines(report.totals)}};
  if (!report.interruption.empty()) json["interruption"] = report.interruption;
  if (!report.left_out.empty()) json["left_out"] = report.left_out;
  if (!report.first_bad.empty()) json["first_bad"] = report.first_bad;
  json["sections"] = Json::array();
  for (const ReportSection& section : report.sections) {
    json["sections"].push_back(json_of(section, report));
  }
  json["panels"] = report.panels;
  return json;
}

// For a reader that runs no script, as some that show mail do.
std::string lines_of(const Report& report) {
  constexpr std::size_t kMost = 64U << 10U;
  std::string lines;
  for (const ReportItem* item : report.items()) {
    if (lines.size() < kMost) lines += item->text;
  }
  return lines + report.totals;
}

}  // namespace

std::string print_html(const Report& report) {
  std::string script;
  for (std::size_t i = 2; i < kPageTextsCount; ++i) script += kPageTexts[i];
  const std::string style(kPageTexts[1]);
  const std::string title = std::string(verdict_word(report.code)) + ": " + report.verb;
  std::string page;
  const std::string_view frame = kPageTexts[0];
  for (std::size_t at = 0; at < frame.size();) {
    const std::size_t begin = std::min(frame.find("{{", at), frame.size());
    page += frame.substr(at, begin - at);
    if (begin == frame.size()) break;
    const std::size_t end = frame.find("}}", begin);
    const std::string_view name = frame.substr(begin + 2, end - begin - 2);
    if (name == "title") page += xml_text(title);
    if (name == "style") page += style;
    if (name == "script") page += script;
    if (name == "style hash") page += sha256_base64(style);
    if (name == "script hash") page += sha256_base64(script);
    if (name == "lines") page += xml_text(plain_lines(lines_of(report)));
    if (name == "data") page += html_json(json_line(json_of(report)));
    at = end + 2;
  }
  return page;
}

}  // namespace graphgate::tools
