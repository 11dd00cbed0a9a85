// Reports as JUnit XML, for CI servers.
#include <algorithm>

#include "base/formatted.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"

namespace graphgate::tools {
namespace {

std::string findings_text(const ReportItem& item) {
  std::string text;
  for (const auto& [finding, executor, judge] : item.findings) {
    text += finding.rule + " (" + executor + (judge.empty() ? "" : ", " + judge) +
            "): " + finding.message + "\n" + indented(finding.drawing, "    ");
  }
  for (const std::string& line : item.remarks) text += line + "\n";
  if (!item.replay.empty()) text += "replay: " + item.replay + "\n";
  return text;
}

std::string print_test_case(const ReportItem& item, const std::string& class_name) {
  const std::string head = "    <testcase classname=\"" + class_name + "\" name=\"" +
                           xml_attribute(item.place) + formatted("\" time=\"%.3f\"", item.seconds);
  const Count counted = count_of(item.exit_code());
  if (counted == Count::kPassed) return head + "/>\n";
  const std::string reason =
      item.error ? item.error->message
                 : std::string(spec::outcome_name(item.outcome)) + ": " + item.reason;
  const std::string message = " message=\"" + xml_attribute(reason) + "\"";
  if (counted == Count::kSkipped) {
    return head + ">\n      <skipped" + message + "/>\n    </testcase>\n";
  }
  const std::string kind = item.error ? "error" : "failure";
  const std::string type = item.kind.empty() ? "" : " type=\"" + xml_attribute(item.kind) + "\"";
  return head + ">\n      <" + kind + type + message + ">" + xml_text(findings_text(item)) + "</" +
         kind + ">\n    </testcase>\n";
}

}  // namespace

std::string print_junit(const Report& report) {
  std::string class_name = report.verb;
  std::replace(class_name.begin(), class_name.end(), ' ', '.');
  std::string cases;
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  for (const ReportItem* item : report.cases()) {
    const Count counted = count_of(item->exit_code());
    ++tests;
    if (counted == Count::kFailed) ++(item->error ? errors : failures);
    if (counted == Count::kSkipped) ++skipped;
    cases += print_test_case(*item, class_name);
  }
  if (!report.interruption.empty()) {
    ReportItem lacking;
    lacking.place = "what was not run";
    lacking.outcome = spec::Outcome::kUndecided;
    lacking.reason = report.interruption;
    ++tests;
    ++skipped;
    cases += print_test_case(lacking, class_name);
  }
  std::string properties;
  if (!report.left_out.empty()) {
    properties = "    <properties>\n      <property name=\"left out\" value=\"" +
                 xml_attribute(report.left_out) + "\"/>\n    </properties>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"" +
         report.verb + "\" tests=\"" + std::to_string(tests) + "\" failures=\"" +
         std::to_string(failures) + "\" errors=\"" + std::to_string(errors) + "\" skipped=\"" +
         std::to_string(skipped) + "\">\n" + properties + cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace graphgate::tools
