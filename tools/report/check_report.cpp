#include "tools/report/check_report.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/one_line.h"
#include "conformance/judges/judge_report.h"
#include "tools/report/escape.h"
#include "tools/report/plan_words.h"

namespace graphgate::tools {
namespace {

using conformance::JudgeReport;

// How many findings of a judge are listed.
constexpr std::size_t kMostShown = 20;

const JudgeReport* bounds_of(const ExecutorReport& report) {
  for (const JudgeReport& judge : report.judged.judges) {
    if (judge.judge == conformance::Judge::kBounds) return &judge;
  }
  return nullptr;
}

double figure_of(const ExecutorReport& report, const std::string& figure) {
  const JudgeReport* bounds = bounds_of(report);
  if (!bounds) return 0;
  const auto found = bounds->figures.find(figure);
  return found == bounds->figures.end() ? 0 : found->second;
}

std::string count_text(double number) { return std::to_string(std::llround(number)); }

std::string describe_numbers(const FileReport& file) {
  std::string line;
  if (file.worst() && bounds_of(*file.worst())) {
    line += ", " + count_text(file.sum("elements")) + " elements";
  }
  const double ratio = file.largest("worst_ratio");
  if (ratio > 0 && std::isfinite(ratio)) {
    const auto worst = std::max_element(
        file.executors.begin(), file.executors.end(), [](const auto& a, const auto& b) {
          return figure_of(a, "worst_ratio") < figure_of(b, "worst_ratio");
        });
    line += formatted(", worst error %.2g of %.2g allowed", figure_of(*worst, "worst_error"),
                      figure_of(*worst, "worst_allowed"));
  }
  if (file.sum("nodes_judged") > 0) {
    line += formatted(", %lld node runs judged, worst %.2g of its bound",
                      std::llround(file.sum("nodes_judged")), file.largest("worst_node_ratio"));
  }
  if (file.sum("undecided") > 0) line += ", " + count_text(file.sum("undecided")) + " undecided";
  return line;
}

// ", 8 of 10 judges, 1234 checks", over all executors.
std::string describe_judges(const FileReport& file) {
  std::size_t asked = 0;
  std::size_t said = 0;
  std::int64_t checks = 0;
  for (const ExecutorReport& executor : file.executors) {
    for (const JudgeReport& judge : executor.judged.judges) {
      ++asked;
      said += judge.checks > 0 || !judge.findings.empty() ? 1 : 0;
      checks += judge.checks;
    }
  }
  return ", " + std::to_string(said) + " of " + std::to_string(asked) + " judges, " +
         std::to_string(checks) + " checks";
}

// The node of the finding that the reason is from.
std::string node_of(const ExecutorReport& report) {
  for (const JudgeReport& judge : report.judged.judges) {
    for (const spec::Finding& finding : judge.findings) {
      if (!finding.nodes.empty() && finding.message == report.judged.reason) {
        return finding.nodes.front();
      }
    }
  }
  return "";
}

// Names in it are an executor's, or a file's.
std::string describe_finding(const std::string& judge, const spec::Finding& finding) {
  std::string text = std::string(spec::outcome_name(finding.outcome)) + " " + finding.rule;
  if (!judge.empty()) text += " (" + judge + ")";
  text += ": " + finding.message;
  return "  " + plain_text(text) + "\n" + indented(plain_lines(finding.drawing), "    ");
}

std::string describe_findings(const ExecutorReport& executor) {
  std::string text;
  for (const spec::Finding& finding : executor.judged.findings) {
    text += describe_finding("", finding);
  }
  for (const JudgeReport& judge : executor.judged.judges) {
    const std::string name(conformance::judge_name(judge.judge));
    const std::size_t shown = std::min(judge.findings.size(), kMostShown);
    for (std::size_t i = 0; i < shown; ++i) text += describe_finding(name, judge.findings[i]);
    if (judge.findings.size() > shown) {
      text += "  and " + std::to_string(judge.findings.size() - shown) + " more of " + name + "\n";
    }
    if (judge.checks == 0 && judge.findings.empty()) {
      text += "  " + std::string(spec::outcome_name(judge.outcome)) + " (" + name +
              "): " + plain_text(judge.remark) + "\n";
    }
  }
  return text;
}

// Of a file that was judged and has not passed.
std::string replay_of(const FileReport& file) {
  const bool is_told = !file.error && file.interruption.empty() && file.not_compared().empty() &&
                       file.exit_code() != ExitCode::kGood;
  return is_told ? file.replay : "";
}

}  // namespace

spec::Outcome FileReport::outcome() const {
  if (!interruption.empty()) return spec::Outcome::kUndecided;
  const ExecutorReport* report = worst();
  return report ? report->judged.outcome : spec::Outcome::kPass;
}

std::string FileReport::not_compared() const {
  if (error) return error->kind == ErrorKind::kUnsupported ? error->message : "";
  if (!interruption.empty()) return interruption;
  const ExecutorReport* report = worst();
  if (!report) return "";
  const bool is_unsupported = report->judged.outcome == spec::Outcome::kUnsupported;
  return report->judged.not_compared.empty() && is_unsupported ? report->judged.reason
                                                               : report->judged.not_compared;
}

const ExecutorReport* FileReport::worst() const {
  const ExecutorReport* out = nullptr;
  for (const ExecutorReport& executor : executors) {
    const bool worse = !out || conformance::severity(executor.judged.outcome) >
                                   conformance::severity(out->judged.outcome);
    if (worse) out = &executor;
  }
  return out;
}

ExitCode FileReport::exit_code() const {
  return error ? exit_code_of(error->kind) : exit_code_of(outcome());
}

double FileReport::sum(const std::string& figure) const {
  double total = 0;
  for (const ExecutorReport& executor : executors) total += figure_of(executor, figure);
  return total;
}

double FileReport::largest(const std::string& figure) const {
  double most = 0;
  for (const ExecutorReport& executor : executors) {
    most = std::max(most, figure_of(executor, figure));
  }
  return most;
}

std::string describe(const FileReport& file, bool details) {
  const ExecutorReport* worst = file.worst();
  if (file.error || !worst) return "";
  std::string line = std::string(spec::outcome_name(file.outcome())) + " " + file.file + ": " +
                     std::to_string(file.nodes) + " nodes, " + std::to_string(file.calls) +
                     (file.is_case    ? " calls"
                      : file.recorded ? " recorded calls"
                                      : " seeded calls");
  line += describe_numbers(file);
  if (details) line += describe_judges(file);
  for (const ExecutorReport& executor : file.executors) {
    if (executor.plan) line += "; " + describe_plan(*executor.plan);
  }
  if (!worst->judged.reason.empty()) line += "; " + worst->judged.reason;
  if (const std::string node = node_of(*worst); !node.empty())
    line += "; from node '" + plain_name(node) + "'";
  line = plain_text(line) + "\n";
  for (const ExecutorReport& executor : file.executors) {
    if (details) line += describe_findings(executor);
    for (const std::string& where : executor.judged.localization) {
      line += "  " + plain_text(where) + "\n";
    }
  }
  if (const std::string replay = replay_of(file); !replay.empty()) {
    line += "  replay: " + plain_text(replay) + "\n";
  }
  return line;
}

ReportItem item_of(const FileReport& file, bool details) {
  ReportItem item;
  item.place = file.file;
  item.error = file.error;
  item.outcome = file.outcome();
  item.text = describe(file, details);
  item.replay = replay_of(file);
  if (const ExecutorReport* worst = file.worst()) item.reason = worst->judged.reason;
  if (!file.interruption.empty()) {
    item.reason = file.interruption;
    item.text = "UNDECIDED " + one_line(file.file + ": " + file.interruption) + "\n";
  }
  if (file.error && file.error->kind == ErrorKind::kUnsupported) {
    item.text = plain_text("UNSUPPORTED " + file.error->message) + "\n";
  } else if (file.error) {
    item.trouble = plain_text("graphgate: " + file.error->message) + "\n";
  }
  item.ops = file.ops;
  const bool has_numbers = !file.executors.empty() && !file.error;
  if (has_numbers) item.ratio = file.largest("worst_ratio");
  for (const auto& [executor, judged, plan, plans, panels] : file.executors) {
    for (const spec::Finding& finding : judged.findings) {
      item.findings.push_back({plain_finding(finding), plain_name(executor), ""});
    }
    for (const JudgeReport& judge : judged.judges) {
      const std::string name(conformance::judge_name(judge.judge));
      for (const spec::Finding& finding : judge.findings) {
        item.findings.push_back({plain_finding(finding), plain_name(executor), name});
      }
      item.seconds += judge.seconds;
      item.judges.push_back({name, plain_name(executor), judge.outcome, judge.checks, judge.seconds,
                             plain_text(judge.remark)});
    }
    for (const std::string& where : judged.localization) item.remarks.push_back(plain_text(where));
  }
  return item;
}

std::size_t count(const std::vector<FileReport>& reports, Count wanted) {
  std::size_t n = 0;
  for (const FileReport& report : reports) n += count_of(report.exit_code()) == wanted ? 1 : 0;
  return n;
}

MissingOpCounts missing_ops_of(const std::vector<FileReport>& reports) {
  MissingOpCounts counts;
  for (const FileReport& report : reports) count_missing_ops(report.not_compared(), counts);
  return counts;
}

std::string describe_totals(const std::vector<FileReport>& reports) {
  const std::size_t skipped = count(reports, Count::kSkipped);
  std::string text;
  if (skipped > 0) {
    text += std::to_string(skipped) +
            " without a verdict (SUSPECT, UNDECIDED, MISTRUSTED or UNSUPPORTED) count as skipped\n";
  }
  std::vector<std::string> uncompared;
  for (const FileReport& report : reports) {
    if (!report.not_compared().empty()) uncompared.push_back(report.file);
  }
  if (!uncompared.empty()) {
    text += std::to_string(uncompared.size()) +
            " not compared: " + plain_text(conformance::join_names(uncompared, kMostShown)) + "\n";
  }
  text += describe_missing_ops(missing_ops_of(reports));
  return text + std::to_string(count(reports, Count::kPassed)) + " passed, " +
         std::to_string(count(reports, Count::kFailed)) + " failed, " + std::to_string(skipped) +
         " skipped\n";
}

// The plans of all files, up to a size that a page bears.
void add_panels(const std::vector<FileReport>& reports, Report& report) {
  constexpr std::size_t kMostSteps = 400'000;
  std::size_t steps = 0;
  for (const FileReport& file : reports) {
    for (const ExecutorReport& executor : file.executors) {
      for (const Json& panel : executor.panels) {
        steps += panel["steps"]["name"].size();
        if (steps > kMostSteps) continue;
        report.panels.push_back(panel);
      }
    }
  }
}

Report report_of(const std::vector<FileReport>& reports) {
  Report report = one_section("graphgate check");
  report.code = reports.empty() ? ExitCode::kInconclusive : ExitCode::kGood;
  for (const FileReport& file : reports) {
    report.sections.front().items.push_back(item_of(file, /*details=*/true));
    report.code = worse(report.code, file.exit_code());
  }
  report.totals = describe_totals(reports);
  report.facts = json_of(reports, /*seconds=*/true);
  add_panels(reports, report);
  const auto lacking = std::count_if(reports.begin(), reports.end(), [](const FileReport& file) {
    return !file.interruption.empty();
  });
  if (lacking > 0) {
    report.interruption = "interrupted, " + std::to_string(lacking) + " of " +
                          count_text(reports.size(), "file", "files") + " not judged";
    report.totals.insert(report.totals.size() - 1, "; " + report.interruption);
  }
  return report;
}

}  // namespace graphgate::tools
