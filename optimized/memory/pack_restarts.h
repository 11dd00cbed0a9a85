// Many short searches instead of a long one, and lower bounds from searches of short windows.
//
// How long a search takes depends on the order of its boxes more than on the boxes: most orders run
// into a region without a packing and stay there, and some go straight to one. Slices of growing
// length with other orders find these. pack() calls this for the part of an instance that decides
// the peak, after the methods of pack_fit.h have missed the bound. Internal to memory/.
#pragma once

#include <cstdint>

#include "optimized/memory/pack_parts.h"
#include "optimized/memory/pack_search.h"

namespace graphgate::optimized {

// All orders in turn, again and again with new seeds, each for a slice of `work` (operations left,
// counted down). Of every two rounds the second has slices twice as long, of every four the fourth
// has slices four times as long, and so on. `capacity` in units; can_search() must hold.
[[nodiscard]] SearchResult search_with_restarts(const PackPart& part, std::int64_t capacity,
                                                std::int64_t& work);

// The least sum of sizes of some boxes that is `bound` or more; `bound` itself where the numbers
// are too large for the answer to be cheap. The peak of a packing in which every box rests on
// another one is such a sum, and such a packing of the least peak exists.
[[nodiscard]] std::int64_t next_sum_of_sizes(const PackPart& part, std::int64_t bound);

// Whether some short run of sections alone has no packing within the capacity: a packing of the
// part would be one of the run. Looks at runs around the sections of the highest load, short ones
// first, until `work` (counted down) is used up.
[[nodiscard]] bool window_is_refuted(const PackPart& part, std::int64_t capacity,
                                     std::int64_t& work);

}  // namespace graphgate::optimized
