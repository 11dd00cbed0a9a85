#include "optimized/memory/lines.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_set>

#include "optimized/analysis/inductor_buffers.h"
#include "optimized/binding.h"
#include "optimized/memory/peak_guard.h"
#include "optimized/partition/cut_rules.h"

namespace graphgate::optimized {
namespace {

using D = spec::Deviation;

// Device, dtype, bytes, aligned.
using Key = std::tuple<std::string, spec::DType, std::int64_t, bool>;

enum class LineKind : std::uint8_t { kAllocate, kTakeOver, kLaunch };

// `old`: of kTakeOver, what `storage` lies over.
struct Line {
  LineKind kind = LineKind::kLaunch;
  StorageIndex storage = kNoStorage;
  StorageIndex old = kNoStorage;
  std::int64_t time = 0;
};

struct Freed {
  StorageIndex storage = kNoStorage;
  std::int64_t time = 0;  // of the node that used it last
};

// What is planned together: a partition, or a partition of an arm. `lists` are what is on offer.
struct Level {
  std::vector<Line> lines;
  std::vector<Freed> frees;  // by time, when planned
  std::size_t offered = 0;   // of them
  std::map<Key, std::vector<Freed>> lists;
};

class LinePlanner {
 public:
  LinePlanner(const MemoryInput& input, const std::vector<StorageUse>& uses,
              const std::vector<StorageIndex>& takes_over, const spec::DeviationSet& deviations)
      : input_(input),
        graph_(input.graph),
        uses_(uses),
        takes_over_(takes_over),
        deviations_(deviations),
        made_(graph_.blocks.size()),
        frees_(graph_.blocks.size()),
        freed_(graph_.storages.size(), false),
        guard_(live_bytes()),
        builder_(input, uses) {}

  MemoryGroups run() {
    sort_storages();
    for (const spec::Argument& output : graph_.outputs) add_storages(output, graph_outputs_);
    plan_block(0);
    return std::move(builder_).finish();
  }

 private:
  // ---- what is made and freed where

  void sort_storages() {
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      made_[b].resize(graph_.blocks[b].nodes.size());
    }
    std::vector<bool> is_taken(graph_.storages.size(), false);
    for (StorageIndex s = 0; s < takes_over_.size(); ++s) {
      // A buffer that was taken over is freed with the one that took it, not before.
      if (takes_over_[s] != kNoStorage && !deviations_.has(D::kFreesTwice)) {
        is_taken[takes_over_[s]] = true;
      }
    }
    for (StorageIndex s = 0; s < graph_.storages.size(); ++s) {
      const StorageUse& use = uses_[s];
      if (graph_.storages[s].kind == StorageKind::kIntermediate && use.node != kNoNode) {
        made_[use.block][use.node].push_back(s);
      }
      if (!is_taken[s] && can_reuse(s)) {
        frees_[use.node == kNoNode ? 0 : use.block].push_back({s, last_use(s)});
      }
    }
    for (std::vector<Freed>& frees : frees_) sort_by_time(frees);
  }

  [[nodiscard]] std::int64_t last_use(StorageIndex storage) const {
    if (graph_.storages[storage].kind != StorageKind::kState)
      return uses_[storage].lifetime.end - 1;
    return input_.liveness.storages[storage].end - 1;
  }

  [[nodiscard]] bool can_reuse(StorageIndex storage) const {
    const StorageUse& use = uses_[storage];
    if (use.is_output) return false;
    if (graph_.storages[storage].kind == StorageKind::kState) {
      return deviations_.has(D::kPersistentDiesAtLastUse);
    }
    return graph_.storages[storage].kind == StorageKind::kIntermediate && use.node != kNoNode;
  }

  static void sort_by_time(std::vector<Freed>& frees) {
    std::ranges::stable_sort(frees, [](const Freed& a, const Freed& b) { return a.time < b.time; });
  }

  // Bytes of intermediates by step, as estimate_peak_memory has them: a result in place counts
  // beside what it takes over.
  [[nodiscard]] std::vector<std::int64_t> live_bytes() const {
    std::vector<std::int64_t> change(static_cast<std::size_t>(input_.liveness.end) + 2, 0);
    const auto last = static_cast<std::int64_t>(change.size()) - 1;
    for (StorageIndex s = 0; s < graph_.storages.size(); ++s) {
      if (graph_.storages[s].kind != StorageKind::kIntermediate) continue;
      const std::int64_t bytes = graph_.storages[s].bytes;
      change[static_cast<std::size_t>(uses_[s].lifetime.begin)] += bytes;
      change[static_cast<std::size_t>(std::min(uses_[s].lifetime.end, last))] -= bytes;
    }
    for (std::size_t t = 1; t < change.size(); ++t) change[t] += change[t - 1];
    change.pop_back();
    return change;
  }

  // ---- lines

  void plan_block(std::size_t block) {
    for (std::size_t p = 0; p < input_.partitions.blocks[block].size(); ++p) {
      const Partition& partition = input_.partitions.blocks[block][p];
      if (partition.begin_node == partition.end_node) continue;
      Level level;
      gather(block, partition, level);
      add_frees(block, partition, level);
      sort_by_time(level.frees);
      if (drops_tail(block, partition)) drop_tail(block, partition, level);
      plan(level);
    }
  }

  void gather(std::size_t block, const Partition& partition, Level& level) {
    for (std::size_t n = partition.begin_node; n < partition.end_node; ++n) {
      const SizedNode& node = graph_.blocks[block].nodes[n];
      const std::int64_t time = input_.liveness.times[block][n];
      for (const StorageIndex s : made_[block][n]) {
        const bool is_new = takes_over_[s] == kNoStorage;
        level.lines.push_back(
            {is_new ? LineKind::kAllocate : LineKind::kTakeOver, s, takes_over_[s], time});
      }
      if (!node.kernel || node.kernel->bind) {
        level.lines.push_back({LineKind::kLaunch, kNoStorage, kNoStorage, time});
      }
      for (const spec::NamedArgument& named : node.node.arguments) {
        const auto* arm = named.argument.as<spec::SubgraphId>();
        if (arm) enter(arm->index, level);
      }
    }
  }

  void enter(std::size_t arm, Level& outside) {
    if (!deviations_.has(D::kOneFreeListAcrossArms)) return plan_block(arm);
    for (const Partition& partition : input_.partitions.blocks[arm]) {
      gather(arm, partition, outside);
    }
    // To someone who sees this arm alone, all that it mentions last is freed here.
    std::map<StorageIndex, std::int64_t> last;
    for (std::size_t n = 0; n < graph_.blocks[arm].nodes.size(); ++n) {
      for_each_mentioned(graph_, graph_.blocks[arm].nodes[n], [&](StorageIndex s) {
        if (can_reuse(s)) last[s] = input_.liveness.times[arm][n];
      });
    }
    for (const spec::Argument& output : graph_.blocks[arm].outputs) {
      std::set<StorageIndex> kept;
      add_storages(output, kept);
      for (const StorageIndex s : kept) last.erase(s);
    }
    for (const auto& [storage, time] : last) outside.frees.push_back({storage, time});
  }

  // What dies within the partition and was made in its block.
  void add_frees(std::size_t block, const Partition& partition, Level& level) const {
    const auto& times = input_.liveness.times[block];
    const std::int64_t begin = times[partition.begin_node];
    const std::int64_t end = partition.end_node < times.size()
                                 ? times[partition.end_node]
                                 : std::numeric_limits<std::int64_t>::max();
    const std::vector<Freed>& frees = frees_[block];
    auto at = std::lower_bound(frees.begin(), frees.end(), begin,
                               [](const Freed& f, std::int64_t time) { return f.time < time; });
    for (; at != frees.end() && at->time < end; ++at) level.frees.push_back(*at);
  }

  void add_storages(const spec::Argument& argument, std::set<StorageIndex>& out) const {
    for_each_value(argument, [&](spec::ValueId id) {
      graph_.for_each_storage(id, [&](StorageIndex storage) { out.insert(storage); });
    });
  }

  // ---- planning

  // Whether allocations at the partition's end are held against the outputs of the graph. Only what
  // is captured is a function with lines of its own, and its last line is an allocation only where
  // no pointwise value that waits for a reader becomes a buffer behind it.
  [[nodiscard]] bool drops_tail(std::size_t block, const Partition& partition) const {
    if (!partition.captured || input_.partitions.are_graphs) return false;
    if (!deviations_.has(D::kTailAllocationsByGraphOutputs)) return false;
    const auto nodes =
        std::span(graph_.blocks[block].nodes)
            .subspan(partition.begin_node, partition.end_node - partition.begin_node);
    std::set<StorageIndex> waiting;
    const auto follow = [&](const SizedNode& node) {
      if (is_realized_at_once(graph_, node)) {
        for_each_operand(node.node, [&](spec::ValueId id) {
          graph_.for_each_storage(id, [&](StorageIndex s) { waiting.erase(s); });
        });
      } else if (launches(node)) {
        for_each_made(node.node, [&](spec::ValueId id) {
          graph_.for_each_storage(id, [&](StorageIndex s) { waiting.insert(s); });
        });
      }
    };
    for (const SizedNode& node : nodes) {
      if (!node.is_fused()) follow(node);
      for (const SizedNode& member : node.body) follow(member);
    }
    return std::ranges::none_of(
        waiting, [&](StorageIndex s) { return is_needed_behind(s, block, partition); });
  }

  [[nodiscard]] bool is_needed_behind(StorageIndex storage, std::size_t block,
                                      const Partition& partition) const {
    if (graph_.storages[storage].kind == StorageKind::kInner) return false;
    const std::int64_t last = input_.liveness.times[block][partition.end_node - 1];
    return uses_[storage].is_output || uses_[storage].lifetime.end > last + 1;
  }

  // What nobody needs may go: only what somebody needs is missed.
  void drop_tail(std::size_t block, const Partition& partition, Level& level) {
    while (!level.lines.empty() && level.lines.back().kind != LineKind::kLaunch &&
           !graph_outputs_.contains(level.lines.back().storage)) {
      const StorageIndex storage = level.lines.back().storage;
      if (is_needed_behind(storage, block, partition)) {
        builder_.open_without_place(storage);
      } else {
        builder_.open(storage);
      }
      level.lines.pop_back();
    }
  }

  void plan(Level& level) {
    for (const Line& line : level.lines) {
      if (line.kind == LineKind::kAllocate) allocate(line, level);
      if (line.kind == LineKind::kTakeOver) builder_.join(line.old, line.storage);
    }
  }

  void allocate(const Line& line, Level& level) {
    if (builder_.has_group(line.storage)) return;  // reused before it was there
    offer(first_not_offered(line.time), level);
    const auto found = level.lists.find(key_of(line.storage));
    if (found == level.lists.end() || found->second.empty() ||
        found->second.back().storage == line.storage ||
        !stays_in_peak(found->second.back(), line)) {
      return builder_.open(line.storage);
    }
    builder_.join(found->second.back().storage, line.storage);
    found->second.pop_back();
  }

  // Frees before this time are on offer to an allocation at `time`.
  [[nodiscard]] std::int64_t first_not_offered(std::int64_t time) const {
    if (deviations_.has(D::kReusesInvertedRanges)) return std::numeric_limits<std::int64_t>::max();
    return deviations_.has(D::kAllocatedTestedLate) ? time + 1 : time;
  }

  void offer(std::int64_t until, Level& level) {
    for (; level.offered < level.frees.size() && level.frees[level.offered].time < until;
         ++level.offered) {
      const Freed& freed = level.frees[level.offered];
      if (freed_[freed.storage]) continue;
      freed_[freed.storage] = true;
      level.lists[key_of(freed.storage)].push_back(freed);
    }
  }

  [[nodiscard]] Key key_of(StorageIndex storage) const {
    const SizedStorage& s = graph_.storages[storage];
    const StorageUse& use = uses_[storage];
    Key key{spec::print_device(s.device), use.dtype, s.bytes, !use.is_unaligned};
    if (deviations_.has(D::kKeyWithoutDevice)) std::get<0>(key).clear();
    if (deviations_.has(D::kKeyWithoutDtype)) std::get<1>(key) = spec::DType::kFloat32;
    if (deviations_.has(D::kKeyWithoutLayout)) std::get<2>(key) = 0;
    if (deviations_.has(D::kKeyWithoutAlignment)) std::get<3>(key) = true;
    return key;
  }

  // The buffer would be held through every step between the two nodes.
  [[nodiscard]] bool stays_in_peak(const Freed& freed, const Line& line) {
    if (deviations_.has(D::kReuseWithoutPeakTest)) return true;
    return guard_.hold(freed.time + 1, line.time, graph_.storages[freed.storage].bytes);
  }

  const MemoryInput& input_;
  const SizedGraph& graph_;
  const std::vector<StorageUse>& uses_;
  const std::vector<StorageIndex>& takes_over_;
  const spec::DeviationSet& deviations_;
  std::vector<std::vector<std::vector<StorageIndex>>> made_;  // by block and node
  std::vector<std::vector<Freed>> frees_;                     // by the block of the maker, by time
  std::set<StorageIndex> graph_outputs_;
  std::vector<bool> freed_;  // on offer once
  PeakGuard guard_;
  GroupBuilder builder_;
};

}  // namespace

MemoryGroups plan_lines(const MemoryInput& input, const std::vector<StorageUse>& uses,
                        const std::vector<StorageIndex>& takes_over,
                        const spec::DeviationSet& deviations) {
  return LinePlanner(input, uses, takes_over, deviations).run();
}

}  // namespace graphgate::optimized
