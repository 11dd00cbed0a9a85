// The numbers that the reference draws of its own, and what an oracle knows of a coin. Which ops
// draw and what is known of their draws is in random.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/split_mix.h"
#include "reference/call.h"
#include "reference/number/left_open.h"

namespace graphgate::reference {

// The numbers of one call, one after the other.
class Draws {
 public:
  explicit Draws(const Call& call) : bits_(call.draw_seed()) {}

  // In [0, 1).
  double uniform() { return static_cast<double>(bits_.next() >> 11U) * 0x1p-53; }
  // In (0, 1].
  double positive() { return 1 - uniform(); }
  // Box and Muller, 1958.
  double normal() {
    const double size = std::sqrt(-2 * std::log(positive()));
    return size * std::cos(2 * std::numbers::pi * uniform());
  }
  double exponential() { return -std::log(positive()); }
  // In [0, count); count 0 stands for 2^64.
  std::uint64_t below(std::uint64_t count) {
    const std::uint64_t bits = bits_.next();
    return count == 0
               ? bits
               : static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits) * count) >> 64U);
  }

  // What the standard library's distributions want of a generator.
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return bits_.next(); }

 private:
  SplitMix64 bits_;
};

// What two outcomes of a coin come to: one of them, or what an oracle knows of both, which is that
// the number lies between them.
template <class N>
N tossed(const N& kept, const N& dropped, bool is_kept, bool is_known) {
  if (is_known) return is_kept ? kept : dropped;
  if constexpr (std::is_same_v<N, double>) {
    return is_kept ? kept : dropped;
  } else if constexpr (std::is_same_v<N, Bounded>) {
    const long double least = std::min(kept.value - static_cast<long double>(kept.radius),
                                       dropped.value - static_cast<long double>(dropped.radius));
    const long double greatest = std::max(kept.value + static_cast<long double>(kept.radius),
                                          dropped.value + static_cast<long double>(dropped.radius));
    const long double middle = least + (greatest - least) / 2;
    if (!std::isfinite(middle)) return covering(kept, dropped);
    const double radius = detail::rounded_up(std::max(greatest - middle, middle - least));
    return N(middle, radius, kept.arithmetic);
  } else {
    return left_open(is_kept ? kept : dropped);
  }
}

// The factor of what is kept. dropout rounds it to the dtype before it multiplies, native_dropout
// does not, and either may stand for the other.
template <class N>
N scale_of(double keeps, spec::DType dtype, bool rounds) {
  const N scale = N(1.0) / N(keeps);
  const N rounded = round_edge(scale, dtype);
  return rounds ? covering(rounded, scale) : covering(scale, rounded);
}

}  // namespace graphgate::reference
