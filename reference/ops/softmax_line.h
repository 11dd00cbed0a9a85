// The softmax of one line of elements and its logarithm, for normalization.cpp and class_loss.cpp.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "reference/number/sum.h"
#include "reference/ops/softmax_row.h"

namespace graphgate::reference {

// x - max(x): NaN or infinite lines give NaN, as in PyTorch.
template <class N>
[[nodiscard]] std::vector<N> below_maximum(std::span<const N> line) {
  N most = N(-std::numeric_limits<double>::infinity());
  for (const N& x : line) most = maximum(most, x);
  std::vector<N> out;
  for (const N& x : line) out.push_back(x - most);
  return out;
}

// How PyTorch's CPU kernels hold 16-bit data between their loops, though they compute in float32.
// softmax keeps the exponentials in the dtype unless the dimension is the last one. log_softmax,
// where it is the last one, keeps the sum and its logarithm in the dtype. No other kernel rounds
// there.
struct SoftmaxKernel {
  spec::DType dtype;
  bool is_last_dim;

  template <class N>
  [[nodiscard]] N held_unless_last(const N& x) const {
    return is_last_dim ? x : held_in(x, dtype);
  }
  template <class N>
  [[nodiscard]] N held_if_last(const N& x) const {
    return is_last_dim ? held_in(x, dtype) : x;
  }
};

template <class N>
[[nodiscard]] std::vector<N> softmax_of(std::span<const N> line, const SoftmaxKernel& kernel) {
  std::vector<N> out = below_maximum(line);
  Sum<N> total;
  for (N& x : out) {
    x = kernel.held_unless_last(exp(x));
    total.add(x);
  }
  const N scale = N(1) / total.result();
  for (N& x : out) x = x * scale;
  bound_shares<N>(out, line, [&kernel](const std::vector<N>& scores) {
    return softmax_of(std::span<const N>(scores), kernel);
  });
  return out;
}

template <class N>
[[nodiscard]] std::vector<N> log_softmax_of(std::span<const N> line, const SoftmaxKernel& kernel) {
  std::vector<N> out = below_maximum(line);
  Sum<N> total;
  for (const N& x : out) total.add(exp(x));
  const N log_total = kernel.held_if_last(log(kernel.held_if_last(total.result())));
  for (N& x : out) x = x - log_total;
  return out;
}

}  // namespace graphgate::reference
