// The cases of a campaign: drawn by the generator, changed by the flags of the command line, judged
// with an executor under test, looked at again and reduced where they show something.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "conformance/judges/judge.h"
#include "fuzz/reduce/judge_case.h"
#include "spec/case_file.h"
#include "tools/campaign/fuzz_findings.h"
#include "tools/campaign/fuzz_workers.h"
#include "tools/campaign/reduce_case.h"
#include "tools/executors/executor_sources.h"

namespace graphgate::tools {

// Where cases come from: both are pure functions.
struct CaseSource {
  std::function<spec::CaseFile(const fuzz::Descent& descent)> draw;
  std::function<std::uint64_t(const fuzz::Descent& descent)> content_of;
};

struct CaseSetting {
  std::uint32_t generator = 0;
  std::uint64_t seed = 0;
  conformance::Configuration flags;    // of the executor under test, over what a case asks for
  conformance::JudgeSet judges;        // of every case
  std::uint64_t all_judges_every = 0;  // and all of them of the first of so many; 0: never
  conformance::JudgeSettings settings;
  std::optional<fuzz::Score> target;  // what is searched for
  PoolOptions pool;                   // limits of a case that is looked at again
  double reduce_seconds = 10;
  std::shared_ptr<const Subject> subject = optimized_source();
};

class FuzzCases {
 public:
  FuzzCases(CaseSource source, CaseSetting setting);

  // As it is judged: with the flags.
  [[nodiscard]] spec::CaseFile draw(const fuzz::Descent& descent) const;
  // Over those of its options that do not contradict them.
  [[nodiscard]] spec::CaseFile with_flags(spec::CaseFile the_case) const;
  // With these lines as its header.
  [[nodiscard]] Result<std::string> print(const fuzz::Descent& descent,
                                          std::vector<std::string> header) const;
  [[nodiscard]] std::uint64_t content_of(const fuzz::Descent& descent) const {
    return source_.content_of(descent);
  }
  // What the judges say of the case. What says that the case itself is no good is a finding about
  // the generator.
  [[nodiscard]] fuzz::CaseVerdict judge(const fuzz::Descent& descent,
                                        const std::function<void()>& begin_judging) const;
  // For one that is not drawn, by these judges. Where it shows several things, and one of them has
  // the name `expected`, that one is told.
  [[nodiscard]] fuzz::CaseVerdict judge_case(const spec::CaseFile& the_case,
                                             conformance::JudgeSet judges,
                                             const std::string& expected = {}) const;
  // Runs it again alone, then behind what ran before it; reduces what comes again.
  [[nodiscard]] TriageResult look_again(const TriageTask& task) const;

 private:
  [[nodiscard]] fuzz::JudgeChoice choice_of(std::uint64_t index) const;
  // How often of `times` the signature comes, in a worker of its own each.
  [[nodiscard]] int count_again(const TriageTask& task, const Batch& batch, int times) const;
  [[nodiscard]] Result<ReducedCase> reduce(const TriageTask& task,
                                           const spec::CaseFile& the_case) const;
  void keep_case(const TriageTask& task, TriageResult& result) const;
  [[nodiscard]] bool draws(const TriageTask& task) const;
  [[nodiscard]] std::vector<std::string> header_of(
      const TriageTask& task, const spec::CaseFile& the_case,
      const std::optional<spec::CaseFile>& passing) const;

  CaseSource source_;
  CaseSetting setting_;
  CaseSources executors_;
};

}  // namespace graphgate::tools
