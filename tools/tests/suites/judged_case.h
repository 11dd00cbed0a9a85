// A golden case under judges, as `graphgate check` runs it, for the tests of the suites.
#pragma once

#include "conformance/judges/judge.h"
#include "conformance/run/executor_source.h"
#include "tools/tests/suites/case_header.h"

namespace graphgate::tools {

// Returns the cases of golden/cases/catalogue, read once; ends the process where one is bad.
[[nodiscard]] const std::vector<GoldenCase>& catalogue();

// The optimized executor with the case's options and `changes` over them; costs are held against
// quality.txt beside the case, where there is one. Nothing is localized.
[[nodiscard]] Result<conformance::CaseReport> judge_golden(
    const GoldenCase& golden, const conformance::Configuration& changes,
    conformance::JudgeSet judges);

// The lines of quality.txt for a case: what the plans of its calls cost.
[[nodiscard]] Result<std::string> quality_lines(const GoldenCase& golden);

// Whether the run itself says FAIL (or worse) of the case; the judges that say SUSPECT or worse.
[[nodiscard]] bool run_failed(const conformance::CaseReport& report);
[[nodiscard]] std::vector<std::string> judges_that_object(const conformance::CaseReport& report);

// For messages: every judge's outcome with its first finding, one a line.
[[nodiscard]] std::string print_outcomes(const conformance::CaseReport& report);

}  // namespace graphgate::tools
