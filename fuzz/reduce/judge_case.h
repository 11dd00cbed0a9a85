// One case through the judges, in this process.
//
// Campaigns, the reducer and `graphgate replay` call this; executors come in as sources, so that
// nothing here knows which they are.
#pragma once

#include <functional>

#include "conformance/judges/judge.h"
#include "conformance/run/executor_source.h"
#include "conformance/run/script.h"
#include "conformance/run/trace.h"
#include "fuzz/reduce/score.h"
#include "fuzz/reduce/signature.h"
#include "spec/case_file.h"

namespace graphgate::fuzz {

// What judges a drawn case where nothing else is asked for: what finds most for its time.
inline constexpr const char* kQuickJudges = "provenance,bounds,verifier,state,happens-before";

// What judges a case. `wide_oracle` takes sizes 0 and 1 where a range starts at 2: it is asked for
// cases with the option allow-zero-and-one. All outlive whoever holds this.
struct CaseExecutors {
  const conformance::ExecutorSource& subject;
  const conformance::ExecutorSource& oracle;
  const conformance::ExecutorSource& wide_oracle;
  const conformance::CaseFiles& files;
};

// No case from a generator names a file: kBadInput for any.
[[nodiscard]] const conformance::CaseFiles& no_files();

struct JudgeChoice {
  conformance::JudgeSet judges = conformance::JudgeSet::all();
  conformance::JudgeSettings settings;
};

// What a case shows beside the judges' verdict.
struct CaseShown {
  std::vector<std::uint32_t> features;  // of the executor's plans (features.h)
  double score = 0;                     // of the kind that is asked for; 0: none was
};

// An Error is about the case (check_case, or the reference refuses it as well) or the machine,
// never a verdict. `shown` takes what the executor's plans show, and its score where `target` names
// one.
[[nodiscard]] Result<conformance::CaseReport> judge_case(const spec::CaseFile& the_case,
                                                         const CaseExecutors& executors,
                                                         const JudgeChoice& choice,
                                                         CaseShown* shown = nullptr,
                                                         std::optional<Score> target = {});

// Returns what the reference shows in one of its modes ("eager", "provenance"). Where it ends early
// the trace says so; an Error is about the case, or about a machine that failed twice.
[[nodiscard]] Result<conformance::Trace> run_reference(const spec::CaseFile& the_case,
                                                       const CaseExecutors& executors,
                                                       std::string_view mode);

// Whether the reference runs the whole scenario. kBadInput, with its words, where it does not: such
// a case says nothing of any executor.
[[nodiscard]] Result<void> check_reference_takes(const spec::CaseFile& the_case,
                                                 const CaseExecutors& executors);

// Whether, in any call, the reference reads what nothing has written (words of provenance say so),
// in an operand that the op does not write. What such a case shows may be another thing wherever
// memory is. False where it does not run.
[[nodiscard]] bool reads_unwritten(const spec::CaseFile& the_case, const CaseExecutors& executors);

// What came of a candidate of the reducer.
enum class CheckResult : std::uint8_t {
  kSame,    // what is looked for shows
  kPasses,  // a valid case, and nothing is found
  kOther,   // not valid, or something else is found
};

// Whether the case shows a finding with the fault of `signature` (Signature::same_fault). Asks the
// one judge whose finding it is, then the reference.
[[nodiscard]] CheckResult check_signature(const spec::CaseFile& the_case,
                                          const CaseExecutors& executors,
                                          const Signature& signature,
                                          const conformance::JudgeSettings& settings);

// The same of a candidate for `original`. One that reads what nothing has written, or writes one
// value as two operands of a node, is kOther where the original does not: what it shows would be a
// fault of the candidate.
[[nodiscard]] std::function<CheckResult(const spec::CaseFile&)> refusing_void(
    std::function<CheckResult(const spec::CaseFile&)> classify, const spec::CaseFile& original,
    const CaseExecutors& executors);

}  // namespace graphgate::fuzz
