// Data on which no executor rounds.
//
// The data are integers so small that every partial sum and every intermediate is one of its
// dtype's numbers. Then neither order, fusing, splitting nor the width of an accumulator can change
// a bit, and whatever differs is wrong. How small depends on the program. So data are drawn at
// several levels, each smaller or sparser than the one before. An oracle with worst-case radii says
// what came out exact: an element of radius 0 is held to the bit. Where an op leaves the integers
// (exp, division, a norm), radii say that too, with no list of such ops.
//
//   p, the largest integer up to which all are exact: e5m2 8, e4m3 16, bf16 256, f16 2048, f32
//   2^24, f64 2^53
#pragma once

#include <cstdint>
#include <span>

#include "conformance/run/script.h"

namespace graphgate::conformance {

// Elements are drawn from [-magnitude, magnitude], all but one of `sparsity` of them 0.
struct ExactLevel {
  int magnitude = 1;
  int sparsity = 1;
};
// From the most telling to the one that stays exact the longest.
[[nodiscard]] std::span<const ExactLevel> exact_levels();

// The script with every floating element of inputs, parameters, buffers, constants and swapped
// weights drawn anew from `seed`. Integers and booleans stay: they may be indices. So do sharing
// and geometry, and storages that are seen as several dtypes.
[[nodiscard]] Script with_exact_data(const Script& script, const ExactLevel& level,
                                     std::uint64_t seed);

// The integer (|value| <= 8) as an element of a floating dtype, written to `at`.
void write_integer(std::byte* at, spec::DType dtype, int value);

}  // namespace graphgate::conformance
