// Single changes of a finished plan that make it wrong.
//
// Each has a name, says which field of spec/plan.h it touches, and who must catch it. They test the
// judges: a plan from a right executor is changed in one place, and somebody has to say so.
// `graphgate mutants` counts who does.
//
//   buffer $y @arena [0, 512)            offset-over-live:  $z moves over $y, which a later step
//   buffer $z @arena [512, 1024)                            still reads
//
// A mutation applies only where it should matter, as far as the plan itself tells. An offset moves
// onto bytes that are in use at the same time (plan_drawing.h). Two steps change places if one
// writes what the other touches. Where a plan has no such place, nothing is done.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "spec/plan.h"

namespace graphgate::conformance {

// `name` is stable: docs/rules.md and the mutation score name mutations by it. `field` is the
// changed one ("PlanBuffer::offset_bytes"), `what` the change in words. The changed plan passes
// spec::check_plan if `well_formed`; otherwise check_plan refuses it, and no judge is needed.
// `judge` is who must catch it: "check_plan", "verifier" and "happens-before" from the plan and its
// program alone; "provenance" and "bounds" where only a run shows it.
struct PlanMutation {
  std::string_view name;
  std::string_view field;
  std::string_view what;
  bool well_formed = true;
  std::string_view judge;
};

// By the parts of a plan. Names differ; at most three are of one field and one way of being wrong.
[[nodiscard]] std::span<const PlanMutation> plan_mutations();

// Changes the plan in one place, which `seed` picks among those where it applies: the same for the
// same plan and seed. False, and the plan is as it was, where there is no such place. `mutation` is
// one of plan_mutations(); the plan must pass check_plan.
[[nodiscard]] bool apply_mutation(const PlanMutation& mutation, spec::Plan& plan,
                                  std::uint64_t seed);

}  // namespace graphgate::conformance
