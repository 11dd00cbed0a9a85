// Reports as Markdown.
#include <algorithm>
#include <map>

#include "tools/report/escape.h"
#include "tools/report/forms.h"

namespace graphgate::tools {
namespace {

// Code as a list has it, where a bar ends nothing, and a command is to be pasted: each bar has the
// backslash of a table's before it.
std::string code_in_list(const std::string& name) {
  std::string text = markdown_code(name);
  for (std::size_t at = text.find("\\|"); at != std::string::npos; at = text.find("\\|", at + 1)) {
    text.erase(at, 1);
  }
  return text;
}

std::string print(const ReportCell& cell) {
  const std::string text = cell.is_name ? markdown_code(cell.text) : markdown_text(cell.text);
  if (cell.link.empty()) return text;
  return text + ", [" + markdown_text(cell.linked) + "](" + markdown_link(cell.link) + ")";
}

std::string print(const ReportTable& table) {
  if (table.rows.empty()) return "";
  std::string heads = "|";
  std::string rule = "|";
  for (const std::string& column : table.columns) {
    heads += " " + column + " |";
    rule += " --- |";
  }
  std::string text = heads + "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    text += '|';
    for (const ReportCell& cell : row) text += " " + print(cell) + " |";
    text += '\n';
  }
  return text;
}

std::string print(const ReportFold& fold) {
  if (fold.lines.empty()) return "";
  std::string text = "<details><summary>" + markdown_text(fold.summary) + "</summary>\n\n";
  for (const auto& cells : fold.lines) {
    text += "- ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += i == 0 ? "" : ", ";
      text += cells[i].is_name ? code_in_list(cells[i].text) : print(cells[i]);
    }
    text += '\n';
  }
  return text + "\n</details>\n";
}

std::string print(const std::string& paragraph) { return markdown_text(paragraph) + "\n"; }

// What has not passed.
std::vector<ReportBlock> page_of(const std::vector<ReportItem>& items) {
  ReportTable table{{"outcome", "what", "why"}, {}};
  std::map<Count, std::size_t> counts;
  for (const ReportItem& item : items) {
    ++counts[count_of(item.exit_code())];
    if (item.exit_code() == ExitCode::kGood) continue;
    const std::string outcome(item.error ? "ERROR" : spec::outcome_name(item.outcome));
    table.rows.push_back(
        {{outcome}, {item.place, true}, {item.error ? item.error->message : item.reason}});
  }
  const bool has_replays = std::any_of(items.begin(), items.end(), [](const ReportItem& item) {
    return item.exit_code() != ExitCode::kGood && !item.replay.empty();
  });
  if (has_replays) {
    table.columns.emplace_back("again");
    auto row = table.rows.begin();
    for (const ReportItem& item : items) {
      if (item.exit_code() == ExitCode::kGood) continue;
      (row++)->push_back(item.replay.empty() ? ReportCell{""} : ReportCell{item.replay, true});
    }
  }
  return {std::to_string(counts[Count::kPassed]) + " passed, " +
              std::to_string(counts[Count::kFailed]) + " failed, " +
              std::to_string(counts[Count::kSkipped]) + " skipped.",
          table};
}

}  // namespace

std::string print_markdown(const Report& report) {
  std::string text;
  for (const ReportSection& section : report.sections) {
    text += "### " + (section.verdict.empty() ? verdict_word(report.code) : section.verdict) + ": ";
    for (std::size_t i = 0; i < section.subjects.size(); ++i) {
      text += (i == 0 ? "" : " → ") + markdown_code(section.subjects[i]);
    }
    text += "\n\n";
    const std::vector<ReportBlock> page =
        section.page.empty() ? page_of(section.items) : section.page;
    for (const ReportBlock& block : page) {
      text += std::visit([](const auto& each) { return print(each); }, block) + "\n";
    }
  }
  if (!report.interruption.empty()) text += "Incomplete: " + report.interruption + ".\n";
  if (!report.left_out.empty()) text += "Left out: " + report.left_out + ".\n";
  return report.first_bad.empty() ? text
                                  : text + "First bad: " + markdown_code(report.first_bad) + "\n";
}

}  // namespace graphgate::tools
