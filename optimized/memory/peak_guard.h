// How much memory is in use, step by step: what line reuse asks before it holds on to a buffer.
//
// A segment tree over the steps, with sums added to ranges and the maximum of a range asked for,
// both in O(log steps).
#pragma once

#include <cstdint>
#include <vector>

namespace graphgate::optimized {

class PeakGuard {
 public:
  // `live_bytes` by step; the peak is the most of these, and stays what it is.
  explicit PeakGuard(const std::vector<std::int64_t>& live_bytes);

  // Whether `bytes` more in every step of [begin, end) stay within the peak. Then they are added.
  // Always for an empty range.
  [[nodiscard]] bool hold(std::int64_t begin, std::int64_t end, std::int64_t bytes);

  [[nodiscard]] std::int64_t peak_bytes() const { return peak_; }
  // The most in use in [begin, end); 0 for an empty range.
  [[nodiscard]] std::int64_t most(std::int64_t begin, std::int64_t end) const;

 private:
  struct Span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  void build(std::size_t node, Span span, const std::vector<std::int64_t>& live_bytes);
  void add(std::size_t node, Span span, Span where, std::int64_t bytes);
  [[nodiscard]] std::int64_t most(std::size_t node, Span span, Span where) const;

  std::int64_t steps_;
  std::int64_t peak_ = 0;
  // By node of the tree, 1 the root: the maximum below, and what was added to all of it; the
  // maximum includes that.
  std::vector<std::int64_t> most_;
  std::vector<std::int64_t> added_;
};

}  // namespace graphgate::optimized
