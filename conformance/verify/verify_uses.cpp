// What no single plan shows.
#include "conformance/verify/rule_families.h"

namespace graphgate::verify {

std::vector<spec::Finding> verify_plan_uses(std::span<const PlanUse> uses) {
  for (const PlanUse& use : uses) {
    GRAPHGATE_CHECK(use.plan_case.plan != nullptr && use.plan_case.ops != nullptr);
  }
  Findings findings;
  check_weak_reads(uses, findings);
  check_keys(uses, findings);
  return findings;
}

}  // namespace graphgate::verify
