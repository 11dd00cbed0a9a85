// The steps of kernels/elements/order.h, taken by the 32 threads of a warp together: what is left
// behind is exactly what one thread leaves. All of them call with the same arguments, and get the
// same result.
#pragma once

namespace graphgate::optimized::device {

struct OrderByWarp {
  static constexpr unsigned kAll = 0xffffffffu;
  static int lane() { return threadIdx.x % 32; }
  // The place of the i-th bit that is set, from the lowest on.
  static int set_bit(unsigned bits, int i) {
    int place = 0;
    for (int width = 16; width > 0; width /= 2) {
      const int below = __popc(bits & ((1u << width) - 1));
      if (i < below) continue;
      i -= below;
      bits >>= width;
      place += width;
    }
    return place;
  }

  // One after the other, those entries go into the heap that come before its top at that time.
  template <class E, class Before>
  static void select_heap(E* x, std::int64_t k, std::int64_t n, Before before) {
    once([&] { element::make_heap(x, k, before); });
    for (std::int64_t begin = k; begin < n; begin += 32) {
      const std::int64_t i = begin + lane();
      bool is_left = i < n;
      const E own = x[is_left ? i : begin];
      while (true) {
        const unsigned wins = __ballot_sync(kAll, is_left && before(own, x[0]));
        if (wins == 0) break;
        const int first = __ffs(static_cast<int>(wins)) - 1;
        is_left = is_left && lane() > first;
        if (lane() == first) {
          x[i] = x[0];
          element::sift(x, 0, k, own, before);
        }
        __syncwarp();
      }
    }
  }

  // From both ends come entries that may not stay where they are, in the order in which one thread
  // would find them; pairs of them change places until they meet.
  template <class E, class Before>
  static std::int64_t parted(E* x, std::int64_t first, std::int64_t last, Before before) {
    const std::int64_t middle = first + (last - first) / 2;
    once([&] {
      element::exchange(x[first],
                        x[element::median_of(x, first + 1, middle, last - 1, before)]);
    });
    const E pivot = x[first];
    std::int64_t up = first + 1;   // the first of 32 whose bits are in `ups`, from there on
    std::int64_t down = last - 1;  // the first of 32 whose bits are in `downs`, down from there
    unsigned ups = misfits_up(x, up, last, pivot, before);
    unsigned downs = misfits_down(x, down, first, pivot, before);
    std::int64_t exchanged = last;  // the latest from above
    while (true) {
      while (ups == 0) ups = misfits_up(x, up += 32, last, pivot, before);
      while (downs == 0) downs = misfits_down(x, down -= 32, first, pivot, before);
      const int ups_left = __popc(ups);
      const int downs_left = __popc(downs);
      const int pairs = ups_left < downs_left ? ups_left : downs_left;
      const std::int64_t low = up + set_bit(ups, lane());
      const std::int64_t high = down - set_bit(downs, lane());
      const int swaps = __popc(__ballot_sync(kAll, lane() < pairs && low < high));
      __syncwarp();
      if (lane() < swaps) element::exchange(x[low], x[high]);
      __syncwarp();
      if (swaps > 0) exchanged = __shfl_sync(kAll, high, swaps - 1);
      if (swaps < pairs) {
        const std::int64_t next = __shfl_sync(kAll, low, swaps);
        return next < exchanged ? next : exchanged;
      }
      ups = without_lowest(ups, pairs);
      downs = without_lowest(downs, pairs);
    }
  }

  template <class E, class Before>
  static void sort_few(E* x, std::int64_t first, std::int64_t last, Before before) {
    const int n = static_cast<int>(last - first);
    const int i = lane() < n ? lane() : 0;
    if (n < 2) return;
    const E own = x[first + i];
    int place = 0;
    for (int j = 0; j < n; ++j) {
      const E other = x[first + j];
      if (before(other, own) || (j < i && !before(own, other))) ++place;
    }
    __syncwarp();
    if (lane() < n) x[first + place] = own;
    __syncwarp();
  }

  template <class F>
  static void once(F&& f) {
    __syncwarp();
    if (lane() == 0) f();
    __syncwarp();
  }

 private:
  // Which of the 32 entries from `up` on may not stand in front of the pivot, as bits. What is
  // behind the range may not.
  template <class E, class Before>
  static unsigned misfits_up(const E* x, std::int64_t up, std::int64_t last, const E& pivot,
                           Before before) {
    const std::int64_t i = up + lane();
    return __ballot_sync(kAll, i >= last || !before(x[i], pivot));
  }
  // Which of the 32 from `down` down may not stand behind it. What is in front of the range may
  // not.
  template <class E, class Before>
  static unsigned misfits_down(const E* x, std::int64_t down, std::int64_t first, const E& pivot,
                             Before before) {
    const std::int64_t i = down - lane();
    return __ballot_sync(kAll, i <= first || !before(pivot, x[i]));
  }
  static unsigned without_lowest(unsigned bits, int count) {
    for (; count > 0; --count) bits &= bits - 1;
    return bits;
  }
};

}  // namespace graphgate::optimized::device
