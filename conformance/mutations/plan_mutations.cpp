#include "conformance/mutations/plan_mutations.h"

#include <algorithm>

#include "conformance/mutations/mutation_sites.h"

namespace graphgate::conformance {
namespace {

using spec::Plan;
using spec::PlanBuffer;
using spec::PlanStep;

const std::vector<MutationRow>& all_rows() {
  static const std::vector<MutationRow> kRows = [] {
    std::vector<MutationRow> rows;
    for (const auto part : {memory_mutations(), step_mutations(), stream_mutations(),
                            partition_mutations(), claim_mutations()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
  return kRows;
}

bool share_bytes(const PlanBuffer& a, const PlanBuffer& b) {
  return a.pool == b.pool && a.offset_bytes < b.offset_bytes + b.size_bytes &&
         b.offset_bytes < a.offset_bytes + a.size_bytes;
}

void add_buffer(const Plan& plan, spec::ValueId id, std::vector<std::uint32_t>& out) {
  if (const auto& buffer = plan.values[id.index].buffer) out.push_back(buffer->index);
}

void sort_unique(std::vector<std::uint32_t>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

bool any_shared(const Plan& plan, const std::vector<std::uint32_t>& written,
                const std::vector<std::uint32_t>& touched) {
  return std::ranges::any_of(written, [&](std::uint32_t w) {
    return std::ranges::any_of(touched, [&](std::uint32_t t) {
      return w == t || share_bytes(plan.buffers[w], plan.buffers[t]);
    });
  });
}

}  // namespace

std::span<const PlanMutation> plan_mutations() {
  static const std::vector<PlanMutation> kMutations = [] {
    std::vector<PlanMutation> out;
    for (const MutationRow& row : all_rows()) out.push_back(row.mutation);
    return out;
  }();
  return kMutations;
}

bool apply_mutation(const PlanMutation& mutation, Plan& plan, std::uint64_t seed) {
  const auto& rows = all_rows();
  const auto row = std::ranges::find_if(
      rows, [&](const MutationRow& candidate) { return candidate.mutation.name == mutation.name; });
  GRAPHGATE_CHECK(row != rows.end());
  const Sites sites = row->find_sites(plan);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    Plan changed = plan;
    sites[(seed + i) % sites.size()](changed);
    if (changed == plan || spec::check_plan(changed).ok() != mutation.well_formed) continue;
    plan = std::move(changed);
    return true;
  }
  return false;
}

PlanTimes::PlanTimes(const Plan& plan)
    : plan_(plan), uses_(plan.buffers.size()), positions_(plan.steps.size(), 0) {
  for (const spec::BufferUse& use : spec::buffer_uses(plan)) uses_[use.buffer.index] = use;
  // What a conditional reads is read before its arms run, and what it results in holds nothing
  // until one of them writes it: bytes shared with what the arms make may do no harm.
  for (const spec::PlanStep& step : plan.steps) {
    if (!runs_blocks(step)) continue;
    for (const auto buffer : touched_buffers(plan, step)) uses_[buffer].reset();
  }
  std::uint32_t position = 0;
  for (const std::uint32_t step : spec::execution_order(plan)) positions_[step] = position++;
}

bool PlanTimes::live_together(std::size_t a, std::size_t b) const {
  if (a == b || !uses_[a] || !uses_[b]) return false;
  return std::max(uses_[a]->first_step, uses_[b]->first_step) <
         std::min(uses_[a]->last_step, uses_[b]->last_step);
}

bool PlanTimes::collides(std::size_t buffer, std::int64_t offset_bytes) const {
  PlanBuffer moved = plan_.buffers[buffer];
  moved.offset_bytes = offset_bytes;
  for (std::size_t other = 0; other < plan_.buffers.size(); ++other) {
    if (live_together(buffer, other) && share_bytes(moved, plan_.buffers[other])) return true;
  }
  return false;
}

std::vector<std::size_t> used_buffers(const Plan& plan, const PlanTimes& times,
                                      spec::PoolKind kind) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& buffer = plan.buffers[i];
    if (plan.pools[buffer.pool.index].kind != kind || buffer.size_bytes == 0) continue;
    if (times.use(i)) out.push_back(i);
  }
  return out;
}

bool runs_blocks(const PlanStep& step) {
  return std::ranges::any_of(step.node.arguments, [](const spec::NamedArgument& named) {
    return named.argument.as<spec::SubgraphId>() != nullptr;
  });
}

std::span<const spec::Node> nodes_of(const PlanStep& step) {
  if (step.body.empty()) return {&step.node, 1};
  return step.body;
}

std::vector<std::uint32_t> touched_buffers(const Plan& plan, const PlanStep& step) {
  std::vector<std::uint32_t> out = written_buffers(plan, step);
  for (const spec::Node& node : nodes_of(step)) {
    spec::for_each_operand(node, [&](spec::ValueId id) { add_buffer(plan, id, out); });
  }
  if (step.workspace) out.push_back(step.workspace->index);
  sort_unique(out);
  return out;
}

std::vector<std::uint32_t> written_buffers(const Plan& plan, const PlanStep& step) {
  std::vector<std::uint32_t> out;
  for (const spec::Node& node : nodes_of(step)) {
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) add_buffer(plan, id, out);
    }
  }
  if (step.workspace) out.push_back(step.workspace->index);
  sort_unique(out);
  return out;
}

bool may_conflict(const Plan& plan, const PlanStep& a, const PlanStep& b) {
  return any_shared(plan, written_buffers(plan, a), touched_buffers(plan, b)) ||
         any_shared(plan, written_buffers(plan, b), touched_buffers(plan, a));
}

bool same_type(const spec::PlanValue& a, const spec::PlanValue& b) {
  return a.value.kind == spec::ValueKind::kTensor && a.value.kind == b.value.kind && a.value.type &&
         a.value.type == b.value.type;
}

}  // namespace graphgate::conformance
