// The softmax of one row of scores, for the attention ops.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <vector>

#include "reference/number/sum.h"

namespace graphgate::reference {

// What a softmax makes of scores with errors so wide that the sum of the exponentials, as a
// divisor, reaches over 0. They are shares of one all the same, between what they are when a score
// and all others move against each other. `softmax` gives the shares of scores, here of such
// without errors, for their roundings. Scores that are open, or no numbers, leave the shares open.
template <class N, class F>
requires std::same_as<N, double>
void bound_shares(std::vector<N>& /*shares*/, std::span<const N> /*scores*/, F /*softmax*/) {}
template <class N, class F>
void bound_shares(std::vector<N>& shares, std::span<const N> scores, F softmax) {
  using P = typename N::PolicyType;
  const auto is_open = [](const N& x) { return std::isinf(x.radius) && std::isfinite(x.value); };
  if (std::none_of(shares.begin(), shares.end(), is_open)) return;
  const auto is_exact = [](const N& score) { return score.radius == 0; };
  if (std::all_of(scores.begin(), scores.end(), is_exact)) return;
  long double largest = -std::numeric_limits<long double>::infinity();  // that the sum has at least
  for (const N& score : scores) {
    largest = std::max(largest, score.value - P::kDecisionRadii * score.radius);
  }
  if (!std::isfinite(largest)) return;
  // What lies far below it, a mask above all, has next to no share, whatever its error.
  constexpr double kFar = 128;
  const auto counts = [largest](const N& score) {
    return score.value + P::kDecisionRadii * score.radius > largest - kFar;
  };
  double radius = 0;
  std::vector<N> exact(scores.begin(), scores.end());
  for (N& score : exact) {
    if (std::isnan(score.value) || std::isinf(score.radius)) return;
    if (counts(score)) radius = std::max(radius, score.radius);
    score.radius = 0;
  }
  exact = softmax(std::move(exact));
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (!is_open(shares[i])) continue;
    const auto share = static_cast<double>(shares[i].value);
    const double least = share * std::exp(-2 * radius);
    double most = share + std::exp(-kFar);
    double roundings = exact[i].radius;
    if (counts(scores[i])) {
      most = std::min(1.0, share * std::exp(2 * radius));
      if (share > 0) roundings *= most / share;
    }
    shares[i].radius = P::combine(std::max(most - share, share - least), roundings);
  }
}

// Scores, exp(score - shift) for every one of them, and the sum of these. The shift is the largest
// score. Any would do, since a common factor cancels. So its own error does not count, but for one
// that leaves it open whether there is a number at all.
template <class N>
struct SoftmaxRow {
  std::vector<N> scores;
  std::vector<N> weights;
  N shift;
  N sum;
  // No score is above -infinity (or there is none): the weights are zeros, not NaNs. Where a score
  // may be something else they are neither, but open.
  bool is_masked = false;
};

namespace detail {
// The value of a number as one without error; what is open stays open.
inline double without_error(double x) { return x; }
template <class P>
Tracked<P> without_error(const Tracked<P>& x) {
  return {x.value, std::isinf(x.radius) ? x.radius : 0, x.arithmetic};
}
}  // namespace detail

template <class N>
[[nodiscard]] SoftmaxRow<N> softmax_row(std::vector<N> scores) {
  const N lowest(-std::numeric_limits<double>::infinity());
  SoftmaxRow<N> row;
  row.shift = lowest;
  for (const N& score : scores) row.shift = maximum(score, row.shift);
  row.shift = detail::without_error(row.shift);
  const Whole is_lowest = equal(row.shift, lowest);
  row.is_masked = is_lowest.value != 0 && !is_lowest.undecided;
  Sum<N> sum;
  row.weights.reserve(scores.size());
  for (const N& score : scores) {
    row.weights.push_back(row.is_masked ? N(0.0) : fast_exp(score - row.shift));
    sum.add(row.weights.back());
  }
  row.sum = sum.result();
  row.scores = std::move(scores);
  return row;
}

// The weights divided by their sum (kernels divide, or multiply by the rounded reciprocal).
template <class N>
[[nodiscard]] std::vector<N> normalized(SoftmaxRow<N> row) {
  if (row.is_masked) return std::move(row.weights);
  const N reciprocal = 1.0 / row.sum;
  for (N& weight : row.weights) weight = weight * reciprocal;
  bound_shares<N>(row.weights, row.scores,
                  [](std::vector<N> scores) { return normalized(softmax_row(std::move(scores))); });
  return std::move(row.weights);
}

}  // namespace graphgate::reference
