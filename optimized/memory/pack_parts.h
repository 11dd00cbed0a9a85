// What the packer's methods work on: items in compressed time and in units, cut into parts that
// have nothing to do with each other.
//
// Only the order of births and deaths matters. A section is a run of births followed by a run of
// deaths; the items alive between the two are alive together, and two items overlap in time exactly
// when they share a section:
//
//   births   a b     c d      e
//   deaths       a b      c d    e
//   section |   0   |   1   |  2  |       b: sections [0, 1)
//
// Where nothing is alive between two sections, the items before and after never meet: a part ends.
// Internal to memory/.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "optimized/memory/pack.h"

namespace graphgate::optimized {

// No size, offset, step or amount of work is larger.
inline constexpr std::int64_t kPackMax = std::numeric_limits<std::int64_t>::max();

// Says to long work that nobody waits for its answer any more. Any thread may ask and stop.
class PackStop {
 public:
  explicit PackStop(std::function<bool()> is_over) : is_over_(std::move(is_over)) {}
  void stop() { stopped_ = true; }
  // Whether stop() was called, or what the caller watches is over.
  [[nodiscard]] bool is_over() const { return stopped_ || (is_over_ && is_over_()); }

 private:
  std::function<bool()> is_over_;
  std::atomic<bool> stopped_ = false;
};

// An item of a part. `size` > 0 is in units (see PackParts).
struct PackBox {
  std::int32_t first = 0;  // sections [first, last) of the part
  std::int32_t last = 0;
  std::int64_t size = 0;
  std::int64_t duration = 0;  // in steps; boxes of a part stand in the order of birth
  std::size_t item = 0;       // the caller's index
};

struct PackPart {
  std::vector<PackBox> boxes;
  std::int32_t section_count = 0;
  std::int64_t bound = 0;     // highest sum of sizes over sections
  std::int32_t live_max = 0;  // most boxes in one section
};

// A unit is the greatest common divisor of all rounded sizes: a multiple of the alignment. Offsets
// that are sums of sizes need no other rounding.
struct PackParts {
  std::vector<PackPart> parts;
  std::int64_t unit_bytes = 1;
  std::int64_t bound = 0;  // of all parts
};

// Items of 0 bytes are left out. Errors as in pack.h.
[[nodiscard]] Result<PackParts> make_parts(std::span<const PackItem> items,
                                           std::int64_t alignment_bytes);

// The size rounded up; kBadInput as in pack.h. `index` is for the message.
[[nodiscard]] Result<std::int64_t> rounded_size_bytes(const PackItem& item, std::size_t index,
                                                      std::int64_t alignment_bytes);

}  // namespace graphgate::optimized
