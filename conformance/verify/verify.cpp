#include "conformance/verify/verify.h"

#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

// In the order of the rules.
constexpr void (*kFamilies[])(const RuleCase&, Findings&) = {
    check_written,  check_signatures,      check_symbols,   check_overlap,
    check_in_place, check_positions_apart, check_order,     check_nodes,
    check_effects,  check_operations,      check_frees,     check_places,
    check_capture,  check_static,          check_lifetimes, check_key,
    check_padding,  check_streams,
};

// By input of the plan: inputs over one buffer are one group. What lies where is for the caller to
// say, so that two inputs in one place are taken to share a storage.
std::vector<std::uint32_t> input_groups(const spec::Plan& plan) {
  std::vector<std::uint32_t> groups;
  std::map<std::uint32_t, std::uint32_t> group_of_buffer;
  for (std::uint32_t i = 0; i < plan.inputs.size(); ++i) {
    const spec::PlanInput& input = plan.inputs[i];
    std::uint32_t group = i;
    if (!input.constant && plan.values[input.value.index].buffer) {
      const std::uint32_t buffer = plan.values[input.value.index].buffer->index;
      group = group_of_buffer.try_emplace(buffer, i).first->second;
    }
    groups.push_back(group);
  }
  return groups;
}

}  // namespace

std::vector<spec::Finding> verify_plan(const PlanCase& plan_case) {
  GRAPHGATE_CHECK(plan_case.plan != nullptr && plan_case.ops != nullptr);
  const Accesses accesses = accesses_of(*plan_case.plan, *plan_case.ops);
  const PartitionUses uses = partition_uses(accesses);
  RunRows rows;
  std::optional<GraphFacts> facts;
  if (plan_case.program != nullptr &&
      plan_case.program->inputs.size() == plan_case.plan->inputs.size()) {
    // A padded plan is larger than the call that a run tells of.
    if (!plan_case.plan->padding) rows = RunRows(*plan_case.program, plan_case.facts_of_run);
    facts = facts_of(*plan_case.program, *plan_case.ops, plan_case.plan->symbols,
                     input_groups(*plan_case.plan), rows);
  }
  const PlanFlow flow = flow_of(accesses, *plan_case.ops, facts ? &*facts : nullptr);
  std::optional<Lineage> lineage;
  if (facts) lineage.emplace(*facts, flow);
  const RuleCase rule_case{plan_case,
                           accesses,
                           uses,
                           rows,
                           facts ? &*facts : nullptr,
                           &flow,
                           lineage ? &*lineage : nullptr};
  Findings findings;
  for (const auto family : kFamilies) family(rule_case, findings);
  return findings;
}

}  // namespace graphgate::verify
