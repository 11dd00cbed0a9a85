// How `graphgate check` tells what it found: a line per file, its findings, or JSON.
//
// report_formats.h has the forms for other programs (JUnit, SARIF), bundle.h packs them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/judges/judge.h"
#include "conformance/judges/plan_stats.h"
#include "tools/report/exit_code.h"

namespace graphgate::tools {

// What the judges said of one executor.
struct ExecutorReport {
  std::string executor;
  conformance::CaseReport judged;
  std::optional<conformance::PlanStats> plan;  // of its last call, where it makes plans
  std::vector<std::string> plans;              // all that it followed, as text; only on request
};

// What one file came to: a report for each executor, or the reason why there is none.
struct FileReport {
  std::string file;
  std::string name;  // of the program or the case
  bool is_case = false;
  bool recorded = false;
  std::size_t nodes = 0;  // over all programs
  std::size_t calls = 0;
  std::vector<ExecutorReport> executors;
  std::optional<Error> error;
  std::string baseline_state;  // SARIF's, of a comparison: "new", "absent"...

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

// PASS quant_mixed: 53 nodes, 2 recorded calls, 3822 elements, worst error 1.2e-07 of 3.9e-07
// allowed; ...
// FAIL mutations: 25 nodes, ...; recording: call 0, output 1: element [0, 3] is ...
// Then the findings behind the first, with `details`, and where a failure begins. Lines end in a
// line end. Empty for errors.
[[nodiscard]] std::string describe(const FileReport& report, bool details);
// Errors go to standard error.
void print_report(const FileReport& report, bool details);

// "97.5% of 40 steps captured in 2 of 3 partitions, peak 12.0 KiB (no reuse 80.5 KiB, bound 12.0
// KiB)"
[[nodiscard]] std::string describe_plan(const conformance::PlanStats& plan);
// "512 B", "12.5 KiB", "3.0 MiB".
[[nodiscard]] std::string print_bytes(std::int64_t bytes);

// What a file counts as. Bad input counts as failed; what is neither a pass nor a failure is
// skipped.
enum class Count { kPassed, kFailed, kSkipped };
[[nodiscard]] Count count_of(const FileReport& file);
[[nodiscard]] std::size_t count(const std::vector<FileReport>& reports, Count wanted);

// `N passed, N failed, N skipped`. Before it stand a line when a run is inconclusive, and one that
// counts and names the files that were not compared.
[[nodiscard]] std::string describe_totals(const std::vector<FileReport>& reports);

// {"programs": [...], "passed": N, "failed": N, "skipped": N, "not_compared": N}. Without `seconds`
// the same run always gives the same text.
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<FileReport>& reports, bool seconds);

// JSON text for `write_text`, indented. Bytes that are no UTF-8 (of a file's name, say) become
// U+FFFD.
[[nodiscard]] std::string print_json(const nlohmann::ordered_json& json);

// Writes text to a file, which appears whole or not at all, or to standard output for "-".
[[nodiscard]] Result<void> write_text(const std::string& text, const std::string& path);

}  // namespace graphgate::tools
