// The flags that say where reports go: one for each form of tools/report/forms.h.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/report/forms.h"

namespace graphgate::tools {

// `what` is reported: "the result".
void add_report_options(CLI::App& app, ReportPaths& paths, const std::string& what);

// kBadInput where more than one form goes to standard output.
[[nodiscard]] Result<void> check_report_paths(const ReportPaths& paths);

}  // namespace graphgate::tools
