#include "optimized/schedule/reorder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

#include "optimized/analysis/dependences.h"

namespace graphgate::optimized {
namespace {

using Order = std::vector<std::uint32_t>;  // places of nodes in their block

// What a block's nodes wait for, and which of them are cut out.
struct Situation {
  std::vector<std::vector<std::uint32_t>> before;
  std::vector<std::vector<std::uint32_t>> after;
  std::vector<bool> is_cut;
};

Situation situation_of(const CutContext& context, std::size_t block) {
  const auto& nodes = context.graph().blocks[block].nodes;
  const auto dependences = analyze_dependences(context.graph(), block);
  const bool reads_only = context.has(spec::Deviation::kReordersByReadsOnly);
  Situation out;
  out.before.resize(nodes.size());
  out.after.resize(nodes.size());
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    out.is_cut.push_back(cut_reason(context, nodes[n]).has_value());
    for (const Dependence& dependence : dependences[n]) {
      const bool counts =
          dependence.has(DependenceKind::kReadAfterWrite) || dependence.has(DependenceKind::kOrder);
      if (reads_only && !counts) continue;
      out.before[n].push_back(dependence.node);
      out.after[dependence.node].push_back(n);
    }
  }
  return out;
}

Order simple_order(const Situation& situation) {
  const auto count = static_cast<std::uint32_t>(situation.is_cut.size());
  enum class Place : std::uint8_t { kFront, kMiddle, kBack };
  std::vector<Place> places(count, Place::kMiddle);
  const auto all = [&](const std::vector<std::uint32_t>& nodes, Place place) {
    return std::ranges::all_of(nodes, [&](std::uint32_t n) { return places[n] == place; });
  };
  for (std::uint32_t n = 0; n < count; ++n) {
    if (situation.is_cut[n] && all(situation.before[n], Place::kFront)) places[n] = Place::kFront;
  }
  for (std::uint32_t n = count; n-- > 0;) {
    if (situation.is_cut[n] && places[n] == Place::kMiddle &&
        all(situation.after[n], Place::kBack)) {
      places[n] = Place::kBack;
    }
  }
  Order order(count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order,
                           [&](std::uint32_t a, std::uint32_t b) { return places[a] < places[b]; });
  return order;
}

Order alternating_order(const Situation& situation) {
  const auto count = static_cast<std::uint32_t>(situation.is_cut.size());
  using Heap = std::priority_queue<std::uint32_t, Order, std::greater<>>;
  Heap ready[2];  // captured nodes, cut-out nodes
  std::vector<std::size_t> unmet(count);
  for (std::uint32_t n = 0; n < count; ++n) {
    unmet[n] = situation.before[n].size();
    if (unmet[n] == 0) ready[situation.is_cut[n] ? 1 : 0].push(n);
  }
  Order order;
  for (std::size_t turn = 1; order.size() < count; turn = 1 - turn) {
    while (!ready[turn].empty()) {
      const std::uint32_t taken = ready[turn].top();
      ready[turn].pop();
      order.push_back(taken);
      for (const std::uint32_t n : situation.after[taken]) {
        if (--unmet[n] == 0) ready[situation.is_cut[n] ? 1 : 0].push(n);
      }
    }
  }
  return order;
}

std::size_t runs_in(const Situation& situation, const Order& order) {
  std::size_t runs = order.empty() ? 0 : 1;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (situation.is_cut[order[i]] != situation.is_cut[order[i - 1]]) ++runs;
  }
  return runs;
}

// Whether the new order is worth it, and does not cost too much.
bool is_accepted(const SizedGraph& graph, std::size_t block, const Situation& situation,
                 const Order& order, double memory_budget) {
  Order old(order.size());
  std::iota(old.begin(), old.end(), 0);
  if (runs_in(situation, order) >= runs_in(situation, old)) return false;
  const std::int64_t before = estimate_peak_bytes(graph, block, old);
  const std::int64_t after = estimate_peak_bytes(graph, block, order);
  return after <= before ||
         static_cast<double>(after) < memory_budget * static_cast<double>(before);
}

// Visits the storages that a node mentions, arms included.
void for_each_mentioned(const SizedGraph& graph, const SizedNode& node,
                        const std::function<void(StorageIndex)>& visit) {
  const auto visit_value = [&](spec::ValueId id) { graph.for_each_storage(id, visit); };
  for_each_operand(node.node, visit_value);
  for (const spec::NodeResult& result : node.node.results) {
    for (const spec::ValueId id : result.values) visit_value(id);
  }
  for (const spec::NamedArgument& named : node.node.arguments) {
    const auto* arm = named.argument.as<spec::SubgraphId>();
    if (!arm) continue;
    const SizedBlock& block = graph.blocks[arm->index];
    for (const SizedNode& inner : block.nodes) for_each_mentioned(graph, inner, visit);
    for (const spec::Argument& output : block.outputs) for_each_value(output, visit_value);
  }
}

}  // namespace

Result<void> validate_options(const ReorderOptions& options, const PartitionOptions& partition) {
  if (!(options.memory_budget >= 1.0)) {
    return bad_input("memory budget of reordering: expected at least 1, got " +
                     std::to_string(options.memory_budget));
  }
  if (options.reorder != Reorder::kNone && partition.mode == PartitionMode::kSplitGraph) {
    return bad_input(
        "reordering contradicts split_graph partitions, which keep the program's order");
  }
  return {};
}

std::int64_t estimate_peak_bytes(const SizedGraph& graph, std::size_t block,
                                 const std::vector<std::uint32_t>& order) {
  const SizedBlock& nodes = graph.blocks[block];
  std::map<StorageIndex, std::pair<std::size_t, std::size_t>> spans;  // first, last place
  for (std::size_t at = 0; at < order.size(); ++at) {
    for_each_mentioned(graph, nodes.nodes[order[at]], [&](StorageIndex storage) {
      if (graph.storages[storage].kind != StorageKind::kIntermediate) return;
      spans.try_emplace(storage, at, at).first->second.second = at;
    });
  }
  const auto& outputs = block == 0 ? graph.outputs : nodes.outputs;
  for (const spec::Argument& output : outputs) {
    for_each_value(output, [&](spec::ValueId id) {
      graph.for_each_storage(id, [&](StorageIndex storage) {
        const auto span = spans.find(storage);
        if (span != spans.end()) span->second.second = order.size();
      });
    });
  }
  std::vector<std::int64_t> change(order.size() + 2, 0);
  for (const auto& [storage, span] : spans) {
    change[span.first] += graph.storages[storage].bytes;
    change[span.second + 1] -= graph.storages[storage].bytes;
  }
  std::int64_t live = 0;
  std::int64_t peak = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    live += change[at];
    peak = std::max(peak, live + nodes.nodes[order[at]].workspace_bytes);
  }
  return peak;
}

SizedGraph reorder(SizedGraph graph, const ReorderOptions& options,
                   const PartitionOptions& partition, const spec::DeviationSet& deviations,
                   const spec::Graph* origin) {
  if (options.reorder == Reorder::kNone) return graph;
  std::vector<Order> orders(graph.blocks.size());
  const CutContext context(graph, partition, deviations, origin);
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const Situation situation = situation_of(context, b);
    Order order = options.reorder == Reorder::kSimple ? simple_order(situation)
                                                      : alternating_order(situation);
    if (is_accepted(graph, b, situation, order, options.memory_budget))
      orders[b] = std::move(order);
  }
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    std::vector<SizedNode> nodes;
    for (const std::uint32_t n : orders[b]) nodes.push_back(std::move(graph.blocks[b].nodes[n]));
    if (!nodes.empty()) graph.blocks[b].nodes = std::move(nodes);
  }
  return graph;
}

}  // namespace graphgate::optimized
