// Tenants of a byte, ordered by streams and events: the rules HB of the plan verifier.
#include "conformance/harness/judge.h"
#include "conformance/harness/judge_report.h"
#include "conformance/harness/verified_plans.h"

namespace graphgate::conformance {

Result<JudgeReport> judge_happens_before(Runs& runs, const JudgeSettings& /*settings*/) {
  const StopWatch watch;
  JudgeReport report;
  report.judge = Judge::kHappensBefore;
  GRAPHGATE_TRY(VerifiedPlans verified, verify_plans(runs));
  for (spec::Finding& finding : verified.findings) {
    if (is_about_order(finding.rule)) report.findings.push_back(std::move(finding));
  }
  report.checks = verified.plans * verified.order_rules;
  report.remark = verified.remark;
  conclude(report, watch, spec::Outcome::kUnsupported, "the executor shows no plans");
  return report;
}

}  // namespace graphgate::conformance
