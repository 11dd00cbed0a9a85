// V8: what is said to stay where it is has one address, and one producer, for all replays.
#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

using spec::Plan;
using spec::PoolKind;

// State outlives calls and inputs are filled from outside: neither lies where steps make things.
bool is_kept(PoolKind pool, spec::InputKind input) {
  if (pool == PoolKind::kCaller) return true;
  return pool == (input == spec::InputKind::kUserInput ? PoolKind::kInput : PoolKind::kState);
}

void check_pools(const Plan& plan, Findings& out) {
  for (const spec::PlanInput& input : plan.inputs) {
    if (input.constant || !plan.values[input.value.index].buffer) continue;
    const spec::BufferId buffer = *plan.values[input.value.index].buffer;
    const spec::PoolId pool = plan.buffers[buffer.index].pool;
    if (is_kept(plan.pools[pool.index].kind, input.kind)) continue;
    const bool is_user = input.kind == spec::InputKind::kUserInput;
    out.push_back({.rule = "V8.pool",
                   .message = std::string(is_user ? "input '" : "state '") + input.target +
                              "' lies in " + buffer_name(plan, buffer) + " of " +
                              pool_name(plan, pool) + ", memory that is no pool of " +
                              (is_user ? "inputs" : "state") +
                              ": its bytes do not stay from call to call, give it a place in one",
                   .buffers = {plan.buffers[buffer.index].name}});
  }
}

// Bytes that the caller owns are the caller's to fill.
void check_caller(const RuleCase& rule_case, Findings& out) {
  const Plan& plan = rule_case.plan();
  for (const Access& access : rule_case.accesses.all) {
    if (!access.writes || !access.buffer) continue;
    if (rule_case.accesses.pool_of(access).kind != PoolKind::kCaller) continue;
    // An update in place is an operand and a result; once is enough.
    if (access.kind == AccessKind::kResult && !access.makes) continue;
    const auto& place = rule_case.accesses.places[access.step];
    const bool captured = plan.blocks[place.block].partitions[place.partition].captured;
    out.push_back(
        {.rule = access.makes ? "V8.made-by-step" : "V8.written",
         .message = rule_case.accesses.place_of(access) +
                    (captured ? ", captured, " : ", eager, ") +
                    (access.makes ? "makes " : "writes ") + buffer_name(plan, *access.buffer) +
                    " in " + pool_name(plan, plan.buffers[access.buffer->index].pool) +
                    ", which the plan says the caller owns and fills: give it a buffer of the "
                    "plan's own",
         .nodes = {rule_case.accesses.node_of(access).name},
         .buffers = {plan.buffers[access.buffer->index].name}});
  }
}

}  // namespace

void check_static(const RuleCase& rule_case, Findings& out) {
  check_pools(rule_case.plan(), out);
  check_caller(rule_case, out);
}

}  // namespace graphgate::verify
