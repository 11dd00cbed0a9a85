// Launches of random ops whose generator's state a program gives: they draw what PyTorch's CPU
// kernels draw, one element after the other, dimensions of smaller strides first.
//
// The state is read when the launch runs.
#pragma once

#include <cstdint>

#include "optimized/kernel.h"

namespace graphgate::optimized {

// The tensor that stands for the argument `generator`; null for None, for ops without it, and where
// the draws are another device's.
[[nodiscard]] const Tensor* generator_state(const Binding& call);

[[nodiscard]] Launch seeded_uniform(const Tensor& result, const Tensor& state, double from,
                                    double to);
// mean and std are numbers, or tensors that stretch to the result.
[[nodiscard]] Launch seeded_normal(const Tensor& result, const Tensor& state, const Item& mean,
                                   const Item& deviation);
// Of [low, low + count); 0 stands for 2^64.
[[nodiscard]] Launch seeded_whole(const Tensor& result, const Tensor& state, std::int64_t low,
                                  std::uint64_t count, bool takes_pairs);
[[nodiscard]] Launch seeded_permutation(const Tensor& result, const Tensor& state);
[[nodiscard]] Launch seeded_coins(const Tensor& result, const Tensor& state, const Item& chance);
[[nodiscard]] Launch seeded_exponential(const Tensor& result, const Tensor& state, double rate);
[[nodiscard]] Launch seeded_cauchy(const Tensor& result, const Tensor& state, double median,
                                   double sigma);
[[nodiscard]] Launch seeded_log_normal(const Tensor& result, const Tensor& state, double mean,
                                       double deviation);
[[nodiscard]] Launch seeded_geometric(const Tensor& result, const Tensor& state, double p);

}  // namespace graphgate::optimized
