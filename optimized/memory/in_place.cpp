#include "optimized/memory/in_place.h"

#include <algorithm>
#include <map>

#include "optimized/analysis/accesses.h"
#include "optimized/binding.h"
#include "optimized/partition/cut_rules.h"

namespace graphgate::optimized {
namespace {

using spec::ValueId;

// Equal but for the storage.
bool same_places(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.device == b.device && a.offset == b.offset && a.sizes == b.sizes &&
         a.strides == b.strides;
}

// torch._inductor's can_match_buffer_size.
bool sizes_match(std::int64_t operand_bytes, std::int64_t result_bytes) {
  return result_bytes <= operand_bytes && result_bytes * 20 >= operand_bytes * 19;
}

class InPlace {
 public:
  InPlace(const MemoryInput& input, const std::vector<StorageUse>& uses,
          const spec::DeviationSet& deviations, MemoryStrategy strategy)
      : graph_(input.graph),
        liveness_(input.liveness),
        uses_(uses),
        takes_removed_(deviations.has(spec::Deviation::kInPlaceOverRemoved)),
        follows_scheduler_(strategy == MemoryStrategy::kLines),
        takes_over_(graph_.storages.size(), kNoStorage) {}

  std::vector<StorageIndex> run() {
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      if (follows_scheduler_) note_writes(b);
      for (std::size_t n = 0; n < graph_.blocks[b].nodes.size(); ++n) decide(b, n);
    }
    return std::move(takes_over_);
  }

 private:
  void decide(std::size_t block, std::size_t index) {
    const SizedNode& node = graph_.blocks[block].nodes[index];
    if (node.is_dynamic || (!node.row && !node.is_fused())) return;
    for (const ValueId result : made_by(block, index, node)) {
      for (const ValueId operand : candidates(node, result)) {
        const StorageIndex storage = graph_.value(operand).tensor.storage;
        if (!dies_here(storage, block, index) || taken(node, storage)) continue;
        if (follows_scheduler_ && is_waited_for(storage, block, index)) continue;
        if (!fits(operand, result) || !reads_only(node, operand)) continue;
        takes_over_[graph_.value(result).tensor.storage] = storage;
        break;
      }
    }
  }

  // The new tensors of a node. A single kernel may write one result before it reads for the next:
  // only the sole result of one can lie over an operand.
  [[nodiscard]] std::vector<ValueId> made_by(std::size_t block, std::size_t index,
                                             const SizedNode& node) const {
    std::vector<ValueId> out;
    for (const ValueId id : flat_results(node.node)) {
      const SizedValue& value = graph_.value(id);
      if (value.kind != spec::ValueKind::kTensor || value.is_dynamic) continue;
      const StorageUse& use = uses_[value.tensor.storage];
      if (use.block == block && use.node == index &&
          graph_.storages[value.tensor.storage].kind == StorageKind::kIntermediate) {
        out.push_back(id);
      }
    }
    if (!node.is_fused() && out.size() > 1) out.clear();
    return out;
  }

  // What the node's kernel would stand to see overwritten by the result, in order.
  [[nodiscard]] std::vector<ValueId> candidates(const SizedNode& node, ValueId result) const {
    if (node.is_fused()) return fused_candidates(node, result);
    std::vector<ValueId> out;
    if (node.kernel->overlap != Overlap::kSameGeometry || !node.kernel->bind) return out;
    const bool is_pointwise = node.row->has_tag("pointwise");
    for (const spec::NamedArgument& named : node.node.arguments) {
      const auto* id = named.argument.as<ValueId>();
      if (!id || !is_tensor(*id)) continue;
      // What begins with a copy of `self` reads its other operands behind that.
      if (is_pointwise || (named.name == "self" && mentions_of(node, *id) == 1)) out.push_back(*id);
    }
    return out;
  }

  // How many operands of the node lie in the storage of `operand`.
  [[nodiscard]] std::size_t mentions_of(const SizedNode& node, ValueId operand) const {
    const StorageIndex storage = graph_.value(operand).tensor.storage;
    std::size_t count = 0;
    for_each_operand(node.node, [&](ValueId id) {
      if (is_tensor(id) && graph_.value(id).tensor.storage == storage) ++count;
    });
    return count;
  }

  // A fused launch goes tile by tile, a tile being some rows of every tensor: the rows of an
  // operand are read before the rows of a result in the same place are written, as long as the body
  // reads the operand row by row, and not any more once it has made the result.
  [[nodiscard]] std::vector<ValueId> fused_candidates(const SizedNode& node, ValueId result) const {
    const auto maker = std::ranges::find_if(node.body, [&](const SizedNode& inner) {
      // The first to write there: later ones update what it made.
      const auto results = flat_results(inner.node);
      return std::ranges::any_of(results, [&](ValueId id) {
        return is_tensor(id) &&
               graph_.value(id).tensor.storage == graph_.value(result).tensor.storage;
      });
    });
    std::vector<ValueId> out;
    if (maker == node.body.end()) return out;
    const auto consider = [&](ValueId id) {
      if (!is_tensor(id)) return;
      for (auto inner = node.body.begin(); inner != node.body.end(); ++inner) {
        if (mentions_of(*inner, id) == 0) continue;
        const bool is_late = inner > maker || (inner == maker && !stands_overlap(*inner));
        if (is_late || !goes_by_rows(*inner, id)) return;
      }
      out.push_back(id);
    };
    for_each_operand(node.node, consider);
    if (takes_removed_) for_each_operand(maker->node, consider);
    return out;
  }

  static bool stands_overlap(const SizedNode& node) {
    return node.kernel && node.kernel->overlap == Overlap::kSameGeometry;
  }

  // Whether a row of what the node makes wants one row of the operand: it makes what is as large,
  // or reduces trailing dimensions. A broadcast would read the operand again in every tile.
  [[nodiscard]] bool goes_by_rows(const SizedNode& node, ValueId operand) const {
    const Sizes& from = graph_.value(operand).tensor.sizes;
    for (const ValueId id : flat_results(node.node)) {
      if (graph_.value(id).kind != spec::ValueKind::kTensor) continue;
      const Sizes& to = graph_.value(id).tensor.sizes;
      const auto differ = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
      const bool reduces =
          std::all_of(differ.second, to.end(), [](std::int64_t size) { return size == 1; });
      if (!reduces || to.size() > from.size()) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_tensor(ValueId id) const {
    return graph_.value(id).kind == spec::ValueKind::kTensor && !graph_.value(id).is_dynamic;
  }
  [[nodiscard]] bool dies_here(StorageIndex storage, std::size_t block, std::size_t index) const {
    const StorageKind kind = graph_.storages[storage].kind;
    if (kind == StorageKind::kInner) return takes_removed_;
    const StorageUse& use = uses_[storage];
    return kind == StorageKind::kIntermediate && use.block == block && use.node != index &&
           !use.is_output && !use.is_on_streams &&
           use.lifetime.end == liveness_.times[block][index] + 1;
  }

  void note_writes(std::size_t block) {
    last_writes_.clear();
    for (std::size_t n = 0; n < graph_.blocks[block].nodes.size(); ++n) {
      for (const Access& write : accesses_of(graph_, graph_.blocks[block].nodes[n]).writes) {
        last_writes_[write.storage] = n;
      }
    }
  }

  // See the end of in_place.h's list.
  [[nodiscard]] bool is_waited_for(StorageIndex storage, std::size_t block,
                                   std::size_t index) const {
    if (graph_.storages[storage].kind == StorageKind::kInner) return false;
    const SizedNode& maker = graph_.blocks[block].nodes[uses_[storage].node];
    if (!launches(maker)) return true;
    bool is_written_later = false;
    for_each_operand(maker.node, [&](ValueId id) {
      graph_.for_each_storage(id, [&](StorageIndex read) {
        const auto write = last_writes_.find(read);
        is_written_later |= write != last_writes_.end() && write->second > index;
      });
    });
    return is_written_later;
  }

  // Whether another result of the node has it already.
  [[nodiscard]] bool taken(const SizedNode& node, StorageIndex storage) const {
    const auto results = flat_results(node.node);
    return std::ranges::any_of(results, [&](ValueId id) {
      return is_tensor(id) && takes_over_[graph_.value(id).tensor.storage] == storage;
    });
  }

  [[nodiscard]] bool fits(ValueId operand, ValueId result) const {
    const Tensor& from = graph_.value(operand).tensor;
    const Tensor& to = graph_.value(result).tensor;
    return same_places(from, to) &&
           sizes_match(graph_.storages[from.storage].bytes, graph_.storages[to.storage].bytes) &&
           uses_[from.storage].is_unaligned == uses_[to.storage].is_unaligned;
  }

  // Whether all that the node does to the operand's storage is to read it through this geometry.
  [[nodiscard]] bool reads_only(const SizedNode& node, ValueId operand) const {
    const Tensor& tensor = graph_.value(operand).tensor;
    bool good = true;
    for_each_operand(node.node, [&](ValueId id) {
      const SizedValue& value = graph_.value(id);
      if (value.kind != spec::ValueKind::kTensor) return;
      graph_.for_each_storage(id, [&](StorageIndex storage) {
        good &= storage != tensor.storage || (is_tensor(id) && same_places(value.tensor, tensor));
      });
    });
    return good && !writes(node, tensor.storage);
  }

  [[nodiscard]] bool writes(const SizedNode& node, StorageIndex storage) const {
    for (const SizedNode& inner : node.body) {
      if (writes(inner, storage)) return true;
    }
    for (std::size_t i = 0; node.row && i < node.row->schema.arguments.size(); ++i) {
      if (!node.row->writes(i)) continue;
      const auto* given = find_argument(node.node.arguments, node.row->schema.arguments[i].name);
      bool found = false;
      if (!given) continue;
      for_each_value(*given, [&](ValueId id) {
        graph_.for_each_storage(id, [&](StorageIndex s) { found |= s == storage; });
      });
      if (found) return true;
    }
    return false;
  }

  const SizedGraph& graph_;
  const Liveness& liveness_;
  const std::vector<StorageUse>& uses_;
  bool takes_removed_;
  bool follows_scheduler_;
  std::map<StorageIndex, std::size_t> last_writes_;  // of the block at hand: the node
  std::vector<StorageIndex> takes_over_;
};

}  // namespace

std::vector<StorageIndex> decide_in_place(const MemoryInput& input,
                                          const std::vector<StorageUse>& uses,
                                          const spec::DeviationSet& deviations,
                                          MemoryStrategy strategy) {
  return InPlace(input, uses, deviations, strategy).run();
}

}  // namespace graphgate::optimized
