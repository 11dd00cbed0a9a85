// A bundle: all that somebody needs who has to believe a run of `graphgate check`, in one zip file
// or folder.
//
//   statement.txt   what was judged, by what, and what came out, in words
//   command.txt     the command line
//   versions.json   this build and this machine, as `graphgate doctor` has them
//   report.json     every finding
//   log.txt         what the run printed
//   plans/          the plans that were followed, as text
//   programs/       the programs and cases themselves, with recordings beside them; or, where
//                   weights and inputs are left out, their graphs as text
//   manifest.json   what of each file is there, and why not
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
  std::string data = {};      // of --data
  bool without_data = false;  // leaves weights and inputs out: graphs alone
};

// What the reports of such a run say.
inline constexpr const char* kDataLeftOut = "weights and inputs are left out (--no-data)";

// A zip archive where `path` ends in ".zip", else a folder, which must be new or empty.
[[nodiscard]] Result<void> write_bundle(const std::string& path, const BundleRequest& request,
                                        const std::vector<FileReport>& reports, ExitCode code);

// Says that `path` is a bundle, what it lacks, and what to do with it: kBadInput. Nothing where it
// is none.
[[nodiscard]] Result<void> refuse_bundle(const std::string& path);

}  // namespace graphgate::tools
