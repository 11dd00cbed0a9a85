// Mean and sum of squared deviations, for variances and the normalizations.
//
// The definition is the two-pass formula. Executors use others: Welford's updates and pairwise
// merging (PyTorch's var, layer_norm and group_norm), or E[x^2] of shifted data. Their error
// differs from the two-pass formula's in one thing. Deviations are taken from running means, each
// wrong by up to n u mean|x|. The first-order effect of a wrong mean, 2 e sum|x - mean|, does not
// cancel. The relative error is n u kappa against n u + (n u kappa)^2 (Chan, Golub, LeVeque,
// "Algorithms for computing the sample variance", The American Statistician 37, 1983). The radius
// here therefore lets every deviation carry the error of a running mean as if it were its own; that
// covers both. Data without any deviation stays exact.
#pragma once

#include <algorithm>
#include <span>

#include "reference/number/left_open.h"
#include "reference/number/sum.h"

namespace graphgate::reference {

namespace detail {
// What rounding `count` numbers of this magnitude may lose.
template <class P>
double lost_to_roundings(const Tracked<P>& magnitude, double count) {
  if (!std::isfinite(magnitude.value) || magnitude.value == 0) return 0;
  if (magnitude.arithmetic == Tracked<P>::Arithmetic::kNone) return 0;
  const auto reach = static_cast<double>(std::fabs(magnitude.value)) + magnitude.radius;
  const double one = P::of_rounding(unit_roundoff(dtype_of<P>(magnitude.arithmetic)) * reach);
  return one * (P::kDecisionRadii == 1 ? count : std::sqrt(count));
}
}  // namespace detail

// x, in whose computation some executors round `count` numbers of the size of `magnitude` more.
inline double allow_roundings(double x, double /*magnitude*/, double /*count*/) { return x; }
template <class P>
Tracked<P> allow_roundings(const Tracked<P>& x, const Tracked<P>& magnitude, double count) {
  const double lost = detail::lost_to_roundings(magnitude, count);
  return {x.value, P::combine(x.radius, lost), x.arithmetic};
}
// x, to which some executors get by way of a factor for numbers that sum to `reach` in magnitude.
// Where the factor, or one of two products with it, is subnormal, its rounding is no relative one.
inline double allow_underflow(double x, double /*reach*/) { return x; }
template <class P>
Tracked<P> allow_underflow(const Tracked<P>& x, const Tracked<P>& reach) {
  if (!std::isfinite(x.value) || !std::isfinite(reach.value)) return x;
  if (reach.arithmetic == Tracked<P>::Arithmetic::kNone) return x;
  const double times = static_cast<double>(reach.value) + reach.radius + 2;
  const double lost = half_ulp(0, detail::dtype_of<P>(reach.arithmetic)) * times;
  return {x.value, P::combine(x.radius, P::of_rounding(lost)), x.arithmetic};
}
// x, which some executors compute with so many roundings instead of those that it carries.
inline double at_least_roundings(double x, double /*magnitude*/, double /*count*/) { return x; }
template <class P>
Tracked<P> at_least_roundings(const Tracked<P>& x, const Tracked<P>& magnitude, double count) {
  const double lost = detail::lost_to_roundings(magnitude, count);
  return {x.value, std::max(x.radius, lost), x.arithmetic};
}

template <class N>
struct Moments {
  N mean;
  N squares;  // the sum of (x - mean)^2
};

// Of numbers that can be walked through. NaN for no elements. Beside an infinity the mean is open:
// Welford's update takes an infinity from an infinity.
template <class N, class Numbers>
Moments<N> moments_of(const Numbers& x) {
  const auto count = static_cast<double>(x.size());
  Sum<N> total;
  Sum<N> magnitudes;
  for (const N& element : x) {
    total.add(element);
    magnitudes.add(abs(element));
  }
  const N mean = total.result() / N(count);
  const bool is_infinite = std::any_of(x.begin(), x.end(), [](const N& element) {
    return !is_finite(element) && is_nan(element).value == 0;
  });
  if (is_infinite && is_nan(mean).value == 0) return {left_open(mean), mean - mean};
  const bool is_constant = std::all_of(x.begin(), x.end(), [&](const N& element) {
    const Whole same = equal(element, mean);
    return same.value != 0 && !same.undecided;
  });
  if (is_constant) return {mean, mean - mean};
  const N running = at_least_roundings(mean, magnitudes.result() / N(count), count);
  Sum<N> squares;
  for (const N& element : x) {
    const N deviation = element - running;
    squares.add_product(deviation, deviation);
  }
  return {running, squares.result()};
}
template <class N>
Moments<N> moments(std::span<const N> x) {
  return moments_of<N>(x);
}

namespace detail {
// x * factor + (bias - mean * factor).
template <class N>
N by_factor(const N& x, const N& mean, const N& factor, const N* bias) {
  const N term = bias ? *bias - mean * factor : -(mean * factor);
  return x * factor + term;
}

// An exact zero, which some form of a formula makes with the other sign.
inline double zero_of_either_sign(double x) { return x; }
template <class P>
Tracked<P> zero_of_either_sign(const Tracked<P>& x) {
  return x.value == 0 && x.radius == 0 ? Tracked<P>{x.value, kOpenSign, x.arithmetic} : x;
}
}  // namespace detail

// Returns (x - mean) * scale * weight + bias, in any of the forms in use. Executors fold mean,
// scale, weight and bias into one factor and one term first (x * a + b). This rounds numbers of the
// size of x and of the mean where the definition rounds their difference. Null weight or bias: 1,
// 0.
template <class N>
N normalized(const N& x, const N& mean, const N& scale, const N* weight, const N* bias) {
  const N reach = abs(x) + abs(mean);
  N out = (x - mean) * scale;
  N terms = reach * scale;
  if (weight) {
    out = out * *weight;
    terms = terms * *weight;
  }
  if (bias) out = out + *bias;
  // Where a step of the definition overflows, the factor may be so small that nothing does. And the
  // factor, or what it makes of x and the mean alone, may overflow where nothing else does.
  const N folded = detail::by_factor(x, mean, weight ? scale * *weight : scale, bias);
  if (!is_finite(out) || !is_finite(folded)) out = covering(out, folded);
  const bool is_zero_times = is_zero(terms).value != 0;  // 0, however it is computed
  const N rounded = allow_roundings(is_zero_times ? out : allow_underflow(out, reach), terms, 3);
  return is_zero_times ? detail::zero_of_either_sign(rounded) : rounded;
}

}  // namespace graphgate::reference
