// Sums and dot products in an order that depends on the length alone.
//
// Terms go round eight lanes, each of which adds up in order; the lanes are then added as a tree:
//
//   lane j = x[j] + x[j+8] + x[j+16] + ...        ((0+4)+(2+6)) + ((1+5)+(3+7))
//
// Sequences of more than kBlock terms are cut into blocks of that size, whose sums are summed the
// same way: the error grows with the logarithm of the length beyond a block. Products are rounded
// before they are added: no fused multiply-add, on any machine. Where and how often a row is cut by
// tiles, threads or partitions changes nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace graphgate::optimized {

inline constexpr std::int64_t kLanes = 8;
inline constexpr std::int64_t kBlock = 1024;

namespace internal {

// Integers add up modulo 2^64.
template <class C>
using Accumulator = std::conditional_t<std::is_same_v<C, std::int64_t>, std::uint64_t, C>;

// `term(i)` for i in [begin, end), at most kBlock of them.
template <class C, class Term>
C sum_block(std::int64_t begin, std::int64_t end, Term&& term) {
  using A = Accumulator<C>;
  A lanes[kLanes] = {};
  std::int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    for (std::int64_t j = 0; j < kLanes; ++j) lanes[j] += static_cast<A>(term(i + j));
  }
  for (std::int64_t j = 0; i + j < end; ++j) lanes[j] += static_cast<A>(term(i + j));
  for (std::int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::int64_t j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  }
  return static_cast<C>(lanes[0]);
}

}  // namespace internal

template <class C>
[[nodiscard]] C ordered_sum(const C* x, std::int64_t n);

// The sum of term(i) for i in [0, n), in C. An empty sum is 0.
template <class C, class Term>
[[nodiscard]] C ordered_sum_of(std::int64_t n, Term&& term) {
  if (n <= kBlock) return internal::sum_block<C>(0, n, term);
  std::vector<C> blocks;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = begin + kBlock < n ? begin + kBlock : n;
    blocks.push_back(internal::sum_block<C>(begin, end, term));
  }
  return ordered_sum<C>(blocks.data(), static_cast<std::int64_t>(blocks.size()));
}

template <class C>
C ordered_sum(const C* x, std::int64_t n) {
  return ordered_sum_of<C>(n, [x](std::int64_t i) { return x[i]; });
}

// The greatest of n terms, floats; -infinity of none. Any NaN wins. 0 and -0 are equal, and either
// may come out.
template <class C, class Term>
[[nodiscard]] C greatest_of(std::int64_t n, Term&& term) {
  C best = -std::numeric_limits<C>::infinity();
  for (std::int64_t i = 0; i < n; ++i) {
    const C x = term(i);
    best = best != best || !(x > best || x != x) ? best : x;
  }
  return best;
}

template <class C>
[[nodiscard]] C ordered_dot(const C* x, const C* y, std::int64_t n) {
  using A = internal::Accumulator<C>;
  return ordered_sum_of<C>(n, [x, y](std::int64_t i) {
    return static_cast<C>(static_cast<A>(x[i]) * static_cast<A>(y[i]));
  });
}

}  // namespace graphgate::optimized
