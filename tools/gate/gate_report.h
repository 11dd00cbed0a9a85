// What a gate came to, as a report.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/campaign/residual_risk.h"
#include "tools/gate/compare_sides.h"
#include "tools/gate/gate_overrides.h"
#include "tools/report/exit_code.h"
#include "tools/report/json.h"
#include "tools/report/report.h"

namespace graphgate::tools {

// What drawn cases say beyond the corpus: how likely the next one shows a regression that none has
// shown (fuzz/campaign/residual_risk.h).
struct DrawnCases {
  std::uint64_t cases = 0;
  fuzz::ResidualRisk risk;
};
// Counts what a candidate shows that its baseline does not, in the cases of these names.
[[nodiscard]] DrawnCases weigh_drawn(const GateComparison& comparison,
                                     const std::set<std::string>& drawn);

// Words of a command line that runs a case on a side again; empty of one that is stored.
struct ReplayWords {
  std::string file;     // before the path of a case
  std::string program;  // before the path of an archive
  std::string drawn;    // before the id of a drawn case
};

struct GateStep {
  GateComparison comparison;
  std::vector<OverrideVerdict> overrides;
  std::optional<DrawnCases> drawn;  // where cases were drawn
  ReplayWords on_baseline = {};
  ReplayWords on_candidate = {};
};

// One step for each candidate, in order; all against the same baseline.
struct GateReport {
  std::vector<GateStep> steps;
  // A signal came: what ran on all sides was compared, and overrides were not judged.
  bool is_interrupted = false;
  std::size_t not_run = 0;  // cases of the corpus
  // Of all cases by their names; without those that are drawn.
  std::map<std::string, std::string> paths = {};

  // The first candidate that fails; null where none does.
  [[nodiscard]] const GateStep* first_bad() const;
};

// Returns 1 where a candidate regressed, a waiver has outlived its finding, or an override does
// harm. Returns 3 where cases could not be compared. Returns 2 where only flaky cases are left
// over, one side cannot run a case, nothing was compared, or it was interrupted; else 0.
[[nodiscard]] ExitCode exit_code_of(const GateReport& report);

// A section for each step, an item for each row, with SARIF's baselineState.
[[nodiscard]] Report report_of(const GateReport& report);
// Returns what a page draws of it: cases beside versions. It has one step at least.
[[nodiscard]] Json gate_matrix(const GateReport& report);

}  // namespace graphgate::tools
