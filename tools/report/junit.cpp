// Reports as JUnit XML, for CI servers.
#include <algorithm>

#include "base/formatted.h"
#include "base/utf8.h"
#include "tools/report/forms.h"

namespace graphgate::tools {
namespace {

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

std::string findings_text(const ReportItem& item) {
  std::string text;
  for (const auto& [finding, executor, judge] : item.findings) {
    text += finding.rule + " (" + executor + (judge.empty() ? "" : ", " + judge) +
            "): " + finding.message + "\n" + finding.drawing;
  }
  for (const std::string& line : item.remarks) text += line + "\n";
  return text;
}

std::string print_test_case(const ReportItem& item, const std::string& class_name) {
  const std::string head = "    <testcase classname=\"" + class_name + "\" name=\"" +
                           escaped(item.place) + formatted("\" time=\"%.3f\"", item.seconds);
  const Count counted = count_of(item.exit_code());
  if (counted == Count::kPassed) return head + "/>\n";
  const std::string reason =
      item.error ? item.error->message
                 : std::string(spec::outcome_name(item.outcome)) + ": " + item.reason;
  const std::string message = " message=\"" + escaped(reason) + "\"";
  if (counted == Count::kSkipped) {
    return head + ">\n      <skipped" + message + "/>\n    </testcase>\n";
  }
  const std::string kind = item.error ? "error" : "failure";
  return head + ">\n      <" + kind + message + ">" + escaped(findings_text(item)) + "</" + kind +
         ">\n    </testcase>\n";
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
  for (const ReportItem* item : report.items()) {
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
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"" +
         report.verb + "\" tests=\"" + std::to_string(tests) + "\" failures=\"" +
         std::to_string(failures) + "\" errors=\"" + std::to_string(errors) + "\" skipped=\"" +
         std::to_string(skipped) + "\">\n" + cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace graphgate::tools
