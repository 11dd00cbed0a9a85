// Memory of a context that was given back, for whoever asks next.
//
// Plans of one program have arenas of the same sizes, and are made and dropped many times in a
// campaign. The driver takes a turn of the GPU to give memory back, and milliseconds to pin some.
// What is kept is handed out by its exact size. So compute-sanitizer still sees where an arena
// ends, though not that it was given back. Guarded memory shows that: nothing of it is kept.
//
// Used by: cuda_memory.cpp. For several threads. It gives nothing back to the driver when it
// goes: it lives as long as the context does, and that as long as the process.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "optimized/runtime/cuda/driver.h"

namespace graphgate::optimized::cuda {

inline constexpr std::size_t kPinnedBytes = std::size_t{1} << 18U;  // of one piece

class KeptMemory {
 public:
  explicit KeptMemory(const Driver& driver) : driver_(driver) {}

  // Of the device. Throws DeviceError where the driver has none.
  [[nodiscard]] CUdeviceptr allocate(std::size_t size_bytes);
  // What was allocated with that size; nothing uses it any more.
  void give_back(CUdeviceptr address, std::size_t size_bytes);

  // kPinnedBytes of the host that the device copies to by itself.
  [[nodiscard]] std::byte* take_pinned();
  void give_back_pinned(std::byte* bytes);

 private:
  const Driver& driver_;
  std::mutex mutex_;
  std::multimap<std::size_t, CUdeviceptr> arenas_;  // by size
  std::size_t bytes_ = 0;                           // of those
  std::vector<std::byte*> pinned_;
};

}  // namespace graphgate::optimized::cuda
