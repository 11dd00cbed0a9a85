// The forms of a report. report_forms() has a line for each; a form is a file of its own.
#pragma once

#include <cstdio>
#include <map>
#include <span>
#include <string>

#include "tools/report/report.h"

namespace graphgate::tools {

// Everything, as the verb's own JSON (docs/formats.md).
[[nodiscard]] std::string print_json(const Report& report);
// Tables of what has not passed, for the summary of a pull request.
[[nodiscard]] std::string print_markdown(const Report& report);
// A test case for each item; a failure or an error holds the findings. What is inconclusive is
// skipped.
[[nodiscard]] std::string print_junit(const Report& report);
// SARIF 2.1.0 (OASIS): one result a finding, with its rule, at the file that it is about.
[[nodiscard]] std::string print_sarif(const Report& report);

// A page to look at: one file with its data, its script and its style, which needs no network.
[[nodiscard]] std::string print_html(const Report& report);

// Lines for a person; an item's trouble goes to standard error.
void print_lines(const Report& report);
void print_item(const ReportItem& item);
// Whole lines, each of them of ours: whoever makes one has made the names in it plain
// (escape.h). What steers a terminal is taken out once more.
void print_plain(std::FILE* file, const std::string& text);
// One line, made plain and cut (escape.h); without its end.
void print_line(std::FILE* file, const std::string& line);

// A form that is written where a verb's flag says.
struct ReportForm {
  const char* name;                     // of the flag: "json"
  const char* help;                     // its help; a `*` stands for what the verb reports
  std::string (*print)(const Report&);  // the whole file
};
[[nodiscard]] std::span<const ReportForm> report_forms();

// The name of the form with panels (Report::panels), which a verb makes for it alone.
inline constexpr const char* kHtmlForm = "html";

// Where forms go, by name: a path, "-" for standard output, "" for nowhere.
using ReportPaths = std::map<std::string, std::string>;
// Whether that form is asked for.
[[nodiscard]] bool has_form(const ReportPaths& paths, const std::string& name);
// How many forms go to standard output: lines for a person stay away from there.
[[nodiscard]] std::size_t to_stdout(const ReportPaths& paths);
// kInfrastructure where one cannot be written.
[[nodiscard]] Result<void> write_report(const Report& report, const ReportPaths& paths);

// JSON text on one line, or indented by so much. Bytes that are no UTF-8 (of a file's name, say)
// become U+FFFD, and no byte steers a terminal.
[[nodiscard]] std::string json_line(const nlohmann::ordered_json& json, int indent = -1);
// The same, as a file.
[[nodiscard]] std::string print_json(const nlohmann::ordered_json& json);

}  // namespace graphgate::tools
