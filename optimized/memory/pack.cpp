#include "optimized/memory/pack.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "optimized/memory/pack_fit.h"
#include "optimized/memory/pack_parts.h"
#include "optimized/memory/pack_restarts.h"

namespace graphgate::optimized {

namespace {

// Packs the parts one after the other into the same addresses. All numbers are in units.
class Packer {
 public:
  Packer(const PackParts& parts, const PackOptions& options)
      : parts_(parts.parts),
        floor_(parts.bound),
        peak_max_(kPackMax / parts.unit_bytes),
        fit_work_(options.fit_work),
        search_work_(options.search_work),
        search_items_max_(options.search_items_max),
        best_(parts_.size()) {}

  // False when no packing ends within 63 bits.
  bool run() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      best_[i] = {{}, peak_max_ == kPackMax ? kPackMax : peak_max_ + 1, ""};
      for (const TimeDirection direction : {TimeDirection::kForward, TimeDirection::kBackward}) {
        if (best_[i].offsets.empty() || best_[i].peak > floor_) {
          take(i, fit_online(parts_[i], direction));
        }
      }
    }
    std::vector<std::size_t> worst_first(parts_.size());
    std::iota(worst_first.begin(), worst_first.end(), std::size_t{0});
    std::ranges::stable_sort(
        worst_first, [&](std::size_t a, std::size_t b) { return best_[a].peak > best_[b].peak; });
    for (const std::size_t part : worst_first) fit_part(part);
    // A part below the highest one is of no interest: only improve that.
    for (std::size_t last = parts_.size();;) {
      const std::size_t part = highest_part();
      if (part == last || part == parts_.size() || best_[part].peak <= floor_) break;
      search_part(part);
      last = part;
    }
    return std::ranges::none_of(best_,
                                [](const PartPacking& packing) { return packing.offsets.empty(); });
  }

  [[nodiscard]] const std::vector<PartPacking>& best() const { return best_; }
  // No packing ends below it.
  [[nodiscard]] std::int64_t floor() const { return floor_; }
  // The highest capacity that was refuted; -1 when there is none.
  [[nodiscard]] std::int64_t refuted() const { return refuted_; }
  [[nodiscard]] BoundReason floor_reason() const { return reason_; }
  // The number of parts when there is none.
  [[nodiscard]] std::size_t highest_part() const {
    const auto highest = std::ranges::max_element(
        best_, [](const PartPacking& a, const PartPacking& b) { return a.peak < b.peak; });
    return static_cast<std::size_t>(highest - best_.begin());
  }

 private:
  void fit_part(std::size_t part) {
    // Hopeless within the budget: do not begin.
    const auto count = static_cast<std::int64_t>(parts_[part].boxes.size());
    if (count > fit_work_ / parts_[part].live_max * kFitSavings) return;
    for (const FitMethod& method : fit_methods()) {
      if (best_[part].peak <= floor_ || fit_work_ <= 0) return;
      take(part, fit(parts_[part], method, best_[part].peak, fit_work_));
    }
  }

  void search_part(std::size_t part) {
    const PackPart& boxes = parts_[part];
    if (boxes.boxes.size() > search_items_max_ || !can_search(boxes, floor_)) return;
    // At the bound first, with most of the budget: slack makes a search harder, not easier.
    std::int64_t work = search_work_ / 2;
    search_work_ -= work;
    while (best_[part].peak > floor_ && work > 0 &&
           attempt(part, floor_, work) == SearchEnd::kExhausted) {
    }
    search_work_ += work;
    refute_windows(part);
    search_above_floor(part);
  }

  // The run of steps that makes the floor impossible is often short.
  void refute_windows(std::size_t part) {
    std::int64_t work = search_work_ / 8;
    search_work_ -= work;
    while (best_[part].peak > floor_ && work > 0 && can_search(parts_[part], floor_) &&
           window_is_refuted(parts_[part], floor_, work)) {
      refute(part, floor_, BoundReason::kWindow);
    }
    search_work_ += work;
  }

  // Capacities between the floor and the best packing.
  void search_above_floor(std::size_t part) {
    std::map<std::int64_t, std::uint64_t> visits;  // by capacity
    for (std::uint64_t k = 0; search_work_ > 0 && best_[part].peak > floor_; ++k) {
      const std::int64_t capacity = rung(k, floor_, best_[part].peak - 1, Top::kBestSoFar);
      if (!can_search(parts_[part], capacity)) return;
      const std::uint64_t visit = visits[capacity]++;
      take_result(part, capacity,
                  search_round(parts_[part], capacity, visit, slice_length(visit), search_work_));
    }
  }

  SearchEnd attempt(std::size_t part, std::int64_t capacity, std::int64_t& work) {
    if (!can_search(parts_[part], capacity)) {
      work = 0;
      return SearchEnd::kBudget;
    }
    SearchResult result = search_with_restarts(parts_[part], capacity, work);
    const SearchEnd end = result.end;
    take_result(part, capacity, std::move(result));
    return end;
  }

  void take_result(std::size_t part, std::int64_t capacity, SearchResult result) {
    if (result.end == SearchEnd::kFound) take_offsets(part, std::move(result.offsets));
    if (result.end == SearchEnd::kExhausted) refute(part, capacity, BoundReason::kSearch);
  }

  // The part has no packing within the capacity.
  void refute(std::size_t part, std::int64_t capacity, BoundReason reason) {
    if (capacity < floor_) return;
    refuted_ = capacity;
    reason_ = reason;
    floor_ = next_sum_of_sizes(parts_[part], capacity + 1);
  }

  void take(std::size_t part, std::optional<PartPacking> packing) {
    if (!packing || packing->peak > peak_max_) return;
    const bool is_first = best_[part].offsets.empty();
    if (is_first || packing->peak < best_[part].peak) best_[part] = std::move(*packing);
  }

  void take_offsets(std::size_t part, std::vector<std::int64_t> offsets) {
    PartPacking packing{std::move(offsets), 0, "search"};
    for (std::size_t i = 0; i < packing.offsets.size(); ++i) {
      packing.peak = std::max(packing.peak, packing.offsets[i] + parts_[part].boxes[i].size);
    }
    take(part, std::move(packing));
  }

  // Most boxes look at far fewer of those alive than there are.
  static constexpr std::int64_t kFitSavings = 32;

  const std::vector<PackPart>& parts_;
  std::int64_t floor_;
  std::int64_t refuted_ = -1;
  BoundReason reason_ = BoundReason::kLoad;
  std::int64_t peak_max_;
  std::int64_t fit_work_;
  std::int64_t search_work_;
  std::size_t search_items_max_;
  std::vector<PartPacking> best_;  // by part; without offsets: nothing found yet
};

}  // namespace

Result<Packing> pack(std::span<const PackItem> items, std::int64_t alignment_bytes,
                     const PackOptions& options) {
  GRAPHGATE_TRY(const PackParts parts, make_parts(items, alignment_bytes));
  Packer packer(parts, options);
  if (!packer.run()) return bad_input("no packing of the items within 63 bits was found");
  Packing result{std::vector<std::int64_t>(items.size()),
                 0,
                 packer.floor() * parts.unit_bytes,
                 "nothing to pack",
                 packer.floor_reason(),
                 packer.refuted() < 0 ? -1 : packer.refuted() * parts.unit_bytes,
                 parts.unit_bytes};
  for (std::size_t i = 0; i < parts.parts.size(); ++i) {
    const PackPart& part = parts.parts[i];
    const PartPacking& packing = packer.best()[i];
    for (std::size_t k = 0; k < part.boxes.size(); ++k) {
      result.offsets_bytes[part.boxes[k].item] = packing.offsets[k] * parts.unit_bytes;
    }
  }
  if (!parts.parts.empty()) {
    const PartPacking& highest = packer.best()[packer.highest_part()];
    result.peak_bytes = highest.peak * parts.unit_bytes;
    result.method = highest.method;
  }
  return result;
}

}  // namespace graphgate::optimized
