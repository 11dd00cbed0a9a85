// What a lookup found lately, by the address that it was asked for: a thread's own, and of a fixed
// size. Lookups by name cost a text, its hash and several misses of the processor's caches; the
// same few are asked for again and again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace graphgate {

template <class Key, class Found>
class RecentFinds {
 public:
  struct Slot {
    const Key* key = nullptr;
    const Found* found = nullptr;
  };
  // Returns the place for a key: what was kept there last, of this key or of another. The caller
  // checks that what is found is the key's: an address may come again for something else.
  [[nodiscard]] Slot& slot_of(const Key* key) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key));
    return slots_[(address * kGolden) >> (64 - kBits)];
  }

 private:
  static constexpr int kBits = 10;
  std::array<Slot, std::size_t{1} << kBits> slots_;
};

}  // namespace graphgate
