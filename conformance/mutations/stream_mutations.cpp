// Mutations of streams and events: who waits for whom.
#include <algorithm>

#include "conformance/mutations/mutation_sites.h"
#include "spec/op_table.h"

namespace graphgate::conformance {
namespace {

using spec::EventId;
using spec::Plan;
using spec::PlanPartition;
using spec::PlanStep;

std::uint32_t stream_count(const Plan& plan) {
  std::uint32_t count = 1;
  for (const PlanStep& step : plan.steps) count = std::max(count, step.stream + 1);
  return count;
}

// A step that waits for nothing leaves the stream that it had its order from.
Sites changed_streams(const Plan& plan) {
  const std::uint32_t fresh = stream_count(plan);
  Sites sites;
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const PlanPartition& partition : block.partitions) {
      for (std::uint32_t i = partition.begin_step; i < partition.end_step; ++i) {
        const PlanStep& step = plan.steps[i];
        bool had_order = false;
        for (std::uint32_t before = partition.begin_step; before < i; ++before) {
          had_order = had_order || (plan.steps[before].stream == step.stream &&
                                    may_conflict(plan, plan.steps[before], step));
        }
        if (!partition.captured || !had_order || !step.waits.empty()) continue;
        sites.emplace_back([i, fresh](Plan& p) { p.steps[i].stream = fresh; });
      }
    }
  }
  return sites;
}

Sites eager_streams(const Plan& plan) {
  Sites sites;
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const PlanPartition& partition : block.partitions) {
      for (std::uint32_t i = partition.begin_step; i < partition.end_step; ++i) {
        if (partition.captured) continue;
        sites.emplace_back([i](Plan& p) { p.steps[i].stream = 1; });
      }
    }
  }
  return sites;
}

// The step before `waiter` that recorded the event last.
std::optional<std::uint32_t> recorder_of(const Plan& plan, std::uint32_t waiter, EventId event) {
  for (std::uint32_t i = waiter; i-- > 0;) {
    const auto& records = plan.steps[i].records;
    if (std::ranges::count(records, event) > 0) return i;
  }
  return std::nullopt;
}

// An op with hidden state or tokens, or one that only the program's own table knows.
bool may_reach_state(const PlanStep& step) {
  const auto nodes = nodes_of(step);
  return std::ranges::any_of(nodes, [](const spec::Node& node) {
    const spec::OpRow* row = spec::builtin_op_table().find(node.op);
    return row == nullptr || !row->hidden_state_writes.empty() ||
           !row->hidden_state_reads.empty() || !row->orders.empty();
  });
}

// Calls `visit(waiter, place among its waits, recorder)` for waits that order a conflict.
template <class Visit>
void for_each_wait(const Plan& plan, Visit&& visit) {
  for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
    for (std::size_t w = 0; w < plan.steps[i].waits.size(); ++w) {
      const auto recorder = recorder_of(plan, i, plan.steps[i].waits[w]);
      if (!recorder) continue;
      const PlanStep& earlier = plan.steps[*recorder];
      const bool matters = may_conflict(plan, earlier, plan.steps[i]) ||
                           (may_reach_state(earlier) && may_reach_state(plan.steps[i]));
      if (!matters) continue;
      visit(i, w, *recorder);
    }
  }
}

Sites dropped_waits(const Plan& plan) {
  Sites sites;
  for_each_wait(plan, [&](std::uint32_t waiter, std::size_t w, std::uint32_t) {
    sites.emplace_back([waiter, w](Plan& p) { erase_at(p.steps[waiter].waits, w); });
  });
  return sites;
}

Sites dropped_records(const Plan& plan) {
  Sites sites;
  for_each_wait(plan, [&](std::uint32_t waiter, std::size_t w, std::uint32_t recorder) {
    const EventId event = plan.steps[waiter].waits[w];
    sites.emplace_back([recorder, event](Plan& p) {
      auto& records = p.steps[recorder].records;
      records.erase(std::ranges::find(records, event));
    });
  });
  return sites;
}

// The step waits for an event that was recorded before the one it needs.
Sites earlier_waits(const Plan& plan) {
  Sites sites;
  for_each_wait(plan, [&](std::uint32_t waiter, std::size_t w, std::uint32_t recorder) {
    for (std::uint32_t i = 0; i < recorder; ++i) {
      for (const EventId event : plan.steps[i].records) {
        sites.emplace_back([waiter, w, event](Plan& p) { p.steps[waiter].waits[w] = event; });
      }
    }
  });
  return sites;
}

constexpr MutationRow kRows[] = {
    {{"stream-changed", "PlanStep::stream", "a step leaves the stream that gave it its order", true,
      "happens-before"},
     changed_streams},
    {{"eager-step-on-stream", "PlanStep::stream", "an eager step runs on another stream than 0",
      true, "happens-before"},
     eager_streams},
    {{"wait-dropped", "PlanStep::waits", "a step does not wait for an event", true,
      "happens-before"},
     dropped_waits},
    {{"wait-for-earlier", "PlanStep::waits", "a step waits for an event from before the right one",
      true, "happens-before"},
     earlier_waits},
    {{"record-dropped", "PlanStep::records", "an event that a step waits for is not recorded", true,
      "happens-before"},
     dropped_records},
};

}  // namespace

std::span<const MutationRow> stream_mutations() { return kRows; }

}  // namespace graphgate::conformance
