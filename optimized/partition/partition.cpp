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

// Why the group is not captured, or nothing.
std::optional<std::string> group_reason(const CutContext& context, const SizedBlock& block,
                                        const Group& group, const PartitionOptions& options) {
  for (const std::uint32_t node : group.nodes) {
    if (auto reason = cut_reason(context, block.nodes[node])) return reason;
  }
  if (!options.capture) return "capture is off";
  return {};
}

std::vector<Partition> partition_block(const CutContext& context, const SizedBlock& block,
                                       const std::vector<Group>& groups,
                                       const PartitionOptions& options) {
  std::vector<Partition> out;
  std::vector<std::string> reasons;
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    const auto reason = group_reason(context, block, groups[g], options);
    const bool full =
        !out.empty() && options.max_groups != 0 && g - out.back().begin_group >= options.max_groups;
    if (out.empty() || full || out.back().captured != !reason) {
      out.push_back({!reason, "", g, g});
      reasons.clear();
    }
    if (reason) add_reason(out.back(), reasons, *reason);
    out.back().end_group = g + 1;
  }
  return out;
}

}  // namespace

Partitions make_partitions(const SizedGraph& graph, const Schedule& schedule,
                           const PartitionOptions& options) {
  const CutContext context{graph, accelerator_of(graph), options.split_ops};
  Partitions out;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    out.blocks.push_back(partition_block(context, graph.blocks[b], schedule.blocks[b], options));
  }
  return out;
}

}  // namespace graphgate::optimized
