#include "tools/executors/case_sources.h"

#include "tools/executors/executor_sources.h"
#include "tools/executors/optimized_options.h"

namespace graphgate::tools {
namespace {

// Returns the options of a case that go to the subject. For a process, removes the words of a
// refusal that is expected.
conformance::Configuration options_for(const Subject& subject, conformance::Configuration options,
                                       spec::Expectation& expectation) {
  if (!expectation.refusal || !subject.is_process()) return taken_of(subject, std::move(options));
  expectation.refusal->text.clear();
  return options;
}

}  // namespace

CaseSources::CaseSources(const conformance::CaseFiles& files,
                         std::shared_ptr<const Subject> subject)
    : subject_(subject ? std::move(subject) : optimized_source()),
      oracle_(reference_source(false)),
      wide_oracle_(reference_source(true)),
      files_(files) {}

conformance::Configuration options_under(const conformance::Configuration& own,
                                         const conformance::Configuration& flags) {
  conformance::Configuration merged = conformance::merged(own, flags);
  if (check_options(merged).ok()) return merged;
  conformance::Configuration kept = flags;
  if (!check_options(flags).ok()) return kept;
  for (const auto& [name, value] : own) {
    if (!kept.emplace(name, value).second || check_options(kept).ok()) continue;
    kept.erase(name);
  }
  return kept;
}

spec::CaseFile with_flags(spec::CaseFile the_case, const conformance::Configuration& flags,
                          const Subject& subject) {
  if (!flags.empty()) the_case.options = options_under(the_case.options, flags);
  the_case.options = options_for(subject, std::move(the_case.options), the_case.expectation);
  return the_case;
}

void suit(conformance::Script& script, const Subject& subject,
          const conformance::Configuration& options) {
  script.options = options_for(subject, options, script.expectation);
}

}  // namespace graphgate::tools
