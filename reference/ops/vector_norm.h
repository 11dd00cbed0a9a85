// Norms of vectors, which are lists of numbers that can be walked through. Called by reduction.cpp
// and renorm.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "reference/number/functions.h"
#include "reference/number/sum.h"

namespace graphgate::reference {

template <class N, class Numbers>
[[nodiscard]] N largest_magnitude(const Numbers& slice) {
  N out = 0;
  for (const N& x : slice) out = maximum(out, abs(x));
  return out;
}

template <class N, class Numbers>
[[nodiscard]] N smallest_magnitude(const Numbers& slice) {
  N out = std::numeric_limits<double>::infinity();
  for (const N& x : slice) out = minimum(out, abs(x));
  return out;
}

namespace detail {

// A number on the way, in eager mode: infinite or 0 where the dtype that is computed in has no
// number as large or as small. Else it stays as wide as it is. Oracles know that of their numbers.
inline double in_range(double x, spec::DType computed) {
  const double rounded = round_to_dtype(x, computed);
  return rounded == 0 || std::isinf(rounded) ? rounded : x;
}
template <class P>
const Tracked<P>& in_range(const Tracked<P>& x, spec::DType /*computed*/) {
  return x;
}

template <class N>
void add_square(Sum<N>& total, const N& x, spec::DType computed) {
  if constexpr (std::is_same_v<N, double>) {
    const double square = in_range(x * x, computed);
    if (square == 0 || std::isinf(square)) return total.add(square);
  }
  total.add_product(x, x);
}

// The norm of one number. PyTorch takes its magnitude; others take it as they take norms of more,
// where powers may overflow.
inline double norm_of_one(double magnitude, double /*as_of_more*/) { return magnitude; }
template <class P>
Tracked<P> norm_of_one(const Tracked<P>& magnitude, const Tracked<P>& as_of_more) {
  const bool is_same = magnitude.value == as_of_more.value ||
                       (std::isnan(magnitude.value) && std::isnan(as_of_more.value));
  const double apart = is_same ? 0 : rounded_up(std::fabs(magnitude.value - as_of_more.value));
  const double radius = std::max(magnitude.radius, apart + as_of_more.radius);
  return {magnitude.value, std::isnan(radius) ? kInfinity : radius, as_of_more.arithmetic};
}

// An exponent as executors hold it in the dtype, computed of a number with this error. Eager ones
// stay as wide as they are.
template <class N>
[[nodiscard]] N exponent_of(double exponent, double relative_error, spec::DType computed) {
  if constexpr (std::is_same_v<N, double>) {
    return exponent;
  } else {
    const auto wide = static_cast<long double>(exponent);
    const double rounding = holds(wide, computed) ? 0 : half_ulp(wide, computed);
    return {wide, rounding + std::fabs(exponent) * relative_error, {}};
  }
}

// A root, open where its operand may be less than 0, of a sum of powers, which is not.
inline double root_of_powers(double root, double /*sum*/, double /*exponent*/) { return root; }
template <class P>
Tracked<P> root_of_powers(const Tracked<P>& root, const Tracked<P>& sum, double exponent) {
  if (exponent < 0 || !std::isinf(root.radius) || !std::isfinite(root.value)) return root;
  const auto reach = sum.value + static_cast<long double>(P::kDecisionRadii * sum.radius);
  const auto most = rounded_up(2 * std::pow(reach, static_cast<long double>(exponent)));
  return {root.value, std::isfinite(most) ? most : kInfinity, root.arithmetic};
}

// (sum |x|^order)^(1/order) of a finite order.
template <class N, class Numbers>
[[nodiscard]] N norm_of_powers(const Numbers& slice, double order, spec::DType computed) {
  const N power = exponent_of<N>(order, 0, computed);
  Sum<N> total;
  for (const N& x : slice) {
    if (order == 0) {
      total.add(select(is_zero(x), N(0), N(1)));
    } else if (order == 1) {
      total.add(abs(x));
    } else if (order == 2) {
      add_square(total, x, computed);
    } else {
      total.add(in_range(pow(abs(x), power), computed));
    }
  }
  const N sum = in_range(total.result(), computed);
  if (order == 0 || order == 1) return sum;
  if (order == 2) return sqrt(sum);
  const double error = round_to_dtype(order, computed) == order ? 0 : unit_roundoff(computed);
  const N root = exponent_of<N>(1 / order, error, computed);
  return root_of_powers(pow(sum, root), sum, 1 / order);
}

}  // namespace detail

// (sum |x|^order)^(1/order), and its limits, where powers and their sum are numbers of the dtype
// `computed`, float32 or float64.
template <class N, class Numbers>
[[nodiscard]] N norm_of(const Numbers& slice, double order, spec::DType computed) {
  if (order == std::numeric_limits<double>::infinity()) return largest_magnitude<N>(slice);
  if (order == -std::numeric_limits<double>::infinity()) return smallest_magnitude<N>(slice);
  const N out = detail::norm_of_powers<N>(slice, order, computed);
  if (order == 0 || slice.size() != 1) return out;
  return detail::norm_of_one(abs(*slice.begin()), out);
}

}  // namespace graphgate::reference
