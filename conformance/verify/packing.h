// A packing alone: buffers with lifetimes and offsets, and nothing of a graph. What planners of
// other projects can be held to when all they show is a table.
//
//   offset  |  id,lower,upper,size,offset
//   8 | bb  |  a,0,2,8,0
//   0 |aac  |  b,1,3,8,8        c reuses the bytes of a, which is dead at time 2
//     +---  |  c,2,3,8,0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/finding.h"

namespace graphgate::verify {

// In use at times [lower, upper), in bytes [offset_bytes, offset_bytes + size_bytes).
struct PackedBuffer {
  std::string name;
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t size_bytes = 0;
  std::int64_t offset_bytes = 0;
};

// V3.overlap for every two that meet in time and bytes; V3.capacity for each that does not lie in
// [0, capacity_bytes), or, without a capacity, in non-negative offsets of 64 bits. All pairs
// that meet are named.
[[nodiscard]] std::vector<spec::Finding> verify_packing(std::span<const PackedBuffer> buffers,
                                                        std::optional<std::int64_t> capacity_bytes);

}  // namespace graphgate::verify
