// A subject, and the reference as its oracle, for who judges cases; and the options that a case is
// judged under.
#pragma once

#include <memory>

#include "fuzz/reduce/judge_case.h"
#include "tools/executors/subject.h"

namespace graphgate::tools {

// The subject, by default the optimized executor, and the reference as the oracle. `files` outlives
// it.
class CaseSources {
 public:
  explicit CaseSources(const conformance::CaseFiles& files,
                       std::shared_ptr<const Subject> subject = nullptr);
  [[nodiscard]] fuzz::CaseExecutors get() const {
    return {*subject_, *oracle_, *wide_oracle_, files_};
  }

 private:
  std::shared_ptr<const Subject> subject_;
  std::unique_ptr<conformance::ExecutorSource> oracle_;
  std::unique_ptr<conformance::ExecutorSource> wide_oracle_;
  const conformance::CaseFiles& files_;
};

// `flags` over a case's own options: over as many of these, in the order of their names, as do not
// contradict the flags or each other.
[[nodiscard]] conformance::Configuration options_under(const conformance::Configuration& own,
                                                       const conformance::Configuration& flags);
// The case under these options over its own (options_under). Of all these it keeps what the subject
// takes, and of a refusal that is expected what the subject owes (suit).
[[nodiscard]] spec::CaseFile with_flags(spec::CaseFile the_case,
                                        const conformance::Configuration& flags,
                                        const Subject& subject);

// Gives the script of a case the options that the subject takes. One that expects a refusal keeps
// all options for a process: who lacks an option owes no refusal that comes with it, and says so.
// Nor does a process owe the words of our own executor.
void suit(conformance::Script& script, const Subject& subject,
          const conformance::Configuration& options);

}  // namespace graphgate::tools
