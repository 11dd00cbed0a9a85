// The exit codes of the command line, and which of several wins.
#pragma once

#include "base/result.h"
#include "spec/outcome.h"

namespace graphgate::tools {

enum class ExitCode {
  kGood = 0,
  kFindings = 1,
  kInconclusive = 2,  // nothing failed, and something was not judged
  kInfrastructure = 3,
  kBadInput = 4,  // usage errors too
  kInternal = 5,
};

[[nodiscard]] ExitCode exit_code_of(ErrorKind kind);
[[nodiscard]] ExitCode exit_code_of(spec::Outcome outcome);

// The code of a run with both: a defect before bad input before infrastructure before findings
// before inconclusive.
[[nodiscard]] ExitCode worse(ExitCode a, ExitCode b);

}  // namespace graphgate::tools
