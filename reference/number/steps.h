// Functions that are constant but for steps, of Tracked numbers: floor, round, casts.
#pragma once

#include <algorithm>
#include <cmath>

#include "reference/number/tracked.h"

namespace graphgate::reference {

namespace detail {
// How many radii from x the nearest edge of a step lies: of those that are as far as decisions
// reach, found by bisection.
template <class P, class F>
double radii_to_edge(const Tracked<P>& x, F step) {
  const long double value = step(x.value);
  const auto radius = static_cast<long double>(x.radius);
  double nearest = P::kDecisionRadii;
  for (const long double toward : {-radius, radius}) {
    const auto stays = [&](double radii) {
      return step(x.value + static_cast<long double>(radii) * toward) == value;
    };
    double inside = 0;
    double outside = nearest;
    if (stays(outside)) continue;
    constexpr int kHalvings = 20;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (inside + outside) / 2;
      (stays(middle) ? inside : outside) = middle;
    }
    nearest = outside;
  }
  return nearest;
}
}  // namespace detail

// A function that is constant but for steps of at most `size` near x (floor, rounding to a dtype):
// exact where both ends of the radius agree. Else the worst case reaches the far end, and a
// standard deviation grows by a part of one step, by how near its edge is.
template <class P, class F>
Tracked<P> through_steps(const Tracked<P>& x, double size, F step) {
  const long double value = step(x.value);
  if (x.radius == 0 || !std::isfinite(x.value)) return {value, x.radius, x.arithmetic};
  if (detail::is_open_sign(x)) return {value, x.radius, x.arithmetic};
  const auto reach = static_cast<long double>(P::kDecisionRadii * x.radius);
  const long double low = step(x.value - reach);
  const long double high = step(x.value + reach);
  const bool is_either_zero = std::signbit(low) != std::signbit(high);
  if (low == high) return {value, detail::zero_radius(is_either_zero), x.arithmetic};
  // What overflows to no number on all sides.
  if (std::isnan(low) && std::isnan(value) && std::isnan(high)) return {value, 0, x.arithmetic};
  const auto jump = static_cast<double>(std::max(high - value, value - low));
  if (!std::isfinite(jump)) return {value, detail::kInfinity, x.arithmetic};
  const auto away = [&] { return detail::radii_to_edge(x, step); };
  return {value, P::of_step(jump, x.radius, size, away), x.arithmetic};
}

}  // namespace graphgate::reference
