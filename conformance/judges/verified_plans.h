// The plans of a run, through the plan verifier. For the judges verifier and happens-before, which
// share its findings: rules "HB..." belong to the latter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/judges/judge.h"
#include "conformance/judges/judge_report.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {

// The rule of a finding that is none: it counts a plan that was verified before it reached a judge,
// with its outcome PASS. Executors that compile graphs of their own show plans of those.
inline constexpr const char* kOwnPlan = "V0.own-plan";

// The rule of a finding that counts a graph without a plan: whoever records plans does not show it,
// or shows what cannot be read. Its outcome is UNSUPPORTED, and the case is judged by the other
// judges.
inline constexpr const char* kNotShown = "V0.not-shown";

// Whether a pass from a shared object rewrites the graphs of programs. Then which nodes a plan runs
// is the pass's business: a right one may compute a value by other ops, or under another name. What
// a plan says is held to its own steps alone, and words are not compared; results are.
[[nodiscard]] bool has_pass_of_users(const Configuration& options);

struct VerifiedPlans {
  // Of all plans, each once, then of how calls use them. A plan that is not well formed is one
  // finding, V0.malformed, and nothing else is said of it.
  std::vector<spec::Finding> findings;
  std::int64_t plans = 0;        // different ones that were verified
  std::int64_t rules = 0;        // that each was held to
  std::int64_t order_rules = 0;  // of these, about streams and events
  std::string remark;            // facts that were missing
};

// Facts of the run come from the oracle in its geometry mode; where it has none, rules that need
// them stay silent, and `remark` says so.
[[nodiscard]] Result<VerifiedPlans> verify_plans(Runs& runs);

// What is wrong with the plans of a run that is not the subject's own one: of the script with taps,
// or under other options, as `script` has them. Failures alone, each message behind `place`. Such a
// run is asked where its results are wrong: then the fault of its plan is nearer to the cause.
[[nodiscard]] Result<std::vector<spec::Finding>> faults_of_plans(const Runs& runs,
                                                                 const Script& script, Trace trace,
                                                                 const std::string& place);

// What the judge, one of verifier and happens-before, says of them: the findings of its rules. Its
// time is the watch's.
[[nodiscard]] JudgeReport report_of_plans(const VerifiedPlans& verified, Judge judge,
                                          const StopWatch& watch);

// Whether a rule is one of happens-before.
[[nodiscard]] bool is_about_order(std::string_view rule);

}  // namespace graphgate::conformance
