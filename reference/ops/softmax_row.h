// The softmax of one row of scores, for the attention ops.
#pragma once

#include <limits>
#include <vector>

#include "reference/number/sum.h"

namespace graphgate::reference {

// exp(score - shift) for every score, and their sum. The shift is the largest score: any would do,
// since a common factor cancels, so its own error does not count, but for one that leaves it open
// whether there is a number at all.
template <class N>
struct SoftmaxRow {
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
  for (N& score : scores) {
    score = row.is_masked ? N(0.0) : fast_exp(score - row.shift);
    sum.add(score);
  }
  row.sum = sum.result();
  row.weights = std::move(scores);
  return row;
}

// The weights divided by their sum (kernels divide, or multiply by the rounded reciprocal).
template <class N>
[[nodiscard]] std::vector<N> normalized(SoftmaxRow<N> row) {
  if (row.is_masked) return std::move(row.weights);
  const N reciprocal = 1.0 / row.sum;
  for (N& weight : row.weights) weight = weight * reciprocal;
  return std::move(row.weights);
}

}  // namespace graphgate::reference
