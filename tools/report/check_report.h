// What `graphgate check` found: a line per file, its findings, JSON, and all of it as a report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/judges/judge.h"
#include "conformance/judges/plan_stats.h"
#include "tools/report/missing_ops.h"
#include "tools/report/report.h"

namespace graphgate::tools {

// What the judges said of one executor.
struct ExecutorReport {
  std::string executor;
  conformance::CaseReport judged;
  std::optional<conformance::PlanStats> plan;  // of its last call, where it makes plans
  std::vector<std::string> plans;              // all that it followed, as text; only on request
  std::vector<nlohmann::ordered_json> panels;  // of the same plans (plan_panel.h); only on request
};

// What one file came to: a report for each executor, or the reason why there is none.
struct FileReport {
  std::string file;
  std::string name;  // of the program or the case
  bool is_case = false;
  bool recorded = false;
  std::size_t nodes = 0;  // over all programs
  std::size_t calls = 0;
  std::vector<std::string> ops;  // of all programs, each once
  std::vector<ExecutorReport> executors;
  std::vector<std::string> graphs = {};        // of its programs, as text; only on request
  std::vector<std::string> tensor_files = {};  // that a case names; the same
  std::optional<Error> error;
  std::string replay;        // a line of sh that judges the file again, as it was
  std::string interruption;  // where a signal came before there was a report: in words

  // Why nothing of the file was compared: an executor or the reference cannot run it, or there was
  // nothing to compare. Empty where something was, and for other errors.
  [[nodiscard]] std::string not_compared() const;
  // The worst executor's; PASS without executors.
  [[nodiscard]] spec::Outcome outcome() const;
  // The worst executor's report; null without executors.
  [[nodiscard]] const ExecutorReport* worst() const;
  [[nodiscard]] ExitCode exit_code() const;
  // The sum, or the largest, of a figure of the judge bounds over the executors; 0 where it is
  // absent.
  [[nodiscard]] double sum(const std::string& figure) const;
  [[nodiscard]] double largest(const std::string& figure) const;
};

// Returns what became of the file:
//
//   PASS quant_mixed: 53 nodes, 2 recorded calls, 3822 elements, worst error 1.2e-07 of 3.9e-07
//   allowed; ...
//   FAIL mutations: 25 nodes, ...; recording: call 0, output 1: element [0, 3] is ...
//
// Then come the findings behind the first, with `details`, and where a failure begins. Lines end in
// a line end. Empty for errors.
[[nodiscard]] std::string describe(const FileReport& report, bool details);
// With `details` as above. What went wrong with the file is its trouble.
[[nodiscard]] ReportItem item_of(const FileReport& file, bool details);
[[nodiscard]] Report report_of(const std::vector<FileReport>& reports);

// How many files lack an op, of those that were not compared.
[[nodiscard]] MissingOpCounts missing_ops_of(const std::vector<FileReport>& reports);

// `N passed, N failed, N skipped`. Before it stand a line when a run is inconclusive, one that
// counts and names the files that were not compared, and one that counts the ops that they lack.
[[nodiscard]] std::string describe_totals(const std::vector<FileReport>& reports);

// {"programs": [...], "passed": N, "failed": N, "skipped": N, "not_compared": N,
// "missing_ops": {OP: N}}. Without `seconds`
// the same run always gives the same text.
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<FileReport>& reports, bool seconds);
[[nodiscard]] std::size_t count(const std::vector<FileReport>& reports, Count wanted);

}  // namespace graphgate::tools
