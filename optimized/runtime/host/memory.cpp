#include "optimized/runtime/host/memory.h"

#include <algorithm>
#include <cstring>

namespace graphgate::optimized {

HostMemory::HostMemory(std::int64_t size_bytes, std::int64_t alignment_bytes, bool is_guarded)
    : size_bytes_(size_bytes), alignment_bytes_(alignment_bytes) {
  const auto alignment = static_cast<std::align_val_t>(alignment_bytes);
  const std::int64_t guard = is_guarded ? kGuardBytes : 0;
  lead_bytes_ = (guard + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  const auto size =
      static_cast<std::size_t>(lead_bytes_ + std::max<std::int64_t>(size_bytes, 1) + guard);
  bytes_ = {static_cast<std::byte*>(::operator new[](size, alignment)), Free{alignment}};
  std::memset(bytes_.get(), 0, size);
  if (!is_guarded) return;
  std::fill_n(data() - kGuardBytes, kGuardBytes, kGuardFill);
  std::fill_n(data() + size_bytes, kGuardBytes, kGuardFill);
}

void HostMemory::fill(std::byte with) const { std::fill_n(data(), size_bytes_, with); }

std::shared_ptr<HostMemory> HostMemory::moved(std::byte with) const {
  auto other = std::make_shared<HostMemory>(size_bytes_, alignment_bytes_, is_guarded());
  other->fill(with);
  return other;
}

}  // namespace graphgate::optimized
