// Elements that a case passes in its text: exact integers, and numbers that are special.
//
// Random numbers are left to the harness, which draws them from the case's seed.
#pragma once

#include <cstdint>
#include <vector>

#include "fuzz/generate/draft.h"
#include "spec/tensor.h"

namespace graphgate::fuzz {

enum class DataClass : std::uint8_t {
  kRandom,
  kExact,    // integers so small that sums of a few of them are exact in every dtype
  kSpecial,  // those, and NaN, infinities, -0 and subnormal numbers
};

// Returns a tensor with the geometry of `like` at these values of the symbols, and elements from
// the seed. It begins `offset` elements behind the beginning of its storage.
[[nodiscard]] spec::HostTensor draw_tensor(const SizeTable& table, const DrawnTensor& like,
                                           const std::vector<std::int64_t>& symbols, DataClass data,
                                           std::uint64_t seed, std::int64_t offset = 0);

}  // namespace graphgate::fuzz
