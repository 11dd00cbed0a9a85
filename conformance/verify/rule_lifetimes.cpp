// V9: what the caller may still read is not overwritten: weak outputs go with the next run of their
// pool, and nobody reads them after it.
#include <algorithm>

#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

using spec::Finding;
using spec::OutputLifetime;
using spec::Plan;
using spec::PoolKind;

bool is_weak(const Plan& plan, std::size_t output) {
  return output < plan.output_lifetimes.size() &&
         plan.output_lifetimes[output] == OutputLifetime::kWeak;
}

std::optional<spec::BufferId> buffer_of_output(const Plan& plan, std::size_t output) {
  const auto* id = plan.outputs[output].as<spec::ValueId>();
  return id ? plan.values[id->index].buffer : std::nullopt;
}

void check_count(const Plan& plan, const spec::Program& program, Findings& out) {
  const auto wanted = std::ranges::count_if(program.outputs, [](const auto& output) {
    return output.kind == spec::OutputKind::kUserOutput;
  });
  if (static_cast<std::size_t>(wanted) == plan.outputs.size()) return;
  out.push_back({.rule = "V9.output-count",
                 .message = "the program returns " + std::to_string(wanted) +
                            " outputs, and the plan has " + std::to_string(plan.outputs.size()) +
                            ": the caller takes some for others"});
}

// The first write of a plan into bytes of an arena that is known by name and device.
const Access* first_write(const Accesses& accesses, const spec::PlanPool& pool, ByteRange bytes) {
  for (const Access& access : accesses.all) {
    if (!access.writes || !access.buffer) continue;
    const spec::PlanPool& own = accesses.pool_of(access);
    if (own.kind != pool.kind || own.name != pool.name || own.device != pool.device) continue;
    const ByteSet written = accesses.bytes_in_pool(access);
    if (!written.exact) continue;
    if (first_common(written, 0, bytes_of(bytes.begin_bytes, bytes.end_bytes), 0)) return &access;
  }
  return nullptr;
}

// Output `output` of `made` is read until after `later`, which has its arenas, has run.
void check_read(const PlanUse& made, std::size_t output, const PlanUse& later, Findings& out) {
  const Plan& plan = *made.plan_case.plan;
  const Plan& next = *later.plan_case.plan;
  const auto buffer = buffer_of_output(plan, output);
  if (!buffer) return;
  const spec::PlanBuffer& place = plan.buffers[buffer->index];
  const spec::PlanPool& pool = plan.pools[place.pool.index];
  const ByteRange bytes{place.offset_bytes, place.offset_bytes + place.size_bytes};
  const Accesses accesses = accesses_of(next, *later.plan_case.ops);
  const Access* write = first_write(accesses, pool, bytes);
  if (write == nullptr) return;
  out.push_back(
      {.rule = "V9.weak-read",
       .message = "output " + std::to_string(output) + " of '" + plan.name + "' from call " +
                  std::to_string(made.call) + " is weak, in bytes " + range_text(bytes) + " of " +
                  pool_name(plan, place.pool) + "; call " + std::to_string(later.call) + " of '" +
                  next.name + "' overwrites them in " + accesses.place_of(*write) +
                  ", and the caller was let to read them afterwards: copy the output, or refuse",
       .nodes = {accesses.node_of(*write).name},
       .buffers = {place.name, next.buffers[write->buffer->index].name},
       .ranges = {{pool.name, bytes.begin_bytes, bytes.end_bytes}}});
}

// Whether `later` runs in the arenas of use `index`: all plans share them, or it follows the same
// plan, which has not been let go since.
bool has_arenas_of(std::span<const PlanUse> uses, std::size_t index, const PlanUse& later) {
  const PlanUse& made = uses[index];
  if (later.session != made.session) return false;
  if (later.shares_pools) return true;
  if (*later.plan_case.plan != *made.plan_case.plan) return false;
  if (made.plans_kept == 0) return true;
  std::vector<const Plan*> others;
  for (const PlanUse* use = &made + 1; use != &later; ++use) {
    const Plan* const plan = use->plan_case.plan;
    const auto is_it = [&](const Plan* known) { return *known == *plan; };
    if (use->program != made.program || is_it(made.plan_case.plan)) continue;
    if (std::ranges::none_of(others, is_it)) others.push_back(plan);
  }
  return others.size() < made.plans_kept;
}

void check_asked(const PlanUse& use, Findings& out) {
  const Plan& plan = *use.plan_case.plan;
  for (std::size_t i = 0; i < plan.outputs.size() && !use.allows_weak; ++i) {
    if (!is_weak(plan, i)) continue;
    out.push_back(
        {.rule = "V9.weak-unasked",
         .message = "call " + std::to_string(use.call) + " of '" + plan.name +
                    "': the plan makes output " + std::to_string(i) +
                    " weak, and the caller did not agree to that: its bytes would be gone with "
                    "the next run of the pool"});
  }
}

}  // namespace

void check_lifetimes(const RuleCase& rule_case, Findings& out) {
  const Plan& plan = rule_case.plan();
  if (rule_case.plan_case.program != nullptr) {
    check_count(plan, *rule_case.plan_case.program, out);
  }
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const auto buffer = buffer_of_output(plan, i);
    if (!is_weak(plan, i)) continue;
    if (buffer && plan.pools[plan.buffers[buffer->index].pool.index].kind == PoolKind::kArena) {
      continue;
    }
    Finding finding;
    finding.rule = "V9.weak-place";
    finding.message =
        "output " + std::to_string(i) + " is weak, but it lies in " +
        (buffer ? pool_name(plan, plan.buffers[buffer->index].pool) : std::string("no memory")) +
        ": only what lies in an arena goes with the next run of its pool, call it strong";
    if (buffer) finding.buffers = {plan.buffers[buffer->index].name};
    out.push_back(std::move(finding));
  }
}

void check_weak_reads(std::span<const PlanUse> uses, Findings& out) {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    check_asked(uses[i], out);
    const Plan& plan = *uses[i].plan_case.plan;
    for (std::size_t k = 0; k < std::min(plan.outputs.size(), uses[i].read_until.size()); ++k) {
      if (!uses[i].read_until[k] || !is_weak(plan, k)) continue;
      const auto later = std::find_if(
          uses.begin() + static_cast<std::ptrdiff_t>(i) + 1, uses.end(), [&](const PlanUse& use) {
            return use.call <= *uses[i].read_until[k] && has_arenas_of(uses, i, use);
          });
      if (later != uses.end()) check_read(uses[i], k, *later, out);
    }
  }
}

}  // namespace graphgate::verify
