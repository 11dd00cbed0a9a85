#include "optimized/schedule/stream_lifetimes.h"

#include <algorithm>
#include <map>

namespace graphgate::optimized {
namespace {

// By stream of the partition: how many of its nodes come before.
using Clock = std::vector<std::uint32_t>;

// The nodes of one partition as their streams and events order them.
class StreamOrder {
 public:
  StreamOrder(std::span<const SizedNode> nodes, std::uint32_t begin_node) : begin_(begin_node) {
    for (const SizedNode& node : nodes) {
      streams_.resize(std::max<std::size_t>(streams_.size(), node.stream + 1));
    }
    std::vector<Clock> now(streams_.size(), Clock(streams_.size(), 0));
    std::map<spec::EventId, Clock> recorded;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      const SizedNode& node = nodes[i];
      Clock& clock = now[node.stream];
      for (const spec::EventId event : node.waits) {
        const auto at = recorded.find(event);
        if (at == recorded.end()) continue;
        for (std::size_t s = 0; s < clock.size(); ++s) {
          clock[s] = std::max(clock[s], at->second[s]);
        }
      }
      streams_[node.stream].push_back({i + begin_, clock});
      clock[node.stream]++;
      for (const spec::EventId event : node.records) recorded[event] = clock;
    }
  }

  // By node of the partition: the last node of the block that does not come after it, itself
  // included. Both streams of a pair are walked once: what comes after a node comes after those
  // before it on its stream.
  [[nodiscard]] std::vector<std::uint32_t> last_beside() const {
    std::vector<std::uint32_t> last;
    for (const auto& stream : streams_) {
      for (const Place& place : stream) {
        last.resize(std::max<std::size_t>(last.size(), place.node - begin_ + 1));
        last[place.node - begin_] = place.node;
      }
    }
    for (std::size_t a = 0; a < streams_.size(); ++a) {
      for (std::size_t b = 0; b < streams_.size(); ++b) {
        if (a != b) extend(a, b, last);
      }
    }
    return last;
  }

 private:
  struct Place {
    std::uint32_t node = 0;  // of the block
    Clock before;
  };

  void extend(std::size_t a, std::size_t b, std::vector<std::uint32_t>& last) const {
    std::size_t after = 0;  // the first on b that comes after the node on a
    for (std::size_t i = 0; i < streams_[a].size(); ++i) {
      while (after < streams_[b].size() && streams_[b][after].before[a] <= i) ++after;
      if (after == 0) continue;
      std::uint32_t& end = last[streams_[a][i].node - begin_];
      end = std::max(end, streams_[b][after - 1].node);
    }
  }

  std::uint32_t begin_;
  std::vector<std::vector<Place>> streams_;
};

bool has_streams(std::span<const SizedNode> nodes) {
  return std::ranges::any_of(nodes, [](const SizedNode& node) { return node.stream != 0; });
}

template <class Visit>
void for_each_mentioned_storage(const SizedGraph& graph, const SizedNode& node, Visit&& visit) {
  for_each_operand(node.node, [&](spec::ValueId id) { graph.for_each_storage(id, visit); });
  for (const spec::NodeResult& result : node.node.results) {
    for (const spec::ValueId id : result.values) graph.for_each_storage(id, visit);
  }
}

void widen_partition(const SizedGraph& graph, std::size_t block, const Partition& partition,
                     Liveness& liveness) {
  const std::vector<SizedNode>& nodes = graph.blocks[block].nodes;
  const auto run =
      std::span(nodes).subspan(partition.begin_node, partition.end_node - partition.begin_node);
  if (!has_streams(run)) return;
  const std::vector<std::uint32_t> last = StreamOrder(run, partition.begin_node).last_beside();
  const auto& times = liveness.times[block];
  for (std::uint32_t n = partition.begin_node; n < partition.end_node; ++n) {
    const std::uint32_t beside = last[n - partition.begin_node];
    if (beside == n) continue;
    liveness.node_ends[block][n] = times[beside] + 1;
    for_each_mentioned_storage(graph, nodes[n], [&](StorageIndex storage) {
      Lifetime& lifetime = liveness.storages[storage];
      lifetime.end = std::max(lifetime.end, times[beside] + 2);
    });
  }
}

}  // namespace

Liveness widen_lifetimes(const SizedGraph& graph, const Partitions& partitions, Liveness liveness,
                         const spec::DeviationSet& deviations) {
  if (deviations.has(spec::Deviation::kFreesOnMainStream)) return liveness;
  liveness.node_ends = liveness.times;
  for (auto& ends : liveness.node_ends) {
    for (std::int64_t& end : ends) ++end;
  }
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    for (const Partition& partition : partitions.blocks[b]) {
      if (partition.captured) widen_partition(graph, b, partition, liveness);
    }
  }
  return liveness;
}

}  // namespace graphgate::optimized
