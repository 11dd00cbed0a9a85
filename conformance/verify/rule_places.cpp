// V6: bytes are handed on only to what may lie there: on the same device, at the alignment that is
// asked for, and, within one buffer, of the same dtype.
#include <algorithm>
#include <set>

#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

using spec::Finding;
using spec::Plan;
using spec::PlanPool;
using spec::PlanValue;
using spec::PoolKind;

// Devices without an index are the current one, whichever that is.
bool same_device(const spec::Device& a, const spec::Device& b) {
  return a.type == b.type && (a.index == b.index || a.index == -1 || b.index == -1);
}

void check_devices(const RuleCase& rule_case, Findings& out) {
  const Plan& plan = rule_case.plan();
  for (std::uint32_t id = 0; id < plan.values.size(); ++id) {
    const PlanValue& value = plan.values[id];
    if (!value.buffer || !value.value.type) continue;
    const PlanPool& pool = plan.pools[plan.buffers[value.buffer->index].pool.index];
    if (same_device(value.value.type->device, pool.device)) continue;
    Finding finding;
    finding.rule = "V6.device";
    finding.message =
        value_name(plan, {id}) + " is on " + spec::print_device(value.value.type->device) +
        ", but its buffer " + buffer_name(plan, *value.buffer) + " lies in " +
        pool_name(plan, plan.buffers[value.buffer->index].pool) + ", memory of " +
        spec::print_device(pool.device) + ": give it a buffer in a pool of its device";
    finding.buffers = {plan.buffers[value.buffer->index].name};
    out.push_back(std::move(finding));
  }
}

// The largest alignment that pools of the device have: what results get that ask for it.
std::int64_t best_alignment(const Plan& plan, const spec::Device& device) {
  std::int64_t best = 1;
  for (const PlanPool& pool : plan.pools) {
    if (pool.kind == PoolKind::kHeap || pool.kind == PoolKind::kCaller) continue;
    if (same_device(pool.device, device)) best = std::max(best, pool.alignment_bytes);
  }
  return best;
}

// By pool: an arena of less than that.
std::vector<bool> lesser_arenas(const Plan& plan) {
  std::vector<bool> out;
  out.reserve(plan.pools.size());
  for (const PlanPool& pool : plan.pools) {
    out.push_back(pool.kind == PoolKind::kArena &&
                  pool.alignment_bytes < best_alignment(plan, pool.device));
  }
  return out;
}

// An op as it is launched: alone, or in a fused step, whose results are all made alike.
using LaunchedOp = std::pair<std::string_view, bool>;
LaunchedOp launched_op(const RuleCase& rule_case, const Access& access) {
  return {rule_case.accesses.node_of(access).op, access.body.has_value()};
}

// Ops with a result in a pool of the best alignment that its device has: they ask for it.
std::set<LaunchedOp> aligned_ops(const RuleCase& rule_case) {
  const Plan& plan = rule_case.plan();
  std::set<LaunchedOp> out;
  for (const Access& access : rule_case.accesses.all) {
    if (!access.makes || !access.buffer) continue;
    const PlanPool& pool = rule_case.accesses.pool_of(access);
    const bool is_best =
        pool.kind == PoolKind::kArena && pool.alignment_bytes >= best_alignment(plan, pool.device);
    if (is_best) out.insert(launched_op(rule_case, access));
  }
  return out;
}

// A pool of small alignment is for ops whose results need no more. Which ops those are a plan does
// not say; but bytes that go from a result of one op to a result of another are handed on from
// somebody who asked for nothing. That is suspect, unless whoever has the plan knows that nobody
// asks for the second, either. It is a failure where the plan itself places another result of the
// second op at the best alignment.
void check_alignment(const RuleCase& rule_case, Findings& out) {
  const Plan& plan = rule_case.plan();
  const std::vector<bool> is_lesser = lesser_arenas(plan);
  if (std::ranges::find(is_lesser, true) == is_lesser.end()) return;
  const std::set<LaunchedOp> aligned = aligned_ops(rule_case);
  const auto& unaligned = rule_case.plan_case.unaligned_ops;
  std::vector<const Access*> makers;
  for (const Access& access : rule_case.accesses.all) {
    if (!access.makes || !access.buffer) continue;
    if (!is_lesser[plan.buffers[access.buffer->index].pool.index]) continue;
    const PlanPool& pool = rule_case.accesses.pool_of(access);
    const spec::Node& node = rule_case.accesses.node_of(access);
    makers.push_back(&access);
    if (!access.body && unaligned.contains(node.op)) continue;
    for (const Access* earlier : makers) {
      if (earlier->buffer == access.buffer) continue;
      const spec::Node& from = rule_case.accesses.node_of(*earlier);
      if (from.op == node.op || !rule_case.accesses.shared_bytes(*earlier, access)) continue;
      Finding finding;
      finding.rule = "V6.alignment";
      const bool is_proved = aligned.contains(launched_op(rule_case, access));
      finding.outcome = is_proved ? spec::Outcome::kFail : spec::Outcome::kSuspect;
      finding.message = "bytes of " + buffer_name(plan, *earlier->buffer) + ", a result of " +
                        from.op + " at a multiple of " + std::to_string(pool.alignment_bytes) +
                        " only, are handed on to " + buffer_name(plan, *access.buffer) +
                        ", a result of " + node.op + ", though other pools of " +
                        spec::print_device(pool.device) + " are aligned to " +
                        std::to_string(best_alignment(plan, pool.device)) +
                        (is_proved ? ", and hold other results of that op" : "");
      finding.nodes = {node.name, from.name};
      finding.buffers = {plan.buffers[access.buffer->index].name,
                         plan.buffers[earlier->buffer->index].name};
      out.push_back(std::move(finding));
      break;
    }
  }
}

// Whether some result of the node may share storage with an operand: then it is no new tenant.
bool may_alias(const Access& access, const RuleCase& rule_case) {
  const spec::OpRow* row = rule_case.accesses.use_at(access.step, access.body).row;
  if (row == nullptr || !row->undeclared_aliases.empty()) return true;
  return access.argument >= row->effects.returns.size() ||
         !row->effects.returns[access.argument].aliases.empty();
}

// A buffer that is handed on whole, under its own name: its second tenant is as the first.
void check_lines(const RuleCase& rule_case, Findings& out) {
  const Plan& plan = rule_case.plan();
  std::vector<const Access*> tenant_of(plan.buffers.size(), nullptr);  // by buffer
  for (const Access& access : rule_case.accesses.all) {
    if (!access.makes || !access.buffer || may_alias(access, rule_case)) continue;
    const Access*& tenant = tenant_of[access.buffer->index];
    if (tenant == nullptr) tenant = &access;
    const Access& first = *tenant;
    const auto& type = plan.values[access.value->index].value.type;
    const auto& first_type = plan.values[first.value->index].value.type;
    if (first.step == access.step || !type || !first_type) continue;
    tenant = &access;
    if (type->dtype == first_type->dtype) continue;
    Finding finding;
    finding.rule = "V6.dtype";
    finding.message =
        buffer_name(plan, *access.buffer) + " is handed on from " + value_name(plan, *first.value) +
        " (" + std::string(spec::torch_name(first_type->dtype)) + ", made by " +
        rule_case.accesses.place_of(first) + ") to " + value_name(plan, *access.value) + " (" +
        std::string(spec::torch_name(type->dtype)) + ", made by " +
        rule_case.accesses.place_of(access) +
        "): one buffer holds one dtype, give the second a buffer of its own";
    finding.nodes = {rule_case.accesses.node_of(access).name,
                     rule_case.accesses.node_of(first).name};
    finding.buffers = {plan.buffers[access.buffer->index].name};
    out.push_back(std::move(finding));
  }
}

bool is_returned(const Plan& plan, spec::BufferId buffer) {
  bool found = false;
  const auto look = [&](spec::ValueId id) {
    found = found || plan.values[id.index].buffer == buffer;
  };
  for (const spec::Argument& output : plan.outputs) spec::for_each_value(output, look);
  return found;
}

// Scratch bytes hold nothing else while the step runs: no operand, no result, and no tensor that
// somebody reads later. (What lies in other buffers is a matter of overlap.)
void check_workspaces(const RuleCase& rule_case, Findings& out) {
  const Plan& plan = rule_case.plan();
  const Accesses& accesses = rule_case.accesses;
  for (const std::uint32_t step : accesses.order) {
    const auto workspace = plan.steps[step].workspace;
    if (!workspace) continue;
    // The first touch from the step on that does not make something new behind it.
    const auto next = std::ranges::find_if(accesses.all, [&](const Access& access) {
      return access.buffer == workspace && access.kind != AccessKind::kWorkspace &&
             accesses.position[access.step] >= accesses.position[step];
    });
    const bool is_touched = next != accesses.all.end();
    const bool is_own = is_touched && next->step == step;
    if (is_touched ? !is_own && next->makes : !is_returned(plan, *workspace)) continue;
    out.push_back({.rule = "V6.workspace",
                   .message = step_name(plan, step) + " has " + buffer_name(plan, *workspace) +
                              " for scratch bytes, and " +
                              (is_own ? "touches " + value_name(plan, *next->value) + " in it, too"
                               : is_touched ? accesses.place_of(*next) + " still uses " +
                                                  value_name(plan, *next->value) + " in it"
                                            : "it is returned") +
                              ": give the step a workspace of its own",
                   .nodes = {plan.steps[step].node.name},
                   .buffers = {plan.buffers[workspace->index].name}});
  }
}

}  // namespace

void check_places(const RuleCase& rule_case, Findings& out) {
  check_devices(rule_case, out);
  check_alignment(rule_case, out);
  check_lines(rule_case, out);
  check_workspaces(rule_case, out);
}

}  // namespace graphgate::verify
