// Sums in the order of arithmetic/sum.h, by the 32 threads of a warp together.
//
// It stands in the place of that header in device text. Threads 8 b + j of a warp hold lane j of
// block b of four. What a thread adds up, and what is then added to what, is exactly what the host
// does one after the other. All threads of the warp call it with the same n and all get the sum.
// n < 2^30.
#pragma once

namespace graphgate::optimized {

inline constexpr std::int64_t kLanes = 8;
inline constexpr std::int64_t kBlock = 1024;

namespace internal {

template <class C>
using Accumulator = std::conditional_t<std::is_same_v<C, std::int64_t>, std::uint64_t, C>;

inline constexpr unsigned kWarp = 0xffffffffu;

// Terms [begin, end) on 8 neighbouring threads; right on the first of them.
template <class C, class Term>
Accumulator<C> sum_block(std::int64_t begin, std::int64_t end, Term&& term) {
  using A = Accumulator<C>;
  A lane = 0;
  for (std::int64_t i = begin + threadIdx.x % 8; i < end; i += kLanes) {
    lane += static_cast<A>(term(i));
  }
  for (int width = 4; width > 0; width /= 2) lane += __shfl_down_sync(kWarp, lane, width, 8);
  return lane;
}

template <class A>
A add_lanes(A* lanes) {
  for (int width = 4; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  }
  return lanes[0];
}

// The sum of the sums of blocks [first, last), at most 1024 of them.
template <class C, class Term>
Accumulator<C> sum_blocks(std::int64_t n, std::int64_t first, std::int64_t last, Term&& term) {
  using A = Accumulator<C>;
  A lanes[kLanes] = {};
  for (std::int64_t b = first; b < last; b += kLanes) {
    for (int half = 0; half < 2; ++half) {
      const std::int64_t mine = b + half * 4 + threadIdx.x % 32 / 8;
      const std::int64_t begin = mine * kBlock;
      const std::int64_t end = mine >= last ? begin : (begin + kBlock < n ? begin + kBlock : n);
      const A sum = sum_block<C>(begin, end, term);
      for (int k = 0; k < 4; ++k) {
        const A other = __shfl_sync(kWarp, sum, k * 8);
        if (b + half * 4 + k < last) lanes[half * 4 + k] += other;
      }
    }
  }
  return add_lanes(lanes);
}

}  // namespace internal

template <class C, class Term>
C ordered_sum_of(std::int64_t n, Term&& term) {
  using A = internal::Accumulator<C>;
  if (n <= kBlock) {
    const A sum = internal::sum_block<C>(0, threadIdx.x % 32 < 8 ? n : 0, term);
    return static_cast<C>(__shfl_sync(internal::kWarp, sum, 0));
  }
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
  if (blocks <= kBlock) return static_cast<C>(internal::sum_blocks<C>(n, 0, blocks, term));
  A lanes[kLanes] = {};
  for (std::int64_t b = 0; b < blocks; b += kBlock) {
    const std::int64_t last = b + kBlock < blocks ? b + kBlock : blocks;
    lanes[b / kBlock % kLanes] += internal::sum_blocks<C>(n, b, last, term);
  }
  return static_cast<C>(internal::add_lanes(lanes));
}

// The greatest of n terms, as sum.h has it.
template <class C, class Term>
C greatest_of(std::int64_t n, Term&& term) {
  C best = -std::numeric_limits<C>::infinity();
  const auto keep = [&](C x) { best = best != best || !(x > best || x != x) ? best : x; };
  for (std::int64_t i = threadIdx.x % 32; i < n; i += 32) keep(term(i));
  for (int width = 16; width > 0; width /= 2) {
    keep(__shfl_down_sync(internal::kWarp, best, width));
  }
  return __shfl_sync(internal::kWarp, best, 0);
}

}  // namespace graphgate::optimized
