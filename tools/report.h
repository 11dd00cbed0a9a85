// How `graphgate check` tells what it found: a line per program, or JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/check_program.h"
#include "tools/exit_code.h"

namespace graphgate::tools {

// What one file came to: a report, or the reason why there is none.
struct FileReport {
  std::string file;
  std::optional<conformance::ProgramReport> report;
  std::optional<Error> error;

  [[nodiscard]] ExitCode exit_code() const;
};

// PASS quant_mixed: 53 nodes, 2 calls, 3822 elements, worst error 1.2e-07 of 3.9e-07 allowed
// FAIL mutations: 25 nodes, recording: call 0, output 1: element [0, 3] is ..., node 'sigmoid'
// Errors go to standard error.
void print_report(const FileReport& report);

// "97.5% of 40 steps captured in 2 of 3 partitions, peak 12.0 KiB (no reuse 80.5 KiB, bound 12.0
// KiB)"
[[nodiscard]] std::string describe_plan(const conformance::PlanStats& plan);
// "512 B", "12.5 KiB", "3.0 MiB".
[[nodiscard]] std::string print_bytes(std::int64_t bytes);

// `N passed, N failed, N skipped`, with a line before it when a run is inconclusive. Bad input
// counts as failed; what is neither a pass nor a failure is skipped.
void print_totals(const std::vector<FileReport>& reports);

// {"programs": [...], "passed": N, "failed": N, "skipped": N} to a file or to standard output.
[[nodiscard]] Result<void> write_json(const std::vector<FileReport>& reports,
                                      const std::string& path);

// JSON text for `write_text`, indented. Bytes that are no UTF-8 (of a file's name, say) become
// U+FFFD.
[[nodiscard]] std::string print_json(const nlohmann::ordered_json& json);

// Writes text to a file, which appears whole or not at all, or to standard output for "-".
[[nodiscard]] Result<void> write_text(const std::string& text, const std::string& path);

}  // namespace graphgate::tools
