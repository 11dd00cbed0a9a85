// How messages name the things of a plan, and what check_plan is made of.
//
// Inside spec/ only: the check, the text and the diff share it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/argument_text.h"
#include "spec/plan.h"

namespace graphgate::spec {

// The op of a fused step, which has a body; no row of the op table.
inline constexpr std::string_view kFusedStepOp = "graphgate.fused";

// As plan text has it: @arena, $b7, @main, %x.
inline std::string name_of(const PlanPool& pool) { return print_sigil_name('@', pool.name); }
inline std::string name_of(const PlanBuffer& buffer) { return print_sigil_name('$', buffer.name); }
inline std::string name_of(const PlanBlock& block) { return print_sigil_name('@', block.name); }
inline std::string name_of(const PlanValue& value) {
  return print_sigil_name('%', value.value.name);
}

// "step 3 'mm' (aten.mm.default)".
inline std::string place_of(const Plan& plan, std::size_t step) {
  const Node& node = plan.steps[step].node;
  return "step " + std::to_string(step) + " '" + node.name + "' (" + node.op + ")";
}

// For an id that is out of range; `what` is "buffer", "value"...
inline Error missing(std::string_view what, std::uint32_t index) {
  return bad_input(std::string(what) + " number " + std::to_string(index) + " does not exist");
}

// By value: whether an input or a step makes it, and not only in place. What nothing makes is a
// view, or a mistake. Ids that are out of range are passed over.
[[nodiscard]] std::vector<bool> made_values(const Plan& plan);

// By value: whether it is an inner one, made by a node of a body and without a buffer. Ids that are
// out of range are passed over.
[[nodiscard]] std::vector<bool> inner_values(const Plan& plan);

// Whether it is a tensor with a buffer outside of the heaps. The ids of its buffer and pool are in
// range.
[[nodiscard]] bool is_placed(const Plan& plan, const PlanValue& value);

// The values that stand in no line of the text but their own, in the order of their names.
[[nodiscard]] std::vector<ValueId> unmentioned_values(const Plan& plan,
                                                      const std::vector<bool>& mentioned);

// What fused steps say of their bodies: arguments are what the body reads and does not make,
// results what it makes. Ids are in range.
[[nodiscard]] Result<void> check_plan_bodies(const Plan& plan);

// The lifetimes of outputs and the padding fit what the plan holds. Ids are in range.
[[nodiscard]] Result<void> check_plan_claims(const Plan& plan);

// Values are defined once and before their use, arms belong to one step, events exist. Ids in the
// tables of the plan are in range, and every step is in one partition.
[[nodiscard]] Result<void> check_plan_order(const Plan& plan);

}  // namespace graphgate::spec
