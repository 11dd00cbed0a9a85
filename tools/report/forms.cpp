#include "tools/report/forms.h"

#include <algorithm>

#include "base/atomic_file.h"

namespace graphgate::tools {
namespace {

constexpr ReportForm kForms[] = {
    {"json", "write * as JSON to this file (- for stdout)", print_json},
    {"markdown", "write a summary for a pull request to this file (- for stdout)", print_markdown},
    {"junit", "write * as JUnit XML to this file", print_junit},
    {"sarif", "write the findings as SARIF 2.1.0 to this file", print_sarif},
    {kHtmlForm, "write * as a page to look at, for a browser, to this file", print_html},
};

}  // namespace

std::span<const ReportForm> report_forms() { return kForms; }

bool has_form(const ReportPaths& paths, const std::string& name) {
  const auto path = paths.find(name);
  return path != paths.end() && !path->second.empty();
}

std::size_t to_stdout(const ReportPaths& paths) {
  return static_cast<std::size_t>(std::count_if(
      paths.begin(), paths.end(), [](const auto& form) { return form.second == "-"; }));
}

Result<void> write_report(const Report& report, const ReportPaths& paths) {
  for (const ReportForm& form : kForms) {
    if (!has_form(paths, form.name)) continue;
    GRAPHGATE_TRY_VOID(write_text(form.print(report), paths.at(form.name)));
  }
  return {};
}

}  // namespace graphgate::tools
