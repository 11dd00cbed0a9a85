#include "optimized/runtime/emulated/emulated_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <new>

#include "optimized/runtime/device/device.h"

namespace graphgate::optimized::emulated {
namespace {

constexpr std::byte kUnsetByte{0xa5};  // what new memory holds

// Memory that starts with other bytes than zeros, between bytes that nobody may write.
class PlainMemory final : public EmulatedMemory {
 public:
  std::uint64_t allocate(std::int64_t size_bytes) override {
    const std::uint64_t address = FarMemory::allocate(size_bytes + 2 * kGuard) + kGuard;
    std::fill_n(bytes_at(address - kGuard), size_bytes + 2 * kGuard, kGuardByte);
    std::fill_n(bytes_at(address), size_bytes, kUnsetByte);
    sizes_[address] = size_bytes;
    return address;
  }
  void free(std::uint64_t address) override {
    sizes_.erase(address);
    FarMemory::free(address - kGuard);
  }
  void check() const override {
    const auto is_touched = [](const std::byte* first) {
      return std::any_of(first, first + kGuard, [](std::byte b) { return b != kGuardByte; });
    };
    for (const auto& [address, size] : sizes_) {
      const bool before = is_touched(bytes_at(address) - kGuard);
      if (!before && !is_touched(bytes_at(address) + size)) continue;
      throw DeviceError("a kernel wrote " + std::string(before ? "before" : "behind") +
                        " an arena of " + std::to_string(size) + " bytes");
    }
  }

 private:
  static constexpr std::int64_t kGuard = 256;
  static constexpr std::byte kGuardByte{0xcb};
  std::map<std::uint64_t, std::int64_t> sizes_;  // by address
};

// Arenas in pages of their own, between pages that nobody may touch.
class GuardedMemory final : public EmulatedMemory {
 public:
  explicit GuardedMemory(bool at_end) : at_end_(at_end) {}
  ~GuardedMemory() override {
    for (const auto& [address, pages] : pages_) unmap(pages);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::uint64_t allocate(std::int64_t size_bytes) override {
    const auto size = static_cast<std::size_t>(size_bytes);
    const std::size_t mapped = rounded_up(size + kMostAround, page_bytes_);
    void* const reserved = mmap(nullptr, mapped + 2 * page_bytes_, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) throw std::bad_alloc();
    Pages pages{static_cast<std::byte*>(reserved) + page_bytes_, mapped};
    set_access(pages, PROT_READ | PROT_WRITE);
    std::fill_n(pages.first, mapped, kUnsetByte);
    pages.arena = pages.first + (at_end_ ? mapped - rounded_up(size, kAlignment) : 0);
    pages.arena_end = pages.arena + size;
    pages_.emplace(reinterpret_cast<std::uint64_t>(pages.first), pages);
    return reinterpret_cast<std::uint64_t>(pages.arena);
  }
  void free(std::uint64_t address) override {
    const Pages pages = pages_at(address);
    unmap(pages);
    pages_.erase(reinterpret_cast<std::uint64_t>(pages.first));
  }
  void to_device(std::uint64_t to, std::span<const std::byte> from) override {
    const Pages& pages = pages_at(to);
    if (pages.is_read_only) set_access(pages, PROT_READ | PROT_WRITE);
    EmulatedMemory::to_device(to, from);
    if (pages.is_read_only) set_access(pages, PROT_READ);
  }
  void set_read_only(std::uint64_t address, bool is_read_only) override {
    Pages& pages = pages_at(address);
    pages.is_read_only = is_read_only;
    set_access(pages, is_read_only ? PROT_READ : PROT_READ | PROT_WRITE);
  }
  [[nodiscard]] bool is_guarded() const override { return true; }
  [[nodiscard]] DeviceSurroundings surroundings(std::uint64_t address) const override {
    const Pages& pages = std::prev(pages_.upper_bound(address))->second;
    return {std::min<std::int64_t>(pages.arena - pages.first, kMostAround),
            std::min<std::int64_t>(pages.first + pages.size - pages.arena_end, kMostAround)};
  }

 private:
  static constexpr std::size_t kAlignment = 16;
  static constexpr std::size_t kMostAround = 256;  // bytes on a side that canaries take
  struct Pages {
    std::byte* first = nullptr;
    std::size_t size = 0;  // bytes
    std::byte* arena = nullptr;
    std::byte* arena_end = nullptr;
    bool is_read_only = false;
  };
  // Those of an arena, or of what is around it.
  Pages& pages_at(std::uint64_t address) { return std::prev(pages_.upper_bound(address))->second; }
  static std::size_t rounded_up(std::size_t size, std::size_t multiple) {
    return (size + multiple - 1) / multiple * multiple;
  }
  static void set_access(const Pages& pages, int access) {
    if (mprotect(pages.first, pages.size, access) != 0) {
      throw DeviceError("the access to emulated memory cannot be changed");
    }
  }
  void unmap(const Pages& pages) const {
    (void)munmap(pages.first - page_bytes_, pages.size + 2 * page_bytes_);
  }

  const bool at_end_;
  const std::size_t page_bytes_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::map<std::uint64_t, Pages> pages_;  // by their first byte
};

}  // namespace

std::unique_ptr<EmulatedMemory> make_memory(DeviceMemoryMode mode) {
  if (mode == DeviceMemoryMode::kPlain) return std::make_unique<PlainMemory>();
  return std::make_unique<GuardedMemory>(mode == DeviceMemoryMode::kGuarded);
}

}  // namespace graphgate::optimized::emulated
