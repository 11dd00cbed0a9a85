#include "tools/executors/case_subject.h"

#include "tools/cli/option_types.h"
#include "tools/executors/executor_sources.h"
#include "tools/executors/subjects.h"

namespace graphgate::tools {

using conformance::Configuration;

void add_subject_flags(CLI::App& app, SubjectFlags& flags) {
  app.add_option("--executor", flags.executor,
                 "who is under test: a command that speaks the protocol of docs/executors.md "
                 "(default: the optimized executor)")
      ->type_name(takes::kCommand);
  app.add_option("--executor-timeout", flags.seconds, "seconds for each answer of such a command")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
}

Result<CaseSubject> CaseSubject::choose(const SubjectFlags& flags, const Configuration& options,
                                        const std::string& exchange) {
  CaseSubject subject;
  if (flags.executor.empty() || flags.executor == subject.name_) return subject;
  subject.command_ = {flags.executor, answer_time(flags.seconds), exchange};
  GRAPHGATE_TRY(const auto source, external_source(subject.command_));
  subject.name_ = source->name();
  subject.options_ = source->options();
  subject.not_drawn_ = fuzz::not_drawn_for(source->limits());
  for (const auto& [name, value] : options) {
    if (subject.options_.contains(name)) continue;
    return bad_input("--" + name + ": '" + subject.name_ + "' has no such option");
  }
  return subject;
}

Configuration CaseSubject::taken_of(Configuration options) const {
  if (is_command()) {
    std::erase_if(options, [&](const auto& option) { return !options_.contains(option.first); });
  }
  return options;
}

std::unique_ptr<conformance::ExecutorSource> CaseSubject::source() const {
  if (!is_command()) return optimized_source();
  return late_external_source(command_);
}

}  // namespace graphgate::tools
