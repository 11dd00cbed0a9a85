#include "optimized/partition/partition.h"

#include <algorithm>

#include "optimized/partition/split_graph.h"

namespace graphgate::optimized {
namespace {

void add_reason(Partition& partition, std::vector<std::string>& reasons,
                const std::string& reason) {
  if (std::ranges::find(reasons, reason) != reasons.end()) return;
  reasons.push_back(reason);
  partition.reason += (partition.reason.empty() ? "" : "; ") + reason;
}

// Why the node is not captured, or nothing.
std::optional<std::string> node_reason(const CutContext& context, const SizedNode& node) {
  if (auto reason = cut_reason(context, node)) return reason;
  if (!context.options().capture) return "capture is off";
  return {};
}

// The same in a run that is made of no split op: an allocation that joined it from a piece of its
// own cuts nothing, whatever names it; what else holds against it does.
std::optional<std::string> joined_reason(const CutContext& context, const SizedNode& node) {
  const bool is_split_allocation = !launches(node) && split_op_of(context, node) != nullptr;
  if (!is_split_allocation) return node_reason(context, node);
  for (const CutRule& rule : cut_rules()) {
    if (rule.name == "split_op") continue;
    if (auto reason = rule.reason(context, node)) return reason;
  }
  return context.options().capture ? std::nullopt : std::optional<std::string>("capture is off");
}

std::vector<Partition> scan_block(const CutContext& context, const SizedBlock& block) {
  std::vector<Partition> out;
  std::vector<std::string> reasons;
  for (std::uint32_t n = 0; n < block.nodes.size(); ++n) {
    const auto reason = node_reason(context, block.nodes[n]);
    const bool ends = n > 0 && must_end(context, block.nodes[n - 1], n - out.back().begin_node);
    if (out.empty() || ends || out.back().captured != !reason) {
      out.push_back({!reason, "", n, n});
      reasons.clear();
    }
    if (reason) add_reason(out.back(), reasons, *reason);
    out.back().end_node = n + 1;
  }
  return out;
}

// Partitions for the runs of split_block, with the reasons of what they hold.
std::vector<Partition> partitions_of_runs(const CutContext& context, const SizedBlock& block,
                                          const std::vector<SplitRun>& runs) {
  std::vector<Partition> out;
  std::uint32_t begin = 0;
  for (const SplitRun& run : runs) {
    Partition partition{true, "", begin, begin + run.size};
    std::vector<std::string> reasons;
    // Of a split op that is taken apart, or launches nothing, no node says it.
    if (run.split_op) add_reason(partition, reasons, "split op " + *run.split_op);
    for (std::uint32_t n = begin; n < partition.end_node; ++n) {
      const SizedNode& node = block.nodes[n];
      const auto reason = run.split_op ? node_reason(context, node) : joined_reason(context, node);
      if (reason) add_reason(partition, reasons, *reason);
    }
    partition.captured = reasons.empty();
    begin = partition.end_node;
    out.push_back(std::move(partition));
  }
  return out;
}

// A capture without a launch would record nothing, and one with few is not worth a replay.
void settle(const CutContext& context, const SizedBlock& block, Partition& partition) {
  if (!partition.captured) return;
  const auto begin = block.nodes.begin() + partition.begin_node;
  const auto end = block.nodes.begin() + partition.end_node;
  const auto count = static_cast<std::uint32_t>(std::count_if(begin, end, launches));
  const std::uint32_t least = context.options().min_partition_size;
  if (count == 0 && !context.has(spec::Deviation::kEmptyCaptureSucceeds)) {
    partition.reason = "nothing to launch";
  } else if (count < least) {
    partition.reason = "fewer than " + std::to_string(least) + " launches";
  }
  partition.captured = partition.reason.empty();
}

}  // namespace

Partitions make_partitions(SizedGraph& graph, const PartitionOptions& options,
                           const spec::DeviationSet& deviations, const spec::Graph* origin) {
  const CutContext context(graph, options, deviations, origin);
  Partitions out;
  out.are_graphs = options.mode == PartitionMode::kSplitGraph;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    SizedBlock& block = graph.blocks[b];
    if (options.mode == PartitionMode::kScheduler) {
      out.blocks.push_back(scan_block(context, block));
    } else {
      const auto runs = split_block(context, origin, block, b == 0);
      out.blocks.push_back(partitions_of_runs(context, block, runs));
    }
    for (Partition& partition : out.blocks.back()) settle(context, block, partition);
  }
  return out;
}

}  // namespace graphgate::optimized
