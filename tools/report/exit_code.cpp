#include "tools/report/exit_code.h"

#include <array>

namespace graphgate::tools {

ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kBadInput:
      return ExitCode::kBadInput;
    case ErrorKind::kUnsupported:
      return ExitCode::kInconclusive;
    case ErrorKind::kInfrastructure:
      return ExitCode::kInfrastructure;
    case ErrorKind::kInternal:
      return ExitCode::kInternal;
  }
  return ExitCode::kInternal;
}

ExitCode exit_code_of(spec::Outcome outcome) {
  switch (outcome) {
    case spec::Outcome::kPass:
    case spec::Outcome::kXFail:
      return ExitCode::kGood;
    case spec::Outcome::kSuspect:
    case spec::Outcome::kUndecided:
    case spec::Outcome::kMistrusted:
    case spec::Outcome::kUnsupported:
      return ExitCode::kInconclusive;
    case spec::Outcome::kInfra:
      return ExitCode::kInfrastructure;
    default:
      return ExitCode::kFindings;
  }
}

ExitCode worse(ExitCode a, ExitCode b) {
  constexpr std::array<ExitCode, 6> kFromWorst = {ExitCode::kInternal,       ExitCode::kBadInput,
                                                  ExitCode::kInfrastructure, ExitCode::kFindings,
                                                  ExitCode::kInconclusive,   ExitCode::kGood};
  for (const ExitCode code : kFromWorst) {
    if (a == code || b == code) return code;
  }
  return ExitCode::kGood;
}

}  // namespace graphgate::tools
