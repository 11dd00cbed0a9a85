// Orders of a row's elements: comparisons, and the selection algorithms of sort, topk and kthvalue.
//
// As rows.h, for sorting.cpp and for generated device kernels, which include this very file. What
// an unstable algorithm leaves in front among equal elements depends on every step that it takes.
// So these take the steps of the standard library that PyTorch's CPU kernels are built with
// (libstdc++: std::sort, std::nth_element, std::partial_sort) and of PyTorch's own quickselect;
// order_test.cpp holds them to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace graphgate::optimized::element {

// An element, and where in its row it stood.
template <class C, class Place = std::int64_t>
struct Entry {
  C value;
  Place place;
};

// a < b with NaN last.
template <class C>
bool precedes(C a, C b) {
  return a < b || (a == a && b != b);
}
struct Ascending {
  template <class E>
  bool operator()(const E& a, const E& b) const {
    return precedes(a.value, b.value);
  }
};
struct Descending {
  template <class E>
  bool operator()(const E& a, const E& b) const {
    return precedes(b.value, a.value);
  }
};
template <class E>
void exchange(E& a, E& b) {
  const E kept = a;
  a = b;
  b = kept;
}

// ---- heaps: the last in the order `before` stands on top, entry i is above 2 i + 1 and 2 i + 2

// Puts `value` into a heap of n entries from `hole` down, whose own entry counts no more.
template <class E, class Before>
void sift(E* x, std::int64_t hole, std::int64_t n, E value, Before before) {
  const std::int64_t top = hole;
  // Down to a leaf by the greater child, then up to its place.
  while (2 * hole + 2 < n) {
    const std::int64_t right = 2 * hole + 2;
    const std::int64_t child = before(x[right], x[right - 1]) ? right - 1 : right;
    x[hole] = x[child];
    hole = child;
  }
  if (2 * hole + 2 == n) {
    x[hole] = x[n - 1];
    hole = n - 1;
  }
  while (hole > top && before(x[(hole - 1) / 2], value)) {
    x[hole] = x[(hole - 1) / 2];
    hole = (hole - 1) / 2;
  }
  x[hole] = value;
}

template <class E, class Before>
void make_heap(E* x, std::int64_t n, Before before) {
  for (std::int64_t parent = n / 2; parent-- > 0;) sift(x, parent, n, E(x[parent]), before);
}

// ---- the steps of algorithms, by one thread

// Which of three entries stands in the middle.
template <class E, class Before>
std::int64_t median_of(const E* x, std::int64_t a, std::int64_t b, std::int64_t c, Before before) {
  if (before(x[a], x[b])) {
    if (before(x[b], x[c])) return b;
    return before(x[a], x[c]) ? c : a;
  }
  if (before(x[a], x[c])) return a;
  return before(x[b], x[c]) ? c : b;
}

// A device has the same steps for a warp (codegen/text/order.cuh), which leave the same entries.
struct Alone {
  // The first k of n entries come into a heap at the front.
  template <class E, class Before>
  static void select_heap(E* x, std::int64_t k, std::int64_t n, Before before) {
    make_heap(x, k, before);
    for (std::int64_t i = k; i < n; ++i) {
      if (!before(x[i], x[0])) continue;
      const E value = x[i];
      x[i] = x[0];
      sift(x, 0, k, value, before);
    }
  }

  // Parts [first, last), more than three entries, around the median of the second one, the middle
  // one and the last one. Returns where the second part begins: nothing in front of it is behind
  // the pivot, nothing from there on is before it.
  template <class E, class Before>
  static std::int64_t parted(E* x, std::int64_t first, std::int64_t last, Before before) {
    const std::int64_t middle = first + (last - first) / 2;
    exchange(x[first], x[median_of(x, first + 1, middle, last - 1, before)]);
    std::int64_t up = first + 1;
    std::int64_t down = last;
    while (true) {
      while (before(x[up], x[first])) ++up;
      --down;
      while (before(x[first], x[down])) --down;
      if (up >= down) return up;
      exchange(x[up], x[down]);
      ++up;
    }
  }

  // Puts [first, last) in the stable order, at most kInsertion entries.
  template <class E, class Before>
  static void sort_few(E* x, std::int64_t first, std::int64_t last, Before before) {
    for (std::int64_t i = first + 1; i < last; ++i) {
      const E value = x[i];
      std::int64_t hole = i;
      for (; hole > first && before(value, x[hole - 1]); --hole) x[hole] = x[hole - 1];
      x[hole] = value;
    }
  }

  // What one thread alone does.
  template <class F>
  static void once(F&& f) {
    f();
  }
};

// ---- algorithms, whose steps somebody takes

// std::partial_sort: the first k of n in order at the front. 0 < k <= n.
template <class Steps = Alone, class E, class Before>
void sort_first(E* x, std::int64_t k, std::int64_t n, Before before) {
  Steps::select_heap(x, k, n, before);
  Steps::once([&] {
    for (std::int64_t last = k; last-- > 1;) {
      const E value = x[last];
      x[last] = x[0];
      sift(x, 0, last, value, before);
    }
  });
}

// How often a range of n entries is parted before a heap takes over.
inline std::int64_t most_parts(std::int64_t n) {
  std::int64_t depth = 0;
  for (; n > 1; n /= 2) depth += 2;
  return depth;
}

// Ranges of at most so many entries are put in order by insertion, which is stable: so is all that
// std::sort does to a row that is no longer.
inline constexpr std::int64_t kInsertion = 16;

// std::sort.
template <class Steps = Alone, class E, class Before>
void sort_entries(E* x, std::int64_t n, Before before) {
  struct Range {
    std::int64_t first, last, depth;
  };
  std::array<Range, 64> waiting;  // the shorter part goes on, so that so many do for any n
  std::size_t count = 0;
  Range range = {0, n, most_parts(n)};
  while (true) {
    const std::int64_t first = range.first;
    if (range.last - first <= kInsertion) {
      Steps::sort_few(x, first, range.last, before);
    } else if (range.depth == 0) {
      sort_first<Steps>(x + first, range.last - first, range.last - first, before);
    } else {
      const std::int64_t cut = Steps::parted(x, first, range.last, before);
      const Range front = {first, cut, range.depth - 1};
      const Range back = {cut, range.last, range.depth - 1};
      const bool is_front_shorter = cut - first < range.last - cut;
      waiting[count++] = is_front_shorter ? back : front;
      range = is_front_shorter ? front : back;
      continue;
    }
    if (count == 0) return;
    range = waiting[--count];
  }
}

// std::nth_element: entry k stands where sorting would put it. 0 <= k < n.
template <class Steps = Alone, class E, class Before>
void select_nth(E* x, std::int64_t k, std::int64_t n, Before before) {
  std::int64_t first = 0;
  std::int64_t last = n;
  for (std::int64_t depth = most_parts(n); last - first > 3; --depth) {
    if (depth == 0) {
      Steps::select_heap(x + first, k + 1 - first, last - first, before);
      Steps::once([&] { exchange(x[first], x[k]); });
      return;
    }
    const std::int64_t cut = Steps::parted(x, first, last, before);
    if (cut <= k) {
      first = cut;
    } else {
      last = cut;
    }
  }
  Steps::sort_few(x, first, last, before);
}

// PyTorch's quickselect: parts around the median of three until entry k stands where sorting would
// put it. 0 <= k < n.
template <class E>
void quick_select(E* x, std::int64_t k, std::int64_t n) {
  const auto order = [x](std::int64_t low, std::int64_t high) {
    if (Ascending()(x[high], x[low])) exchange(x[low], x[high]);
  };
  std::int64_t first = 0;
  std::int64_t last = n - 1;
  while (last > first + 1) {
    exchange(x[first + (last - first) / 2], x[first + 1]);
    order(first + 1, last);
    order(first, last);
    order(first + 1, first);
    const E pivot = x[first];
    std::int64_t up = first + 1;
    std::int64_t down = last;
    while (true) {
      while (Ascending()(x[++up], pivot)) {
      }
      while (Ascending()(pivot, x[--down])) {
      }
      if (down < up) break;
      exchange(x[up], x[down]);
    }
    exchange(x[first], x[down]);
    if (down >= k) last = down - 1;
    if (down <= k) first = up;
  }
  if (last == first + 1) order(first, last);
}

// ---- what ops do to the n entries of a row, by name

template <class Before>
struct Sorted {
  template <class E, class Steps = Alone>
  void operator()(E* entries, std::int64_t n, Steps = {}) const {
    sort_entries<Steps>(entries, n, Before());
  }
};

// Brings the first k to the front, 0 < k <= n. Few of many are picked by a heap; else a partition
// finds the k-th, and those in front of it are sorted, where that is wanted.
template <class Before, bool sorts>
struct FirstOnes {
  std::int64_t k;
  template <class E, class Steps = Alone>
  void operator()(E* entries, std::int64_t n, Steps = {}) const {
    if (k * 64 <= n) return sort_first<Steps>(entries, k, n, Before());
    select_nth<Steps>(entries, k - 1, n, Before());
    if constexpr (sorts) sort_entries<Steps>(entries, k - 1, Before());
  }
};

// Entry k is the one that stands there in order.
struct Kth {
  std::int64_t k;
  template <class E, class Steps = Alone>
  void operator()(E* entries, std::int64_t n, Steps = {}) const {
    Steps::once([&] { quick_select(entries, k, n); });
  }
};

}  // namespace graphgate::optimized::element
