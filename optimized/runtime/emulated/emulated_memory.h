// The memory of an emulated device: apart from the host's, with other bytes than zeros when it is
// new, and watched.
//
// Used by: emulated_device.cpp.
#pragma once

#include "optimized/runtime/device/far_memory.h"

namespace graphgate::optimized::emulated {

class EmulatedMemory : public FarMemory {
 public:
  // Throws DeviceError where a kernel has written what is nobody's.
  virtual void check() const {}
};

// Plain memory lies between bytes that check() finds written. Guarded memory lies in pages of its
// own, between pages that nobody may touch: a SIGSEGV. Allocating throws std::bad_alloc, changing
// an access DeviceError.
[[nodiscard]] std::unique_ptr<EmulatedMemory> make_memory(DeviceMemoryMode mode);

}  // namespace graphgate::optimized::emulated
