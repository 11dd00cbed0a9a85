// What a caller may say about fusion. Plain numbers: compile.h includes this, and so does
// everything.
//
// fuse_groups.h keeps within FuseLimits, fuse_realize.h follows RealizeOptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace graphgate::optimized {

struct FuseLimits {
  std::size_t nodes = 32;            // in one group
  std::int64_t row_bytes = 1 << 17;  // of the widest tensor, in one row
};

enum class RealizeRule : std::uint8_t { kReadCount, kByteCost };

struct RealizeOptions {
  RealizeRule rule = RealizeRule::kReadCount;
  std::int64_t reads_threshold = 4;     // torch's realize_reads_threshold
  std::int64_t opcount_threshold = 30;  // torch's realize_opcount_threshold
  // The same on a CPU: torch's realize_cpu_opcount_threshold since 2.13, which is 50; 30 before.
  std::int64_t cpu_opcount_threshold = 50;
  // Torch's realize_opusers_threshold since 2.14: on a CPU, more users than this lower the
  // threshold by two. 0: no such rule.
  std::int64_t opusers_threshold = 5;
  bool heavy_newer = true;  // logarithms and tanh are heavy, as in torch 2.13 and later
  // Whether values are ever computed again. Off: all that crosses launches has memory.
  bool recompute = true;
};

}  // namespace graphgate::optimized
