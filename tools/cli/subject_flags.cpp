#include "tools/cli/subject_flags.h"

#include "tools/cli/option_types.h"

namespace graphgate::tools {

void add_subject_flags(CLI::App& app, SubjectFlags& flags) {
  app.add_option("--executor", flags.executor,
                 "who is under test: a command that speaks the protocol of docs/executors.md "
                 "(default: the optimized executor)")
      ->type_name(takes::kCommand);
  app.add_option("--executor-timeout", flags.seconds, "seconds for each answer of such a command")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
}

Result<std::shared_ptr<const Subject>> choose_subject(const SubjectFlags& flags,
                                                      const spec::Configuration& options,
                                                      const std::string& exchange) {
  const std::string text = flags.executor.empty() ? "optimized" : flags.executor;
  auto made = make_subject(text, {answer_time(flags.seconds), exchange});
  if (!made.ok()) return made.error().at("'" + text + "'");
  std::shared_ptr<const Subject> subject = std::move(made).value();
  GRAPHGATE_TRY_VOID(subject->start());
  subject->rest();
  for (const auto& [name, value] : options) {
    if (subject->takes(name)) continue;
    return bad_input("--" + name + ": '" + std::string(subject->name()) + "' has no such option");
  }
  return subject;
}

}  // namespace graphgate::tools
