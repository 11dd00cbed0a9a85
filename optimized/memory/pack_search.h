// Complete search for a packing of one part below a given capacity.
//
// Left to itself every box slides down until it rests on offset 0 or on another box, so only such
// packings are looked at. The search builds one from below: a box is put down at the highest top
// among the boxes under it. From then on everything that is not yet placed and meets it in time
// lies above. Two branches per step: the box is put down now; or something unplaced lies under it,
// and then it cannot begin below the lowest top that such a box can have. What cuts branches:
//
// - in each section, the lowest place where an unplaced box can begin, plus the sizes of all
//   unplaced boxes there, must not exceed the capacity;
// - a box that something lies under is not put down before another box has been put down there, and
//   not directly on one of the same lifetime: the two could change places;
// - unplaced boxes that fall into groups without a common section are searched group by group: a
//   group without a packing refutes all of them.
//
// The time that a search takes is heavy-tailed: with one order it ends in a millisecond, with the
// next one it does not end. pack_restarts.h therefore runs many orders for a short while each.
//
// The idea of searching packings from below with such bounds is known from M. Moffitt, "MiniMalloc"
// (ASPLOS 2023). Internal to memory/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimized/memory/pack_parts.h"

namespace graphgate::optimized {

// What decides between boxes that would lie equally low, the largest first. Load is the highest sum
// of sizes among a box's sections.
enum class SearchTies : std::uint8_t { kAreaLoadDuration, kLoadDurationArea, kDurationAreaLoad };

// Which of the boxes that can be put down is tried first.
enum class SearchPick : std::uint8_t {
  kUrgent,    // one without which some section would overflow, wherever it lies; else the lowest
  kScarcest,  // where the fewest boxes could begin a section; among equals the lowest
};

// No order is best. A `seed` above 0 lengthens the first of the three keys by up to a third, box by
// box.
struct SearchOrder {
  SearchTies ties = SearchTies::kAreaLoadDuration;
  SearchPick pick = SearchPick::kUrgent;
  std::uint64_t seed = 0;
};

enum class SearchEnd : std::uint8_t {
  kFound,
  kExhausted,  // there is no packing within the capacity
  kBudget,     // `work` ran out first
};

struct SearchResult {
  SearchEnd end = SearchEnd::kBudget;
  std::vector<std::int64_t> offsets;  // in units, parallel to the boxes; only when found
};

// Whether the part's numbers are small enough to be searched (a capacity below 2^30 units).
[[nodiscard]] bool can_search(const PackPart& part, std::int64_t capacity);

// One order. `capacity` in units. `work` is the operations left; it is counted down and may end
// below 0. A `stop` that is over ends the search like a budget.
[[nodiscard]] SearchResult search(const PackPart& part, std::int64_t capacity,
                                  const SearchOrder& order, std::int64_t& work,
                                  const PackStop* stop = nullptr);

}  // namespace graphgate::optimized
