#include "optimized/schedule/fuse_realize.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "optimized/binding.h"

namespace graphgate::optimized {

namespace {

// An op with a heavy function in what it is lowered to.
struct HeavyOp {
  std::string_view base_name;
  bool is_older;                      // exp or sigmoid is among them
  std::string_view approximate = {};  // only with this argument; "": whatever it is
};

constexpr HeavyOp kHeavyOps[] = {
    {"aten.exp", true},
    {"aten.gelu", false, "tanh"},
    {"aten.gelu_backward", true, "none"},
    {"aten.gelu_backward", false, "tanh"},
    {"aten.log", false},
    {"aten.log10", false},
    {"aten.log1p", false},
    {"aten.log2", false},
    {"aten.logaddexp", true},
    {"aten.logaddexp2", false},
    {"aten.logit", false},
    {"aten.mish", true},
    {"aten.sigmoid", true},
    {"aten.silu", true},
    {"aten.silu_backward", true},
    {"aten.softplus", true},
    {"aten.special_entr", false},
    {"aten.special_expit", true},
    {"aten.special_log1p", false},
    {"aten.special_log_ndtr", false},
    {"aten.special_logit", false},
    {"aten.special_xlog1py", false},
    {"aten.special_xlogy", false},
    {"aten.tanh", false},
    {"aten.xlogy", false},
    {"graphgate.silu_mul", true},  // the silu in it
};

std::int64_t opcount_threshold(const Reuse& reuse, const RealizeOptions& options) {
  if (!reuse.is_on_cpu) return options.opcount_threshold;
  const bool has_many_users =
      options.opusers_threshold > 0 && reuse.users > options.opusers_threshold;
  return std::max<std::int64_t>(0, options.cpu_opcount_threshold - (has_many_users ? 2 : 0));
}

// The argument that says which approximation a node computes; "none" where it has none.
std::string_view approximation_of(const spec::Node& node) {
  for (const spec::NamedArgument& named : node.arguments) {
    const auto* text = named.argument.as<std::string>();
    if (text && named.name == "approximate") return *text;
  }
  return "none";
}

}  // namespace

bool should_realize_on_reuse(const Reuse& reuse, const RealizeOptions& options) {
  if (reuse.users <= 1 || !reuse.is_pointwise_or_reduction) return false;
  if (reuse.is_on_cpu && reuse.is_heavy) return true;
  if (reuse.ops > opcount_threshold(reuse, options)) return true;
  const bool is_known = reuse.read_bytes > 0 && reuse.made_bytes > 0;
  if (options.rule == RealizeRule::kReadCount || !is_known) {
    return reuse.reads > options.reads_threshold;
  }
  return reuse.read_bytes * (reuse.users - 1) >= reuse.made_bytes * (1 + reuse.users);
}

bool is_heavy_on_cpu(std::string_view base_name, bool newer, std::string_view approximate) {
  return std::ranges::any_of(kHeavyOps, [&](const HeavyOp& op) {
    return op.base_name == base_name && (newer || op.is_older) &&
           (op.approximate.empty() || op.approximate == approximate);
  });
}

StorageMentions count_mentions(const SizedGraph& graph, const NodeAccesses& accesses) {
  StorageMentions out;
  out.nodes.assign(graph.storages.size(), 0);
  out.writers.assign(graph.storages.size(), 0);
  out.is_result.assign(graph.storages.size(), false);
  // By storage: the last node that was counted, from 1.
  std::vector<std::uint32_t> mentioned(graph.storages.size(), 0);
  std::vector<std::uint32_t> written(graph.storages.size(), 0);
  std::uint32_t now = 0;
  const auto mention = [&](spec::ValueId id) {
    graph.for_each_storage(id, [&](StorageIndex storage) {
      if (std::exchange(mentioned[storage], now) != now) ++out.nodes[storage];
    });
  };
  const auto result = [&](const spec::Argument& argument) {
    for_each_value(argument, [&](spec::ValueId id) {
      graph.for_each_storage(id, [&](StorageIndex storage) { out.is_result[storage] = true; });
    });
  };
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const SizedBlock& block = graph.blocks[b];
    for (std::size_t n = 0; n < block.nodes.size(); ++n) {
      ++now;
      for_each_mention(block.nodes[n], mention);
      for (const Access& write : accesses[b][n].writes) {
        if (std::exchange(written[write.storage], now) != now) ++out.writers[write.storage];
      }
    }
    for (const spec::Argument& output : block.outputs) result(output);
  }
  for (const spec::Argument& output : graph.outputs) result(output);
  return out;
}

namespace {

using Places = std::set<std::uint32_t>;

class Recomputer {
 public:
  Recomputer(const SizedGraph& graph, std::span<const SizedNode> nodes,
             std::vector<Launched> launches, const StorageMentions& mentions,
             const RealizeOptions& options, const FuseLimits& limits)
      : graph_(graph),
        nodes_(nodes),
        launches_(std::move(launches)),
        mentions_(mentions),
        options_(options),
        limits_(limits),
        launch_of_(nodes.size(), 0) {
    for (std::size_t l = 0; l < launches_.size(); ++l) {
      for (const std::uint32_t place : launches_[l]) launch_of_[place] = l;
    }
  }

  std::vector<Launched> run() {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (!has_several_users(n)) continue;
      if (places_.empty()) note_nodes();  // most partitions have nobody to ask for
      consider(n);
    }
    std::erase_if(launches_, [](const Launched& launch) { return launch.empty(); });
    return std::move(launches_);
  }

 private:
  // What computes a value, from values that have memory.
  struct InnerFunction {
    Places nodes;
    std::map<spec::ValueId, std::int64_t> reads;  // with their bytes
    bool is_heavy = false;
  };

  void note_nodes() {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      for_each_mention(nodes_[n], [&](spec::ValueId id) {
        if (graph_.value(id).kind != spec::ValueKind::kTensor) return;
        auto& places = places_[graph_.value(id).tensor.storage];
        if (places.empty() || places.back() != n) places.push_back(n);
      });
    }
  }

  // Whether it may make a value that is worth a thought: who has one reader is fused with it, or
  // stays as it is.
  [[nodiscard]] bool has_several_users(std::uint32_t n) const {
    for (const spec::NodeResult& result : nodes_[n].node.results) {
      for (const spec::ValueId id : result.values) {
        const SizedValue& value = graph_.value(id);
        if (value.kind != spec::ValueKind::kTensor) continue;
        const StorageIndex storage = value.tensor.storage;
        if (mentions_.nodes[storage] > 2 && !mentions_.is_result[storage]) return true;
      }
    }
    return false;
  }

  // The one storage that the node makes, if it is pointwise and does nothing else.
  [[nodiscard]] std::optional<StorageIndex> made_by(std::uint32_t n) const {
    const SizedNode& node = nodes_[n];
    if (node.row == nullptr || node.kernel == nullptr || node.is_dynamic) return {};
    if (!is_pointwise(*node.row, *node.kernel) || !node.row->effects.mutated().empty()) return {};
    const auto results = flat_results(node.node);
    if (results.size() != 1 || graph_.value(results[0]).is_dynamic) return {};
    const StorageIndex storage = graph_.value(results[0]).tensor.storage;
    const bool is_plain = graph_.storages[storage].kind == StorageKind::kIntermediate &&
                          mentions_.writers[storage] == 1 && places_.at(storage).front() == n;
    return is_plain ? std::optional(storage) : std::nullopt;
  }

  // Whether what is in it stays as it is from the time it is made.
  [[nodiscard]] bool is_constant(StorageIndex storage) const {
    const StorageKind kind = graph_.storages[storage].kind;
    if (kind == StorageKind::kIntermediate) return mentions_.writers[storage] == 1;
    return kind != StorageKind::kDynamic && mentions_.writers[storage] == 0;
  }

  // Whether all who mention it stand in one launch.
  [[nodiscard]] bool stays_in(StorageIndex storage, std::size_t launch) const {
    const auto& places = places_.at(storage);
    return !mentions_.is_result[storage] && mentions_.nodes[storage] == places.size() &&
           std::ranges::all_of(places,
                               [&](std::uint32_t place) { return launch_of_[place] == launch; });
  }

  // False where something in it cannot be done again.
  bool collect(std::uint32_t n, std::size_t launch, InnerFunction& out) const {
    if (!out.nodes.insert(n).second) return true;
    const std::int64_t most = std::max(options_.opcount_threshold, options_.cpu_opcount_threshold);
    if (std::ssize(out.nodes) > most) return false;
    out.is_heavy |= is_heavy_on_cpu(nodes_[n].kernel->base_name, options_.heavy_newer,
                                    approximation_of(nodes_[n].node));
    bool fits = true;
    for_each_operand(nodes_[n].node, [&](spec::ValueId id) {
      const SizedValue& value = graph_.value(id);
      if (!fits || value.kind != spec::ValueKind::kTensor) return;
      const StorageIndex storage = value.tensor.storage;
      const auto& places = places_.at(storage);
      const bool is_inside = graph_.storages[storage].kind == StorageKind::kIntermediate &&
                             launch_of_[places.front()] == launch && stays_in(storage, launch);
      if (is_inside) {
        fits = made_by(places.front()) == storage && collect(places.front(), launch, out);
        return;
      }
      fits = is_constant(storage);
      out.reads[id] = value.tensor.count() * value.tensor.item_bytes();
    });
    return fits;
  }

  void consider(std::uint32_t n) {
    const auto storage = made_by(n);
    if (!storage || moved_.contains(n)) return;
    const std::size_t home = launch_of_[n];
    const auto& places = places_.at(*storage);
    if (mentions_.is_result[*storage] || mentions_.nodes[*storage] != places.size()) return;
    std::set<std::size_t> others;
    for (const std::uint32_t place : places) {
      if (launch_of_[place] != home) others.insert(launch_of_[place]);
    }
    InnerFunction function;
    if (others.empty() || !collect(n, home, function)) return;
    const Tensor& made = graph_.value(flat_results(nodes_[n].node)[0]).tensor;
    Reuse reuse;
    reuse.users = std::ssize(places) - 1;
    reuse.reads = std::ssize(function.reads);
    reuse.ops = std::ssize(function.nodes);
    for (const auto& [id, bytes] : function.reads) reuse.read_bytes += bytes;
    reuse.made_bytes = made.count() * made.item_bytes();
    reuse.is_pointwise_or_reduction = true;
    reuse.is_heavy = function.is_heavy;
    reuse.is_on_cpu = made.device.type == "cpu";
    if (reuse.users <= 1 || should_realize_on_reuse(reuse, options_)) return;
    move(function.nodes, others, home);
  }

  // All users take the nodes in, or none does.
  void move(const Places& function, const std::set<std::size_t>& others, std::size_t home) {
    std::vector<std::pair<std::size_t, Launched>> changed;
    for (const std::size_t l : others) {
      Launched all;
      std::set_union(launches_[l].begin(), launches_[l].end(), function.begin(), function.end(),
                     std::back_inserter(all));
      if (all.size() > limits_.nodes) return;
      changed.emplace_back(l, std::move(all));
    }
    // What is left may go in more rows than before, which not all of its tensors need do.
    Launched left = without_unread(function, home);
    if (left.size() < launches_[home].size()) changed.emplace_back(home, std::move(left));
    for (const auto& [l, launch] : changed) {
      std::vector<const SizedNode*> nodes;
      for (const std::uint32_t place : launch) nodes.push_back(&nodes_[place]);
      if (nodes.size() > 1 && !can_fuse(graph_, nodes, {})) return;
    }
    for (auto& [l, launch] : changed) launches_[l] = std::move(launch);
    moved_.insert(function.begin(), function.end());
  }

  // The launch without those nodes of the function that nobody in it reads.
  [[nodiscard]] Launched without_unread(const Places& function, std::size_t home) const {
    Launched launch = launches_[home];
    for (auto n = function.rbegin(); n != function.rend(); ++n) {
      const std::optional<StorageIndex> storage = made_by(*n);
      if (!storage) continue;
      const auto& places = places_.at(*storage);
      const bool is_read = std::ranges::any_of(launch, [&](std::uint32_t place) {
        return place != *n && std::binary_search(places.begin(), places.end(), place);
      });
      if (!is_read) std::erase(launch, *n);
    }
    return launch;
  }

  const SizedGraph& graph_;
  std::span<const SizedNode> nodes_;
  std::vector<Launched> launches_;
  const StorageMentions& mentions_;
  const RealizeOptions& options_;
  const FuseLimits& limits_;
  std::vector<std::size_t> launch_of_;  // where a node stood first
  // Nodes that mention it, ascending.
  std::unordered_map<StorageIndex, std::vector<std::uint32_t>> places_;
  Places moved_;
};

}  // namespace

std::vector<Launched> recompute(const SizedGraph& graph, std::span<const SizedNode> nodes,
                                std::vector<Launched> launches, const StorageMentions& mentions,
                                const RealizeOptions& options, const FuseLimits& limits) {
  return Recomputer(graph, nodes, std::move(launches), mentions, options, limits).run();
}

}  // namespace graphgate::optimized
