// What the shadow instrument knows of bytes: a tag for each, kept as ranges.
//
// A tag stands for one write: who made these bytes what they are. Tensors are written as a whole,
// so that neighbours have one tag, and ranges are few where bytes are many.
//
//   bytes   0        64       128      192
//   tags    [ 3      | 3      | 7      | -      )      one range of 3, one of 7, nothing behind
//
// shadow.h keeps two kinds of these: one over addresses (what happened), one for every storage of a
// run (what the plan says).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "optimized/tensor.h"

namespace graphgate::optimized {

using ShadowTag = std::uint32_t;
inline constexpr ShadowTag kNoTag = 0;

// Half-open, in bytes; of a storage, or absolute addresses.
struct ShadowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend bool operator==(const ShadowRange&, const ShadowRange&) = default;
};

class ShadowTags {
 public:
  void set(ShadowRange range, ShadowTag tag);
  void clear() { ranges_.clear(); }

  // Calls visit(begin, end, tag) for the ranges that make up `range`, in order; what was never set
  // has kNoTag.
  template <class Visit>
  void for_each(ShadowRange range, Visit&& visit) const {
    auto at = ranges_.upper_bound(range.begin);
    if (at != ranges_.begin() && std::prev(at)->second.end > range.begin) --at;
    std::int64_t next = range.begin;
    for (; next < range.end && at != ranges_.end() && at->first < range.end; ++at) {
      if (at->first > next) visit(next, at->first, kNoTag);
      const std::int64_t begin = std::max(next, at->first);
      next = std::min(range.end, at->second.end);
      visit(begin, next, at->second.tag);
    }
    if (next < range.end) visit(next, range.end, kNoTag);
  }
  [[nodiscard]] std::size_t range_count() const { return ranges_.size(); }

 private:
  struct Tagged {
    std::int64_t end = 0;
    ShadowTag tag = kNoTag;
  };
  void cut_at(std::int64_t at);
  std::map<std::int64_t, Tagged> ranges_;  // by their begin; disjoint
};

// The bytes of a tensor's elements as ranges of its storage, with neighbours joined. Elements that
// several indices share may come several times.
[[nodiscard]] std::vector<ShadowRange> byte_runs(const Tensor& tensor);

}  // namespace graphgate::optimized
