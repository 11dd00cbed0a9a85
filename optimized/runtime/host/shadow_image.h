// A second copy of the memory of a run, by address.
//
// The shadow instrument keeps two. One is a mirror, which follows every declared write: what
// differs from it has been written behind everybody's back. The other is a twin, which lives in a
// world where the pad holds other garbage: what differs there depends on the pad.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "optimized/runtime/host/shadow_tags.h"

namespace graphgate::optimized {

[[nodiscard]] inline std::int64_t address_of(const std::byte* bytes) {
  return reinterpret_cast<std::intptr_t>(bytes);
}
[[nodiscard]] inline std::byte* bytes_at(std::int64_t address) {
  return reinterpret_cast<std::byte*>(static_cast<std::intptr_t>(address));  // NOLINT
}

// Ranges are absolute addresses here. What lies outside of the image is passed over.
class ShadowImage {
 public:
  // Copies these bytes; spans that overlap become one.
  void build(std::vector<std::span<const std::byte>> spans);
  // Adds bytes that overlap nothing in the image.
  void add(std::span<const std::byte> span);
  void clear() { regions_.clear(); }
  [[nodiscard]] bool empty() const { return regions_.empty(); }
  [[nodiscard]] std::int64_t size_bytes() const;

  // Memory to image, and image to memory.
  void take(ShadowRange range);
  void put(ShadowRange range) const;
  // The image's own bytes; null outside of it.
  [[nodiscard]] std::byte* at(std::int64_t address);
  // Where memory and image differ: in the range, or anywhere. Differences less than 16 bytes apart
  // are told as one.
  [[nodiscard]] std::vector<ShadowRange> differences(ShadowRange range) const;
  [[nodiscard]] std::vector<ShadowRange> differences() const;
  [[nodiscard]] bool differs(ShadowRange range) const;

 private:
  struct Region {
    std::int64_t begin = 0;
    std::vector<std::byte> bytes;
    [[nodiscard]] std::int64_t end() const { return begin + std::ssize(bytes); }
  };
  // The part of `range` in each region: visit(region, part).
  template <class Regions, class Visit>
  static void for_each_part(Regions& regions, ShadowRange range, Visit&& visit);

  std::vector<Region> regions_;  // by address, disjoint
};

}  // namespace graphgate::optimized
