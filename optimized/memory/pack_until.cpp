#include "optimized/memory/pack_until.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/on_threads.h"
#include "optimized/memory/pack.h"
#include "optimized/memory/pack_fit.h"
#include "optimized/memory/pack_parts.h"
#include "optimized/memory/pack_restarts.h"

namespace graphgate::optimized {

namespace {

// Seeds of runs with different PackGoal::seed do not meet.
constexpr std::uint64_t kSeedStride = std::uint64_t{1} << 32U;
constexpr std::int64_t kWindowRuns = 16;  // that one piece of work can look at
// Of kRungs searches this one is above the goal.
constexpr std::uint64_t kAboveGoal = 5;
// Of so many pieces of work one looks for a run of steps that refutes the bound.
constexpr std::uint64_t kWindowsEvery = 16;

// One piece of work: what to do with which part, under what was known when it began.
struct Piece {
  enum class Kind : std::uint8_t { kFit, kSearch, kWindow };
  Kind kind = Kind::kSearch;
  std::size_t part = 0;
  std::uint64_t number = 0;   // of the fit, or of the search
  std::uint64_t visit = 0;    // of a search: how many there were of this part and capacity
  std::int64_t capacity = 0;  // a packing has to end at or below it
  std::int64_t work = 0;      // operations that it may take
};

// What the threads share. All numbers are in units.
class Hunt {
 public:
  Hunt(const PackParts& parts, Packing begun, const PackOptions& options, const PackGoal& goal)
      : parts_(parts.parts),
        unit_bytes_(parts.unit_bytes),
        search_items_max_(options.search_items_max),
        seed_(kSeedStride * goal.seed),
        work_left_(goal.work.value_or(kPackMax)),
        stop_(goal.is_over),
        packing_(std::move(begun)),
        floor_(packing_.bound_bytes / unit_bytes_),
        peaks_(parts_.size()),
        fits_begun_(parts_.size()) {
    if (goal.capacity_bytes) capacity_ = *goal.capacity_bytes / unit_bytes_;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      for (const PackBox& box : parts_[p].boxes) {
        peaks_[p] = std::max(peaks_[p], packing_.offsets_bytes[box.item] / unit_bytes_ + box.size);
      }
    }
    end_ = end_of();
  }

  // Takes pieces and works them off until there is an end.
  void work() {
    while (const auto piece = next()) run(*piece);
  }

  PackRun result() && {
    packing_.bound_bytes = floor_ * unit_bytes_;
    packing_.peak_bytes = peak() * unit_bytes_;
    return {std::move(packing_), end_.value_or(PackEnd::kOver)};
  }

 private:
  [[nodiscard]] std::int64_t peak() const {
    return peaks_.empty() ? 0 : *std::ranges::max_element(peaks_);
  }

  // What is known by now.
  [[nodiscard]] std::optional<PackEnd> end_of() const {
    if (peak() <= capacity_.value_or(floor_)) return PackEnd::kMet;
    if (capacity_ && floor_ > *capacity_) return PackEnd::kRefuted;
    return std::nullopt;
  }

  std::optional<Piece> next() {
    const std::lock_guard lock(mutex_);
    if (!end_ && stop_.is_over()) end_ = PackEnd::kOver;
    if (!end_ && work_left_ <= 0) end_ = PackEnd::kWork;
    if (end_) return std::nullopt;
    const auto highest = std::ranges::max_element(peaks_);
    Piece piece;
    piece.part = static_cast<std::size_t>(highest - peaks_.begin());
    piece.work = work_left_;
    const PackPart& part = parts_[piece.part];
    const bool can_be_searched =
        part.boxes.size() <= search_items_max_ && can_search(part, *highest);
    if (fits_begun_[piece.part] < fit_methods().size() || !can_be_searched) {
      piece.kind = Piece::Kind::kFit;
      piece.number = fits_begun_[piece.part]++;
      piece.capacity = *highest - 1;
      return piece;
    }
    piece.number = searches_begun_++;
    piece.kind = piece.number % kWindowsEvery == 1 ? Piece::Kind::kWindow : Piece::Kind::kSearch;
    const std::int64_t top = capacity_ ? std::min(*capacity_, *highest - 1) : *highest - 1;
    if (piece.kind == Piece::Kind::kWindow) {
      piece.capacity = floor_;
      return piece;
    }
    if (capacity_ && *highest - 1 > *capacity_ && piece.number % kRungs == kAboveGoal) {
      // A good packing is of use, too, where the goal turns out to be out of reach.
      piece.capacity = rung(piece.number / kRungs, *capacity_, *highest - 1, Top::kBestSoFar);
    } else {
      piece.capacity = rung(piece.number, floor_, top, capacity_ ? Top::kGoal : Top::kBestSoFar);
    }
    piece.visit = visits_[{piece.part, piece.capacity}]++;
    return piece;
  }

  void run(const Piece& piece) {
    const PackPart& part = parts_[piece.part];
    std::int64_t work = piece.work;
    if (piece.kind == Piece::Kind::kFit) {
      // Every method as it is, then again with other seeds.
      const auto methods = fit_methods();
      const std::uint64_t again = piece.number / methods.size();
      const auto packing = fit(part, methods[piece.number % methods.size()], piece.capacity + 1,
                               work, &stop_, again == 0 ? 0 : seed_ + again);
      const std::lock_guard lock(mutex_);
      if (packing) take(piece.part, packing->offsets, packing->method);
    } else if (piece.kind == Piece::Kind::kSearch) {
      // The plain orders first: they are better than most.
      const std::uint64_t round = piece.visit == 0 ? 0 : seed_ + piece.visit;
      const SearchResult result =
          search_round(part, piece.capacity, round, slice_length(piece.visit), work, &stop_);
      const std::lock_guard lock(mutex_);
      if (result.end == SearchEnd::kFound) take(piece.part, result.offsets, "search");
      if (result.end == SearchEnd::kExhausted) refute(part, piece.capacity, BoundReason::kSearch);
    } else {
      const std::int64_t slice = kWindowSlice * slice_length(piece.number / kWindowsEvery);
      const std::int64_t rest = std::max<std::int64_t>(0, work - slice * kWindowRuns);
      work -= rest;
      const bool refuted = window_is_refuted(part, piece.capacity, work, slice, &stop_);
      work += rest;
      const std::lock_guard lock(mutex_);
      if (refuted) refute(part, piece.capacity, BoundReason::kWindow);
    }
    const std::lock_guard lock(mutex_);
    work_left_ -= std::max<std::int64_t>(piece.work - work, 1);
  }

  // Under the lock, like refute().
  void take(std::size_t p, const std::vector<std::int64_t>& offsets, std::string_view method) {
    const PackPart& part = parts_[p];
    std::int64_t top = 0;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      top = std::max(top, offsets[k] + part.boxes[k].size);
    }
    if (top >= peaks_[p]) return;  // another thread was better
    if (peaks_[p] == peak()) packing_.method = method;
    peaks_[p] = top;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      packing_.offsets_bytes[part.boxes[k].item] = offsets[k] * unit_bytes_;
    }
    look_for_an_end();
  }

  // The part has no packing within the capacity.
  void refute(const PackPart& part, std::int64_t capacity, BoundReason reason) {
    if (capacity < floor_) return;
    packing_.refuted_bytes = capacity * unit_bytes_;
    packing_.bound_reason = reason;
    floor_ = next_sum_of_sizes(part, capacity + 1);
    look_for_an_end();
  }

  void look_for_an_end() {
    if (!end_) end_ = end_of();
    if (end_) stop_.stop();
  }

  const std::vector<PackPart>& parts_;
  const std::int64_t unit_bytes_;
  const std::size_t search_items_max_;
  const std::uint64_t seed_;
  std::optional<std::int64_t> capacity_;
  std::mutex mutex_;  // of all below
  std::uint64_t searches_begun_ = 0;
  std::map<std::pair<std::size_t, std::int64_t>, std::uint64_t> visits_;  // parts and capacities
  std::int64_t work_left_;
  PackStop stop_;  // asked without the lock
  Packing packing_;
  std::int64_t floor_;
  std::vector<std::int64_t> peaks_;      // by part
  std::vector<std::size_t> fits_begun_;  // by part
  std::optional<PackEnd> end_;
};

}  // namespace

Result<PackRun> pack_until(std::span<const PackItem> items, std::int64_t alignment_bytes,
                           Packing begun, const PackOptions& options, const PackGoal& goal) {
  GRAPHGATE_CHECK(begun.offsets_bytes.size() == items.size() && goal.jobs > 0);
  GRAPHGATE_TRY(const PackParts parts, make_parts(items, alignment_bytes));
  Hunt hunt(parts, std::move(begun), options, goal);
  on_threads(static_cast<std::size_t>(goal.jobs), goal.jobs, [&](std::size_t) { hunt.work(); });
  return std::move(hunt).result();
}

}  // namespace graphgate::optimized
