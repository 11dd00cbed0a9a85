#include "optimized/schedule/kernel_lifetimes.h"

#include <algorithm>
#include <map>

#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

class Keeper {
 public:
  Keeper(const SizedGraph& graph, const std::vector<std::int64_t>& times, Liveness& liveness)
      : graph_(graph), times_(times), liveness_(liveness) {}

  void keep(const std::vector<SizedNode>& nodes, const Partition& partition) {
    std::map<StorageIndex, std::uint32_t> unread;  // and the node that has made it
    for (std::uint32_t n = partition.begin_node; n < partition.end_node; ++n) {
      const spec::Node& node = nodes[n].node;
      for_each_operand(node, [&](spec::ValueId id) {
        graph_.for_each_storage(id, [&](StorageIndex storage) {
          const auto made = unread.find(storage);
          if (made == unread.end()) return;
          keep_all(nodes[made->second].node, times_[n] + 1);
          unread.erase(made);
        });
      });
      for (const spec::ValueId id : flat_results(node)) {
        graph_.for_each_storage(id, [&](StorageIndex storage) { unread[storage] = n; });
      }
    }
  }

 private:
  void keep_all(const spec::Node& node, std::int64_t end) {
    const auto keep = [&](spec::ValueId id) {
      graph_.for_each_storage(id, [&](StorageIndex storage) {
        Lifetime& lifetime = liveness_.storages[storage];
        if (lifetime.begin < lifetime.end) lifetime.end = std::max(lifetime.end, end);
      });
    };
    for_each_operand(node, keep);
    for (const spec::ValueId id : flat_results(node)) keep(id);
  }

  const SizedGraph& graph_;
  const std::vector<std::int64_t>& times_;
  Liveness& liveness_;
};

}  // namespace

Liveness keep_for_readers(const SizedGraph& graph, const Partitions& partitions,
                          Liveness liveness) {
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const std::vector<std::int64_t> times = liveness.times[b];
    for (const Partition& partition : partitions.blocks[b]) {
      if (!partition.captured) continue;
      Keeper(graph, times, liveness).keep(graph.blocks[b].nodes, partition);
    }
  }
  return liveness;
}

}  // namespace graphgate::optimized
