#include "optimized/memory/pack_fit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "base/split_mix.h"

namespace graphgate::optimized {

namespace {

using Order = FitMethod::Order;
using Hole = FitMethod::Hole;

constexpr std::array<FitMethod, 12> kMethods = {{
    {Order::kSizeThenBirth, Hole::kLowest, "first fit (size, birth)"},
    {Order::kSizeThenBirth, Hole::kTightest, "best fit (size, birth)"},
    {Order::kLogSizeThenBirth, Hole::kLowest, "first fit (log size, birth)"},
    {Order::kLogSizeThenBirth, Hole::kTightest, "best fit (log size, birth)"},
    {Order::kSizeThenDuration, Hole::kLowest, "first fit (size, duration)"},
    {Order::kSizeThenDuration, Hole::kTightest, "best fit (size, duration)"},
    {Order::kLogDurationThenSize, Hole::kTightest, "best fit (log duration, size)"},
    {Order::kLogDurationThenSize, Hole::kLowest, "first fit (log duration, size)"},
    {Order::kDurationThenSize, Hole::kTightest, "best fit (duration, size)"},
    {Order::kDurationThenSize, Hole::kLowest, "first fit (duration, size)"},
    {Order::kArea, Hole::kLowest, "first fit (area)"},
    {Order::kArea, Hole::kTightest, "best fit (area)"},
}};

constexpr std::int64_t kLookEvery = 1'000'000;  // operations: some milliseconds

double log_floor(std::int64_t value) {
  return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(value)));
}

// Larger keys go first; equal keys in the order of birth.
std::pair<double, double> sort_key(const PackBox& box, Order order) {
  const auto size = static_cast<double>(box.size);
  const auto duration = static_cast<double>(box.duration);
  switch (order) {
    case Order::kSizeThenBirth:
      return {size, 0};
    case Order::kLogSizeThenBirth:
      return {log_floor(box.size), 0};
    case Order::kSizeThenDuration:
      return {size, duration};
    case Order::kLogDurationThenSize:
      return {log_floor(box.duration), size};
    case Order::kDurationThenSize:
      return {duration, size};
    case Order::kArea:
      return {size * duration, 0};
  }
  return {};
}

// A factor of 1 to 5 for a key, the same for equal keys: their order by birth stays. Seeds differ
// in how far they go.
double stretch(double key, std::uint64_t seed) {
  if (seed == 0) return 1;
  constexpr std::array<double, 3> kMost = {0.25, 1, 4};
  SplitMix64 random(std::bit_cast<std::uint64_t>(key) ^ seed * 0xD1342543DE82EF95U);
  return 1 + static_cast<double>(random.next() >> 11U) * 0x1p-53 * kMost[seed % kMost.size()];
}

std::vector<std::uint32_t> sorted_boxes(const PackPart& part, Order order, std::uint64_t seed) {
  std::vector<std::pair<double, double>> keys;
  keys.reserve(part.boxes.size());
  for (const PackBox& box : part.boxes) {
    auto& key = keys.emplace_back(sort_key(box, order));
    key.first *= stretch(key.first, seed);
  }
  std::vector<std::uint32_t> result(part.boxes.size());
  std::iota(result.begin(), result.end(), 0U);
  std::ranges::stable_sort(result,
                           [&](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
  return result;
}

struct Placed {
  std::int64_t offset = 0;
  std::int64_t top = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
};

bool is_lower(const Placed& a, const Placed& b) { return a.offset < b.offset; }

// Looks at placed boxes from low to high and remembers the hole to take.
class HoleChoice {
 public:
  HoleChoice(const PackBox& box, Hole rule) : box_(box), rule_(rule) {}

  // True when the choice is made and no more boxes need to be looked at.
  bool pass(const Placed& placed) {
    const std::int64_t hole = placed.offset - cursor_;
    if (hole >= box_.size && hole < best_hole_) {
      best_hole_ = hole;
      best_offset_ = cursor_;
      if (rule_ == Hole::kLowest || hole == box_.size) return true;
    }
    cursor_ = std::max(cursor_, placed.top);
    return false;
  }
  [[nodiscard]] bool meets(const Placed& placed) const {
    return placed.first < box_.last && placed.last > box_.first;
  }
  [[nodiscard]] std::int64_t offset() const { return best_offset_ >= 0 ? best_offset_ : cursor_; }

 private:
  const PackBox& box_;
  Hole rule_;
  std::int64_t cursor_ = 0;
  std::int64_t best_hole_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t best_offset_ = -1;
};

// The boxes placed so far. Sections are grouped into blocks; a block lists, from low to high, the
// boxes that touch it. With n / live_max blocks a list has about 2 live_max entries, and most boxes
// look at few lists.
class PlacedBoxes {
 public:
  explicit PlacedBoxes(const PackPart& part)
      : sections_per_block_(std::max<std::int64_t>(
            1, static_cast<std::int64_t>(part.section_count) * part.live_max /
                   static_cast<std::int64_t>(part.boxes.size()))),
        blocks_(block_of(part.section_count - 1) + 1) {}

  // Where `box` goes; operations are taken off `work`.
  std::int64_t find_hole(const PackBox& box, Hole rule, std::int64_t& work) {
    const std::size_t begin = block_of(box.first);
    const std::size_t end = block_of(box.last - 1) + 1;
    HoleChoice choice(box, rule);
    if (end - begin <= kMergedMax) {
      merge(begin, end, choice, work);
      return choice.offset();
    }
    gathered_.clear();
    for (std::size_t b = begin; b < end; ++b) {
      work -= static_cast<std::int64_t>(blocks_[b].size());
      for (const Placed& placed : blocks_[b]) {
        if (is_new(placed, b, begin) && choice.meets(placed)) gathered_.push_back(placed);
      }
    }
    work -= static_cast<std::int64_t>(gathered_.size()) * 8;
    std::ranges::sort(gathered_, is_lower);
    for (const Placed& placed : gathered_) {
      if (choice.pass(placed)) break;
    }
    return choice.offset();
  }

  void insert(const PackBox& box, std::int64_t offset, std::int64_t& work) {
    const Placed placed{offset, offset + box.size, box.first, box.last};
    for (std::size_t b = block_of(box.first); b <= block_of(box.last - 1); ++b) {
      std::vector<Placed>& block = blocks_[b];
      const auto at = std::upper_bound(block.begin(), block.end(), placed, is_lower);
      work -= 8 + (block.end() - at) / 4;
      block.insert(at, placed);
    }
  }

 private:
  static constexpr std::size_t kMergedMax = 6;
  using Cursor = std::pair<const Placed*, const Placed*>;  // [first, second) is left of a block

  [[nodiscard]] std::size_t block_of(std::int32_t section) const {
    return static_cast<std::size_t>(section / sections_per_block_);
  }

  // A box that touches several blocks counts in the first of those looked at.
  [[nodiscard]] bool is_new(const Placed& placed, std::size_t block, std::size_t begin) const {
    return block == begin || placed.first >= static_cast<std::int64_t>(block) * sections_per_block_;
  }

  // Blocks [begin, end) from low to high, with an early end.
  void merge(std::size_t begin, std::size_t end, HoleChoice& choice, std::int64_t& work) const {
    std::array<Cursor, kMergedMax> cursors;
    const auto skip = [&](std::size_t b) {
      auto& [at, last] = cursors[b - begin];
      for (; at != last && !(choice.meets(*at) && is_new(*at, b, begin)); ++at) --work;
    };
    for (std::size_t b = begin; b < end; ++b) {
      cursors[b - begin] = {blocks_[b].data(), blocks_[b].data() + blocks_[b].size()};
      skip(b);
    }
    for (;;) {
      std::optional<std::size_t> lowest;
      for (std::size_t b = begin; b < end; ++b) {
        const auto& [at, last] = cursors[b - begin];
        if (at != last && (!lowest || is_lower(*at, *cursors[*lowest - begin].first))) lowest = b;
      }
      if (!lowest) return;
      work -= static_cast<std::int64_t>(end - begin);
      if (choice.pass(*cursors[*lowest - begin].first++)) return;
      skip(*lowest);
    }
  }

  std::int64_t sections_per_block_;
  std::vector<std::vector<Placed>> blocks_;
  std::vector<Placed> gathered_;
};

}  // namespace

std::span<const FitMethod> fit_methods() { return kMethods; }

std::optional<PartPacking> fit(const PackPart& part, const FitMethod& method, std::int64_t limit,
                               std::int64_t& work, const PackStop* stop, std::uint64_t seed) {
  PartPacking result{std::vector<std::int64_t>(part.boxes.size()), 0, method.name};
  PlacedBoxes placed(part);
  std::int64_t next_look = work;
  for (const std::uint32_t i : sorted_boxes(part, method.order, seed)) {
    if (stop != nullptr && work < next_look) {
      next_look = work - kLookEvery;
      if (stop->is_over()) return std::nullopt;
    }
    const PackBox& box = part.boxes[i];
    const std::int64_t offset = placed.find_hole(box, method.hole, work);
    if (offset >= limit || box.size >= limit - offset || work < 0) return std::nullopt;
    placed.insert(box, offset, work);
    result.offsets[i] = offset;
    result.peak = std::max(result.peak, offset + box.size);
  }
  return result;
}

}  // namespace graphgate::optimized
