// Results of which nobody says what they are: judges leave them alone.
#pragma once

#include <algorithm>
#include <cmath>

#include "reference/number/tracked.h"
#include "reference/number/whole.h"

namespace graphgate::reference {

inline double left_open(double x) { return x; }
inline Whole left_open(Whole x) { return {x.value, true}; }
template <class P>
Tracked<P> left_open(const Tracked<P>& x) {
  return {x.value, detail::kInfinity, x.arithmetic};
}

inline bool is_finite(double x) { return std::isfinite(x); }
template <class P>
bool is_finite(const Tracked<P>& x) {
  return std::isfinite(x.value);
}

// Whether it is open what x times `weight` is: some executors pass over what has weight zero,
// others multiply by the zero, and beside an infinity or a NaN the two differ. A weight that may be
// zero counts, and so does an x that may be one of them since it is open itself.
inline bool is_hidden(double, double /*weight*/) { return false; }
inline bool is_hidden(Whole, Whole /*weight*/) { return false; }
template <class P>
bool is_hidden(const Tracked<P>& x, const Tracked<P>& weight) {
  const bool may_be_wild = !std::isfinite(x.value) || std::isinf(x.radius);
  return may_be_wild && detail::may_be_zero(weight);
}

// x, which some executors compute as `other`: two forms of one formula that round differently.
inline double covering(double x, double /*other*/) { return x; }
inline Whole covering(Whole x, Whole /*other*/) { return x; }
template <class P>
Tracked<P> covering(const Tracked<P>& x, const Tracked<P>& other) {
  const bool both_nan = std::isnan(x.value) && std::isnan(other.value);
  const bool is_same = both_nan || x.value == other.value;
  const double apart = is_same ? 0 : detail::rounded_up(std::fabs(x.value - other.value));
  const double radius = std::max(x.radius, other.radius + apart);
  return {x.value, std::isnan(apart) ? detail::kInfinity : radius, x.arithmetic};
}

// x * weight, open where the weight may hide x.
template <class N>
N weighted(const N& x, const N& weight) {
  const N product = x * weight;
  return is_hidden(x, weight) ? left_open(product) : product;
}

}  // namespace graphgate::reference
