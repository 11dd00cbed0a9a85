// Reports for other programs: JUnit for CI servers, SARIF for code scanning.
#pragma once

#include <string>
#include <vector>

#include "tools/report/report.h"

namespace graphgate::tools {

// One test case a file; a failure or an error holds the findings. What is inconclusive is skipped.
// `suite` is the verb, "graphgate check".
[[nodiscard]] std::string print_junit(const std::vector<FileReport>& reports,
                                      const std::string& suite = "graphgate check");

// SARIF 2.1.0 (OASIS): one result a finding, with its rule, at the file it is about.
[[nodiscard]] std::string print_sarif(const std::vector<FileReport>& reports);

}  // namespace graphgate::tools
