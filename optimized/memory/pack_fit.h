// Placing boxes one after the other into holes: the fast methods of the packer.
//
// pack() runs them in turn and keeps the best; the complete search (pack_search.h) comes after
// them. None is optimal. On tensors of real graphs they end within a few percent of the lower
// bound, often on it. Which order wins differs, hence several. Internal to memory/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "optimized/memory/pack_parts.h"

namespace graphgate::optimized {

// Offsets in units, parallel to PackPart::boxes, and where they end.
struct PartPacking {
  std::vector<std::int64_t> offsets;
  std::int64_t peak = 0;
  std::string_view method;
};

// An order of placing and a choice of hole.
struct FitMethod {
  enum class Order : std::uint8_t {
    kSizeThenBirth,     // large first; equal sizes become an interval colouring
    kLogSizeThenBirth,  // sizes by power of two
    kSizeThenDuration,  // large first, then long
    kLogDurationThenSize,
    kDurationThenSize,
    kArea,  // size times duration
  };
  enum class Hole : std::uint8_t { kLowest, kTightest };
  Order order = Order::kSizeThenBirth;
  Hole hole = Hole::kLowest;
  std::string_view name;
};

// Every order with either choice, the most successful first.
[[nodiscard]] std::span<const FitMethod> fit_methods();

// Boxes in the method's order, each into a hole between those placed before that share a section
// with it, or on top of them. nullopt when the peak would not stay below `limit`, or when `work`
// (operations left, counted down) is used up. About 2 n * live_max operations at most.
// A `stop` that is over ends the work like a budget. A seed above 0 changes the order somewhat: the
// first key of the method is stretched, by the same factor where it is equal.
[[nodiscard]] std::optional<PartPacking> fit(const PackPart& part, const FitMethod& method,
                                             std::int64_t limit, std::int64_t& work,
                                             const PackStop* stop = nullptr,
                                             std::uint64_t seed = 0);

enum class TimeDirection : std::uint8_t { kForward, kBackward };

// Boxes in the order of birth, each into the tightest free hole: what an allocator does at run
// time. Backwards: in the order of death from the end, which suits lifetimes that end together
// (what a forward pass keeps for a backward pass). O(n log n). nullopt when the peak would be
// beyond 63 bits.
[[nodiscard]] std::optional<PartPacking> fit_online(const PackPart& part, TimeDirection direction);

}  // namespace graphgate::optimized
