#include "optimized/memory/pack.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "optimized/memory/pack_fit.h"
#include "optimized/memory/pack_parts.h"
#include "optimized/memory/pack_search.h"

namespace graphgate::optimized {

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

constexpr std::array<SearchOrder, 5> kSearchOrders = {{
    {SearchTies::kAreaLoadDuration, false},
    {SearchTies::kLoadDurationArea, false},
    {SearchTies::kAreaLoadDuration, true},
    {SearchTies::kDurationAreaLoad, false},
    {SearchTies::kLoadDurationArea, true},
}};
constexpr std::int64_t kFirstSlice = 2'000'000;
constexpr std::int64_t kSliceGrowth = 4;

// Packs the parts one after the other into the same addresses. All numbers are in units.
class Packer {
 public:
  Packer(const PackParts& parts, const PackOptions& options)
      : parts_(parts.parts),
        floor_(parts.bound),
        peak_max_(kMax / parts.unit_bytes),
        fit_work_(options.fit_work),
        search_work_(options.search_work),
        search_items_max_(options.search_items_max),
        best_(parts_.size()) {}

  // False when no packing ends within 63 bits.
  bool run() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      auto placement = fit_online(parts_[i]);
      if (!placement || placement->peak > peak_max_) {
        placement = Placement{{}, peak_max_ == kMax ? kMax : peak_max_ + 1, ""};
      }
      best_[i] = std::move(*placement);
    }
    std::vector<std::size_t> worst_first(parts_.size());
    std::iota(worst_first.begin(), worst_first.end(), std::size_t{0});
    std::stable_sort(worst_first.begin(), worst_first.end(),
                     [&](std::size_t a, std::size_t b) { return best_[a].peak > best_[b].peak; });
    for (const std::size_t part : worst_first) fit_part(part);
    // A part below the highest one is of no interest: only improve that.
    for (std::size_t last = parts_.size(); search_work_ > 0;) {
      const std::size_t part = highest_part();
      if (part == last || part == parts_.size() || best_[part].peak <= floor_) break;
      search_part(part);
      last = part;
    }
    return std::none_of(best_.begin(), best_.end(),
                        [](const Placement& placement) { return placement.offsets.empty(); });
  }

  [[nodiscard]] const std::vector<Placement>& best() const { return best_; }
  // No packing ends below it.
  [[nodiscard]] std::int64_t floor() const { return floor_; }
  // The number of parts when there is none.
  [[nodiscard]] std::size_t highest_part() const {
    const auto highest =
        std::max_element(best_.begin(), best_.end(),
                         [](const Placement& a, const Placement& b) { return a.peak < b.peak; });
    return static_cast<std::size_t>(highest - best_.begin());
  }

 private:
  void fit_part(std::size_t part) {
    for (const FitMethod& method : fit_methods()) {
      if (best_[part].peak <= floor_ || fit_work_ <= 0) return;
      if (auto placement = fit(parts_[part], method, best_[part].peak, fit_work_)) {
        best_[part] = std::move(*placement);
      }
    }
  }

  // At the bound first, with most of the budget: slack makes a search harder, not easier. What is
  // left goes to capacities between the bound and the best packing, by halves.
  void search_part(std::size_t part) {
    if (parts_[part].boxes.size() > search_items_max_) return;
    std::int64_t work = search_work_ - search_work_ / 4;
    search_work_ -= work;
    attempt(part, floor_, work);
    search_work_ += work;
    for (std::int64_t slice = search_work_ / 16; search_work_ > 0 && slice > 0; slice *= 2) {
      std::int64_t doubtful = floor_;  // below it, searches of this round did not end in time
      while (doubtful < best_[part].peak && search_work_ > 0) {
        const std::int64_t capacity = doubtful + (best_[part].peak - 1 - doubtful) / 2;
        work = std::min(slice, search_work_);
        search_work_ -= work;
        if (attempt(part, capacity, work) != SearchEnd::kFound) doubtful = capacity + 1;
        search_work_ += work;
        doubtful = std::max(doubtful, floor_);
      }
      if (best_[part].peak <= floor_) return;
    }
  }

  // All orders in turn, with growing slices of `work`.
  SearchEnd attempt(std::size_t part, std::int64_t capacity, std::int64_t& work) {
    if (!can_search(parts_[part], capacity)) {
      work = 0;
      return SearchEnd::kBudget;
    }
    for (std::int64_t slice = kFirstSlice; work > 0; slice *= kSliceGrowth) {
      for (const SearchOrder& order : kSearchOrders) {
        std::int64_t left = std::min(slice, work);
        work -= left;
        SearchResult result = search(parts_[part], capacity, order, left);
        work += left;
        if (result.end == SearchEnd::kFound) take(part, std::move(result.offsets));
        if (result.end == SearchEnd::kExhausted) floor_ = std::max(floor_, capacity + 1);
        if (result.end != SearchEnd::kBudget) return result.end;
        if (work <= 0) break;
      }
    }
    return SearchEnd::kBudget;
  }

  void take(std::size_t part, std::vector<std::int64_t> offsets) {
    Placement placement{std::move(offsets), 0, "search"};
    for (std::size_t i = 0; i < placement.offsets.size(); ++i) {
      placement.peak = std::max(placement.peak, placement.offsets[i] + parts_[part].boxes[i].size);
    }
    if (placement.peak < best_[part].peak) best_[part] = std::move(placement);
  }

  const std::vector<PackPart>& parts_;
  std::int64_t floor_;
  std::int64_t peak_max_;
  std::int64_t fit_work_;
  std::int64_t search_work_;
  std::size_t search_items_max_;
  std::vector<Placement> best_;  // by part; without offsets: nothing found yet
};

}  // namespace

Result<Packing> pack(std::span<const PackItem> items, std::int64_t alignment_bytes,
                     const PackOptions& options) {
  GRAPHGATE_TRY(const PackParts parts, make_parts(items, alignment_bytes));
  Packer packer(parts, options);
  if (!packer.run()) return bad_input("no packing of the items within 63 bits was found");
  Packing result{std::vector<std::int64_t>(items.size()), 0, packer.floor() * parts.unit_bytes,
                 "nothing to pack"};
  for (std::size_t i = 0; i < parts.parts.size(); ++i) {
    const PackPart& part = parts.parts[i];
    const Placement& placement = packer.best()[i];
    for (std::size_t k = 0; k < part.boxes.size(); ++k) {
      result.offsets_bytes[part.boxes[k].item] = placement.offsets[k] * parts.unit_bytes;
    }
  }
  if (!parts.parts.empty()) {
    const Placement& highest = packer.best()[packer.highest_part()];
    result.peak_bytes = highest.peak * parts.unit_bytes;
    result.method = highest.method;
  }
  return result;
}

Result<Packing> pack_without_reuse(std::span<const PackItem> items, std::int64_t alignment_bytes) {
  GRAPHGATE_TRY(const std::int64_t bound, lower_bound_bytes(items, alignment_bytes));
  Packing result{{}, 0, bound, "no reuse"};
  result.offsets_bytes.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    GRAPHGATE_TRY(const std::int64_t size, rounded_size_bytes(items[i], i, alignment_bytes));
    if (size > kMax - result.peak_bytes) {
      return bad_input("the sizes of the items add up to more than 63 bits");
    }
    result.offsets_bytes.push_back(size == 0 ? 0 : result.peak_bytes);
    result.peak_bytes += size;
  }
  return result;
}

}  // namespace graphgate::optimized
