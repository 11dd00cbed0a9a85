// Executors under test, for judges: built in, or a command (external_source.h).
//
// The verbs check and gate make them here, so that a case asks the same of an executor in both.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "conformance/judges/judge.h"
#include "tools/executors/external_source.h"

namespace graphgate::tools {

// An executor, and what it takes of the options that a case asks for.
struct Subject {
  std::shared_ptr<const conformance::ExecutorSource> source;
  conformance::Configuration options;
};

// Whether it is one of executor_names().
[[nodiscard]] bool is_built_in(const std::string& executor);

// One of executor_names(). kBadInput for another name.
[[nodiscard]] Result<Subject> built_in_subject(const std::string& executor,
                                               const conformance::Configuration& options);

// Starts the command, as external_source does.
[[nodiscard]] Result<Subject> external_subject(const ExternalCommand& command,
                                               const conformance::Configuration& options);

// A command that was started before.
[[nodiscard]] Subject subject_of(std::shared_ptr<const ExternalSource> source,
                                 const conformance::Configuration& options);

// Seconds of the command line.
[[nodiscard]] std::chrono::milliseconds answer_time(double seconds);

}  // namespace graphgate::tools
