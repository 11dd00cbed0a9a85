#include "optimized/partition/signature.h"

#include <algorithm>
#include <limits>
#include <set>

#include "optimized/analysis/accesses.h"
#include "optimized/analysis/inductor_buffers.h"
#include "optimized/binding.h"
#include "optimized/partition/cut_rules.h"
#include "spec/loops.h"

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
    std::ranges::sort(noted_);
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
  StorageNotes by_name;  // not as a view alone that is a buffer of its own upstream
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
  explicit Collector(const SizedGraph& graph)
      : graph_(graph), has_own_name_(views_with_names(graph)) {}

  void mention(const SizedNode& node, Mentioned& out) const {
    for_each_operand(node.node, [&](spec::ValueId id) {
      graph_.for_each_storage(id, [&](StorageIndex storage) {
        out.used.insert(storage);
        if (!has_own_name_[id.index]) out.by_name.insert(storage);
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
  std::vector<bool> has_own_name_;  // by value: a view that is not called as what it views
};

// By storage: how many nodes need its bytes; nodes that launch nothing need none. What somebody is
// given as a result counts as one.
std::vector<std::uint32_t> count_users(const SizedGraph& graph) {
  std::vector<std::uint32_t> users(graph.storages.size(), 0);
  for (const SizedBlock& block : graph.blocks) {
    for (const SizedNode& node : block.nodes) {
      if (!launches(node)) continue;
      for (const StorageIndex s : made_or_used(graph, node)) ++users[s];
    }
  }
  Storages results;
  for (const SizedBlock& block : graph.blocks) {
    for (const spec::Argument& output : block.outputs) add_values(graph, output, results);
  }
  for (const spec::Argument& output : graph.outputs) add_values(graph, output, results);
  for (const StorageIndex s : results) ++users[s];
  return users;
}

// What fusion removes in torch._inductor (can_buffer_be_removed_through_fusion): made and read by
// one fused node, where all other users are weak: they need no byte of it.
Storages removed_by_fusion(const SizedGraph& graph) {
  const std::vector<std::uint32_t> users = count_users(graph);
  Storages removed;
  for (const SizedBlock& block : graph.blocks) {
    for (const SizedNode& node : block.nodes) {
      Storages read;
      for (const SizedNode& member : node.body) {
        for_each_operand(member.node, [&](spec::ValueId id) { add_values(graph, {id}, read); });
      }
      for (const spec::ValueId id : flat_results(node.node)) {
        const StorageIndex storage = graph.value(id).tensor.storage;
        if (!is_made_by_nodes(graph, storage) || users[storage] != 1) continue;
        if (read.contains(storage)) removed.insert(storage);
      }
    }
  }
  return removed;
}

// By partition of a block: what it mentions, from outside, only under the names of buffers without
// a layout, which an upstream version takes for nothing that can cross an edge.
std::vector<Storages> lost_names(const SizedGraph& graph, std::size_t block,
                                 const std::vector<Partition>& partitions) {
  struct Name {
    std::size_t partition = std::numeric_limits<std::size_t>::max();  // where it was given
    bool has_layout = true;
  };
  std::vector<Name> names(graph.storages.size());
  std::vector<Storages> out(partitions.size());
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    Storages known;
    for (std::uint32_t n = partitions[p].begin_node; n < partitions[p].end_node; ++n) {
      const SizedNode& node = graph.blocks[block].nodes[n];
      Accesses accesses = accesses_of(graph, node);
      for (const StorageIndex s : made_or_used(graph, node)) {
        if (names[s].partition != p) (names[s].has_layout ? known : out[p]).insert(s);
      }
      for (const Access& read : accesses.reads) {  // by nodes of arms, too
        const Name& name = names[read.storage];
        if (name.partition != p) (name.has_layout ? known : out[p]).insert(read.storage);
      }
      for (const Access& write : accesses.writes) names[write.storage] = {p, true};
      const auto lose = [&](const SizedNode& writer) {
        const StorageIndex s = written_without_layout(graph, writer);
        if (s != kNoStorage) names[s] = {p, false};
      };
      lose(node);
      for (const SizedNode& member : node.body) lose(member);
    }
    // What is not captured runs where the names of all partitions are at hand.
    if (!partitions[p].captured) out[p].clear();
    for (const StorageIndex s : known) out[p].erase(s);
  }
  return out;
}

// What holds for all partitions of a graph.
struct Context {
  Context(const SizedGraph& of, const Partitions& cut, const Liveness& lives,
          const spec::DeviationSet& wrong)
      : graph(of),
        liveness(lives),
        omits_frees(!cut.are_graphs && wrong.has(Deviation::kSignatureOmitsFrees)),
        collector(of) {}

  const SizedGraph& graph;
  const Liveness& liveness;
  bool omits_frees;  // a partition is not given what it frees and does not read
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

  // Called for the partitions from the last to the first. `lost`: what names do not lead it to.
  Signature take(const Partition& partition, const Storages& lost) {
    mentioned_.clear();
    for (const SizedNode& node : nodes_of(partition)) context_.collector.mention(node, mentioned_);
    Signature signature;
    signature.symbols.assign(mentioned_.symbols.begin(), mentioned_.symbols.end());
    for (const StorageIndex storage : mentioned_.made.sorted()) {
      if (is_unmet_[storage] && !context_.stripped.contains(storage)) {
        signature.outputs.push_back(storage);
      }
    }
    const auto inputs = take_inputs(partition, lost, signature);
    std::ranges::sort(signature.outputs);
    for (const StorageIndex storage : signature.outputs) is_unmet_[storage] = false;
    for (const StorageIndex storage : inputs) is_unmet_[storage] = true;
    return signature;
  }

 private:
  // What is used and not made here, in the signature's inputs and constants; what is not freed goes
  // to its outputs, too.
  std::vector<StorageIndex> take_inputs(const Partition& partition, const Storages& lost,
                                        Signature& signature) {
    const std::int64_t end = end_time(partition);
    std::vector<StorageIndex> inputs;
    const std::vector<StorageIndex>& used = mentioned_.used.sorted();
    inputs.reserve(used.size());
    signature.inputs.reserve(used.size());
    signature.deallocate.reserve(used.size());
    for (const StorageIndex storage : used) {
      if (mentioned_.made.contains(storage) || context_.stripped.contains(storage)) continue;
      const bool frees = is_freed(storage, end);
      const bool gets_freed = frees && !context_.omits_frees;
      if (!gets_freed && lost.contains(storage)) continue;
      if (frees && !gets_freed && !mentioned_.by_name.contains(storage)) continue;
      inputs.push_back(storage);
      if (context_.graph.storages[storage].kind == StorageKind::kState &&
          !context_.is_written(storage)) {
        signature.constants.push_back(storage);
        continue;
      }
      signature.inputs.push_back(storage);
      signature.deallocate.push_back(frees);
      if (!frees) signature.outputs.push_back(storage);
    }
    return inputs;
  }

  // Its last use is here.
  [[nodiscard]] bool is_freed(StorageIndex storage, std::int64_t end) const {
    return is_made_by_nodes(context_.graph, storage) && !is_unmet_[storage] &&
           context_.liveness.storages[storage].end <= end;
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
    if (spec::is_loop(last.node.op)) ++end;  // as liveness has it
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
  Context context(graph, partitions, liveness, deviations);
  if (!partitions.are_graphs && deviations.has(Deviation::kSignatureFiltersRemoved)) {
    context.stripped = removed_by_fusion(graph);
  }
  const bool loses_names =
      !partitions.are_graphs && deviations.has(Deviation::kSignatureIgnoresMutations);
  Signatures out;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    BlockSweep sweep(context, b);
    std::vector<Signature> signatures(partitions.blocks[b].size());
    std::vector<Storages> lost(signatures.size());
    if (loses_names) lost = lost_names(graph, b, partitions.blocks[b]);
    for (std::size_t p = signatures.size(); p-- > 0;) {
      signatures[p] = sweep.take(partitions.blocks[b][p], lost[p]);
    }
    out.blocks.push_back(std::move(signatures));
  }
  return out;
}

}  // namespace graphgate::optimized
