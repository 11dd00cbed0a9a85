// Device addresses that launches were recorded with: twins of host addresses, and whether they are
// so still.
//
// Runs of a device note every address that they bake in, and look before each launch: a memory
// whose arenas come and go may have given an address to others.
#pragma once

#include <map>

#include "optimized/runtime/device/memory.h"

namespace graphgate::optimized {

class RecordedTwins {
 public:
  // `memory` outlives it.
  explicit RecordedTwins(const DeviceMemory& memory) : memory_(&memory) {}

  // The twin of a known host address, noted; 0 for null.
  std::uint64_t note(const std::byte* host);
  // Throws DeviceError where a noted one is another now, or none.
  void check();

 private:
  const DeviceMemory* memory_;
  std::map<const std::byte*, std::uint64_t> twins_;
  std::uint64_t generation_ = 0;  // of the memory, when they were compared last
};

}  // namespace graphgate::optimized
