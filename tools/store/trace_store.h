// Stored runs: what an executor showed while it ran a script, in a folder that can be judged again
// later, by newer judges, without the executor.
//
//   NAME.optimized/
//     run.json             the script, and a trace for each configuration that ran
//     tensors.safetensors  all bytes, each content once
//     program0.txt         graph text; its tensors are in tensors.safetensors
//     plan0.plan           plan text
//     plan1.malformed.json what check_plan refuses: JSON that refers to everything by number
//
// The form is in docs/formats.md. `graphgate check --record` writes one, `--judge-recorded` reads
// it. Oracles are not stored: they run again.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"

namespace graphgate::tools {

inline constexpr int kStoredRunVersion = 1;
// How the files of plans end that are not well formed.
inline constexpr std::string_view kMalformedPlan = ".malformed.json";

// The executor that ran, and what it ran.
struct RunHead {
  std::string executor;
  bool is_case = false;   // the script is a case's
  bool recorded = false;  // it has a recording
  conformance::Promises promises = {};
};

struct StoredRun : RunHead {
  conformance::Script script;
  // By the changes to the script's options.
  std::map<conformance::Configuration, std::unique_ptr<conformance::Trace>> traces;
};

// The folder appears whole or not at all; a stored run that was there is replaced, anything else
// that was is kInfrastructure.
[[nodiscard]] Result<void> write_run(const std::string& folder, const conformance::Script& script,
                                     const RunHead& head, const conformance::SubjectTraces& traces);

// kBadInput, with file and place, for what is no stored run, of another version, or damaged.
[[nodiscard]] Result<StoredRun> read_run(const std::string& folder);

// The stored runs in a folder, sorted: itself, or those below it. kBadInput where there is none.
[[nodiscard]] Result<std::vector<std::string>> find_runs(const std::string& folder);

}  // namespace graphgate::tools
