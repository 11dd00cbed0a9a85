// Who is under test where cases are drawn, replayed or reduced, as flags of a command line have it.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tools/executors/subject.h"

namespace graphgate::tools {

struct SubjectFlags {
  std::string executor;  // empty: the optimized executor
  double seconds = 60;   // for each answer of a command
};
void add_subject_flags(CLI::App& app, SubjectFlags& flags);

// Makes the subject. A process has said what it takes, and rests: each process that is forked from
// here starts its own. kInfrastructure where it does not answer, kBadInput for an option of the
// command line that it does not take. `exchange` is that of SubjectSettings.
[[nodiscard]] Result<std::shared_ptr<const Subject>> choose_subject(
    const SubjectFlags& flags, const spec::Configuration& options, const std::string& exchange);

}  // namespace graphgate::tools
