// A report: what a verb was asked, and what each thing came to. A verb fills it in (check_report.h,
// fuzz_report.h, gate/gate_report.h, golden/golden_run.h), and forms.h prints it.
//
// No form knows a verb: docs/adding_a_report_format.md.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "spec/finding.h"
#include "tools/report/exit_code.h"

namespace graphgate::tools {

struct ReportFinding {
  spec::Finding finding;
  std::string executor;
  std::string judge;  // empty: of the run itself
};

// What one judge said of an item.
struct ReportJudge {
  std::string name;
  std::string executor;
  spec::Outcome outcome = spec::Outcome::kPass;
  std::int64_t checks = 0;
  double seconds = 0;
  std::string remark;
};

// What one file, or one row of a comparison, came to.
struct ReportItem {
  std::string place;  // a file; a name where there is none
  spec::Outcome outcome = spec::Outcome::kPass;
  std::string reason;
  std::optional<Error> error;  // instead of an outcome
  std::vector<ReportFinding> findings;
  std::vector<std::string> remarks;  // where a failure begins
  double seconds = 0;
  std::string kind = {};                 // of what is wrong, in words: "crash"; empty: not told
  std::vector<std::string> files = {};   // that it is about; empty: its place
  std::string replay;                    // a line of sh that shows it again; empty: there is none
  std::string baseline_state;            // SARIF's, of a comparison: "new", "absent"...
  std::string text;                      // whole lines for a person
  std::string trouble;                   // the same, for standard error
  std::vector<std::string> ops = {};     // that it runs, or that are at fault; each once
  std::vector<ReportJudge> judges = {};  // that were asked
  std::optional<double> ratio = {};      // the largest error over what is allowed

  [[nodiscard]] ExitCode exit_code() const;
};

// A cell of a table: words, or a name to be shown as code; then words with a link, if there is one.
struct ReportCell {
  std::string text;
  bool is_name = false;
  std::string linked = {};
  std::string link = {};
};
struct ReportTable {
  std::vector<std::string> columns;
  std::vector<std::vector<ReportCell>> rows;
};
// A list that is folded up where a form can: what is long and seldom read.
struct ReportFold {
  std::string summary;
  std::vector<std::vector<ReportCell>> lines;  // the cells of each, with commas between them
};
// A paragraph, a table, or a list.
using ReportBlock = std::variant<std::string, ReportTable, ReportFold>;

// What was judged, or two things beside each other.
struct ReportSection {
  std::string verdict;                // a word: "FAIL"; empty: the report's
  std::vector<std::string> subjects;  // one; of a comparison, what is in use and what is to come
  std::vector<ReportBlock> page;      // for a summary; empty: the items that have not passed
  std::string head;                   // lines before those of the items
  std::vector<ReportItem> items = {};
  std::string tail = {};  // lines behind them
  // Of a comparison, whose items are what differs: each case, for forms that list cases. Empty: the
  // items.
  std::vector<ReportItem> cases = {};
};

struct Report {
  std::string verb;  // "graphgate check"
  std::vector<ReportSection> sections;
  ExitCode code = ExitCode::kGood;
  std::string totals;            // lines at the end
  nlohmann::ordered_json facts;  // everything, for programs; each verb has its own members
  std::string first_bad = {};    // of several sections, the subject that fails first
  // Where a signal ended it, what the report lacks: "interrupted by SIGTERM, 12 cases not run".
  std::string interruption = {};
  // What a page draws beside the items, each an object with its kind as "panel": "plan", "parting",
  // "matrix" or "campaign" (docs/html_report.md). A verb makes them where a page was asked for.
  std::vector<nlohmann::ordered_json> panels = {};
  // What of the data is left out on purpose, in words; empty: nothing. A form that would show
  // weights or inputs does not, then.
  std::string left_out = {};

  // Those of all sections.
  [[nodiscard]] std::vector<const ReportItem*> items() const;
  // The same, with cases where a section has them.
  [[nodiscard]] std::vector<const ReportItem*> cases() const;
};

// Of a verb that judges one thing: its section has no items yet.
[[nodiscard]] Report one_section(const std::string& verb);

// What an item counts as. Bad input counts as failed; what is neither a pass nor a failure is
// skipped.
enum class Count { kPassed, kFailed, kSkipped };
[[nodiscard]] Count count_of(ExitCode code);

// "PASS", "FAIL", "INCONCLUSIVE", "ERROR".
[[nodiscard]] const char* verdict_word(ExitCode code);

// "1 case", "3 cases".
[[nodiscard]] std::string count_text(std::uint64_t count, const char* one, const char* many);

}  // namespace graphgate::tools
