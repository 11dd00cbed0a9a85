#include "optimized/analysis/liveness.h"

#include <algorithm>

#include "spec/loops.h"

namespace graphgate::optimized {
namespace {

class Timeline {
 public:
  Timeline(const SizedGraph& graph, const spec::DeviationSet& deviations)
      : graph_(graph), forgets_aliases_(deviations.has(spec::Deviation::kIgnoresReturnedAlias)) {
    out_.times.resize(graph.blocks.size());
    out_.storages.resize(graph.storages.size());
    used_.resize(graph.storages.size(), false);
    returned_.resize(graph.storages.size(), false);
  }

  Liveness run() {
    run_block(0);
    out_.end = now_;
    for (const spec::Argument& output : graph_.outputs) use(output, out_.end - 1);
    for (std::size_t s = 0; s < graph_.storages.size(); ++s) {
      const StorageKind kind = graph_.storages[s].kind;
      if (kind == StorageKind::kState || kind == StorageKind::kInput) out_.storages[s].begin = 0;
    }
    return std::move(out_);
  }

 private:
  void run_block(std::size_t block) {
    for (const SizedNode& node : graph_.blocks[block].nodes) {
      const std::int64_t time = now_++;
      out_.times[block].push_back(time);
      for (const spec::NodeResult& result : node.node.results) {
        for (const spec::ValueId id : result.values) use({id}, time);
      }
      for (const spec::NamedArgument& named : node.node.arguments) {
        if (const auto* arm = named.argument.as<spec::SubgraphId>()) {
          run_block(arm->index);
        } else {
          use(named.argument, time);
        }
      }
      if (!node.row && !node.is_fused()) finish_conditional(node);
      if (forgets_aliases_) note_returned(node);
    }
  }

  // Uses of an operand that a node has written and returned are uses of what it returned, from now
  // on.
  void note_returned(const SizedNode& node) {
    for_each_operand(node.node, [&](spec::ValueId operand) {
      for (const spec::NodeResult& result : node.node.results) {
        for (const spec::ValueId id : result.values) {
          if (id == operand) returned_[graph_.value(id).tensor.storage] = true;
        }
      }
    });
  }

  // What the arms result in is taken up when the conditional ends; its predicate stays until then.
  // What a loop is given stays one step longer than its blocks: the next iteration reads it.
  void finish_conditional(const SizedNode& node) {
    if (spec::is_loop(node.node.op)) ++now_;
    for (const spec::NamedArgument& named : node.node.arguments) {
      const auto* arm = named.argument.as<spec::SubgraphId>();
      if (!arm) {
        use(named.argument, now_ - 1);
        continue;
      }
      for (const spec::Argument& output : graph_.blocks[arm->index].outputs) use(output, now_ - 1);
    }
  }

  void use(const spec::Argument& argument, std::int64_t time) {
    for_each_value(argument, [&](spec::ValueId id) {
      graph_.for_each_storage(id, [&](StorageIndex storage) {
        if (returned_[storage]) return;
        Lifetime& lifetime = out_.storages[storage];
        if (!used_[storage]) lifetime.begin = time;
        lifetime.end = std::max(lifetime.end, time + 1);
        used_[storage] = true;
      });
    });
  }

  const SizedGraph& graph_;
  Liveness out_;
  bool forgets_aliases_;
  std::vector<bool> used_;
  std::vector<bool> returned_;  // all false unless aliases are forgotten
  std::int64_t now_ = 0;
};

}  // namespace

Liveness analyze_liveness(const SizedGraph& graph, const spec::DeviationSet& deviations) {
  return Timeline(graph, deviations).run();
}

}  // namespace graphgate::optimized
