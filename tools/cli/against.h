// graphgate check --against: two executors, or two programs, node by node. check.cpp hands its
// options over; nothing else calls this.
#pragma once

#include <memory>
#include <string>

#include "spec/configuration.h"
#include "spec/op_table.h"
#include "tools/executors/subject.h"
#include "tools/report/exit_code.h"
#include "tools/report/forms.h"
#include "tools/store/check_input.h"

namespace graphgate::tools {

struct AgainstRequest {
  std::string file;      // a program or a case
  std::string against;   // a program or a case that is there, or an executor
  std::string executor;  // of the file; empty: the reference for programs, else the optimized one
  SubjectSettings subject = {};  // of both sides
  CallSource calls;
  spec::Configuration planner;
  double false_alarm_rate = 0;
  ReportPaths reports;  // JSON and a page
};

// Prints where they part, or that they do not. kFindings where they part; kInconclusive where they
// could not be compared to the end.
[[nodiscard]] Result<ExitCode> run_against(const AgainstRequest& request,
                                           const std::shared_ptr<const spec::OpTable>& ops);

}  // namespace graphgate::tools
