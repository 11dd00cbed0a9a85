#include "optimized/memory/placement.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace graphgate::optimized {
namespace {

using spec::BufferId;
using spec::PoolKind;

PoolKind pool_kind(StorageKind kind) {
  switch (kind) {
    case StorageKind::kState:
      return PoolKind::kState;
    case StorageKind::kInput:
      return PoolKind::kInput;
    case StorageKind::kDynamic:
      return PoolKind::kHeap;
    case StorageKind::kIntermediate:
      break;
  }
  return PoolKind::kArena;
}

std::string_view pool_word(PoolKind kind) {
  constexpr std::string_view kWords[] = {"state", "input", "arena", "heap"};
  return kWords[static_cast<std::size_t>(kind)];
}

class Planner {
 public:
  Planner(const SizedGraph& graph, const Liveness& liveness, const MemoryOptions& options)
      : graph_(graph), liveness_(liveness), options_(options) {}

  Result<Placement> run() {
    for (StorageIndex s = 0; s < graph_.storages.size(); ++s) {
      const SizedStorage& storage = graph_.storages[s];
      const spec::PoolId pool = pool_of(pool_kind(storage.kind), storage.device);
      out_.of_storage.push_back(add_buffer(storage.name, pool, storage.bytes, lifetime(s)));
    }
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) add_workspaces(b);
    for (std::uint32_t p = 0; p < out_.pools.size(); ++p) {
      GRAPHGATE_TRY_VOID(out_.pools[p].kind == PoolKind::kArena ? pack_pool(p) : stack_pool(p));
    }
    return std::move(out_);
  }

 private:
  spec::PoolId pool_of(PoolKind kind, const spec::Device& device) {
    const auto [at, is_new] =
        pools_.try_emplace({kind, spec::print_device(device)}, spec::PoolId{});
    if (is_new) {
      at->second = {static_cast<std::uint32_t>(out_.pools.size())};
      std::string name(pool_word(kind));
      if (!names_.insert(name).second)
        name += "_" + device.type + std::to_string(out_.pools.size());
      out_.pools.push_back(
          {name, kind, device, 0, kind == PoolKind::kHeap ? 64 : options_.alignment_bytes});
      members_.emplace_back();
    }
    return at->second;
  }

  BufferId add_buffer(const std::string& wanted, spec::PoolId pool, std::int64_t bytes,
                      const Lifetime& lifetime) {
    std::string name = wanted;
    for (int i = 1; !buffer_names_.insert(name).second; ++i) {
      name = wanted + "_" + std::to_string(i);
    }
    const BufferId id{static_cast<std::uint32_t>(out_.buffers.size())};
    out_.buffers.push_back({std::move(name), pool, 0, bytes});
    members_[pool.index].push_back(id);
    lifetimes_.push_back(lifetime);
    return id;
  }

  // A storage that no node mentions gets one step all the same.
  [[nodiscard]] Lifetime lifetime(StorageIndex storage) const {
    Lifetime lifetime = liveness_.storages[storage];
    lifetime.end = std::max(lifetime.end, lifetime.begin + 1);
    return lifetime;
  }

  void add_workspaces(std::size_t block) {
    auto& workspaces = out_.workspaces.emplace_back();
    const auto& nodes = graph_.blocks[block].nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      workspaces.emplace_back();
      if (nodes[n].workspace_bytes == 0) continue;
      const std::int64_t time = liveness_.times[block][n];
      workspaces.back() =
          add_buffer(nodes[n].node.name + "_work", pool_of(PoolKind::kArena, device_of(nodes[n])),
                     nodes[n].workspace_bytes, {time, time + 1});
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

  Result<void> stack_pool(std::uint32_t pool) {
    if (out_.pools[pool].kind == PoolKind::kHeap) return {};
    return place(pool, [](auto items, std::int64_t alignment, const PackOptions&) {
      return pack_without_reuse(items, alignment);
    });
  }
  Result<void> pack_pool(std::uint32_t pool) {
    if (!options_.reuse) return stack_pool(pool);
    return place(pool, [](auto items, std::int64_t alignment, const PackOptions& pack_options) {
      return pack(items, alignment, pack_options);
    });
  }

  template <class Method>
  Result<void> place(std::uint32_t pool, Method&& method) {
    std::vector<PackItem> items;
    for (const BufferId id : members_[pool]) {
      items.push_back({lifetimes_[id.index].begin, lifetimes_[id.index].end,
                       out_.buffers[id.index].size_bytes});
    }
    GRAPHGATE_TRY(const Packing packing, method(std::span<const PackItem>(items),
                                                out_.pools[pool].alignment_bytes, options_.pack));
    for (std::size_t i = 0; i < items.size(); ++i) {
      out_.buffers[members_[pool][i].index].offset_bytes = packing.offsets_bytes[i];
    }
    out_.pools[pool].size_bytes = packing.peak_bytes;
    return {};
  }

  const SizedGraph& graph_;
  const Liveness& liveness_;
  const MemoryOptions& options_;
  Placement out_;
  std::map<std::pair<PoolKind, std::string>, spec::PoolId> pools_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> buffer_names_;
  std::vector<std::vector<BufferId>> members_;  // by pool
  std::vector<Lifetime> lifetimes_;             // by buffer
};

}  // namespace

Result<Placement> plan_memory(const SizedGraph& graph, const Liveness& liveness,
                              const MemoryOptions& options) {
  return Planner(graph, liveness, options).run();
}

}  // namespace graphgate::optimized
