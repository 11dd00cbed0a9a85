#include "optimized/memory/pools.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "optimized/memory/split_tree.h"

namespace graphgate::optimized {
namespace {

class Pools {
 public:
  Pools(const std::vector<PoolBlock>& blocks, PoolRule rule) : blocks_(blocks), rule_(rule) {}

  Result<PoolPlan> run() {
    for (const std::size_t block : in_order()) {
      if (blocks_[block].is_output) {
        add_output(block);
      } else {
        add_intermediate(block);
      }
    }
    PoolPlan out;
    out.places.resize(blocks_.size());
    for (std::size_t p = 0; p < trees_.size(); ++p) {
      const auto bytes_of = [&](std::size_t block) { return blocks_[block].bytes; };
      GRAPHGATE_TRY(const std::int64_t size,
                    trees_[p].place(bytes_of, [&](std::size_t block, std::int64_t offset_bytes) {
                      out.places[block] = {p, offset_bytes};
                    }));
      out.sizes_bytes.push_back(size);
    }
    return out;
  }

 private:
  // Outputs by ascending size, then the rest by descending size and length of life.
  [[nodiscard]] std::vector<std::size_t> in_order() const {
    std::vector<std::size_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto rank = [this](std::size_t i) {
      const PoolBlock& block = blocks_[i];
      if (block.is_output) return std::tuple(0, block.hint_bytes, std::int64_t{0});
      return std::tuple(1, -block.hint_bytes, block.lifetime.begin - block.lifetime.end);
    };
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    return order;
  }

  void add_output(std::size_t block) {
    const PoolBlock& b = blocks_[block];
    const bool shares = rule_ == PoolRule::kOutputs || rule_ == PoolRule::kCombined;
    if (shares && !trees_.empty()) return trees_.back().append(block, b.hint_bytes, b.lifetime);
    trees_.emplace_back(block, b.hint_bytes, b.lifetime);
    first_free_ = rule_ == PoolRule::kOutputs ? trees_.size() : 0;
  }

  // The last pool may grow where it has, as a last resort, a place behind everything.
  void add_intermediate(std::size_t block) {
    const PoolBlock& b = blocks_[block];
    const bool grows = rule_ != PoolRule::kNone;
    for (std::size_t p = first_free_; p < trees_.size(); ++p) {
      const bool is_last = grows && p + 1 == trees_.size() && !is_of_one_output(p);
      if (trees_[p].insert(block, b.hint_bytes, b.lifetime, is_last)) return;
      if (is_last) return trees_[p].append(block, b.hint_bytes, b.lifetime);
    }
    trees_.emplace_back(block, b.hint_bytes, b.lifetime);
    if (first_of_intermediates_ == 0) first_of_intermediates_ = trees_.size();
  }

  // Under kIntermediates an output's pool stays as large as the output.
  [[nodiscard]] bool is_of_one_output(std::size_t pool) const {
    return rule_ == PoolRule::kIntermediates &&
           (first_of_intermediates_ == 0 || pool + 1 < first_of_intermediates_);
  }

  const std::vector<PoolBlock>& blocks_;
  PoolRule rule_;
  std::vector<SplitTree> trees_;
  std::size_t first_free_ = 0;              // pools before it are for outputs alone
  std::size_t first_of_intermediates_ = 0;  // one more than that pool's index; 0: none yet
};

}  // namespace

Result<PoolPlan> plan_pools(const std::vector<PoolBlock>& blocks, PoolRule rule) {
  return Pools(blocks, rule).run();
}

}  // namespace graphgate::optimized
