// `graphgate plan --verify FILE`: a plan that somebody else made, through the plan verifier.
//
// The file is a plan in JSON or text, or a table of buffers with offsets (minimalloc's CSV); which
// of them, its content says. With --program the plan is held to that program, too.
//
//   $ graphgate plan --verify bad.plan
//   V3.overlap: ...
//   bad.plan: 1 finding
//
// plan.cpp hands its options over; nothing else calls this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "spec/op_table.h"
#include "tools/report/exit_code.h"

namespace graphgate::tools {

struct PlanVerifyOptions {
  std::string file;
  std::string program;                         // a .pt2 or graph text; empty: the plan alone
  std::optional<std::int64_t> capacity_bytes;  // of a table's arena
};

// Prints findings and their count. kFindings when there are any; kBadInput for a file that is none
// of the three, or a plan that check_plan refuses.
[[nodiscard]] Result<ExitCode> run_plan_verify(const PlanVerifyOptions& options,
                                               const spec::OpTable& ops);

}  // namespace graphgate::tools
