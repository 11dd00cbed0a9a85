// Which of several numbers is the largest, or the i-th, where radii leave their order open. Used by
// the families sorting, extremum, scan and max_pooling.
#pragma once

#include <span>
#include <vector>

#include "reference/number/functions.h"
#include "reference/number/left_open.h"

namespace graphgate::reference {

// Whether x may be NaN, or a number: nobody can tell.
template <class N>
[[nodiscard]] bool may_be_either(const N& x) {
  return is_nan(x).undecided;
}
[[nodiscard]] inline bool may_be_either(Whole /*x*/) { return false; }

template <class N>
[[nodiscard]] bool is_certain_nan(const N& x) {
  return is_nan(x).value != 0 && !is_nan(x).undecided;
}

// Whether the order of two numbers is open. NaNs have a place of their own.
template <class N>
[[nodiscard]] bool is_open(const N& a, const N& b) {
  if (may_be_either(a) || may_be_either(b)) return true;
  return is_nan(a).value == 0 && is_nan(b).value == 0 && less(a, b).undecided;
}

// Whether x is not exactly its value: its order beside others may be open.
template <class N>
[[nodiscard]] bool is_inexact(const N& x) {
  return may_be_either(x) || less(x, x).undecided;
}
template <class N>
[[nodiscard]] bool has_inexact(std::span<const N> numbers) {
  for (const N& x : numbers) {
    if (is_inexact(x)) return true;
  }
  return false;
}

// Whether some other number than numbers[best] may be the one looked for. `best` is so by value;
// who is certainly worse than it is worse than whatever is looked for. Where it is NaN, one that
// may be NaN as well counts if it stands before it (`first_counts`), or behind it.
template <class Numbers>
[[nodiscard]] bool has_rival(const Numbers& numbers, std::size_t best, bool first_counts) {
  const auto found = numbers[best];
  const bool beside_nan = is_certain_nan(found);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i == best) continue;
    const bool counts = !beside_nan || (first_counts ? i < best : i > best);
    if (counts && is_open(numbers[i], found)) return true;
  }
  return false;
}

// x, in whose place y may stand. The i-th of several numbers moves by no more than the largest
// radius among those that may be it, since at any time it is one of them. Of two zeros it has
// either sign.
inline double as_wide_as(double x, double /*y*/) { return x; }
inline Whole as_wide_as(Whole x, Whole y) {
  return {x.value, x.undecided || y.undecided || x.value != y.value};
}
template <class P>
Tracked<P> as_wide_as(const Tracked<P>& x, const Tracked<P>& y) {
  const bool are_zeros = x.value == 0 && y.value == 0;
  const bool is_open = are_zeros && std::signbit(x.value) != std::signbit(y.value);
  const double radius = std::max(x.radius, y.radius);
  return {x.value, is_open ? std::max(radius, detail::kOpenSign) : radius, x.arithmetic};
}

// Bounds how far from a number those are that its order may be open to, by the widest radius among
// them: who lies further has a place of its own.
template <class N>
class OpenReach {
 public:
  // Of numbers in that order: reach(p) is about those from place p + 1 on.
  OpenReach(std::span<const N> /*numbers*/, const std::vector<std::size_t>& /*order*/) {}
  [[nodiscard]] bool ends(const N& /*a*/, const N& /*b*/, std::size_t /*p*/) const { return false; }
};
template <class P>
class OpenReach<Tracked<P>> {
 public:
  OpenReach(std::span<const Tracked<P>> numbers, const std::vector<std::size_t>& order)
      : widest_(order.size() + 1, 0) {
    for (std::size_t p = order.size(); p-- > 0;) {
      widest_[p] = std::max(widest_[p + 1], numbers[order[p]].radius);
    }
  }
  // Returns whether no number behind `b`, which stands behind `a` at place p, is as near to `a` as
  // to leave their order open. Numbers lie in the order of their values, and the distance grows
  // from here.
  [[nodiscard]] bool ends(const Tracked<P>& a, const Tracked<P>& b, std::size_t p) const {
    constexpr double kMargin = 1 + 0x1p-20;  // the rounding of what is compared
    const double radius = P::combine(a.radius, widest_[p + 1]) * kMargin;
    const auto reach = static_cast<long double>(P::kDecisionRadii * radius);
    return std::fabs(a.value - b.value) > reach && a.value != b.value;
  }

 private:
  std::vector<double> widest_;  // from each place on
};

// For every place of `order`, which has the numbers in the order of their values: the others, as
// places, that may stand there. A number may move as many places as there are others of open order
// before it, or behind it. `ties_open`: so is the order of equal numbers.
template <class N>
[[nodiscard]] std::vector<std::vector<std::size_t>> rivals(std::span<const N> numbers,
                                                           const std::vector<std::size_t>& order,
                                                           bool ties_open) {
  const std::size_t count = order.size();
  std::vector<std::size_t> first(count);
  std::vector<std::size_t> last(count);
  for (std::size_t p = 0; p < count; ++p) first[p] = last[p] = p;
  const OpenReach<N> reach(numbers, order);
  for (std::size_t p = 0; p < count; ++p) {
    for (std::size_t q = p + 1; q < count; ++q) {
      const N& a = numbers[order[p]];
      const N& b = numbers[order[q]];
      if (reach.ends(a, b, p)) break;
      const bool both_nan = is_certain_nan(a) && is_certain_nan(b);
      const bool tie = ties_open && (both_nan || equal(a, b).value != 0);
      if (!tie && !is_open(a, b)) continue;
      ++last[p];
      --first[q];
    }
  }
  std::vector<std::vector<std::size_t>> out(count);
  for (std::size_t q = 0; q < count; ++q) {
    for (std::size_t p = first[q]; p <= last[q]; ++p) {
      if (p != q) out[p].push_back(q);
    }
  }
  return out;
}

}  // namespace graphgate::reference
