// What cut rules look at beside the node: where unbacked sizes come from, and which nodes the
// program has.
#include <algorithm>

#include "optimized/binding.h"
#include "optimized/partition/cut_rules.h"

namespace graphgate::optimized {

CutContext::CutContext(const SizedGraph& graph, const PartitionOptions& options,
                       const spec::DeviationSet& deviations, const spec::Graph* origin)
    : graph_(graph),
      options_(options),
      deviations_(deviations),
      accelerator_(accelerator_of(graph)),
      follows_origins_(origin && has(spec::Deviation::kCapturesNodesWithoutOrigin)) {
  if (follows_origins_) note_origins(*origin);
  if (options.unsafe_unbacked_ops.empty()) return;
  unsafe_sources_.resize(graph.values.size());
  trace_unsafe(0);
}

const std::string& CutContext::unsafe_source(spec::ValueId id) const {
  static const std::string kNone;
  return unsafe_sources_.empty() ? kNone : unsafe_sources_[id.index];
}

bool CutContext::is_overlooked(const SizedNode& node) const {
  return follows_origins_ && !origins_.contains({node.node.name, node.node.op});
}

bool CutContext::is_overlooked(const spec::Node& node, const std::string& op) const {
  return follows_origins_ && op != node.op;
}

void CutContext::note_origins(const spec::Graph& origin) {
  for (const spec::Node& node : origin.nodes) origins_.emplace(node.name, node.op);
  for (const spec::Graph& subgraph : origin.subgraphs) note_origins(subgraph);
}

// What a listed op makes is unsafe if only the call knows it, and so is what is made of that.
// Blocks are walked in the order in which they run.
void CutContext::trace_unsafe(std::size_t block) {
  const auto& listed = options_.unsafe_unbacked_ops;
  for (const SizedNode& node : graph_.blocks[block].nodes) {
    std::string source;
    for_each_operand(node.node, [&](spec::ValueId id) {
      if (source.empty()) source = unsafe_sources_[id.index];
    });
    for (const spec::NamedArgument& named : node.node.arguments) {
      const auto* arm = named.argument.as<spec::SubgraphId>();
      if (!arm) continue;
      trace_unsafe(arm->index);
      for (const spec::Argument& output : graph_.blocks[arm->index].outputs) {
        for_each_value(output, [&](spec::ValueId id) {
          if (source.empty()) source = unsafe_sources_[id.index];
        });
      }
    }
    const bool is_listed = std::ranges::any_of(
        listed, [&](const std::string& name) { return names_op(name, node.node.op); });
    if (is_listed) source = node.node.op;
    for (const spec::ValueId id : flat_results(node.node)) {
      if (graph_.value(id).is_dynamic) unsafe_sources_[id.index] = source;
    }
  }
}

std::string accelerator_of(const SizedGraph& graph) {
  std::vector<std::pair<std::string_view, std::size_t>> counts;  // by type; few
  for (const SizedValue& value : graph.values) {
    if (value.kind != spec::ValueKind::kTensor) continue;
    const std::string_view type = value.tensor.device.type;
    const auto known =
        std::ranges::find_if(counts, [&](const auto& count) { return count.first == type; });
    if (known != counts.end()) {
      ++known->second;
    } else {
      counts.emplace_back(type, 1);
    }
  }
  std::ranges::sort(counts);
  std::string best = "cpu";
  std::size_t most = 0;
  for (const auto& [type, count] : counts) {
    if (count > most || (count == most && best == "cpu")) {
      best = type;
      most = count;
    }
  }
  return best;
}

}  // namespace graphgate::optimized
