// The cases of a campaign: drawn by the generator, changed by the flags of the command line, judged
// with an executor under test, looked at again and reduced where they show something.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "conformance/judges/judge.h"
#include "fuzz/campaign/findings.h"
#include "fuzz/campaign/known_findings.h"
#include "fuzz/campaign/reduce_case.h"
#include "fuzz/campaign/workers.h"
#include "fuzz/reduce/judge_case.h"
#include "spec/case_file.h"

namespace graphgate::fuzz {

// Where cases come from: all are pure functions.
struct CaseSource {
  std::function<spec::CaseFile(const Descent& descent)> draw;
  std::function<std::uint64_t(const Descent& descent)> content_of;
  // A case as it is judged: with the options of the campaign over those of its own that do not
  // contradict them, as far as the subject takes them.
  std::function<spec::CaseFile(spec::CaseFile the_case)> with_flags;
  // The text of a script that shows a finding of the case to those who have never heard of this
  // program; empty where there is none. Absent: there never is.
  std::function<std::string(const spec::CaseFile& the_case, const std::string& signature)> script =
      {};
};

struct CaseSetting {
  std::uint32_t generator = 0;
  std::uint64_t seed = 0;
  KeptOptions kept_options;            // of the campaign: no case is reduced by them
  conformance::JudgeSet judges;        // of every case
  std::uint64_t all_judges_every = 0;  // and all of them of the first of so many; 0: never
  conformance::JudgeSettings settings;
  std::optional<Score> target;  // what is searched for
  PoolOptions pool;             // limits of a case that is looked at again
  double reduce_seconds = 10;
  // For one look at a candidate of the reducer, at most. A case takes milliseconds: one that hangs
  // needs not be waited for as long as in a campaign. A process may have to compile it.
  double longest_look_seconds = 2;
  // Of the subject; outlives whoever holds this. Null: none are known.
  const KnownFindings* known = nullptr;
  FoundIn found_in;  // what cases that are kept say of the subject
};

// Whether the nodes of the case are held to their bounds in any case. Those of the others are where
// results have other bits than the reference's (JudgeSettings::judge_nodes). One case of 16 is
// picked, by its id alone.
[[nodiscard]] bool is_picked_for_nodes(std::uint64_t seed, std::uint64_t index);

class CampaignCases {
 public:
  // The executors judge every case, and outlive this.
  CampaignCases(CaseSource source, CaseSetting setting, const CaseExecutors& executors)
      : source_(std::move(source)), setting_(std::move(setting)), executors_(executors) {}

  // As it is judged.
  [[nodiscard]] spec::CaseFile draw(const Descent& descent) const {
    return with_flags(source_.draw(descent));
  }
  [[nodiscard]] spec::CaseFile with_flags(spec::CaseFile the_case) const {
    return source_.with_flags(std::move(the_case));
  }
  // With these lines as its header.
  [[nodiscard]] Result<std::string> print(const Descent& descent,
                                          std::vector<std::string> header) const;
  // Those that are asked of every case.
  [[nodiscard]] conformance::JudgeSet judges() const { return setting_.judges; }
  [[nodiscard]] std::uint64_t content_of(const Descent& descent) const {
    return source_.content_of(descent);
  }
  // What the judges say of the case. What says that the case itself is no good is a finding about
  // the generator.
  [[nodiscard]] CaseVerdict judge(const Descent& descent,
                                  const std::function<void()>& begin_judging) const;
  // For one that is not drawn, by these judges. Where it shows several things, and one of them has
  // one of the names `expected`, that one is told.
  [[nodiscard]] CaseVerdict judge_case(const spec::CaseFile& the_case, conformance::JudgeSet judges,
                                       const std::set<std::string>& expected = {}) const;
  // Runs it again alone, then behind what ran before it; reduces what comes again.
  // One that is known (CaseSetting::known) is not kept.
  [[nodiscard]] TriageResult look_again(const TriageTask& task) const;
  // MayBeKnown of findings.h.
  [[nodiscard]] bool may_be_known(const TriageTask& task) const {
    return setting_.known && setting_.known->may_be_known(task.signature, draw(task.descent()));
  }

 private:
  [[nodiscard]] JudgeChoice choice_of(std::uint64_t index) const;
  [[nodiscard]] CaseVerdict judge_by(const spec::CaseFile& the_case, const JudgeChoice& choice,
                                     const std::set<std::string>& expected) const;
  // How often of `times` the signature comes, in a worker of its own each.
  [[nodiscard]] int count_again(const TriageTask& task, const Batch& batch, int times) const;
  [[nodiscard]] Result<ReducedCase> reduce(const TriageTask& task,
                                           const spec::CaseFile& the_case) const;
  void keep_case(const TriageTask& task, TriageResult& result) const;
  [[nodiscard]] KnownMatch match_known(const TriageTask& task, const spec::CaseFile& reduced) const;
  [[nodiscard]] bool draws(const TriageTask& task) const;
  [[nodiscard]] std::vector<std::string> header_of(
      const TriageTask& task, const spec::CaseFile& the_case,
      const std::optional<spec::CaseFile>& passing) const;

  CaseSource source_;
  CaseSetting setting_;
  CaseExecutors executors_;
};

}  // namespace graphgate::fuzz
