#include "optimized/runtime/cuda/kept_memory.h"

namespace graphgate::optimized::cuda {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 20U;       // bytes of one arena
constexpr std::size_t kMostInAll = std::size_t{1} << 28U;  // bytes

}  // namespace

CUdeviceptr KeptMemory::allocate(std::size_t size_bytes) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = arenas_.find(size_bytes);
    if (found != arenas_.end()) {
      const CUdeviceptr address = found->second;
      arenas_.erase(found);
      bytes_ -= size_bytes;
      return address;
    }
  }
  CUdeviceptr address = 0;
  GRAPHGATE_CUDA(driver_, cuMemAlloc, &address, size_bytes);
  return address;
}

void KeptMemory::give_back(CUdeviceptr address, std::size_t size_bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (size_bytes <= kMost && bytes_ + size_bytes <= kMostInAll) {
      arenas_.emplace(size_bytes, address);
      bytes_ += size_bytes;
      return;
    }
  }
  (void)driver_.cuMemFree(address);
}

std::byte* KeptMemory::take_pinned() {
  {
    const std::lock_guard lock(mutex_);
    if (!pinned_.empty()) {
      std::byte* const bytes = pinned_.back();
      pinned_.pop_back();
      return bytes;
    }
  }
  void* bytes = nullptr;
  GRAPHGATE_CUDA(driver_, cuMemAllocHost, &bytes, kPinnedBytes);
  return static_cast<std::byte*>(bytes);
}

void KeptMemory::give_back_pinned(std::byte* bytes) {
  const std::lock_guard lock(mutex_);
  pinned_.push_back(bytes);
}

}  // namespace graphgate::optimized::cuda
