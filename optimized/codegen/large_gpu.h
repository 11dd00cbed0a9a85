// The GPU that texts are shaped for, an H200. Others run them as well, only not as fast.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace graphgate::optimized {

inline constexpr std::int64_t kMultiprocessors = 132;
// Of a multiprocessor, for all its blocks: each takes 1 KiB more than it asks for.
inline constexpr std::int64_t kSharedBytes = std::int64_t{216} * 1024;

// Clusters of so many blocks, at most 8, that run at once with a block on each multiprocessor: its
// groups of 16 or 18 of them share nothing (cuOccupancyMaxActiveClusters).
[[nodiscard]] constexpr std::int64_t clusters_at_once(std::int64_t blocks) {
  constexpr std::array<std::int64_t, 9> kCounts = {0, 132, 66, 39, 30, 22, 17, 15, 15};
  return kCounts.at(static_cast<std::size_t>(blocks));
}

}  // namespace graphgate::optimized
