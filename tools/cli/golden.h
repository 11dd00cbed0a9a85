// The verb golden, with its two: check and update.
#pragma once

#include "tools/cli/verbs.h"

namespace graphgate::tools {

struct GoldenVerb {
  std::vector<std::string> folders = {"golden"};
  std::string only;
  int jobs = 1;
  std::string json;               // a path, or "-"
  PlannerFlags planner;           // of check
  std::string reason;             // of update
  bool dry_run = false;           // of update
  CLI::App* check_app = nullptr;  // the subcommands, once they are added
  CLI::App* update_app = nullptr;
};
CLI::App* add_golden(CLI::App& app, GoldenVerb& verb);
[[nodiscard]] Result<ExitCode> run_golden(const GoldenVerb& verb);

}  // namespace graphgate::tools
