// `graphgate plan --verify FILE`: a plan that somebody else made, through the plan verifier.
//
// The file is a plan in JSON or text, a table of buffers with offsets (minimalloc's CSV), or XLA's
// buffer assignment with its module beside it; which of them, its content says, or --format. With
// --program the plan is held to that program, too.
//
//   $ graphgate plan --verify bad.plan
//   V3.overlap: ...
//   bad.plan: 1 finding
//
// plan.cpp hands its options over; nothing else calls this.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "spec/op_table.h"
#include "tools/report/report.h"

namespace graphgate::tools {

// What --format takes, by PlanForm; the first lets the content decide.
enum class PlanForm { kAny, kText, kJson, kTable, kXla };
inline constexpr std::array<std::string_view, 5> kPlanForms = {"auto", "text", "json", "csv",
                                                               "xla"};

struct PlanVerifyOptions {
  std::string file;
  std::string program;                         // a .pt2 or graph text; empty: the plan alone
  std::optional<std::int64_t> capacity_bytes;  // of a table's arena
  PlanForm form = PlanForm::kAny;
  std::string json = {};         // a path, or "-"; empty: none
  bool is_stdout_taken = false;  // by JSON or a page: lines for a person stay away
  Report* page = nullptr;        // gets the plan and its findings; null: no page was asked for
};

// Prints findings and their count. kFindings when there are any; kBadInput for a file that is none
// of these, or a plan that check_plan refuses.
[[nodiscard]] Result<ExitCode> run_plan_verify(const PlanVerifyOptions& options,
                                               const spec::OpTable& ops);

}  // namespace graphgate::tools
