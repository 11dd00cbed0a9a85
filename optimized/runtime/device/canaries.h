// Canaries in guarded memory: bytes that nobody may write hold a byte of their own, and a kernel
// behind all others of a job looks whether they still do.
//
//   arena  ##[ a   ]###[ b ]#[ c    ]###     #: between buffers, and around the arena
//
// The first broken one, by arena and byte, goes into the device's fault record with the number of
// the job that found it (BrokenCanary, device.h); of several jobs, the first. The kernel is a
// job's own, so that a captured graph has it, and text as all others, so that the emulator runs it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optimized/codegen/work.h"
#include "optimized/runtime/device/memory.h"

namespace graphgate::optimized {

inline constexpr std::byte kCanary{0xc5};

// Bytes of an arena, from its first one: negative before it.
struct CanaryRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct CanaryArena {
  std::span<std::byte> host;      // an arena that the memory knows
  std::vector<CanaryRange> gaps;  // inside of it
};

// What no buffer covers: buffers as ranges, in any order, over one another or not.
[[nodiscard]] std::vector<CanaryRange> gaps_between(std::vector<CanaryRange> buffers,
                                                    std::int64_t size_bytes);

class Canaries {
 public:
  // Jobs have numbers below `jobs`. What is around the arenas is added to their gaps. The memory
  // outlives it. Throws what copies throw.
  Canaries(DeviceMemory& memory, std::vector<CanaryArena> arenas, std::size_t jobs);
  ~Canaries();
  Canaries(const Canaries&) = delete;
  Canaries& operator=(const Canaries&) = delete;

  // Writes them all anew, but for those of read-only arenas, which are written once.
  void fill();
  // Looks at all of them: the last work of the job.
  [[nodiscard]] TextWork check(std::size_t job);

 private:
  [[nodiscard]] std::span<std::byte> table_bytes();

  DeviceMemory& memory_;
  std::vector<CanaryArena> arenas_;
  std::vector<bool> is_filled_;  // by arena
  // As the kernel reads it: a count of ranges; arena, begin and end of each; the jobs' numbers.
  std::vector<std::int64_t> table_;
  std::int64_t ranges_ = 0;
};

}  // namespace graphgate::optimized
