#include "optimized/schedule/fuse.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "optimized/binding.h"
#include "optimized/schedule/fuse_arrange.h"
#include "optimized/schedule/fuse_key.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::ValueId;

constexpr std::string_view kView = "aten.as_strided.default";

class Fuser {
 public:
  Fuser(SizedGraph& graph, const spec::OpTable& ops, const spec::DeviationSet& deviations)
      : graph_(graph),
        ops_(ops),
        keeps_wide_(deviations.has(spec::Deviation::kRealizationMovesRounding)) {}

  // Counts, for every storage, the launches and outputs that mention it.
  void count(std::vector<std::vector<Arranged>>& blocks) {
    mentions_.assign(graph_.storages.size(), 0);
    last_launch_.assign(graph_.storages.size(), 0);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (Arranged& partition : blocks[b]) {
        for (std::size_t l = 0; l < partition.ends.size(); ++l) count(partition.launch(l));
      }
      for (const Argument& output : graph_.blocks[b].outputs) count(output);
    }
    for (const Argument& output : graph_.outputs) count(output);
    for (const spec::PlanInput& input : graph_.inputs) {
      if (!input.constant) count({input.value});
    }
  }

  // Takes the nodes of one launch, which are several.
  SizedNode fuse(std::span<SizedNode> launch) {
    const bool is_alone = alike_.at(ops_in(launch)) == 1;
    for (const StorageIndex storage : inner_storages(launch)) make_inner(storage);
    SizedNode fused;
    fused.node.op = kFusedOp;
    fused.node.name = launch.back().node.name;
    for (SizedNode& node : launch) {
      fused.symbols.insert(fused.symbols.end(), node.symbols.begin(), node.symbols.end());
      node.workspace_bytes = 0;
    }
    std::ranges::sort(fused.symbols);
    fused.symbols.erase(std::unique(fused.symbols.begin(), fused.symbols.end()),
                        fused.symbols.end());
    fused.body = with_views(launch);
    list_operands(fused);
    fused.workspace_bytes = scratch_bytes_of(fused, is_alone);
    return fused;
  }

 private:
  void count(const Argument& argument) {
    for_each_value(argument, [&](ValueId id) {
      graph_.for_each_storage(id, [&](StorageIndex storage) { ++mentions_[storage]; });
    });
  }

  void count(std::span<const SizedNode> launch) {
    ++launches_;
    for (const SizedNode& node : launch) {
      for_each_mention(node, [&](ValueId id) {
        graph_.for_each_storage(id, [&](StorageIndex storage) {
          if (std::exchange(last_launch_[storage], launches_) != launches_) ++mentions_[storage];
        });
      });
    }
    if (launch.size() > 1) ++alike_[ops_in(launch)];
  }

  // A number for its ops: launches of other ops have other numbers, but for chance.
  static std::size_t ops_in(std::span<const SizedNode> launch) {
    std::size_t number = launch.size();
    for (const SizedNode& node : launch) {
      number = number * 31 + std::hash<const spec::OpRow*>()(node.row);
    }
    return number;
  }

  // Made here, mentioned nowhere else, and all of one dtype.
  [[nodiscard]] std::vector<StorageIndex> inner_storages(std::span<const SizedNode> nodes) const {
    struct Made {
      std::optional<ValueId> maker;
      bool fits = true;
    };
    std::map<StorageIndex, Made> all;
    for (const SizedNode& node : nodes) {
      for_each_mention(node, [&](ValueId id) {
        const SizedValue& value = graph_.value(id);
        if (value.kind != spec::ValueKind::kTensor) return;
        const StorageIndex storage = value.tensor.storage;
        if (graph_.storages[storage].kind != StorageKind::kIntermediate) return;
        if (mentions_[storage] != 1) return;
        Made& made = all[storage];
        if (!made.maker && !has_operand(node, id)) made.maker = id;
        made.fits =
            made.fits && made.maker && value.tensor.dtype == graph_.value(*made.maker).tensor.dtype;
      });
    }
    std::vector<StorageIndex> out;
    for (const auto& [storage, made] : all) {
      if (made.fits) out.push_back(storage);
    }
    return out;
  }

  static bool has_operand(const SizedNode& node, ValueId id) {
    bool found = false;
    for_each_operand(node.node, [&](ValueId operand) { found |= operand == id; });
    return found;
  }

  void make_inner(StorageIndex storage) {
    graph_.storages[storage].kind = StorageKind::kInner;
    if (!keeps_wide_) return;
    for (const std::uint32_t index : values_over(storage)) {
      spec::DType& dtype = graph_.values[index].tensor.dtype;
      const bool is_narrow = dtype == spec::DType::kFloat16 || dtype == spec::DType::kBFloat16;
      if (is_narrow) dtype = spec::DType::kFloat32;
    }
  }

  // No value comes or goes once launches are built.
  const std::vector<std::uint32_t>& values_over(StorageIndex storage) {
    if (values_.empty()) {
      values_.resize(graph_.storages.size());
      for (std::uint32_t v = 0; v < graph_.values.size(); ++v) {
        const SizedValue& value = graph_.values[v];
        if (value.kind != spec::ValueKind::kTensor) continue;
        values_[value.tensor.storage].push_back(v);
      }
    }
    return values_[storage];
  }

  [[nodiscard]] bool is_inner(ValueId id) const {
    return graph_.value(id).kind == spec::ValueKind::kTensor &&
           graph_.storages[graph_.value(id).tensor.storage].kind == StorageKind::kInner;
  }

  // Views of inner storages that the body mentions take a node, in front of the first that does.
  std::vector<SizedNode> with_views(std::span<SizedNode> nodes) const {
    std::map<StorageIndex, ValueId> bases;
    std::set<ValueId> known;
    std::vector<SizedNode> out;
    out.reserve(nodes.size());
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

  // `is_alone`: no other launch has these ops, and nobody need remember the answer.
  std::int64_t scratch_bytes_of(const SizedNode& fused, bool is_alone) {
    std::vector<TileCall> calls;
    calls.reserve(fused.body.size());
    for (const SizedNode& node : fused.body) {
      if (node.kernel->bind != nullptr) calls.push_back(tile_call_of(graph_, node));
    }
    const std::function<bool(StorageIndex)> is_kept_inside = [&](StorageIndex storage) {
      return graph_.storages[storage].kind == StorageKind::kInner;
    };
    if (is_alone) return tile_scratch_bytes(calls, is_kept_inside);
    std::string key = key_of(calls, is_kept_inside);
    const auto known = scratch_bytes_.find(key);
    if (known != scratch_bytes_.end()) return known->second;
    const std::int64_t bytes = tile_scratch_bytes(calls, is_kept_inside);
    scratch_bytes_.emplace(std::move(key), bytes);
    return bytes;
  }

  SizedGraph& graph_;
  const spec::OpTable& ops_;
  bool keeps_wide_;
  std::vector<std::uint32_t> mentions_;             // by storage
  std::vector<std::uint32_t> last_launch_;          // by storage: the last that mentions it, from 1
  std::uint32_t launches_ = 0;                      // counted so far
  std::unordered_map<std::size_t, int> alike_;      // fused launches by ops_in()
  std::vector<std::vector<std::uint32_t>> values_;  // by storage; empty until asked for
  std::unordered_map<std::string, std::int64_t> scratch_bytes_;  // by key of the launch's calls
};

}  // namespace

void fuse_launches(SizedGraph& graph, Partitions& partitions,
                   const std::vector<PartitionLaunches>& all, const spec::OpTable& ops,
                   const spec::DeviationSet& deviations) {
  LaunchArranger arranger(graph);
  std::vector<std::vector<Arranged>> blocks(graph.blocks.size());
  for (const PartitionLaunches& one : all) {
    const Partition& partition = partitions.blocks[one.block][one.partition];
    const auto nodes =
        std::span(graph.blocks[one.block].nodes)
            .subspan(partition.begin_node, partition.end_node - partition.begin_node);
    blocks[one.block].push_back(arranger.arrange(nodes, one.launches));
  }
  Fuser fuser(graph, ops, deviations);
  fuser.count(blocks);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    std::vector<SizedNode> nodes;
    nodes.reserve(graph.blocks[b].nodes.size());
    for (std::size_t p = 0; p < blocks[b].size(); ++p) {
      partitions.blocks[b][p].begin_node = static_cast<std::uint32_t>(nodes.size());
      for (std::size_t l = 0; l < blocks[b][p].ends.size(); ++l) {
        const auto launch = blocks[b][p].launch(l);
        if (launch.size() == 1) {
          nodes.push_back(std::move(launch.front()));
        } else {
          nodes.push_back(fuser.fuse(launch));
        }
      }
      partitions.blocks[b][p].end_node = static_cast<std::uint32_t>(nodes.size());
    }
    graph.blocks[b].nodes = std::move(nodes);
  }
}

}  // namespace graphgate::optimized
