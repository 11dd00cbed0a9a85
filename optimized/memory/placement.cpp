#include "optimized/memory/placement.h"

#include <algorithm>
#include <unordered_set>

#include "optimized/memory/arena.h"
#include "optimized/memory/in_place.h"
#include "optimized/memory/lines.h"

namespace graphgate::optimized {
namespace {

using spec::BufferId;
using spec::PoolKind;

PoolKind pool_kind(StorageKind kind) {
  if (kind == StorageKind::kState) return PoolKind::kState;
  return kind == StorageKind::kInput ? PoolKind::kInput : PoolKind::kHeap;
}

std::string_view pool_word(PoolKind kind) {
  if (kind == PoolKind::kState) return "state";
  return kind == PoolKind::kInput ? "input" : "heap";
}

struct Planned {
  Placement placement;
  std::int64_t arena_bytes = 0;
  bool is_at_bound = false;
};

// Gives every group, workspace and storage its buffer.
class Planner {
 public:
  Planner(const MemoryInput& input, const MemoryOptions& options,
          const spec::DeviationSet& deviations, const std::vector<StorageUse>& uses,
          const MemoryGroups& groups, const std::vector<StorageIndex>& takes_over)
      : graph_(input.graph),
        input_(input),
        options_(options),
        deviations_(deviations),
        uses_(uses),
        groups_(groups),
        takes_over_(takes_over) {}

  Result<Planned> run() {
    std::size_t most = graph_.storages.size();
    for (const SizedBlock& block : graph_.blocks) most += block.nodes.size();
    buffer_names_.reserve(most);
    out_.buffers.reserve(most);  // never more: buffer_names_ looks at their names
    out_.of_storage.reserve(graph_.storages.size());
    items_.reserve(groups_.groups.size());
    for (StorageIndex s = 0; s < graph_.storages.size(); ++s) {
      const SizedStorage& storage = graph_.storages[s];
      const bool is_placed = storage.kind != StorageKind::kInner;
      out_.of_storage.push_back(is_placed ? add_storage(s) : BufferId{});
    }
    for (const MemoryGroup& group : groups_.groups) {
      items_.push_back(item_of(group));
      note_origins(group);
    }
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) add_workspaces(b);
    GRAPHGATE_TRY_VOID(stack_pools());
    return place_arenas();
  }

 private:
  // ---- buffers

  BufferId add_storage(StorageIndex index) {
    const SizedStorage& storage = graph_.storages[index];
    const BufferId id = add_buffer(storage.name, storage.bytes);
    if (storage.kind != StorageKind::kIntermediate) {
      const std::uint32_t pool = pool_of(pool_kind(storage.kind), storage.device);
      out_.buffers[id.index].pool = {pool};
      members_[pool].push_back(id);
    }
    return id;
  }

  BufferId add_buffer(const std::string& wanted, std::int64_t bytes) {
    const BufferId id{static_cast<std::uint32_t>(out_.buffers.size())};
    GRAPHGATE_CHECK(id.index < out_.buffers.capacity());
    std::string& name = out_.buffers.emplace_back().name;
    out_.buffers.back().size_bytes = bytes;
    name = wanted;
    for (int i = 1; !buffer_names_.insert(name).second; ++i) {
      name = wanted + "_" + std::to_string(i);
    }
    return id;
  }

  std::uint32_t pool_of(PoolKind kind, const spec::Device& device) {
    const auto found = std::ranges::find_if(
        out_.pools, [&](const auto& pool) { return pool.kind == kind && pool.device == device; });
    const auto index = static_cast<std::uint32_t>(found - out_.pools.begin());
    if (found != out_.pools.end()) return index;
    std::string name(pool_word(kind));
    if (!names_.insert(name).second) {
      name += "_" + device.type + std::to_string(out_.pools.size());
    }
    out_.pools.push_back(
        {name, kind, device, 0, kind == PoolKind::kHeap ? 64 : options_.alignment_bytes});
    members_.emplace_back();
    return index;
  }

  // State and inputs, one after the other.
  Result<void> stack_pools() {
    for (std::size_t p = 0; p < out_.pools.size(); ++p) {
      if (out_.pools[p].kind == PoolKind::kHeap) continue;
      std::vector<PackItem> items;
      for (const BufferId id : members_[p])
        items.push_back({0, 1, out_.buffers[id.index].size_bytes});
      GRAPHGATE_TRY(const Packing packing,
                    pack_without_reuse(items, out_.pools[p].alignment_bytes));
      for (std::size_t i = 0; i < items.size(); ++i) {
        out_.buffers[members_[p][i].index].offset_bytes = packing.offsets_bytes[i];
      }
      out_.pools[p].size_bytes = packing.peak_bytes;
    }
    return {};
  }

  // ---- arenas

  [[nodiscard]] ArenaItem item_of(const MemoryGroup& group) const {
    const StorageIndex first = group.members.front();
    ArenaItem item{.device = graph_.storages[first].device,
                   .lifetime = group.lifetime,
                   .bytes = group.bytes,
                   .hint_bytes = group.hint_bytes,
                   .is_output = group.is_output,
                   .is_unaligned = uses_[first].is_unaligned,
                   .has_place = group.has_place};
    if (!item.has_place) {
      for (const StorageIndex s : group.members) {
        item.bytes = std::max(item.bytes, graph_.storages[s].bytes);
      }
    }
    return item;
  }

  void note_origins(const MemoryGroup& group) {
    StorageIndex old = kNoStorage;
    for (const StorageIndex s : group.members) {
      if (graph_.storages[s].kind == StorageKind::kIntermediate) {
        PlaceOrigin said{.buffer = out_.of_storage[s], .old = {}};
        if (old != kNoStorage) {
          said.origin = takes_over_[s] == old ? Origin::kInPlace : Origin::kReused;
          said.old = out_.of_storage[old];
        } else if (!group.has_place) {
          said.origin = Origin::kNone;
        }
        out_.origins.push_back(said);
      }
      // What fusion keeps inside has no bytes that anybody could take over.
      old = graph_.storages[s].kind == StorageKind::kInner ? kNoStorage : s;
    }
  }

  void add_workspaces(std::size_t block) {
    auto& workspaces = out_.workspaces.emplace_back();
    const auto& nodes = graph_.blocks[block].nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      workspaces.emplace_back();
      const SizedNode& node = nodes[n];
      if (node.workspace_bytes == 0) continue;
      workspaces.back() = add_buffer(node.node.name + "_work", node.workspace_bytes);
      ArenaItem item{
          .device = device_of(node),
          .lifetime = {input_.liveness.times[block][n], input_.liveness.node_end(block, n)}};
      item.bytes = item.hint_bytes = node.workspace_bytes;
      workspace_items_.emplace_back(items_.size(), *workspaces.back());
      items_.push_back(std::move(item));
    }
  }

  // Where a node works: the device of the first tensor that it makes or reads.
  [[nodiscard]] spec::Device device_of(const SizedNode& node) const {
    for (const spec::NodeResult& result : node.node.results) {
      for (const spec::ValueId id : result.values) {
        if (graph_.value(id).kind == spec::ValueKind::kTensor) {
          return graph_.value(id).tensor.device;
        }
      }
    }
    std::optional<spec::Device> device;
    for_each_operand(node.node, [&](spec::ValueId id) {
      if (!device && graph_.value(id).kind == spec::ValueKind::kTensor) {
        device = graph_.value(id).tensor.device;
      }
    });
    return device.value_or(spec::Device{});
  }

  Result<Planned> place_arenas() {
    GRAPHGATE_TRY(ArenaPlan arenas, plan_arenas(items_, options_, deviations_));
    const std::size_t first_pool = out_.pools.size();
    Planned planned;
    for (spec::PlanPool& pool : arenas.pools) {
      planned.arena_bytes += pool.size_bytes;
      out_.pools.push_back(std::move(pool));
    }
    const auto give = [&](BufferId id, std::size_t item) {
      const ArenaPlace& place = arenas.places[item];
      spec::PlanBuffer& buffer = out_.buffers[id.index];
      buffer.pool = {static_cast<std::uint32_t>(first_pool + place.pool)};
      buffer.offset_bytes = place.offset_bytes;
      // Only a wrong decision (a deviation) puts something where it does not fit: inside the pool
      // it is wrong in its contents alone.
      std::int64_t& size = out_.pools[buffer.pool.index].size_bytes;
      size = std::max(size, buffer.offset_bytes + buffer.size_bytes);
    };
    for (std::size_t g = 0; g < groups_.groups.size(); ++g) {
      for (const StorageIndex s : groups_.groups[g].members) {
        if (graph_.storages[s].kind == StorageKind::kIntermediate) give(out_.of_storage[s], g);
      }
    }
    for (const auto& [item, id] : workspace_items_) give(id, item);
    lie_over_state();
    planned.is_at_bound = arenas.is_at_bound;
    planned.placement = std::move(out_);
    return planned;
  }

  // A group that begins with state lies where the state lies (persistent_dies_at_last_use).
  void lie_over_state() {
    for (const MemoryGroup& group : groups_.groups) {
      const StorageIndex first = group.members.front();
      if (graph_.storages[first].kind != StorageKind::kState) continue;
      const spec::PlanBuffer state = out_.buffers[out_.of_storage[first].index];
      for (const StorageIndex s : group.members) {
        out_.buffers[out_.of_storage[s].index].pool = state.pool;
        out_.buffers[out_.of_storage[s].index].offset_bytes = state.offset_bytes;
      }
    }
  }

  const SizedGraph& graph_;
  const MemoryInput& input_;
  const MemoryOptions& options_;
  const spec::DeviationSet& deviations_;
  const std::vector<StorageUse>& uses_;
  const MemoryGroups& groups_;
  const std::vector<StorageIndex>& takes_over_;
  Placement out_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string_view> buffer_names_;
  std::vector<std::vector<BufferId>> members_;  // by pool, but for arenas
  std::vector<ArenaItem> items_;                // groups, then workspaces
  std::vector<std::pair<std::size_t, BufferId>> workspace_items_;
};

// Whether a result is smaller than what it lies over. Then, and where the packing is not the best
// there can be (two storages in one place are harder to pack than two that are free), a plan
// without results in place might be smaller.
bool wastes_bytes(const SizedGraph& graph, const std::vector<StorageIndex>& takes_over) {
  for (StorageIndex s = 0; s < takes_over.size(); ++s) {
    const StorageIndex old = takes_over[s];
    if (old != kNoStorage && graph.storages[old].bytes != graph.storages[s].bytes) return true;
  }
  return false;
}

}  // namespace

Result<Placement> plan_memory(const MemoryInput& input, const MemoryOptions& options,
                              const spec::DeviationSet& deviations) {
  const std::vector<StorageUse> uses = storage_uses(input, options, deviations);
  const std::vector<StorageIndex> nothing(uses.size(), kNoStorage);
  const std::vector<StorageIndex> takes_over =
      options.reuse && options.in_place ? decide_in_place(input, uses, deviations, options.strategy)
                                        : nothing;
  const auto plan = [&](const MemoryGroups& groups, const std::vector<StorageIndex>& over) {
    return Planner(input, options, deviations, uses, groups, over).run();
  };
  if (options.reuse && options.strategy == MemoryStrategy::kLines) {
    GRAPHGATE_TRY(Planned planned,
                  plan(plan_lines(input, uses, takes_over, deviations), takes_over));
    return std::move(planned.placement);
  }
  GRAPHGATE_TRY(Planned planned, plan(groups_in_place(input, uses, takes_over), takes_over));
  const bool is_packed = options.reuse && options.strategy == MemoryStrategy::kPack;
  if (is_packed && takes_over != nothing &&
      (!planned.is_at_bound || wastes_bytes(input.graph, takes_over))) {
    GRAPHGATE_TRY(Planned apart, plan(groups_in_place(input, uses, nothing), nothing));
    if (apart.arena_bytes < planned.arena_bytes) planned = std::move(apart);
  }
  return std::move(planned.placement);
}

}  // namespace graphgate::optimized
