#include "optimized/runtime/host/memory.h"

#include <algorithm>
#include <cstring>

namespace graphgate::optimized {

HostMemory::HostMemory(std::int64_t size_bytes, std::int64_t alignment_bytes)
    : size_bytes_(size_bytes), alignment_bytes_(alignment_bytes) {
  const auto alignment = static_cast<std::align_val_t>(alignment_bytes);
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(size_bytes, 1));
  bytes_ = {static_cast<std::byte*>(::operator new[](size, alignment)), Free{alignment}};
  std::memset(bytes_.get(), 0, size);
}

}  // namespace graphgate::optimized
