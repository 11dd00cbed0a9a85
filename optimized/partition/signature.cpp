#include "optimized/partition/signature.h"

#include <algorithm>
#include <set>

#include "optimized/analysis/accesses.h"
#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using Storages = std::set<StorageIndex>;

// Storages of a graph that are forgotten and noted again, partition by partition.
class StorageNotes {
 public:
  explicit StorageNotes(std::size_t storages) : has_(storages, false) {}

  // Whether it is new.
  bool insert(StorageIndex storage) {
    if (has_[storage]) return false;
    has_[storage] = true;
    noted_.push_back(storage);
    return true;
  }
  [[nodiscard]] bool contains(StorageIndex storage) const { return has_[storage]; }
  // Ascending.
  [[nodiscard]] const std::vector<StorageIndex>& sorted() {
    std::sort(noted_.begin(), noted_.end());
    return noted_;
  }
  void clear() {
    for (const StorageIndex storage : noted_) has_[storage] = false;
    noted_.clear();
  }

 private:
  std::vector<bool> has_;
  std::vector<StorageIndex> noted_;
};

// What a run of nodes mentions.
struct Mentioned {
  explicit Mentioned(std::size_t storages) : made(storages), used(storages), by_name(storages) {}
  void clear() {
    made.clear();
    used.clear();
    by_name.clear();
    symbols.clear();
  }

  StorageNotes made;
  StorageNotes used;     // made ones too
  StorageNotes by_name;  // as what a node made or the caller gave, not as a view of it alone
  std::set<std::string> symbols;
};

bool is_made_by_nodes(const SizedGraph& graph, StorageIndex storage) {
  const StorageKind kind = graph.storages[storage].kind;
  return kind == StorageKind::kIntermediate || kind == StorageKind::kDynamic;
}

template <class Set>
void add_values(const SizedGraph& graph, const spec::Argument& argument, Set& out) {
  for_each_value(argument, [&](spec::ValueId id) {
    graph.for_each_storage(id, [&](StorageIndex storage) { out.insert(storage); });
  });
}

Storages made_or_used(const SizedGraph& graph, const SizedNode& node) {
  Storages out;
  for_each_mention(node, [&](spec::ValueId id) { add_values(graph, {id}, out); });
  return out;
}

// Collects what nodes mention, arms of conditionals and bodies of fused nodes included.
class Collector {
 public:
  explicit Collector(const SizedGraph& graph) : graph_(graph), is_view_(graph.values.size(), true) {
    for (const spec::PlanInput& input : graph.inputs) {
      if (!input.constant) is_view_[input.value.index] = false;
    }
    for (const SizedBlock& block : graph.blocks) {
      for (const SizedNode& node : block.nodes) {
        for_each_made(node.node, [&](spec::ValueId id) { is_view_[id.index] = false; });
      }
    }
  }

  void mention(const SizedNode& node, Mentioned& out) const {
    for_each_operand(node.node, [&](spec::ValueId id) {
      graph_.for_each_storage(id, [&](StorageIndex storage) {
        out.used.insert(storage);
        if (!is_view_[id.index]) out.by_name.insert(storage);
      });
    });
    for_each_made(node.node, [&](spec::ValueId id) {
      graph_.for_each_storage(id, [&](StorageIndex storage) {
        if (out.used.insert(storage)) out.made.insert(storage);
      });
    });
    for (const spec::NamedArgument& named : node.node.arguments) {
      const auto* arm = named.argument.as<spec::SubgraphId>();
      if (arm) mention_block(graph_.blocks[arm->index], out);
    }
    note_symbols(node, out);
  }

 private:
  void mention_block(const SizedBlock& block, Mentioned& out) const {
    for (const SizedNode& node : block.nodes) mention(node, out);
    for (const spec::Argument& output : block.outputs) add_values(graph_, output, out.used);
  }

  static void note_symbols(const SizedNode& node, Mentioned& out) {
    out.symbols.insert(node.symbols.begin(), node.symbols.end());
    for (const SizedNode& member : node.body) note_symbols(member, out);
  }

  const SizedGraph& graph_;
  std::vector<bool> is_view_;  // by value: neither a node's result nor an input
};

// What an upstream version takes for removed by fusion: made and read by one fused node, and by
// nothing else in its partition, whoever wants it later.
Storages removed_by_fusion(const SizedGraph& graph, const Partitions& partitions) {
  Storages removed;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const auto& nodes = graph.blocks[b].nodes;
    for (const Partition& partition : partitions.blocks[b]) {
      std::map<StorageIndex, int> nodes_that_mention;
      for (std::uint32_t n = partition.begin_node; n < partition.end_node; ++n) {
        for (const StorageIndex s : made_or_used(graph, nodes[n])) ++nodes_that_mention[s];
      }
      for (std::uint32_t n = partition.begin_node; n < partition.end_node; ++n) {
        Storages read;
        for (const SizedNode& member : nodes[n].body) {
          for_each_operand(member.node, [&](spec::ValueId id) { add_values(graph, {id}, read); });
        }
        for (const spec::ValueId id : flat_results(nodes[n].node)) {
          const StorageIndex storage = graph.value(id).tensor.storage;
          if (read.contains(storage) && nodes_that_mention[storage] == 1) removed.insert(storage);
        }
      }
    }
  }
  return removed;
}

// What holds for all partitions of a graph.
struct Context {
  Context(const SizedGraph& of, const Liveness& lives, const spec::DeviationSet& wrong)
      : graph(of), liveness(lives), deviations(wrong), collector(of) {}

  const SizedGraph& graph;
  const Liveness& liveness;
  const spec::DeviationSet& deviations;
  Collector collector;
  Storages stripped;  // taken out of every signature

  // Whether some node writes the state. Most graphs have none to ask about.
  [[nodiscard]] bool is_written(StorageIndex storage) const {
    if (written_.empty()) written_ = written_states(graph);
    return written_[storage];
  }

 private:
  mutable std::vector<bool> written_;  // by storage; empty until asked for
};

class BlockSweep {
 public:
  BlockSweep(const Context& context, std::size_t block)
      : context_(context),
        block_(block),
        is_unmet_(context.graph.storages.size(), false),
        mentioned_(context.graph.storages.size()) {
    const SizedGraph& graph = context.graph;
    const auto& outputs = block == 0 ? graph.outputs : graph.blocks[block].outputs;
    for (const spec::Argument& output : outputs) {
      for_each_value(output, [&](spec::ValueId id) {
        graph.for_each_storage(id, [&](StorageIndex storage) { is_unmet_[storage] = true; });
      });
    }
  }

  // Called for the partitions from the last to the first.
  Signature take(const Partition& partition) {
    mentioned_.clear();
    for (const SizedNode& node : nodes_of(partition)) context_.collector.mention(node, mentioned_);
    Signature signature;
    signature.symbols.assign(mentioned_.symbols.begin(), mentioned_.symbols.end());
    for (const StorageIndex storage : mentioned_.made.sorted()) {
      if (is_unmet_[storage] && !context_.stripped.contains(storage)) {
        signature.outputs.push_back(storage);
      }
    }
    const auto inputs = take_inputs(partition, signature);
    std::sort(signature.outputs.begin(), signature.outputs.end());
    for (const StorageIndex storage : signature.outputs) is_unmet_[storage] = false;
    for (const StorageIndex storage : inputs) is_unmet_[storage] = true;
    return signature;
  }

 private:
  // What is used and not made here, in the signature's inputs and constants; what is not freed goes
  // to its outputs, too.
  std::vector<StorageIndex> take_inputs(const Partition& partition, Signature& signature) {
    const std::int64_t end = end_time(partition);
    const Storages stale = written_under_old_names(partition);
    std::vector<StorageIndex> inputs;
    const std::vector<StorageIndex>& used = mentioned_.used.sorted();
    inputs.reserve(used.size());
    signature.inputs.reserve(used.size());
    signature.deallocate.reserve(used.size());
    for (const StorageIndex storage : used) {
      if (mentioned_.made.contains(storage) || context_.stripped.contains(storage)) continue;
      const bool frees = is_freed(storage, end);
      const bool is_read = mentioned_.by_name.contains(storage);
      if (frees && !is_read && context_.deviations.has(Deviation::kSignatureOmitsFrees)) continue;
      inputs.push_back(storage);
      if (context_.graph.storages[storage].kind == StorageKind::kState &&
          !context_.is_written(storage)) {
        signature.constants.push_back(storage);
        continue;
      }
      signature.inputs.push_back(storage);
      signature.deallocate.push_back(frees);
      if (!frees && !stale.contains(storage)) signature.outputs.push_back(storage);
    }
    return inputs;
  }

  // Its last use is here.
  [[nodiscard]] bool is_freed(StorageIndex storage, std::int64_t end) const {
    return is_made_by_nodes(context_.graph, storage) && !is_unmet_[storage] &&
           context_.liveness.storages[storage].end <= end;
  }

  // What the partition writes; later ones are to go on with what it was before. Empty in a right
  // run: a storage has one name.
  [[nodiscard]] Storages written_under_old_names(const Partition& partition) const {
    Storages out;
    if (!context_.deviations.has(Deviation::kSignatureIgnoresMutations)) return out;
    for (const SizedNode& node : nodes_of(partition)) {
      for (const Access& write : accesses_of(context_.graph, node).writes) {
        out.insert(write.storage);
      }
    }
    return out;
  }

  [[nodiscard]] std::span<const SizedNode> nodes_of(const Partition& partition) const {
    return std::span(context_.graph.blocks[block_].nodes)
        .subspan(partition.begin_node, partition.end_node - partition.begin_node);
  }

  // One behind the time of the last node, arms included.
  [[nodiscard]] std::int64_t end_time(const Partition& partition) const {
    const auto& times = context_.liveness.times[block_];
    if (partition.end_node < times.size()) return times[partition.end_node];
    return block_ == 0 ? context_.liveness.end : end_of_block(block_);
  }
  [[nodiscard]] std::int64_t end_of_block(std::size_t block) const {
    const Liveness& liveness = context_.liveness;
    std::int64_t end = liveness.times[block].back() + 1;
    const SizedNode& last = context_.graph.blocks[block].nodes.back();
    for (const spec::NamedArgument& named : last.node.arguments) {
      const auto* arm = named.argument.as<spec::SubgraphId>();
      if (arm && !liveness.times[arm->index].empty()) {
        end = std::max(end, end_of_block(arm->index));
      }
    }
    return end;
  }

  const Context& context_;
  std::size_t block_;
  std::vector<bool> is_unmet_;  // by storage: somebody behind wants it
  Mentioned mentioned_;         // by the partition at hand
};

}  // namespace

Signatures derive_signatures(const SizedGraph& graph, const Partitions& partitions,
                             const Liveness& liveness, const spec::DeviationSet& deviations) {
  Context context(graph, liveness, deviations);
  if (deviations.has(Deviation::kSignatureFiltersRemoved)) {
    context.stripped = removed_by_fusion(graph, partitions);
  }
  Signatures out;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    BlockSweep sweep(context, b);
    std::vector<Signature> signatures(partitions.blocks[b].size());
    for (std::size_t p = signatures.size(); p-- > 0;) {
      signatures[p] = sweep.take(partitions.blocks[b][p]);
    }
    out.blocks.push_back(std::move(signatures));
  }
  return out;
}

}  // namespace graphgate::optimized
