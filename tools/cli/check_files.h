// What `graphgate check` does with its files: every one through the judges, several at a time.
#pragma once

#include <string>
#include <vector>

#include "spec/configuration.h"
#include "tools/cli/common_flags.h"
#include "tools/report/check_report.h"
#include "tools/report/forms.h"

namespace graphgate::tools {

struct CheckVerb {
  ProgramOptions programs;
  std::vector<std::string> executors;  // names or commands; empty: what fits file and judges
  double executor_seconds = 60;        // for each answer of a command
  std::uint64_t seed = 1;
  int calls = 2;
  int jobs = 1;
  double false_alarm_rate = 1e-9;
  bool judge_nodes = false;
  std::string quality_baseline;      // a file of lines that `plan --quality` prints
  bool every_configuration = false;  // the whole table, not only the first few
  std::string judges;  // "all", or names; empty: all for cases, bounds and state for programs
  spec::Configuration planner;
  ReportPaths reports;
  std::string bundle;          // a .zip, or a folder
  std::string record;          // a folder for stored runs
  std::string judge_recorded;  // a folder with stored runs, instead of files
};

// Reports in the order of the files (with --judge-recorded: of the stored runs), whatever thread
// made them; printed as they come unless standard output is for JSON. An Error is about the command
// line; what is wrong with a file is in its report.
[[nodiscard]] Result<std::vector<FileReport>> check_files(const CheckVerb& verb);

// Whether judges were named, so that what each said is told.
[[nodiscard]] bool wants_details(const CheckVerb& verb);

}  // namespace graphgate::tools
