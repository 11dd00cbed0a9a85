#include "optimized/memory/arena.h"

#include <algorithm>
#include <limits>
#include <set>

#include "optimized/memory/pools.h"

namespace graphgate::optimized {
namespace {

class Arenas {
 public:
  Arenas(std::vector<ArenaItem> items, const MemoryOptions& options)
      : items_(std::move(items)), options_(options) {
    out_.places.resize(items_.size());
    out_.is_at_bound = true;
  }

  Result<ArenaPlan> run() {
    sort_items();
    for (const Set& set : sets_) {
      const bool as_pools = options_.reuse && options_.strategy == MemoryStrategy::kPools;
      GRAPHGATE_TRY_VOID(as_pools ? split(set.members) : pack_set(set.members));
    }
    return std::move(out_);
  }

 private:
  using Members = std::vector<std::size_t>;
  struct Set {
    bool is_apart = false;  // from what is no output
    Members members;
  };

  // Sets that lie in pools apart from each other, in the order of their first items.
  void sort_items() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const ArenaItem& item = items_[i];
      const bool is_apart = is_in_output_pool(item);
      const auto found = std::ranges::find_if(sets_, [&](const Set& set) {
        const ArenaItem& first = items_[set.members.front()];
        return first.device == item.device && first.is_unaligned == item.is_unaligned &&
               set.is_apart == is_apart;
      });
      if (found != sets_.end()) {
        found->members.push_back(i);
      } else {
        sets_.push_back({is_apart, {i}});
      }
    }
    for (const Set& set : sets_) add_pool(set);
  }

  [[nodiscard]] bool is_in_output_pool(const ArenaItem& item) const {
    return options_.strategy != MemoryStrategy::kPools && options_.outputs_apart &&
           item.is_output && item.has_place;
  }

  void add_pool(const Set& set) {
    const Members& members = set.members;
    const ArenaItem& item = items_[members.front()];
    std::string name = set.is_apart ? "output" : "arena";
    if (item.is_unaligned) name = set.is_apart ? "unaligned_output" : "unaligned";
    const std::size_t pool = new_pool(name, item.device, item.is_unaligned);
    for (const std::size_t i : members) out_.places[i].pool = pool;
  }

  std::size_t new_pool(const std::string& wanted, const spec::Device& device, bool is_unaligned) {
    std::string name = wanted;
    for (int i = 2; !names_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    const std::int64_t alignment = is_unaligned
                                       ? std::min(kElementAlignment, options_.alignment_bytes)
                                       : options_.alignment_bytes;
    out_.pools.push_back({std::move(name), spec::PoolKind::kArena, device, 0, alignment});
    return out_.pools.size() - 1;
  }

  // What needs a place; the rest lies at offset 0 of the set's first pool, which holds it.
  Members placed(const Members& members, bool is_sized) {
    Members out;
    spec::PlanPool& pool = out_.pools[out_.places[members.front()].pool];
    for (const std::size_t i : members) {
      if (!items_[i].has_place) {
        pool.size_bytes = std::max(pool.size_bytes, items_[i].bytes);
      } else if (!is_sized || items_[i].bytes > 0 || items_[i].hint_bytes > 0) {
        out.push_back(i);
      }
    }
    return out;
  }

  Result<void> pack_set(const Members& all) {
    const Members members = placed(all, false);
    std::vector<PackItem> items;
    for (const std::size_t i : members) {
      items.push_back({items_[i].lifetime.begin, items_[i].lifetime.end, items_[i].bytes});
    }
    spec::PlanPool& pool = out_.pools[out_.places[all.front()].pool];
    GRAPHGATE_TRY(const Packing packing, options_.reuse
                                             ? pack(items, pool.alignment_bytes, options_.pack)
                                             : pack_without_reuse(items, pool.alignment_bytes));
    for (std::size_t k = 0; k < members.size(); ++k) {
      out_.places[members[k]].offset_bytes = packing.offsets_bytes[k];
    }
    pool.size_bytes = std::max(pool.size_bytes, packing.peak_bytes);
    out_.is_at_bound &=
        packing.peak_bytes == packing.bound_bytes && packing.bound_reason == BoundReason::kLoad;
    return {};
  }

  // The set's first split pool is the pool that it has, the others are new.
  Result<void> split(const Members& all) {
    const Members members = placed(all, true);
    const std::size_t first = out_.places[all.front()].pool;
    const std::int64_t alignment = out_.pools[first].alignment_bytes;
    std::vector<PoolBlock> blocks;
    for (const std::size_t i : members) {
      GRAPHGATE_TRY(const std::int64_t bytes, rounded(items_[i].bytes, alignment));
      GRAPHGATE_TRY(const std::int64_t hint, rounded(items_[i].hint_bytes, alignment));
      blocks.push_back({items_[i].lifetime, bytes, hint, items_[i].is_output});
    }
    GRAPHGATE_TRY(const PoolPlan plan, plan_pools(blocks, options_.pool_rule));
    Members pools;
    for (std::size_t p = 0; p < plan.sizes_bytes.size(); ++p) {
      const ArenaItem& item = items_[all.front()];
      const std::string word = item.is_unaligned ? "unaligned" : "arena";
      pools.push_back(p == 0 ? first : new_pool(word, item.device, item.is_unaligned));
      std::int64_t& size = out_.pools[pools.back()].size_bytes;
      size = std::max(size, plan.sizes_bytes[p]);
    }
    for (std::size_t k = 0; k < members.size(); ++k) {
      out_.places[members[k]] = {pools[plan.places[k].pool], plan.places[k].offset_bytes};
    }
    out_.is_at_bound = false;
    return {};
  }

  static Result<std::int64_t> rounded(std::int64_t bytes, std::int64_t alignment) {
    if (bytes > std::numeric_limits<std::int64_t>::max() - alignment) {
      return bad_input(std::to_string(bytes) + " bytes leave 64 bits");
    }
    return (bytes + alignment - 1) / alignment * alignment;
  }

  std::vector<ArenaItem> items_;
  const MemoryOptions& options_;
  ArenaPlan out_;
  std::vector<Set> sets_;  // few
  std::set<std::string> names_;
};

}  // namespace

Result<ArenaPlan> plan_arenas(std::vector<ArenaItem> items, const MemoryOptions& options,
                              const spec::DeviationSet& deviations) {
  if (deviations.has(spec::Deviation::kOffsetsFromHints)) {
    for (ArenaItem& item : items) item.bytes = item.hint_bytes;
  }
  return Arenas(std::move(items), options).run();
}

}  // namespace graphgate::optimized
