// The corpus on one side of a gate: every case in a process of its own, or several on a command
// that was started once; those that fail are looked at again, alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/judges/judge.h"
#include "conformance/run/executor_source.h"
#include "spec/case_file.h"
#include "tools/executors/subject.h"
#include "tools/gate/gate_results.h"

namespace graphgate::tools {

struct GateInput {
  std::string name;  // its path below the folder, without the ending; the id of a drawn case
  std::string path;  // of a case, or of a .pt2 archive; of a drawn case its id, too
  std::shared_ptr<const spec::CaseFile> drawn = nullptr;
};

// Below these folders, sorted by name. Cases that say themselves what is wrong (another expectation
// than PASS, a planted deviation, a profile of their own) tell nothing of a side and are left out.
// kBadInput for a folder that cannot be read, a case that does not parse, and where nothing is
// left.
[[nodiscard]] Result<std::vector<GateInput>> find_gate_inputs(
    const std::vector<std::string>& folders);

// Cases [begin, begin + count) of a seed, as `graphgate fuzz` draws them.
[[nodiscard]] std::vector<GateInput> draw_gate_inputs(std::uint64_t seed, std::uint64_t begin,
                                                      std::size_t count);

struct SideOptions {
  conformance::JudgeSet judges = conformance::JudgeSet::all();
  int jobs = 1;
  std::uint32_t timeout_seconds = 120;  // for one case
  int reruns = 2;                       // of a case that fails
  std::uint64_t seed = 1;               // of inputs where there is no recording
  // Asked again and again. Once it is true, no case is begun, and none awaited.
  std::function<bool()> should_stop = {};
};

// Who runs the cases.
struct SideExecutor {
  // Gets the options that it takes. A process that was started runs several cases, until one shows
  // something; a case that is looked at again has its own.
  std::shared_ptr<const Subject> subject;
  // Of one that is built in, over what each case asks for.
  conformance::Configuration flags = {};
};

// kBadInput, with the file, for what the reference refuses too; kInfrastructure where no process
// can be made. A process that cannot be started for a case is that case's outcome, INFRA. A run
// that was stopped has the cases that ended, whether or not all their looks did.
[[nodiscard]] Result<GateSide> run_side(const std::string& name, const SideExecutor& executor,
                                        const std::vector<GateInput>& inputs,
                                        const SideOptions& options);

}  // namespace graphgate::tools
