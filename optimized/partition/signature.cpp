#include "optimized/partition/signature.h"

#include <algorithm>
#include <set>

#include "optimized/analysis/accesses.h"

namespace graphgate::optimized {
namespace {

using Storages = std::set<StorageIndex>;

// What a run of nodes mentions.
struct Mentioned {
  Storages made;
  Storages used;  // made ones too
  std::set<std::string> symbols;
};

void add_values(const SizedGraph& graph, const spec::Argument& argument, Storages& out) {
  for_each_value(argument, [&](spec::ValueId id) {
    graph.for_each_storage(id, [&](StorageIndex storage) { out.insert(storage); });
  });
}

bool is_made_by_nodes(const SizedGraph& graph, StorageIndex storage) {
  const StorageKind kind = graph.storages[storage].kind;
  return kind == StorageKind::kIntermediate || kind == StorageKind::kDynamic;
}

void mention(const SizedGraph& graph, const SizedNode& node, Mentioned& out);

void mention_block(const SizedGraph& graph, const SizedBlock& block, Mentioned& out) {
  for (const SizedNode& node : block.nodes) mention(graph, node, out);
  for (const spec::Argument& output : block.outputs) add_values(graph, output, out.used);
}

void mention(const SizedGraph& graph, const SizedNode& node, Mentioned& out) {
  for_each_operand(node.node, [&](spec::ValueId id) { add_values(graph, {id}, out.used); });
  Storages results;
  for (const spec::NodeResult& result : node.node.results) {
    for (const spec::ValueId id : result.values) add_values(graph, {id}, results);
  }
  for (const StorageIndex storage : results) {
    if (out.used.insert(storage).second) out.made.insert(storage);
  }
  for (const spec::NamedArgument& named : node.node.arguments) {
    const auto* arm = named.argument.as<spec::SubgraphId>();
    if (arm) mention_block(graph, graph.blocks[arm->index], out);
  }
  out.symbols.insert(node.symbols.begin(), node.symbols.end());
}

class BlockSweep {
 public:
  BlockSweep(const SizedGraph& graph, const Liveness& liveness, const std::vector<bool>& written,
             std::size_t block)
      : graph_(graph), liveness_(liveness), written_(written), block_(block) {
    const auto& outputs = block == 0 ? graph.outputs : graph.blocks[block].outputs;
    for (const spec::Argument& output : outputs) add_values(graph, output, unmet_);
  }

  // Called for the partitions from the last to the first.
  Signature take(const Partition& partition) {
    Mentioned mentioned;
    for (std::uint32_t n = partition.begin_node; n < partition.end_node; ++n) {
      mention(graph_, graph_.blocks[block_].nodes[n], mentioned);
    }
    Signature signature;
    signature.symbols.assign(mentioned.symbols.begin(), mentioned.symbols.end());
    const std::int64_t end = end_time(partition);
    Storages outputs;
    Storages inputs;
    for (const StorageIndex storage : mentioned.made) {
      if (unmet_.contains(storage)) outputs.insert(storage);
    }
    for (const StorageIndex storage : mentioned.used) {
      if (mentioned.made.contains(storage)) continue;
      inputs.insert(storage);
      if (graph_.storages[storage].kind == StorageKind::kState && !written_[storage]) {
        signature.constants.push_back(storage);
        continue;
      }
      const bool frees = is_made_by_nodes(graph_, storage) && !unmet_.contains(storage) &&
                         liveness_.storages[storage].end <= end;
      signature.inputs.push_back(storage);
      signature.deallocate.push_back(frees);
      if (!frees) outputs.insert(storage);
    }
    signature.outputs.assign(outputs.begin(), outputs.end());
    for (const StorageIndex storage : outputs) unmet_.erase(storage);
    unmet_.merge(inputs);
    return signature;
  }

 private:
  // One behind the time of the last node, arms included.
  [[nodiscard]] std::int64_t end_time(const Partition& partition) const {
    const auto& times = liveness_.times[block_];
    if (partition.end_node < times.size()) return times[partition.end_node];
    return block_ == 0 ? liveness_.end : end_of_block(block_);
  }
  [[nodiscard]] std::int64_t end_of_block(std::size_t block) const {
    std::int64_t end = liveness_.times[block].back() + 1;
    for (const spec::NamedArgument& named : graph_.blocks[block].nodes.back().node.arguments) {
      const auto* arm = named.argument.as<spec::SubgraphId>();
      if (arm && !liveness_.times[arm->index].empty()) {
        end = std::max(end, end_of_block(arm->index));
      }
    }
    return end;
  }

  const SizedGraph& graph_;
  const Liveness& liveness_;
  const std::vector<bool>& written_;
  std::size_t block_;
  Storages unmet_;
};

}  // namespace

Signatures derive_signatures(const SizedGraph& graph, const Partitions& partitions,
                             const Liveness& liveness) {
  const std::vector<bool> written = written_storages(graph);
  Signatures out;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    BlockSweep sweep(graph, liveness, written, b);
    std::vector<Signature> signatures(partitions.blocks[b].size());
    for (std::size_t p = signatures.size(); p-- > 0;) {
      signatures[p] = sweep.take(partitions.blocks[b][p]);
    }
    out.blocks.push_back(std::move(signatures));
  }
  return out;
}

}  // namespace graphgate::optimized
