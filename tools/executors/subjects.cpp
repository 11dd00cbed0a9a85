#include "tools/executors/subjects.h"

#include <algorithm>

#include "tools/executors/executor_sources.h"
#include "tools/executors/executors.h"

namespace graphgate::tools {

using conformance::Configuration;

bool is_built_in(const std::string& executor) {
  const auto& names = executor_names();
  return std::find(names.begin(), names.end(), executor) != names.end();
}

Result<Subject> built_in_subject(const std::string& executor, const Configuration& options) {
  Subject subject;
  GRAPHGATE_TRY(subject.source, executor_source(executor, options.contains("allow-zero-and-one")));
  if (executor == "optimized") subject.options = options;  // the other has no planner
  return subject;
}

Result<Subject> external_subject(const ExternalCommand& command, const Configuration& options) {
  GRAPHGATE_TRY(auto source, external_source(command));
  return subject_of(std::move(source), options);
}

Subject subject_of(std::shared_ptr<const ExternalSource> source, const Configuration& options) {
  Subject subject;
  for (const auto& option : options) {
    if (source->takes(option.first)) subject.options.insert(option);
  }
  subject.source = std::move(source);
  return subject;
}

std::chrono::milliseconds answer_time(double seconds) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace graphgate::tools
