#include "optimized/partition/partition.h"

#include <algorithm>

#include "optimized/partition/cut_rules.h"

namespace graphgate::optimized {
namespace {

void add_reason(Partition& partition, std::vector<std::string>& reasons,
                const std::string& reason) {
  if (std::find(reasons.begin(), reasons.end(), reason) != reasons.end()) return;
  reasons.push_back(reason);
  partition.reason += (partition.reason.empty() ? "" : "; ") + reason;
}

// Why the node is not captured, or nothing.
std::optional<std::string> node_reason(const CutContext& context, const SizedNode& node,
                                       const PartitionOptions& options) {
  if (auto reason = cut_reason(context, node)) return reason;
  if (!options.capture) return "capture is off";
  return {};
}

std::vector<Partition> partition_block(const CutContext& context, const SizedBlock& block,
                                       const PartitionOptions& options) {
  std::vector<Partition> out;
  std::vector<std::string> reasons;
  for (std::uint32_t n = 0; n < block.nodes.size(); ++n) {
    const auto reason = node_reason(context, block.nodes[n], options);
    const bool full =
        !out.empty() && options.max_nodes != 0 && n - out.back().begin_node >= options.max_nodes;
    if (out.empty() || full || out.back().captured != !reason) {
      out.push_back({!reason, "", n, n});
      reasons.clear();
    }
    if (reason) add_reason(out.back(), reasons, *reason);
    out.back().end_node = n + 1;
  }
  return out;
}

}  // namespace

Partitions make_partitions(const SizedGraph& graph, const PartitionOptions& options) {
  const CutContext context{graph, accelerator_of(graph), options.split_ops};
  Partitions out;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    out.blocks.push_back(partition_block(context, graph.blocks[b], options));
  }
  return out;
}

}  // namespace graphgate::optimized
