#include "optimized/memory/pack_restarts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

namespace graphgate::optimized {

namespace {

// Above the bound only the first half is of use: where there is slack, nothing is scarce.
constexpr std::array<SearchOrder, 6> kOrders = {{
    {SearchTies::kAreaLoadDuration, SearchPick::kUrgent},
    {SearchTies::kLoadDurationArea, SearchPick::kUrgent},
    {SearchTies::kDurationAreaLoad, SearchPick::kUrgent},
    {SearchTies::kAreaLoadDuration, SearchPick::kScarcest},
    {SearchTies::kLoadDurationArea, SearchPick::kScarcest},
    {SearchTies::kDurationAreaLoad, SearchPick::kScarcest},
}};
constexpr std::int64_t kShortestSlice = 1'000'000;
constexpr int kLengtheningsMax = 40;
constexpr std::int64_t kSumsWorkMax = 4'000'000;  // words of bits
constexpr std::size_t kWindowCentres = 8;

// The boxes of sections [begin, end), cut to them.
PackPart window_of(const PackPart& part, std::int32_t begin, std::int32_t end) {
  PackPart window;
  window.section_count = end - begin;
  window.bound = part.bound;  // at most; can_search() asks for no more
  for (PackBox box : part.boxes) {
    if (box.first >= end || box.last <= begin) continue;
    box.first = std::max(box.first, begin) - begin;
    box.last = std::min(box.last, end) - begin;
    box.duration = box.last - box.first;
    window.boxes.push_back(box);
  }
  window.live_max = part.live_max;
  return window;
}

std::vector<std::int64_t> loads_of(const PackPart& part) {
  std::vector<std::int64_t> loads(static_cast<std::size_t>(part.section_count) + 1);
  for (const PackBox& box : part.boxes) {
    loads[static_cast<std::size_t>(box.first)] += box.size;
    loads[static_cast<std::size_t>(box.last)] -= box.size;
  }
  for (std::size_t s = 1; s < loads.size(); ++s) loads[s] += loads[s - 1];
  loads.pop_back();
  return loads;
}

// A few sections of the highest load, spread over the part.
std::vector<std::int32_t> window_centres(const PackPart& part) {
  const std::vector<std::int64_t> loads = loads_of(part);
  std::vector<std::int32_t> highest;
  for (std::size_t s = 0; s < loads.size(); ++s) {
    if (loads[s] == part.bound) highest.push_back(static_cast<std::int32_t>(s));
  }
  const std::size_t stride = (highest.size() + kWindowCentres - 1) / kWindowCentres;
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < highest.size(); i += stride) result.push_back(highest[i]);
  return result;
}

}  // namespace

std::int64_t slice_length(std::uint64_t round) {
  return std::int64_t{1} << std::min(std::countr_zero(round + 1), kLengtheningsMax);
}

SearchResult search_round(const PackPart& part, std::int64_t capacity, std::uint64_t round,
                          std::int64_t length, std::int64_t& work, const PackStop* stop) {
  // Long enough to put every box down once.
  std::int64_t dive = 0;
  for (const PackBox& box : part.boxes) dive += 8 + (box.last - box.first) / 4;
  dive = std::max(kShortestSlice, dive * static_cast<std::int64_t>(part.boxes.size()));
  const std::span<const SearchOrder> orders(kOrders.data(), capacity > part.bound ? 3 : 6);
  for (SearchOrder order : orders) {
    if (work <= 0) break;
    order.seed = round;
    const std::int64_t slice = dive > work / length ? work : dive * length;
    std::int64_t left = slice;
    SearchResult result = search(part, capacity, order, left, stop);
    work -= slice - left;
    if (result.end != SearchEnd::kBudget) return result;
    if (stop != nullptr && stop->is_over()) work = -1;
  }
  return {};
}

SearchResult search_with_restarts(const PackPart& part, std::int64_t capacity, std::int64_t& work) {
  for (std::uint64_t round = 0; work > 0; ++round) {
    SearchResult result = search_round(part, capacity, round, slice_length(round), work);
    if (result.end != SearchEnd::kBudget) return result;
  }
  return {};
}

std::int64_t rung(std::uint64_t k, std::int64_t floor, std::int64_t top, Top what) {
  // Of 16 parts of the way up.
  constexpr std::array<std::int64_t, kRungs> kToGoal = {16, 16, 8, 0, 16, 4, 16, 12};
  constexpr std::array<std::int64_t, kRungs> kBelowBest = {8, 12, 8, 4, 8, 12, 8, 0};
  GRAPHGATE_CHECK(floor <= top);
  const std::int64_t way = top - floor;
  const std::int64_t parts = what == Top::kGoal ? kToGoal[k % kRungs] : kBelowBest[k % kRungs];
  return floor + way / 16 * parts + way % 16 * parts / 16;
}

std::int64_t next_sum_of_sizes(const PackPart& part, std::int64_t bound) {
  // Bit k of the words: k is a sum. Sums from `bound` on need no more than the largest size above.
  std::int64_t size_max = 0;
  for (const PackBox& box : part.boxes) size_max = std::max(size_max, box.size);
  const auto count = static_cast<std::int64_t>(part.boxes.size());
  if (bound > kSumsWorkMax * 32 || size_max > kSumsWorkMax * 32) return bound;
  const std::int64_t words = (bound + size_max) / 64 + 2;
  if (words > kSumsWorkMax / count) return bound;
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(words));
  sums[0] = 1;
  for (const PackBox& box : part.boxes) {
    const auto skip = static_cast<std::size_t>(box.size / 64);
    const int shift = static_cast<int>(box.size % 64);
    for (std::size_t w = sums.size(); w-- > skip;) {
      std::uint64_t moved = sums[w - skip] << shift;
      if (shift > 0 && w > skip) moved |= sums[w - skip - 1] >> (64 - shift);
      sums[w] |= moved;
    }
  }
  for (std::int64_t k = bound; k < words * 64; ++k) {
    if ((sums[static_cast<std::size_t>(k / 64)] >> (k % 64) & 1) != 0) return k;
  }
  return bound;
}

bool window_is_refuted(const PackPart& part, std::int64_t capacity, std::int64_t& work,
                       std::int64_t slice, const PackStop* stop) {
  const std::vector<std::int32_t> centres = window_centres(part);
  for (std::int32_t radius = 2; work > 0 && radius < part.section_count; radius *= 2) {
    for (const std::int32_t centre : centres) {
      const PackPart window = window_of(part, std::max(0, centre - radius),
                                        std::min(part.section_count, centre + radius + 1));
      std::int64_t left = std::min(work, slice);
      work -= left;
      const SearchEnd end =
          search(window, capacity, {SearchTies::kDurationAreaLoad, SearchPick::kScarcest}, left,
                 stop)
              .end;
      work += left;
      if (end == SearchEnd::kExhausted) return true;
      if (work <= 0) break;
    }
  }
  return false;
}

}  // namespace graphgate::optimized
