#include "optimized/memory/storage_use.h"

#include <algorithm>

#include "optimized/analysis/accesses.h"
#include "optimized/analysis/inductor_buffers.h"
#include "optimized/partition/options.h"

namespace graphgate::optimized {
namespace {

using D = spec::Deviation;

class Uses {
 public:
  Uses(const MemoryInput& input, const MemoryOptions& options, const spec::DeviationSet& deviations)
      : graph_(input.graph),
        liveness_(input.liveness),
        options_(options),
        deviations_(deviations),
        out_(graph_.storages.size()) {}

  std::vector<StorageUse> run() {
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      for (std::size_t n = 0; n < graph_.blocks[b].nodes.size(); ++n) find_made(b, n);
    }
    for (StorageIndex s = 0; s < out_.size(); ++s) out_[s].lifetime = liveness_.storages[s];
    find_outputs();
    find_streams();
    if (deviations_.has(D::kMutationBlocksReuse)) keep_written();
    for (StorageUse& use : out_) close(use);
    return std::move(out_);
  }

 private:
  // Blocks come before the blocks of their conditionals' arms, so the first maker is the right one.
  void find_made(std::size_t block, std::size_t index) {
    const SizedNode& node = graph_.blocks[block].nodes[index];
    const auto& unaligned = options_.unaligned_ops;
    const bool is_unaligned = std::ranges::any_of(
        unaligned, [&](const std::string& name) { return names_op(name, node.node.op); });
    const auto make = [&](spec::ValueId id) {
      const SizedValue& value = graph_.value(id);
      if (value.kind != spec::ValueKind::kTensor) return;
      StorageUse& use = out_[value.tensor.storage];
      const StorageKind kind = graph_.storages[value.tensor.storage].kind;
      if (use.node != kNoNode || kind == StorageKind::kState || kind == StorageKind::kInput) return;
      use.block = block;
      use.node = index;
      use.dtype = value.tensor.dtype;
      use.is_unaligned = is_unaligned;
    };
    for (const SizedNode& inner : node.body) {
      for (const spec::NodeResult& result : inner.node.results) {
        for (const spec::ValueId id : result.values) make(id);
      }
    }
    for (const spec::NodeResult& result : node.node.results) {
      for (const spec::ValueId id : result.values) make(id);
    }
  }

  // What a node writes that it did not make is kept to the end.
  void keep_written() {
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      for (std::size_t n = 0; n < graph_.blocks[b].nodes.size(); ++n) {
        for (const Access& write : accesses_of(graph_, graph_.blocks[b].nodes[n]).writes) {
          StorageUse& use = out_[write.storage];
          if (use.block != b || use.node != n) use.lifetime.end = liveness_.end;
        }
      }
    }
  }

  void find_streams() {
    if (has_one_stream()) return;
    std::vector<std::optional<std::uint32_t>> streams(out_.size());
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      for (std::size_t n = 0; n < graph_.blocks[b].nodes.size(); ++n) {
        const SizedNode& node = graph_.blocks[b].nodes[n];
        for_each_mentioned(graph_, node, [&](StorageIndex storage) {
          if (out_[storage].block == b && out_[storage].node == n) return;
          if (!streams[storage]) streams[storage] = node.stream;
          out_[storage].is_on_streams |= *streams[storage] != node.stream;
        });
      }
    }
  }

  [[nodiscard]] bool has_one_stream() const {
    return std::ranges::all_of(graph_.blocks, [](const SizedBlock& block) {
      return std::ranges::all_of(block.nodes,
                                 [](const SizedNode& node) { return node.stream == 0; });
    });
  }

  void find_outputs() {
    const std::vector<bool> overlooked = overlooked_outputs();
    for_each_output([&](spec::ValueId id, StorageIndex storage) {
      if (!overlooked[id.index]) out_[storage].is_output = true;
    });
    for_each_output([&](spec::ValueId id, StorageIndex storage) {
      if (!overlooked[id.index] || out_[storage].is_output) return;
      out_[storage].lifetime.end = last_mention(storage) + 1;
    });
  }

  template <class Visit>
  void for_each_output(Visit&& visit) const {
    for (const spec::Argument& output : graph_.outputs) {
      for_each_value(output, [&](spec::ValueId id) {
        graph_.for_each_storage(id, [&](StorageIndex storage) { visit(id, storage); });
      });
    }
  }

  // By value: the planner of pools does not know that the program returns it.
  [[nodiscard]] std::vector<bool> overlooked_outputs() const {
    const bool asks_by_name =
        options_.strategy == MemoryStrategy::kPools && deviations_.has(D::kOutputByExactName);
    return asks_by_name ? views_with_names(graph_) : std::vector<bool>(graph_.values.size());
  }

  // The time of the last node that mentions the storage.
  [[nodiscard]] std::int64_t last_mention(StorageIndex storage) const {
    std::int64_t last = liveness_.storages[storage].begin;
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      for (std::size_t n = 0; n < graph_.blocks[b].nodes.size(); ++n) {
        for_each_mentioned(graph_, graph_.blocks[b].nodes[n], [&](StorageIndex mentioned) {
          if (mentioned == storage) last = std::max(last, liveness_.times[b][n]);
        });
      }
    }
    return last;
  }

  void close(StorageUse& use) {
    if (deviations_.has(D::kLifetimesTouchWrongly) && use.node != kNoNode && !use.is_output) {
      --use.lifetime.end;
    }
    use.lifetime.end = std::max(use.lifetime.end, use.lifetime.begin + 1);
  }

  const SizedGraph& graph_;
  const Liveness& liveness_;
  const MemoryOptions& options_;
  const spec::DeviationSet& deviations_;
  std::vector<StorageUse> out_;
};

}  // namespace

std::vector<StorageUse> storage_uses(const MemoryInput& input, const MemoryOptions& options,
                                     const spec::DeviationSet& deviations) {
  return Uses(input, options, deviations).run();
}

}  // namespace graphgate::optimized
