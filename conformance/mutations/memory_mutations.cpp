// Mutations of pools, buffers and values: places in memory, and what lies there.
#include <algorithm>

#include "conformance/mutations/mutation_sites.h"
#include "spec/op_table.h"

namespace graphgate::conformance {
namespace {

using spec::Plan;
using spec::PlanBuffer;
using spec::PlanPool;
using spec::PlanValue;
using spec::PoolKind;

std::int64_t end_bytes(const PlanBuffer& buffer) { return buffer.offset_bytes + buffer.size_bytes; }

bool fits(const Plan& plan, const PlanBuffer& buffer, std::int64_t offset_bytes) {
  const PlanPool& pool = plan.pools[buffer.pool.index];
  return offset_bytes >= 0 && offset_bytes + buffer.size_bytes <= pool.size_bytes;
}

Sites shrunken_pools(const Plan& plan) {
  Sites sites;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.size_bytes == 0) continue;
    sites.emplace_back(
        [&buffer](Plan& p) { p.pools[buffer.pool.index].size_bytes = end_bytes(buffer) - 1; });
  }
  return sites;
}

// An arena of the accelerator is said to be the host's, or the other way round.
Sites pools_of_other_devices(const Plan& plan) {
  Sites sites;
  for (const auto b : used_buffers(plan, PlanTimes(plan), PoolKind::kArena)) {
    sites.emplace_back([pool = plan.buffers[b].pool.index](Plan& p) {
      const bool is_cpu = p.pools[pool].device.type == "cpu";
      p.pools[pool].device = {is_cpu ? "cuda" : "cpu", -1};
    });
  }
  return sites;
}

// Pools of one kind are said to be of another.
template <PoolKind from, PoolKind to>
Sites pools_of_other_kind(const Plan& plan) {
  Sites sites;
  for (const auto b : used_buffers(plan, PlanTimes(plan), from)) {
    sites.emplace_back([pool = plan.buffers[b].pool.index](Plan& p) { p.pools[pool].kind = to; });
  }
  return sites;
}

Sites misaligned_offsets(const Plan& plan) {
  Sites sites;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const PlanBuffer& buffer = plan.buffers[b];
    if (plan.pools[buffer.pool.index].alignment_bytes == 1 || buffer.size_bytes == 0) continue;
    sites.emplace_back([b](Plan& p) { p.buffers[b].offset_bytes += 1; });
  }
  return sites;
}

Sites unaligned_pools(const Plan& plan) {
  Sites sites;
  for (const PlanValue& value : plan.values) {
    if (!value.buffer || !value.value.type) continue;
    if (spec::item_size_bytes(value.value.type->dtype) == 1) continue;
    const std::uint32_t b = value.buffer->index;
    if (plan.pools[plan.buffers[b].pool.index].kind != PoolKind::kArena) continue;
    sites.emplace_back([b](Plan& p) {
      PlanPool& pool = p.pools[p.buffers[b].pool.index];
      pool.alignment_bytes = 1;
      p.buffers[b].offset_bytes += 1;
      pool.size_bytes = std::max(pool.size_bytes, end_bytes(p.buffers[b]));
    });
  }
  return sites;
}

void add_move(const Plan& plan, const PlanTimes& times, std::size_t b, std::int64_t offset_bytes,
              Sites& sites) {
  if (!fits(plan, plan.buffers[b], offset_bytes) || !times.collides(b, offset_bytes)) return;
  sites.emplace_back([b, offset_bytes](Plan& p) { p.buffers[b].offset_bytes = offset_bytes; });
}

Sites shifted_offsets(const Plan& plan) {
  const PlanTimes times(plan);
  Sites sites;
  for (const auto b : used_buffers(plan, times, PoolKind::kArena)) {
    const PlanBuffer& buffer = plan.buffers[b];
    const std::int64_t granule = plan.pools[buffer.pool.index].alignment_bytes;
    add_move(plan, times, b, buffer.offset_bytes - granule, sites);
    add_move(plan, times, b, buffer.offset_bytes + granule, sites);
  }
  return sites;
}

Sites offsets_over_live(const Plan& plan) {
  const PlanTimes times(plan);
  const auto buffers = used_buffers(plan, times, PoolKind::kArena);
  Sites sites;
  for (const auto b : buffers) {
    for (const auto other : buffers) {
      if (plan.buffers[b].pool != plan.buffers[other].pool) continue;
      if (!times.live_together(b, other)) continue;
      if (plan.buffers[b].offset_bytes == plan.buffers[other].offset_bytes) continue;
      add_move(plan, times, b, plan.buffers[other].offset_bytes, sites);
    }
  }
  return sites;
}

// Of two buffers that change places, one comes over bytes that a third one needs, or one is larger.
Sites swapped_offsets(const Plan& plan) {
  const PlanTimes times(plan);
  const auto buffers = used_buffers(plan, times, PoolKind::kArena);
  Sites sites;
  for (const auto a : buffers) {
    for (const auto b : buffers) {
      const PlanBuffer& first = plan.buffers[a];
      const PlanBuffer& second = plan.buffers[b];
      if (a >= b || first.pool != second.pool || first.offset_bytes == second.offset_bytes)
        continue;
      if (!fits(plan, first, second.offset_bytes) || !fits(plan, second, first.offset_bytes)) {
        continue;
      }
      sites.emplace_back([a, b](Plan& p) {
        const PlanTimes now(p);
        std::swap(p.buffers[a].offset_bytes, p.buffers[b].offset_bytes);
        const bool harms = now.collides(a, p.buffers[a].offset_bytes) ||
                           now.collides(b, p.buffers[b].offset_bytes);
        if (!harms) std::swap(p.buffers[a].offset_bytes, p.buffers[b].offset_bytes);
      });
    }
  }
  return sites;
}

Sites cut_buffers(const Plan& plan) {
  Sites sites;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].size_bytes == 0) continue;
    sites.emplace_back([b](Plan& p) { p.buffers[b].size_bytes -= 1; });
  }
  return sites;
}

// What a step makes moves over a parameter or a buffer of the program.
Sites buffers_over_state(const Plan& plan) {
  const PlanTimes times(plan);
  Sites sites;
  for (const auto b : used_buffers(plan, times, PoolKind::kArena)) {
    for (const auto state : used_buffers(plan, times, PoolKind::kState)) {
      if (plan.buffers[state].size_bytes < plan.buffers[b].size_bytes) continue;
      if (plan.pools[plan.buffers[state].pool.index].device !=
          plan.pools[plan.buffers[b].pool.index].device) {
        continue;
      }
      sites.emplace_back([b, state](Plan& p) {
        p.buffers[b].pool = p.buffers[state].pool;
        p.buffers[b].offset_bytes = p.buffers[state].offset_bytes;
      });
    }
  }
  return sites;
}

// Results of steps, but not updates in place.
std::vector<std::uint32_t> made_in_arenas(const Plan& plan) {
  std::vector<std::uint32_t> out;
  for (const spec::PlanStep& step : plan.steps) {
    for (const spec::Node& node : nodes_of(step)) {
      std::vector<std::uint32_t> operands;
      spec::for_each_operand(node, [&](spec::ValueId id) { operands.push_back(id.index); });
      for (const spec::NodeResult& result : node.results) {
        for (const spec::ValueId id : result.values) {
          const auto& buffer = plan.values[id.index].buffer;
          if (!buffer || std::ranges::count(operands, id.index) > 0) continue;
          const PoolKind kind = plan.pools[plan.buffers[buffer->index].pool.index].kind;
          if (kind == PoolKind::kArena) out.push_back(id.index);
        }
      }
    }
  }
  return out;
}

// Two results that are needed at the same time are said to lie in one buffer.
Sites shared_buffers(const Plan& plan) {
  const PlanTimes times(plan);
  const auto made = made_in_arenas(plan);
  Sites sites;
  for (const auto a : made) {
    for (const auto b : made) {
      const auto from = plan.values[a].buffer->index;
      const auto to = plan.values[b].buffer->index;
      if (a == b || !times.live_together(from, to) || !same_type(plan.values[a], plan.values[b])) {
        continue;
      }
      sites.emplace_back([a, to](Plan& p) { p.values[a].buffer = spec::BufferId{to}; });
    }
  }
  return sites;
}

// A result that lies in no other's memory, by its op's schema.
bool makes_new_memory(const spec::Node& node) {
  const spec::OpRow* row = spec::builtin_op_table().find(node.op);
  return row != nullptr && row->undeclared_aliases.empty() && !row->effects.mutates() &&
         std::ranges::all_of(row->effects.returns,
                             [](const auto& one) { return one.aliases.empty(); });
}

// Results that are the only value over their buffer, with the step that makes them.
std::vector<std::pair<std::uint32_t, std::size_t>> lone_results(const Plan& plan) {
  std::vector<int> values_over(plan.buffers.size(), 0);
  for (const PlanValue& value : plan.values) {
    if (value.buffer) ++values_over[value.buffer->index];
  }
  std::vector<std::pair<std::uint32_t, std::size_t>> out;
  const auto made = made_in_arenas(plan);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (runs_blocks(plan.steps[s])) continue;
    for (const spec::Node& node : nodes_of(plan.steps[s])) {
      if (!makes_new_memory(node)) continue;
      for (const spec::NodeResult& result : node.results) {
        for (const spec::ValueId id : result.values) {
          const bool is_alone = std::ranges::count(made, id.index) == 1 &&
                                values_over[plan.values[id.index].buffer->index] == 1;
          if (is_alone) out.emplace_back(id.index, s);
        }
      }
    }
  }
  return out;
}

// A result goes into the buffer of one of another dtype that is dead by then.
Sites lines_of_other_dtype(const Plan& plan) {
  const PlanTimes times(plan);
  const auto results = lone_results(plan);
  Sites sites;
  for (const auto& [a, made_a] : results) {
    for (const auto& [b, made_b] : results) {
      const PlanValue& first = plan.values[a];
      const PlanValue& second = plan.values[b];
      const std::uint32_t to = first.buffer->index;
      const bool is_other = first.value.type && second.value.type &&
                            first.value.type->dtype != second.value.type->dtype;
      const bool fits_in =
          plan.buffers[to].size_bytes >= plan.buffers[second.buffer->index].size_bytes &&
          plan.buffers[to].pool == plan.buffers[second.buffer->index].pool;
      if (!is_other || !fits_in || times.use(to)->last_step >= times.position(made_b)) continue;
      sites.emplace_back([b = b, to](Plan& p) { p.values[b].buffer = spec::BufferId{to}; });
    }
  }
  return sites;
}

Sites typed_results(const Plan& plan, void (*change)(spec::TensorType&)) {
  Sites sites;
  for (const auto id : made_in_arenas(plan)) {
    if (!plan.values[id].value.type) continue;
    sites.emplace_back([id, change](Plan& p) { change(*p.values[id].value.type); });
  }
  return sites;
}

Sites other_dtypes(const Plan& plan) {
  return typed_results(plan, [](spec::TensorType& type) {
    if (type.dtype == spec::DType::kFloat32) type.dtype = spec::DType::kInt32;
    if (type.dtype == spec::DType::kInt64) type.dtype = spec::DType::kFloat64;
    if (type.dtype == spec::DType::kBFloat16) type.dtype = spec::DType::kFloat16;
  });
}

Sites other_devices(const Plan& plan) {
  return typed_results(plan, [](spec::TensorType& type) {
    type.device = {type.device.type == "cpu" ? "cuda" : "cpu", -1};
  });
}

// A view begins one element later.
Sites moved_views(const Plan& plan) {
  const std::vector<std::uint32_t> made = made_in_arenas(plan);
  Sites sites;
  for (std::uint32_t id = 0; id < plan.values.size(); ++id) {
    const PlanValue& value = plan.values[id];
    if (!value.buffer || !value.value.type) continue;
    const bool is_input = std::ranges::any_of(plan.inputs, [&](const spec::PlanInput& input) {
      return !input.constant && input.value.index == id;
    });
    if (is_input || std::ranges::count(made, id) > 0) continue;
    if (!value.value.type->storage_offset.is_constant()) continue;
    for (const std::int64_t by : {1, -1}) {
      sites.emplace_back([id, by](Plan& p) {
        spec::SymExpr& offset = p.values[id].value.type->storage_offset;
        offset = spec::SymExpr(offset.constant() + by);
      });
    }
  }
  return sites;
}

constexpr MutationRow kRows[] = {
    {{"pool-shrunk", "PlanPool::size_bytes", "a pool ends inside a buffer", false, "check_plan"},
     shrunken_pools},
    {{"pool-on-other-device", "PlanPool::device", "a pool is on another device than its tensors",
      true, "verifier"},
     pools_of_other_devices},
    {{"state-pool-recycled", "PlanPool::kind", "parameters lie in an arena", true, "verifier"},
     pools_of_other_kind<PoolKind::kState, PoolKind::kArena>},
    {{"arena-of-caller", "PlanPool::kind", "what steps make lies in memory of the caller", true,
      "verifier"},
     pools_of_other_kind<PoolKind::kArena, PoolKind::kCaller>},
    {{"pool-unaligned", "PlanPool::alignment_bytes",
      "a pool asks for no alignment, and a tensor begins at an odd byte", true, "verifier"},
     unaligned_pools},
    {{"offset-misaligned", "PlanBuffer::offset_bytes", "a buffer begins one byte later", false,
      "check_plan"},
     misaligned_offsets},
    {{"offset-shifted", "PlanBuffer::offset_bytes",
      "a buffer moves by the alignment, onto bytes in use", true, "verifier"},
     shifted_offsets},
    {{"offset-over-live", "PlanBuffer::offset_bytes",
      "a buffer is placed over another that is still needed", true, "verifier"},
     offsets_over_live},
    {{"offsets-swapped", "PlanBuffer::offset_bytes",
      "two buffers change places, and one covers bytes in use", true, "verifier"},
     swapped_offsets},
    {{"buffer-cut", "PlanBuffer::size_bytes", "a buffer is smaller than a tensor in it", false,
      "check_plan"},
     cut_buffers},
    {{"buffer-over-state", "PlanBuffer::pool", "what a step makes lies over state", true,
      "verifier"},
     buffers_over_state},
    {{"results-share-buffer", "PlanValue::buffer",
      "two results that are needed at the same time lie in one buffer", true, "verifier"},
     shared_buffers},
    {{"line-of-other-dtype", "PlanValue::buffer",
      "a result lies in the buffer of a dead one of another dtype", true, "verifier"},
     lines_of_other_dtype},
    {{"result-of-other-dtype", "PlanValue::value", "a result has another dtype of the same size",
      true, "verifier"},
     other_dtypes},
    {{"result-on-other-device", "PlanValue::value", "a result is on another device than its pool",
      true, "verifier"},
     other_devices},
    {{"view-moved", "PlanValue::value", "a view begins one element earlier or later", true,
      "provenance"},
     moved_views},
};

}  // namespace

std::span<const MutationRow> memory_mutations() { return kRows; }

}  // namespace graphgate::conformance
