#include "optimized/schedule/fuse.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::ValueId;

constexpr std::string_view kView = "aten.as_strided.default";

template <class Visit>
void for_each_mention(const SizedNode& node, Visit&& visit) {
  for_each_operand(node.node, visit);
  for (const spec::NodeResult& result : node.node.results) {
    for (const ValueId id : result.values) visit(id);
  }
}

// Replaces values in the arguments and results of a node.
void rename(Argument& argument, const std::map<ValueId, ValueId>& names) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) {
    if (const auto found = names.find(*id); found != names.end()) *id = found->second;
  }
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) rename(element, names);
  }
}

// Gives a node that is made again values and storages of its own, and those behind it in the launch
// the new names.
class Copier {
 public:
  explicit Copier(SizedGraph& graph) : graph_(graph) {
    for (const SizedValue& value : graph.values) names_.insert(value.name);
  }

  // `again` tells the nodes that another launch makes too.
  void copy(std::vector<SizedNode>& nodes, const std::vector<bool>& again) {
    std::map<StorageIndex, StorageIndex> storages;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (!again[n]) continue;
      for (const ValueId id : flat_results(nodes[n].node)) {
        const StorageIndex old = graph_.value(id).tensor.storage;
        storages.try_emplace(old, static_cast<StorageIndex>(graph_.storages.size()));
        graph_.storages.push_back(graph_.storages[old]);
      }
    }
    std::map<ValueId, ValueId> renamed;
    for (SizedNode& node : nodes) {
      for_each_mention(node, [&](ValueId id) {
        const auto storage = storages.find(graph_.value(id).tensor.storage);
        if (graph_.value(id).kind != spec::ValueKind::kTensor || storage == storages.end()) return;
        if (!renamed.contains(id)) renamed[id] = add_copy(id, storage->second);
      });
      for (spec::NamedArgument& named : node.node.arguments) rename(named.argument, renamed);
      for (spec::NodeResult& result : node.node.results) {
        for (ValueId& id : result.values) {
          if (const auto found = renamed.find(id); found != renamed.end()) id = found->second;
        }
      }
    }
  }

 private:
  ValueId add_copy(ValueId id, StorageIndex storage) {
    SizedValue value = graph_.value(id);
    const std::string name = value.name;
    for (int i = 1; !names_.insert(value.name).second; ++i) {
      value.name = name + "_again" + std::to_string(i);
    }
    value.tensor.storage = storage;
    graph_.values.push_back(std::move(value));
    return {static_cast<std::uint32_t>(graph_.values.size() - 1)};
  }

  SizedGraph& graph_;
  std::unordered_set<std::string> names_;
};

// A partition whose nodes stand launch by launch.
struct Arranged {
  std::vector<std::vector<SizedNode>> launches;
};

class Fuser {
 public:
  Fuser(SizedGraph& graph, const spec::OpTable& ops, const spec::DeviationSet& deviations)
      : graph_(graph),
        ops_(ops),
        keeps_wide_(deviations.has(spec::Deviation::kRealizationMovesRounding)) {}

  Arranged arrange(const std::vector<SizedNode>& nodes, std::uint32_t begin,
                   const std::vector<Launched>& launches) {
    std::unordered_set<std::uint32_t> made;
    Arranged out;
    for (const Launched& launch : launches) {
      std::vector<bool> again;
      auto& list = out.launches.emplace_back();
      for (const std::uint32_t place : launch) {
        list.push_back(nodes[begin + place]);
        again.push_back(!made.insert(place).second);
      }
      if (std::find(again.begin(), again.end(), true) != again.end()) {
        if (!copier_) copier_.emplace(graph_);
        copier_->copy(list, again);
      }
    }
    return out;
  }

  // Counts, for every storage, the launches and outputs that mention it.
  void count(const std::vector<std::vector<Arranged>>& blocks) {
    mentions_.assign(graph_.storages.size(), 0);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (const Arranged& partition : blocks[b]) {
        for (const auto& launch : partition.launches) {
          for (const StorageIndex storage : storages_of(launch)) ++mentions_[storage];
        }
      }
      for (const Argument& output : graph_.blocks[b].outputs) count(output);
    }
    for (const Argument& output : graph_.outputs) count(output);
    for (const spec::PlanInput& input : graph_.inputs) {
      if (!input.constant) count({input.value});
    }
  }

  SizedNode build(std::vector<SizedNode> launch) {
    if (launch.size() == 1) return std::move(launch.front());
    for (const StorageIndex storage : storages_of(launch)) {
      if (may_be_inner(storage, launch)) make_inner(storage);
    }
    SizedNode fused;
    fused.node.op = kFusedOp;
    fused.node.name = launch.back().node.name;
    for (SizedNode& node : launch) {
      fused.symbols.insert(fused.symbols.end(), node.symbols.begin(), node.symbols.end());
      node.workspace_bytes = 0;
    }
    std::sort(fused.symbols.begin(), fused.symbols.end());
    fused.symbols.erase(std::unique(fused.symbols.begin(), fused.symbols.end()),
                        fused.symbols.end());
    fused.body = with_views(std::move(launch));
    list_operands(fused);
    fused.workspace_bytes = layout_of(fused).scratch_bytes;
    return fused;
  }

 private:
  void count(const Argument& argument) {
    for_each_value(argument, [&](ValueId id) {
      graph_.for_each_storage(id, [&](StorageIndex storage) { ++mentions_[storage]; });
    });
  }

  [[nodiscard]] std::set<StorageIndex> storages_of(const std::vector<SizedNode>& nodes) const {
    std::set<StorageIndex> out;
    for (const SizedNode& node : nodes) {
      for_each_mention(node, [&](ValueId id) {
        graph_.for_each_storage(id, [&](StorageIndex storage) { out.insert(storage); });
      });
    }
    return out;
  }

  // Made here, mentioned nowhere else, and all of one dtype.
  [[nodiscard]] bool may_be_inner(StorageIndex storage, const std::vector<SizedNode>& nodes) const {
    if (graph_.storages[storage].kind != StorageKind::kIntermediate) return false;
    if (mentions_[storage] != 1) return false;
    std::optional<ValueId> maker;
    bool fits = true;
    for (const SizedNode& node : nodes) {
      for_each_mention(node, [&](ValueId id) {
        const SizedValue& value = graph_.value(id);
        if (value.kind != spec::ValueKind::kTensor || value.tensor.storage != storage) return;
        if (!maker && !has_operand(node, id)) maker = id;
        fits = fits && maker && value.tensor.dtype == graph_.value(*maker).tensor.dtype;
      });
    }
    return fits && maker.has_value();
  }

  static bool has_operand(const SizedNode& node, ValueId id) {
    bool found = false;
    for_each_operand(node.node, [&](ValueId operand) { found |= operand == id; });
    return found;
  }

  void make_inner(StorageIndex storage) {
    graph_.storages[storage].kind = StorageKind::kInner;
    if (!keeps_wide_) return;
    for (SizedValue& value : graph_.values) {
      const bool is_narrow = value.kind == spec::ValueKind::kTensor &&
                             value.tensor.storage == storage &&
                             (value.tensor.dtype == spec::DType::kFloat16 ||
                              value.tensor.dtype == spec::DType::kBFloat16);
      if (is_narrow) value.tensor.dtype = spec::DType::kFloat32;
    }
  }

  [[nodiscard]] bool is_inner(ValueId id) const {
    return graph_.value(id).kind == spec::ValueKind::kTensor &&
           graph_.storages[graph_.value(id).tensor.storage].kind == StorageKind::kInner;
  }

  // Views of inner storages that the body mentions take a node, in front of the first that does.
  std::vector<SizedNode> with_views(std::vector<SizedNode> nodes) const {
    std::map<StorageIndex, ValueId> bases;
    std::set<ValueId> known;
    std::vector<SizedNode> out;
    for (SizedNode& node : nodes) {
      for_each_operand(node.node, [&](ValueId id) {
        if (!is_inner(id) || !known.insert(id).second) return;
        out.push_back(view_node(id, bases.at(graph_.value(id).tensor.storage)));
      });
      for (const ValueId id : flat_results(node.node)) {
        if (!is_inner(id) || !known.insert(id).second) continue;
        bases.try_emplace(graph_.value(id).tensor.storage, id);
      }
      out.push_back(std::move(node));
    }
    return out;
  }

  [[nodiscard]] SizedNode view_node(ValueId view, ValueId base) const {
    const Tensor& tensor = graph_.value(view).tensor;
    const auto list = [](const Sizes& sizes) {
      Argument::List out;
      for (const std::int64_t size : sizes) out.push_back({size});
      return Argument{std::move(out)};
    };
    SizedNode node;
    node.node.name = graph_.value(view).name;
    node.node.op = kView;
    node.node.arguments = {{"self", {base}},
                           {"size", list(tensor.sizes)},
                           {"stride", list(tensor.strides)},
                           {"storage_offset", {tensor.offset}}};
    node.node.results = {{false, {view}}};
    node.row = ops_.find(kView);
    GRAPHGATE_CHECK(node.row != nullptr);
    node.kernel = find_kernel(*node.row);
    return node;
  }

  // What the body reads and does not make, and what it makes: each once, inner values left out.
  void list_operands(SizedNode& fused) const {
    std::set<ValueId> read;
    std::set<ValueId> made;
    std::set<StorageIndex> made_storages;
    for (const SizedNode& node : fused.body) {
      for_each_operand(node.node, [&](ValueId id) {
        const SizedValue& value = graph_.value(id);
        if (value.kind != spec::ValueKind::kTensor || is_inner(id) || made.contains(id)) return;
        const bool is_made_here = made_storages.contains(value.tensor.storage);
        if (is_made_here || !read.insert(id).second) return;
        fused.node.arguments.push_back({"", {id}});
      });
      for (const ValueId id : flat_results(node.node)) {
        if (graph_.value(id).kind != spec::ValueKind::kTensor || is_inner(id)) continue;
        if (!has_operand(node, id)) made_storages.insert(graph_.value(id).tensor.storage);
        if (made.insert(id).second) fused.node.results.push_back({false, {id}});
      }
    }
  }

  [[nodiscard]] TileLayout layout_of(const SizedNode& fused) const {
    std::vector<TileCall> calls;
    for (const SizedNode& node : fused.body) {
      if (node.kernel->bind != nullptr) calls.push_back(tile_call_of(graph_, node));
    }
    return lay_out_tile(calls, [&](StorageIndex storage) {
      return graph_.storages[storage].kind == StorageKind::kInner;
    });
  }

  SizedGraph& graph_;
  const spec::OpTable& ops_;
  bool keeps_wide_;
  std::optional<Copier> copier_;
  std::vector<std::uint32_t> mentions_;  // by storage
};

}  // namespace

void fuse_launches(SizedGraph& graph, Partitions& partitions,
                   const std::vector<PartitionLaunches>& all, const spec::OpTable& ops,
                   const spec::DeviationSet& deviations) {
  Fuser fuser(graph, ops, deviations);
  std::vector<std::vector<Arranged>> blocks(graph.blocks.size());
  for (const PartitionLaunches& one : all) {
    const Partition& partition = partitions.blocks[one.block][one.partition];
    blocks[one.block].push_back(
        fuser.arrange(graph.blocks[one.block].nodes, partition.begin_node, one.launches));
  }
  fuser.count(blocks);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    std::vector<SizedNode> nodes;
    for (std::size_t p = 0; p < blocks[b].size(); ++p) {
      partitions.blocks[b][p].begin_node = static_cast<std::uint32_t>(nodes.size());
      for (auto& launch : blocks[b][p].launches) nodes.push_back(fuser.build(std::move(launch)));
      partitions.blocks[b][p].end_node = static_cast<std::uint32_t>(nodes.size());
    }
    graph.blocks[b].nodes = std::move(nodes);
  }
}

}  // namespace graphgate::optimized
