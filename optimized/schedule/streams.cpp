#include "optimized/schedule/streams.h"

#include <algorithm>
#include <set>

#include "optimized/analysis/dependences.h"
#include "optimized/binding.h"
#include "spec/graph_text.h"

namespace graphgate::optimized {
namespace {

// What a launch, or a wait between streams, is taken to cost: as much as moving so many bytes.
constexpr double kLaunchCost = 16 * 1024;

// How many nodes of each stream are known to have run.
using Clock = std::vector<std::uint32_t>;

double cost_of(const SizedGraph& graph, const SizedNode& node) {
  double cost = kLaunchCost;
  const auto add = [&](spec::ValueId id) {
    const SizedValue& value = graph.value(id);
    if (value.kind != spec::ValueKind::kTensor || value.is_dynamic) return;
    const ByteRange bytes = byte_range(value.tensor);
    cost += static_cast<double>(bytes.end - bytes.begin);
  };
  for_each_operand(node.node, add);
  for (const spec::NodeResult& result : node.node.results) {
    for (const spec::ValueId id : result.values) add(id);
  }
  return cost;
}

// Places the nodes of one partition, in order.
class PartitionStreams {
 public:
  PartitionStreams(SizedGraph& graph, std::vector<SizedNode>& nodes, const Partition& partition,
                   const StreamOptions& options)
      : graph_(graph),
        nodes_(nodes),
        begin_(partition.begin_node),
        placed_(partition.end_node - partition.begin_node),
        streams_(std::min<std::size_t>(options.count, placed_.size())) {
    for (Stream& stream : streams_) stream.clock.assign(streams_.size(), 0);
  }

  // `before`: nodes of the block that must come first; those outside of the partition do anyway.
  void place(std::uint32_t n, std::span<const Dependence> before) {
    const std::vector<std::optional<std::uint32_t>> last = last_by_stream(before);
    const std::uint32_t s = earliest_stream(last);
    Stream& stream = streams_[s];
    const double begin = begin_time(s, last);
    wait_for(n, s, last);
    nodes_[n].stream = s;
    stream.clock[s]++;
    stream.free_at = begin + cost_of(graph_, nodes_[n]);
    placed_[n - begin_] = {s, stream.free_at, stream.clock, {}};
  }

 private:
  struct Stream {
    double free_at = 0;
    Clock clock;
  };
  struct Placed {
    std::uint32_t stream = 0;
    double done_at = 0;
    Clock clock;  // behind the node
    std::optional<spec::EventId> event;
  };

  [[nodiscard]] const Placed& placed(std::uint32_t n) const { return placed_[n - begin_]; }

  // The last that must come first on each stream; it stands for those before it.
  [[nodiscard]] std::vector<std::optional<std::uint32_t>> last_by_stream(
      std::span<const Dependence> before) const {
    std::vector<std::optional<std::uint32_t>> last(streams_.size());
    for (const Dependence& dependence : before) {
      if (dependence.node < begin_) continue;
      auto& there = last[placed(dependence.node).stream];
      there = std::max(there, std::optional(dependence.node));
    }
    return last;
  }

  [[nodiscard]] double begin_time(std::uint32_t stream,
                                  std::span<const std::optional<std::uint32_t>> last) const {
    double time = streams_[stream].free_at;
    for (std::uint32_t s = 0; s < last.size(); ++s) {
      if (!last[s] || s == stream) continue;
      time = std::max(time, placed(*last[s]).done_at + kLaunchCost);
    }
    return time;
  }

  // On a tie a stream on which something must come first, then the lowest.
  [[nodiscard]] std::uint32_t earliest_stream(
      std::span<const std::optional<std::uint32_t>> last) const {
    std::uint32_t best = 0;
    const auto rank = [&](std::uint32_t s) {
      return std::pair(begin_time(s, last), last[s] ? 0 : 1);
    };
    for (std::uint32_t s = 1; s < streams_.size(); ++s) {
      if (rank(s) < rank(best)) best = s;
    }
    return best;
  }

  // Latest first: what it had waited for needs no event of its own.
  void wait_for(std::uint32_t n, std::uint32_t stream,
                std::span<const std::optional<std::uint32_t>> last) {
    std::set<std::uint32_t, std::greater<>> others;
    for (const auto& node : last) {
      if (node && placed(*node).stream != stream) others.insert(*node);
    }
    Clock& clock = streams_[stream].clock;
    for (const std::uint32_t other : others) {
      Placed& first = placed_[other - begin_];
      if (clock[first.stream] >= first.clock[first.stream]) continue;
      if (!first.event) {
        first.event = spec::EventId{graph_.event_count++};
        nodes_[other].records.push_back(*first.event);
      }
      nodes_[n].waits.push_back(*first.event);
      for (std::size_t s = 0; s < clock.size(); ++s) clock[s] = std::max(clock[s], first.clock[s]);
    }
  }

  SizedGraph& graph_;
  std::vector<SizedNode>& nodes_;
  std::uint32_t begin_;
  std::vector<Placed> placed_;
  std::vector<Stream> streams_;
};

// Whether the later node names something that the earlier one results in.
bool names_result_of(const SizedNode& later, const SizedNode& earlier) {
  const ValueIds made = flat_results(earlier.node);
  bool names = false;
  for_each_operand(later.node,
                   [&](spec::ValueId id) { names |= std::ranges::find(made, id) != made.end(); });
  return names;
}

// Dependences that streams respect. Those by bytes alone are the alias test.
Dependences dependences_of(const SizedGraph& graph, std::size_t block,
                           const spec::DeviationSet& deviations) {
  Dependences out = analyze_dependences(graph, block, deviations);
  if (!deviations.has(spec::Deviation::kForksWithoutAliasTest)) return out;
  const std::vector<SizedNode>& nodes = graph.blocks[block].nodes;
  for (std::size_t n = 0; n < out.size(); ++n) {
    std::erase_if(out[n], [&](const Dependence& dependence) {
      return !names_result_of(nodes[n], nodes[dependence.node]);
    });
  }
  return out;
}

bool holds_conditional(std::span<const SizedNode> nodes) {
  return std::ranges::any_of(
      nodes, [](const SizedNode& node) { return spec::is_higher_order(node.node.op); });
}

}  // namespace

Result<void> validate(const StreamOptions& options) {
  if (options.count >= 1 && options.count <= kMostStreams) return {};
  return bad_input("streams: expected a count from 1 to " + std::to_string(kMostStreams) +
                   ", got " + std::to_string(options.count));
}

SizedGraph assign_streams(SizedGraph graph, const Partitions& partitions,
                          const StreamOptions& options, const spec::DeviationSet& deviations) {
  GRAPHGATE_CHECK(options.count >= 1);
  if (options.count == 1) return graph;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const Dependences before = dependences_of(graph, b, deviations);
    std::vector<SizedNode>& nodes = graph.blocks[b].nodes;
    for (const Partition& partition : partitions.blocks[b]) {
      const auto run =
          std::span(nodes).subspan(partition.begin_node, partition.end_node - partition.begin_node);
      if (!partition.captured || holds_conditional(run)) continue;
      PartitionStreams streams(graph, nodes, partition, options);
      for (std::uint32_t n = partition.begin_node; n < partition.end_node; ++n) {
        streams.place(n, before[n]);
      }
    }
  }
  return graph;
}

}  // namespace graphgate::optimized
