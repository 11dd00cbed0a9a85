#include "optimized/partition/split_graph.h"

#include <unordered_map>

#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

struct Run {
  bool is_split = false;
  std::vector<std::uint32_t> nodes;
};

std::vector<Run> runs_of(const CutContext& context, const SizedBlock& block) {
  const bool shares = context.options().split_generation != SplitGeneration::kOlder;
  std::vector<Run> runs;
  for (std::uint32_t n = 0; n < block.nodes.size(); ++n) {
    const bool is_split = split_op_of(context, block.nodes[n]) != nullptr;
    const bool ends = n > 0 && must_end(context, block.nodes[n - 1], runs.back().nodes.size());
    if (runs.empty() || ends || runs.back().is_split != is_split || (is_split && !shares)) {
      runs.push_back({is_split, {}});
    }
    runs.back().nodes.push_back(n);
  }
  return runs;
}

// Moves lone allocations into earlier runs.
class Joiner {
 public:
  Joiner(const CutContext& context, const SizedBlock& block, std::vector<Run>& runs)
      : context_(context), block_(block), runs_(runs) {}

  void run() {
    std::optional<std::size_t> last;  // the last run that holds no split op
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      Run& run = runs_[r];
      const bool joins = last && !run.is_split && run.nodes.size() == 1 && has_room(*last) &&
                         may_join(block_.nodes[run.nodes.front()], *last);
      const std::size_t target = joins ? *last : r;
      for (const std::uint32_t n : run.nodes) note_makers(block_.nodes[n], target);
      if (joins) {
        runs_[target].nodes.push_back(run.nodes.front());
        run.nodes.clear();
      } else if (!run.is_split) {
        last = r;
      }
    }
    std::erase_if(runs_, [](const Run& run) { return run.nodes.empty(); });
  }

 private:
  [[nodiscard]] bool has_room(std::size_t run) const {
    const std::vector<std::uint32_t>& nodes = runs_[run].nodes;
    return !must_end(context_, block_.nodes[nodes.back()], nodes.size());
  }

  [[nodiscard]] bool may_join(const SizedNode& node, std::size_t target) const {
    if (launches(node) || cut_reason(context_, node)) return false;
    bool is_there = true;
    for_each_operand(node.node, [&](spec::ValueId id) {
      is_there &= is_made_by(value_makers_, id.index, target);
      context_.graph().for_each_storage(id, [&](StorageIndex storage) {
        is_there &= is_made_by(storage_makers_, storage, target);
      });
    });
    return is_there;
  }

  using Makers = std::unordered_map<std::uint32_t, std::size_t>;

  // What no run of this block makes is there from the start.
  static bool is_made_by(const Makers& makers, std::uint32_t index, std::size_t target) {
    const auto maker = makers.find(index);
    return maker == makers.end() || maker->second <= target;
  }

  void note_makers(const SizedNode& node, std::size_t run) {
    for (const spec::ValueId id : flat_results(node.node)) {
      value_makers_.try_emplace(id.index, run);
      context_.graph().for_each_storage(
          id, [&](StorageIndex storage) { storage_makers_.try_emplace(storage, run); });
    }
  }

  const CutContext& context_;
  const SizedBlock& block_;
  std::vector<Run>& runs_;
  Makers value_makers_;
  Makers storage_makers_;
};

}  // namespace

std::vector<std::uint32_t> split_block(const CutContext& context, SizedBlock& block) {
  std::vector<Run> runs = runs_of(context, block);
  if (context.options().split_generation == SplitGeneration::kNewer) {
    Joiner(context, block, runs).run();
  }
  std::vector<SizedNode> nodes;
  nodes.reserve(block.nodes.size());
  std::vector<std::uint32_t> sizes;
  for (const Run& run : runs) {
    for (const std::uint32_t n : run.nodes) nodes.push_back(std::move(block.nodes[n]));
    sizes.push_back(static_cast<std::uint32_t>(run.nodes.size()));
  }
  block.nodes = std::move(nodes);
  return sizes;
}

}  // namespace graphgate::optimized
