// Bytes of the host backend: pools with the alignment that a plan asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace graphgate::optimized {

// How many bytes stand before and behind memory that is guarded, and what they hold. Nobody is
// given them: a write there is a write outside.
inline constexpr std::int64_t kGuardBytes = 256;
inline constexpr std::byte kGuardFill{0xD9};
// What memory holds that was given back: somebody else's bytes. As numbers they are far from all
// that programs compute, as indices far outside.
inline constexpr std::byte kAsleepFill{0x5B};

// Zero-filled when made; the address never changes. The alignment is a power of two.
class HostMemory {
 public:
  HostMemory() = default;
  // `is_guarded`: an instrument watches, and there are guards on both sides.
  HostMemory(std::int64_t size_bytes, std::int64_t alignment_bytes, bool is_guarded = false);

  [[nodiscard]] std::byte* data() const { return bytes_.get() + lead_bytes_; }
  [[nodiscard]] std::int64_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] std::int64_t alignment_bytes() const { return alignment_bytes_; }
  [[nodiscard]] bool is_guarded() const { return lead_bytes_ > 0; }
  // Fills all but the guards.
  void fill(std::byte with) const;
  // Other memory of the same size, alignment and guards, with this byte in it.
  [[nodiscard]] std::shared_ptr<HostMemory> moved(std::byte with) const;

 private:
  struct Free {
    std::align_val_t alignment;
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, alignment); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::int64_t size_bytes_ = 0;
  std::int64_t alignment_bytes_ = 1;
  std::int64_t lead_bytes_ = 0;  // before data(): the guard, and what alignment asks for
};

}  // namespace graphgate::optimized
