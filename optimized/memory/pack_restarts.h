// Many short searches instead of a long one, and lower bounds from searches of short windows.
//
// How long a search takes depends on the order of its boxes more than on the boxes. Most orders run
// into a region without a packing and stay there, and some go straight to one. Slices of growing
// length with other orders find these. pack() calls this for the part of an instance that decides
// the peak, after the methods of pack_fit.h have missed the bound. Internal to memory/.
#pragma once

#include <cstdint>

#include "optimized/memory/pack_parts.h"
#include "optimized/memory/pack_search.h"

namespace graphgate::optimized {

// One slice of `work` (operations left, counted down) for each of the orders, with the seed
// `round`. The slice is as long as it takes to put every box down once, times `length`. `capacity`
// in units; can_search() must hold.
[[nodiscard]] SearchResult search_round(const PackPart& part, std::int64_t capacity,
                                        std::uint64_t round, std::int64_t length,
                                        std::int64_t& work, const PackStop* stop = nullptr);

// How long the slices of a round are: 1 2 1 4 1 2 1 8 ... for rounds from 0 on.
[[nodiscard]] std::int64_t slice_length(std::uint64_t round);

// All orders in turn, again and again with new seeds, each for a slice of
// slice_length().
[[nodiscard]] SearchResult search_with_restarts(const PackPart& part, std::int64_t capacity,
                                                std::int64_t& work);

// The capacity of the k-th search between the floor and the top, both of which it may be. How hard
// a search is does not grow with the capacity: a packing at 1.03 times the bound may be found in
// milliseconds where 1.05 takes seconds. A goal at the top is searched as often as all below; else
// what lies between comes more often than the ends.
enum class Top : std::uint8_t { kGoal, kBestSoFar };
[[nodiscard]] std::int64_t rung(std::uint64_t k, std::int64_t floor, std::int64_t top, Top what);
inline constexpr std::uint64_t kRungs = 8;

// The least sum of sizes of some boxes that is `bound` or more; `bound` itself where the numbers
// are too large for the answer to be cheap. The peak of a packing in which every box rests on
// another one is such a sum, and such a packing of the least peak exists.
[[nodiscard]] std::int64_t next_sum_of_sizes(const PackPart& part, std::int64_t bound);

// Whether some short run of sections alone has no packing within the capacity: a packing of the
// part would be one of the run. Looks at runs around the sections of the highest load, short ones
// first, each with `slice` operations, until `work` (counted down) is used up.
inline constexpr std::int64_t kWindowSlice = 1'000'000;
[[nodiscard]] bool window_is_refuted(const PackPart& part, std::int64_t capacity,
                                     std::int64_t& work, std::int64_t slice = kWindowSlice,
                                     const PackStop* stop = nullptr);

}  // namespace graphgate::optimized
