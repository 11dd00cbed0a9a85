#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "optimized/memory/pack.h"
#include "optimized/memory/pack_parts.h"

namespace graphgate::optimized {

namespace {

struct Event {
  std::int64_t step = 0;
  bool birth = false;  // deaths of a step come before its births
  std::size_t item = 0;
  friend bool operator<(const Event& a, const Event& b) {
    return std::tie(a.step, a.birth, a.item) < std::tie(b.step, b.birth, b.item);
  }
};

PackConflict conflict(std::size_t a, std::size_t b) { return {std::min(a, b), std::max(a, b)}; }

}  // namespace

Result<std::int64_t> lower_bound_bytes(std::span<const PackItem> items,
                                       std::int64_t alignment_bytes) {
  GRAPHGATE_TRY(const PackParts parts, make_parts(items, alignment_bytes));
  return parts.bound * parts.unit_bytes;
}

std::optional<PackConflict> find_overlap(std::span<const PackItem> items,
                                         std::span<const std::int64_t> offsets_bytes) {
  GRAPHGATE_CHECK(items.size() == offsets_bytes.size());
  std::vector<Event> events;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const PackItem& item = items[i];
    GRAPHGATE_CHECK(item.lower < item.upper && item.size_bytes >= 0);
    if (offsets_bytes[i] < 0 ||
        item.size_bytes > std::numeric_limits<std::int64_t>::max() - offsets_bytes[i]) {
      return PackConflict{i, i};
    }
    if (item.size_bytes == 0) continue;
    events.push_back({item.lower, true, i});
    events.push_back({item.upper, false, i});
  }
  std::sort(events.begin(), events.end());
  // The living, by offset. They are disjoint, so a newborn that meets one meets a neighbour.
  std::map<std::int64_t, std::size_t> living;
  for (const auto& [step, birth, item] : events) {
    const std::int64_t offset = offsets_bytes[item];
    if (!birth) {
      living.erase(offset);
      continue;
    }
    const auto above = living.lower_bound(offset);
    if (above != living.end() && above->first - offset < items[item].size_bytes) {
      return conflict(item, above->second);
    }
    if (above != living.begin()) {
      const auto [below_offset, below] = *std::prev(above);
      if (offset - below_offset < items[below].size_bytes) return conflict(item, below);
    }
    living.emplace_hint(above, offset, item);
  }
  return std::nullopt;
}

}  // namespace graphgate::optimized
