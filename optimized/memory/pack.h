// Packing: places items with known lifetimes and sizes into one arena, as low as it can.
//
// This is offline storage allocation. An item is a rectangle whose place in time is given and whose
// place in address space is free; items alive at the same step must not share a byte:
//
//   offset
//   0x300          [  c  ]
//   0x200   [  b      ][   d   ]         peak 0x400, lower bound 0x400 (a, b and c at step 2)
//   0x000   [  a            ][ e ]
//           0   1   2   3   4   5  step
//
// Pure functions over plain data: the memory planner of optimized/ derives the items from the steps
// of a plan, and tools measure the packer on published instances. Nothing here depends on the
// clock, on addresses or on threads: equal arguments give equal packings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace graphgate::optimized {

// `size_bytes` that must be kept during steps [lower, upper). An item of 0 bytes lies at offset 0
// and is in nobody's way. Items of arms of which only one runs get disjoint lifetimes by the
// caller.
struct PackItem {
  std::int64_t lower = 0;
  std::int64_t upper = 0;  // > lower
  std::int64_t size_bytes = 0;
};

// How hard to try. Both are counted in elementary operations, a few hundred million per second on
// one core of today, so that a result never depends on the machine. The defaults are about half a
// second each; most programs need next to nothing of them. Near-linear methods always run, whatever
// the budgets are.
struct PackOptions {
  std::int64_t fit_work = 150'000'000;     // first fit and best fit in several orders
  std::int64_t search_work = 200'000'000;  // complete search, where these miss the lower bound
  // The search costs more per item than it gives beyond this many items of one independent part.
  std::size_t search_items_max = 2000;
};

// Why no packing ends below Packing::bound_bytes.
enum class BoundReason : std::uint8_t {
  kLoad,    // so many bytes are alive at one step
  kWindow,  // a complete search of a short run of steps alone found nothing at `refuted_bytes`
  kSearch,  // a complete search of a whole independent part of the items did not either
};

// `offsets_bytes` is parallel to the items; each is a multiple of the alignment.
struct Packing {
  std::vector<std::int64_t> offsets_bytes;
  // Where the arena ends: the highest offset plus the item's size rounded up to the alignment.
  std::int64_t peak_bytes = 0;
  // No packing ends below this: lower_bound_bytes(), or more. Equal to `peak_bytes` when the
  // packing is known to be optimal.
  std::int64_t bound_bytes = 0;
  // What found the part of the packing that decides the peak: "first fit (size, birth)", ...
  std::string_view method;
  BoundReason bound_reason = BoundReason::kLoad;
  // The highest capacity that was searched completely, in vain; -1 when there is none. The bound is
  // the next sum of sizes above it: every least peak is a sum of sizes.
  std::int64_t refuted_bytes = -1;
  // Greatest common divisor of all rounded sizes: peaks and bounds are multiples of it.
  std::int64_t unit_bytes = 1;
};

// Two items that are alive at the same step and share a byte; `first` < `second`.
struct PackConflict {
  std::size_t first = 0;
  std::size_t second = 0;
  friend bool operator==(const PackConflict&, const PackConflict&) = default;
};

// All of these: kBadInput for an item whose lifetime is empty or whose size is negative, and for
// sizes whose sum at some step is beyond 64 bits. `alignment_bytes` > 0, any number, is CHECKed.

// The highest sum, over steps, of the sizes alive then, each rounded up to the alignment.
[[nodiscard]] Result<std::int64_t> lower_bound_bytes(std::span<const PackItem> items,
                                                     std::int64_t alignment_bytes);

// The best packing of a portfolio. It stops as soon as a packing ends at the lower bound. Time is
// near-linear in the number of items up to the budgets.
[[nodiscard]] Result<Packing> pack(std::span<const PackItem> items, std::int64_t alignment_bytes,
                                   const PackOptions& options = {});

// Every item on bytes of its own, in the given order. What a plan is compared with to tell a fault
// of reuse from any other.
[[nodiscard]] Result<Packing> pack_without_reuse(std::span<const PackItem> items,
                                                 std::int64_t alignment_bytes);

// What simple planners do, for comparison. Only the measure of the packer uses these.
enum class BaselineMethod : std::uint8_t {
  kNoReuse,
  kOnlineBestFit,   // a free list at run time
  kFirstFitBySize,  // large first, then long; the lowest hole
  kBestFitBySize,   // large first, then long; the tightest hole
};
[[nodiscard]] Result<Packing> pack_baseline(std::span<const PackItem> items,
                                            std::int64_t alignment_bytes, BaselineMethod method);

// A conflict, if there is any: a sweep over time, O(n log n). Sizes count as they are, not rounded.
// An item that ends beyond 64 bits or begins below 0 is in conflict with itself. Items must be
// valid (CHECKed), as must be the number of offsets.
[[nodiscard]] std::optional<PackConflict> find_overlap(std::span<const PackItem> items,
                                                       std::span<const std::int64_t> offsets_bytes);

}  // namespace graphgate::optimized
