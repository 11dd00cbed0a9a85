#include "conformance/judges/plan_stats.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "spec/plan_drawing.h"

namespace graphgate::conformance {
namespace {

std::int64_t rounded_size(const spec::Plan& plan, const spec::PlanBuffer& buffer) {
  const std::int64_t alignment = plan.pools[buffer.pool.index].alignment_bytes;
  return (buffer.size_bytes + alignment - 1) / alignment * alignment;
}

// Buffers by pool, offset and first step. What begins in the place and in the last step of another
// is a result in place: the step needs the bytes once.
using Begins = std::map<std::tuple<std::uint32_t, std::int64_t, std::uint32_t>, std::int64_t>;

Begins begins_of(const spec::Plan& plan, const std::vector<spec::BufferUse>& uses) {
  Begins begins;
  for (const spec::BufferUse& use : uses) {
    const spec::PlanBuffer& buffer = plan.buffers[use.buffer.index];
    begins[{buffer.pool.index, buffer.offset_bytes, use.first_step}] = buffer.size_bytes;
  }
  return begins;
}

// The sum of sizes in use at each step, over the buffers of one pool.
std::vector<std::int64_t> in_use(const spec::Plan& plan, const std::vector<spec::BufferUse>& uses,
                                 const Begins& begins, std::uint32_t pool) {
  std::vector<std::int64_t> change(plan.steps.size() + 1, 0);
  for (const spec::BufferUse& use : uses) {
    const spec::PlanBuffer& buffer = plan.buffers[use.buffer.index];
    if (buffer.pool.index != pool) continue;
    const auto taker = begins.find({pool, buffer.offset_bytes, use.last_step});
    const bool is_taken = use.first_step < use.last_step && taker != begins.end() &&
                          taker->second <= buffer.size_bytes;
    change[use.first_step] += rounded_size(plan, buffer);
    change[use.last_step + (is_taken ? 0 : 1)] -= rounded_size(plan, buffer);
  }
  change.pop_back();
  std::partial_sum(change.begin(), change.end(), change.begin());
  return change;
}

std::vector<spec::BufferUse> uses_of(const spec::Plan& plan) {
  return plan.steps.empty() ? std::vector<spec::BufferUse>() : buffer_uses(plan);
}

}  // namespace

PlanStats plan_stats(const spec::Plan& plan) {
  PlanStats stats;
  stats.steps = plan.steps.size();
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      ++stats.partitions;
      if (!partition.captured) continue;
      ++stats.captured_partitions;
      stats.captured_steps += partition.end_step - partition.begin_step;
    }
  }
  for (const spec::PlanBuffer& buffer : plan.buffers) {
    if (plan.pools[buffer.pool.index].kind == spec::PoolKind::kArena) {
      stats.no_reuse_bytes += rounded_size(plan, buffer);
    }
  }
  const auto uses = uses_of(plan);
  const Begins begins = begins_of(plan, uses);
  for (std::uint32_t p = 0; p < plan.pools.size(); ++p) {
    if (plan.pools[p].kind != spec::PoolKind::kArena) continue;
    stats.peak_bytes += plan.pools[p].size_bytes;
    const std::vector<std::int64_t> bytes = in_use(plan, uses, begins, p);
    if (!bytes.empty()) stats.lower_bound_bytes += *std::max_element(bytes.begin(), bytes.end());
  }
  return stats;
}

std::vector<std::int64_t> bytes_in_use(const spec::Plan& plan, spec::PoolId pool) {
  const auto uses = uses_of(plan);
  return in_use(plan, uses, begins_of(plan, uses), pool.index);
}

}  // namespace graphgate::conformance
