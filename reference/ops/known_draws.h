// Draws that are known, because the state of the CPU's generator stands for the argument
// `generator`: what PyTorch draws from it, element by element in the order of memory. Each function
// emits the next result, made of `made`, and returns true; or does nothing and returns false where
// no state is given, the draws are another device's, or p is not known.
//
// Numbers that PyTorch computes of uniform ones are formulas like any other: the radius follows
// their roundings. What is whole, uniform or a coin is exact.
#pragma once

#include <cstdint>

#include "reference/call.h"

namespace graphgate::reference {

[[nodiscard]] bool emit_known_uniform(Call& call, const TensorRef& made, double from, double to);
// mean and std are numbers, or tensors that stretch to `made`.
[[nodiscard]] bool emit_known_normal(Call& call, const TensorRef& made, const Datum& mean,
                                     const Datum& deviation);
// Of [low, low + count), where count 0 stands for 2^64: of one word, or of two.
[[nodiscard]] bool emit_known_whole(Call& call, const TensorRef& made, std::int64_t low,
                                    std::uint64_t count, bool takes_two_words);
[[nodiscard]] bool emit_known_order(Call& call, const TensorRef& made);
[[nodiscard]] bool emit_known_coins(Call& call, const TensorRef& made, const Datum& chance);

// exponential(lambd), cauchy(median, sigma), log_normal(mean, std), geometric(p).
enum class Continuous : std::uint8_t { kExponential, kCauchy, kLogNormal, kGeometric };
[[nodiscard]] bool emit_known_continuous(Call& call, const TensorRef& made, Continuous kind,
                                         double first, double second = 0);

}  // namespace graphgate::reference
