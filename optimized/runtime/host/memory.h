// Bytes of the host backend: pools with the alignment that a plan asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace graphgate::optimized {

// Zero-filled when made; the address never changes. The alignment is a power of two.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(std::int64_t size_bytes, std::int64_t alignment_bytes);

  [[nodiscard]] std::byte* data() const { return bytes_.get(); }
  [[nodiscard]] std::int64_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] std::int64_t alignment_bytes() const { return alignment_bytes_; }

 private:
  struct Free {
    std::align_val_t alignment;
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, alignment); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::int64_t size_bytes_ = 0;
  std::int64_t alignment_bytes_ = 1;
};

}  // namespace graphgate::optimized
