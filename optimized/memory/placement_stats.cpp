#include "optimized/memory/placement_stats.h"

#include <algorithm>
#include <map>
#include <set>

#include "optimized/kernel.h"
#include "optimized/memory/pack.h"
#include "spec/plan_drawing.h"

namespace graphgate::optimized {
namespace {

// A buffer in use during positions [begin, end).
struct Tenant {
  spec::BufferId buffer;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool is_in_place = false;
};

// The buffers that step operands and results lie in, by position in the order of execution.
struct Touched {
  std::set<std::uint32_t> operands;
  std::set<std::uint32_t> results;
};

Touched touched_by(const spec::Plan& plan, std::uint32_t step) {
  Touched out;
  const auto add = [&](spec::ValueId id, std::set<std::uint32_t>& to) {
    if (const auto& buffer = plan.values[id.index].buffer) to.insert(buffer->index);
  };
  const spec::Node& node = plan.steps[step].node;
  for_each_operand(node, [&](spec::ValueId id) { add(id, out.operands); });
  for (const spec::NodeResult& result : node.results) {
    for (const spec::ValueId id : result.values) add(id, out.results);
  }
  return out;
}

// Whether the step's kernel stands that a result lies over an operand. Fused launches read a tile
// before they write it.
bool may_work_in_place(const spec::PlanStep& step, const spec::OpTable& ops) {
  if (!step.body.empty()) return true;
  const spec::OpRow* row = ops.find(step.node.op);
  const Kernel* kernel = row ? find_kernel(*row) : nullptr;
  return kernel && kernel->overlap == Overlap::kSameGeometry;
}

// Tenants of the arenas by pool. A result that takes over the place of an operand whose last step
// this is ends the operand's tenancy where its own begins.
std::vector<std::vector<Tenant>> tenants_of(const spec::Plan& plan, const spec::OpTable& ops) {
  std::vector<Tenant> all(plan.buffers.size());
  if (plan.steps.empty()) return std::vector<std::vector<Tenant>>(plan.pools.size());
  for (const spec::BufferUse& use : buffer_uses(plan)) {
    all[use.buffer.index] = {use.buffer, use.first_step, std::int64_t{use.last_step} + 1, false};
  }
  const std::vector<std::uint32_t> order = execution_order(plan);
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (!may_work_in_place(plan.steps[order[at]], ops)) continue;
    const auto position = static_cast<std::int64_t>(at);
    const Touched touched = touched_by(plan, order[at]);
    for (const std::uint32_t result : touched.results) {
      Tenant& taker = all[result];
      if (taker.begin != position || touched.operands.contains(result)) continue;
      for (const std::uint32_t operand : touched.operands) {
        const spec::PlanBuffer& from = plan.buffers[operand];
        const spec::PlanBuffer& to = plan.buffers[result];
        if (from.pool != to.pool || from.offset_bytes != to.offset_bytes) continue;
        if (from.size_bytes < to.size_bytes || all[operand].end != position + 1) continue;
        all[operand].end = position;
        taker.is_in_place = true;
        break;
      }
    }
  }
  std::vector<std::vector<Tenant>> out(plan.pools.size());
  for (const Tenant& tenant : all) {
    const spec::PoolId pool = plan.buffers[tenant.buffer.index].pool;
    const bool is_arena = plan.pools[pool.index].kind == spec::PoolKind::kArena;
    if (is_arena && tenant.begin < tenant.end) out[pool.index].push_back(tenant);
  }
  return out;
}

std::int64_t rounded_size(const spec::Plan& plan, spec::BufferId id) {
  const spec::PlanBuffer& buffer = plan.buffers[id.index];
  const std::int64_t alignment = plan.pools[buffer.pool.index].alignment_bytes;
  return (buffer.size_bytes + alignment - 1) / alignment * alignment;
}

std::int64_t most_alive(const spec::Plan& plan, const std::vector<Tenant>& tenants) {
  std::vector<std::int64_t> change(plan.steps.size() + 1, 0);
  for (const Tenant& tenant : tenants) {
    change[static_cast<std::size_t>(tenant.begin)] += rounded_size(plan, tenant.buffer);
    change[static_cast<std::size_t>(tenant.end)] -= rounded_size(plan, tenant.buffer);
  }
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const std::int64_t step : change) most = std::max(most, now += step);
  return most;
}

// Bytes that were in use before, as disjoint ranges by their begin.
class Used {
 public:
  // Whether a byte of [begin, end) was used; then all of it is.
  bool use(std::int64_t begin, std::int64_t end) {
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second > begin) --at;
    bool was_used = false;
    while (at != ranges_.end() && at->first < end) {
      was_used = true;
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = ranges_.erase(at);
    }
    if (begin < end) ranges_[begin] = end;
    return was_used;
  }

 private:
  std::map<std::int64_t, std::int64_t> ranges_;
};

std::size_t count_reused(const spec::Plan& plan, std::vector<Tenant> tenants) {
  std::ranges::stable_sort(tenants,
                           [](const Tenant& a, const Tenant& b) { return a.begin < b.begin; });
  Used used;
  std::size_t count = 0;
  for (const Tenant& tenant : tenants) {
    const spec::PlanBuffer& buffer = plan.buffers[tenant.buffer.index];
    const bool was_used = used.use(buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes);
    if (was_used && !tenant.is_in_place) ++count;
  }
  return count;
}

}  // namespace

std::vector<PlacementStats> placement_stats(const spec::Plan& plan, const spec::OpTable& ops) {
  const auto tenants = tenants_of(plan, ops);
  std::vector<PlacementStats> out;
  for (std::uint32_t p = 0; p < plan.pools.size(); ++p) {
    if (plan.pools[p].kind != spec::PoolKind::kArena) continue;
    PlacementStats stats;
    stats.pool = {p};
    stats.peak_bytes = plan.pools[p].size_bytes;
    stats.bound_bytes = most_alive(plan, tenants[p]);
    stats.buffers = tenants[p].size();
    for (const Tenant& tenant : tenants[p]) {
      stats.without_reuse_bytes += rounded_size(plan, tenant.buffer);
      if (tenant.is_in_place) ++stats.in_place;
    }
    stats.reused = count_reused(plan, tenants[p]);
    out.push_back(stats);
  }
  return out;
}

std::optional<std::pair<spec::BufferId, spec::BufferId>> find_shared_bytes(
    const spec::Plan& plan, const spec::OpTable& ops) {
  for (const std::vector<Tenant>& tenants : tenants_of(plan, ops)) {
    std::vector<PackItem> items;
    std::vector<std::int64_t> offsets;
    for (const Tenant& tenant : tenants) {
      const spec::PlanBuffer& buffer = plan.buffers[tenant.buffer.index];
      items.push_back({tenant.begin, tenant.end, buffer.size_bytes});
      offsets.push_back(buffer.offset_bytes);
    }
    if (const auto conflict = find_overlap(items, offsets)) {
      return std::pair(tenants[conflict->first].buffer, tenants[conflict->second].buffer);
    }
  }
  return {};
}

}  // namespace graphgate::optimized
