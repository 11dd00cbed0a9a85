// A bundle: all that somebody needs who has to believe a run of `graphgate check`, in one zip file
// or folder.
//
//   statement.txt   what was judged, by what, and what came out, in words
//   command.txt     the command line
//   versions.json   this build and this machine, as `graphgate doctor` has them
//   report.json     every finding
//   log.txt         what the run printed
//   plans/          the plans that were followed, as text
//
// The same run on the same machine makes the same bytes: no times are in it.
#pragma once

#include <string>
#include <vector>

#include "tools/report/check_report.h"

namespace graphgate::tools {

// How the run was asked for.
struct BundleRequest {
  std::vector<std::string> command_line;
  std::string judges;  // names; empty: what files ask for by themselves
  double false_alarm_rate = 0;
};

// A zip archive where `path` ends in ".zip", else a folder, which must be new or empty.
[[nodiscard]] Result<void> write_bundle(const std::string& path, const BundleRequest& request,
                                        const std::vector<FileReport>& reports, ExitCode code);

}  // namespace graphgate::tools
