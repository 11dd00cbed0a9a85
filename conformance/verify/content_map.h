// Who last wrote each byte: a map from ranges to sets of writers.
//
// The facts of the graph keep one for each storage, with nodes as writers; the walk over a plan
// keeps one for each pool. A set has more than one writer where paths meet (behind a conditional),
// or where a write may or may not have reached the byte.
//
//   write [0, 64) by 1, write [16, 32) by 2     ->   [0, 16) {1}   [16, 32) {2}   [32, 64) {1}
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "conformance/verify/byte_set.h"

namespace graphgate::verify {

using Writer = std::uint32_t;

// The end of a range that has no known end.
inline constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

// `writers` is ascending; empty: nobody wrote the bytes. Several stand for several ways to come
// here (arms of a conditional): each of them can be what wrote last. With `may`, it is not known
// that each of them can.
struct Content {
  ByteRange range;
  std::vector<Writer> writers;
  bool may = false;
  friend bool operator==(const Content&, const Content&) = default;
};

class ContentMap {
 public:
  // The bytes hold what `writer` wrote, and nothing else.
  void write(const ByteSet& bytes, Writer writer);
  void write(ByteRange range, const std::vector<Writer>& writers, bool may);
  // They may hold it.
  void may_write(const ByteSet& bytes, Writer writer);
  // What the bytes hold, in ascending ranges; neighbours with equal content are one. Bytes that
  // nobody wrote are there with no writer.
  [[nodiscard]] std::vector<Content> read(const ByteSet& bytes) const;
  // Everything that is not unwritten.
  [[nodiscard]] std::vector<Content> read_all() const;
  // Replaces each content that lies in `range` by what `change` makes of it.
  template <class Change>
  void change(ByteRange range, Change&& change);
  // What holds where either this or `other` is what happened.
  void merge(const ContentMap& other);

  friend bool operator==(const ContentMap&, const ContentMap&) = default;

 private:
  struct Cell {
    std::int64_t end_bytes = 0;
    std::vector<Writer> writers;
    bool may = false;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  // Makes `at` a border between cells.
  void split(std::int64_t at);
  std::map<std::int64_t, Cell> cells_;  // by first byte; apart from each other
};

template <class Change>
void ContentMap::change(ByteRange range, Change&& change) {
  split(range.begin_bytes);
  split(range.end_bytes);
  auto cell = cells_.lower_bound(range.begin_bytes);
  for (; cell != cells_.end() && cell->first < range.end_bytes; ++cell) {
    auto& writers = cell->second.writers;
    for (Writer& writer : writers) writer = change(writer);
    std::sort(writers.begin(), writers.end());
    writers.erase(std::unique(writers.begin(), writers.end()), writers.end());
  }
}

// The union of two ascending sets.
[[nodiscard]] std::vector<Writer> united(const std::vector<Writer>& a,
                                         const std::vector<Writer>& b);

}  // namespace graphgate::verify
