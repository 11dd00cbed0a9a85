// The plan verifier as a judge: every plan that the subject followed, against the program and what
// the reference did on the same inputs.
#include "conformance/judges/verified_plans.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {

Result<JudgeReport> judge_verifier(Runs& runs, const JudgeSettings& /*settings*/) {
  const StopWatch watch;
  GRAPHGATE_TRY(const VerifiedPlans verified, verify_plans(runs));
  return report_of_plans(verified, Judge::kVerifier, watch);
}

}  // namespace graphgate::conformance
