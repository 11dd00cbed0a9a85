// The other cases from which a campaign's case comes.
//
// A case is drawn blindly, from its index alone, or it is bred: its genes are those of its parent,
// another case of the campaign, changed at random. What changes follows from the seed and the
// child's own index. So seed and indices are all it takes to have the genes again, however the
// campaign came to choose the parent.
#pragma once

#include <cstdint>
#include <vector>

#include "fuzz/generate/genes.h"

namespace graphgate::fuzz {

struct Descent {
  std::uint64_t index = 0;               // of the case itself
  std::vector<std::uint64_t> ancestors;  // oldest first, the parent last; empty: drawn blindly
  friend bool operator==(const Descent&, const Descent&) = default;
};

// A case with so many ancestors has no children: ids stay short.
inline constexpr std::size_t kMostAncestors = 64;

[[nodiscard]] Descent child_of(const Descent& parent, std::uint64_t index);

// The genes of the case, the same on every platform.
[[nodiscard]] GeneVector genes_of(std::uint64_t seed, const Descent& descent);
// Where each blind draw is judged with so many sets of data (at least 1). Case i has what draw i /
// data_sets has, but for its data: these are the (i % data_sets)-th set. Such cases are drawn
// blindly.
[[nodiscard]] GeneVector genes_of(std::uint64_t seed, const Descent& descent,
                                  std::uint64_t data_sets);

}  // namespace graphgate::fuzz
