// What `graphgate check` does with its files: every one through the judges, several at a time.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/verbs.h"
#include "tools/report/report.h"

namespace graphgate::tools {

// Reports in the order of the files (with --judge-recorded: of the stored runs), whatever thread
// made them; printed as they come unless standard output is for JSON. An Error is about the command
// line; what is wrong with a file is in its report.
[[nodiscard]] Result<std::vector<FileReport>> check_files(const CheckVerb& verb);

// Whether judges were named, so that what each said is told.
[[nodiscard]] bool wants_details(const CheckVerb& verb);

// Whether lines for people go to standard output: not where a report for a program does.
[[nodiscard]] bool prints_lines(const CheckVerb& verb);

}  // namespace graphgate::tools
