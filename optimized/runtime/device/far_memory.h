// A device's memory without a device: for tests, and for looking at what a device would be given.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <span>

#include "optimized/runtime/device/memory.h"

namespace graphgate::optimized {

inline std::byte* bytes_at(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Memory apart from the host's, as a device has it.
class FarMemory : public RawDeviceMemory {
 public:
  std::uint64_t allocate(std::int64_t size_bytes) override {
    auto bytes = std::make_unique<std::byte[]>(static_cast<std::size_t>(size_bytes));
    const auto address = reinterpret_cast<std::uint64_t>(bytes.get());
    arenas_[address] = std::move(bytes);
    return address;
  }
  void free(std::uint64_t address) override { arenas_.erase(address); }
  void to_device(std::uint64_t to, std::span<const std::byte> from) override {
    std::memcpy(bytes_at(to), from.data(), from.size());
  }
  void to_host(std::span<std::byte> to, std::uint64_t from) override {
    std::memcpy(to.data(), bytes_at(from), to.size());
  }
  [[nodiscard]] std::size_t arenas() const { return arenas_.size(); }

 private:
  std::map<std::uint64_t, std::unique_ptr<std::byte[]>> arenas_;
};

}  // namespace graphgate::optimized
