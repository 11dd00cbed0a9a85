// The last writers of each byte: a map from ranges to sets of writers.
//
// The facts of the graph keep one for each storage, with nodes as writers; the walk over a plan
// keeps one for each pool. A set has more than one writer where paths meet (behind a conditional),
// or where a write may or may not have reached the byte.
//
//   write [0, 64) by 1, write [16, 32) by 2     ->   [0, 16) {1}   [16, 32) {2}   [32, 64) {1}
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "conformance/verify/byte_set.h"

namespace graphgate::verify {

using Writer = std::uint32_t;

// The end of a range that has no known end.
inline constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

using Writers = absl::InlinedVector<Writer, 2>;  // ascending
[[nodiscard]] Writers united(const Writers& a, const Writers& b);

// `writers` is ascending; empty: nobody wrote the bytes. Several stand for several ways to come
// here (arms of a conditional): each of them can be what wrote last. With `may`, it is not known
// that each of them can.
struct Content {
  ByteRange range;
  Writers writers;
  bool may = false;
  friend bool operator==(const Content&, const Content&) = default;
};

using Contents = absl::InlinedVector<Content, 1>;

class ContentMap {
 public:
  // The bytes hold what `writer` wrote, and nothing else.
  void write(const ByteSet& bytes, Writer writer);
  // They hold that now. Ranges ascend, and do not meet.
  void write(const Contents& contents);
  // They hold it from the start on, as they may hold what others brought there.
  void begin_with(const ByteSet& bytes, Writer writer);
  // They may hold it.
  void may_write(const ByteSet& bytes, Writer writer);
  // What the bytes hold, in ascending ranges; neighbours with equal content are one. Bytes that
  // nobody wrote are there with no writer.
  [[nodiscard]] Contents read(const ByteSet& bytes) const;
  // Everything that is not unwritten.
  [[nodiscard]] const Contents& read_all() const { return cells_; }
  // Replaces each writer of bytes in `range` by what `change` makes of it.
  template <class Change>
  void change(ByteRange range, Change&& change);
  // What holds where either this or `other` is what happened.
  void merge(const ContentMap& other);

  friend bool operator==(const ContentMap&, const ContentMap&) = default;

 private:
  Contents cells_;  // ascending, apart from each other; each has a writer
};

template <class Change>
void ContentMap::change(ByteRange range, Change&& change) {
  Contents changed;
  for (const Content& cell : cells_) {
    const std::int64_t begin = std::max(cell.range.begin_bytes, range.begin_bytes);
    const std::int64_t end = std::min(cell.range.end_bytes, range.end_bytes);
    if (begin >= end) continue;
    Content next{{begin, end}, {}, cell.may};
    for (const Writer writer : cell.writers) next.writers = united(next.writers, {change(writer)});
    changed.push_back(std::move(next));
  }
  write(changed);
}

}  // namespace graphgate::verify
