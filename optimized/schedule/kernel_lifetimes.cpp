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
    const std::map<std::uint32_t, std::uint32_t> readers = first_readers(nodes, partition);
    for (const auto& [node, reader] : readers) {
      const auto next = readers.find(reader);
      const std::uint32_t last = next == readers.end() ? reader : next->second;
      keep_all(nodes[node].node, times_[last] + 1);
    }
  }

 private:
  // By node: the first one behind it that reads what it makes.
  std::map<std::uint32_t, std::uint32_t> first_readers(const std::vector<SizedNode>& nodes,
                                                       const Partition& partition) const {
    std::map<std::uint32_t, std::uint32_t> readers;
    std::map<StorageIndex, std::uint32_t> makers;
    for (std::uint32_t n = partition.begin_node; n < partition.end_node; ++n) {
      const spec::Node& node = nodes[n].node;
      for_each_operand(node, [&](spec::ValueId id) {
        graph_.for_each_storage(id, [&](StorageIndex storage) {
          if (const auto made = makers.find(storage); made != makers.end()) {
            readers.emplace(made->second, n);
          }
        });
      });
      for (const spec::ValueId id : flat_results(node)) {
        graph_.for_each_storage(id, [&](StorageIndex storage) { makers[storage] = n; });
      }
    }
    return readers;
  }

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
