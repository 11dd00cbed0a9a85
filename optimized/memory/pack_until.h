// Packing until an answer is known, by a clock and with threads, where pack() is a function of its
// arguments alone. For `graphgate plan --csv --capacity`; plans of programs are packed by pack().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/result.h"
#include "optimized/memory/pack.h"

namespace graphgate::optimized {

// What pack_until() works for, and what it may spend.
struct PackGoal {
  // The arena may end here. Nothing: as low as it goes.
  std::optional<std::int64_t> capacity_bytes;
  // Operations, as in PackOptions, after which the work ends without an answer; those that are in
  // progress go on for a slice. Nothing: no end.
  std::optional<std::int64_t> work;
  int jobs = 1;            // threads; each takes the next piece of work
  std::uint64_t seed = 0;  // of the orders of the searches
  // Asked every few milliseconds, by any thread: whether to end without an answer.
  std::function<bool()> is_over;
};

// What ended the work.
enum class PackEnd : std::uint8_t {
  kMet,      // the capacity is met; without a capacity: the packing is optimal
  kRefuted,  // the bound is above the capacity: no packing meets it
  kWork,     // PackGoal::work was used up
  kOver,     // PackGoal::is_over
};

struct PackRun {
  Packing packing;  // the best one found
  PackEnd end = PackEnd::kMet;
};

// Improves on `begun`, a packing of these items that pack() made, until the goal is met or out of
// reach. Runs fits without a budget, then searches at many capacities between the bound and the
// goal, each for a slice of growing length, and at the bound of short runs of steps. A part that is
// too large for a search gets fits in other orders. With one thread and without is_over, equal
// arguments give equal packings; more threads take pieces of the same kind, each under what is
// known when it begins. Memory is that of a search for each thread.
[[nodiscard]] Result<PackRun> pack_until(std::span<const PackItem> items,
                                         std::int64_t alignment_bytes, Packing begun,
                                         const PackOptions& options, const PackGoal& goal);

}  // namespace graphgate::optimized
