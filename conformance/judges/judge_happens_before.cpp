// Tenants of a byte, ordered by streams and events: the rules HB of the plan verifier.
#include "conformance/judges/verified_plans.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {

Result<JudgeReport> judge_happens_before(Runs& runs, const JudgeSettings& /*settings*/) {
  const StopWatch watch;
  GRAPHGATE_TRY(const VerifiedPlans verified, verify_plans(runs));
  return report_of_plans(verified, Judge::kHappensBefore, watch);
}

}  // namespace graphgate::conformance
