// Test support: errors in units of the last place against long double, and arguments to try.
//
// Used by the functions' tests only. The C library's long double functions (64-bit significand on
// x86) are the truth; they are themselves good to about 2^-63, far below the bounds tested.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace graphgate::optimized {

// One unit in the last place of T at `truth` (the unit of subnormals below the normal range).
template <class T>
double unit_at(long double truth) {
  const T magnitude = static_cast<T>(std::fabs(truth));
  if (magnitude < std::numeric_limits<T>::min()) return std::numeric_limits<T>::denorm_min();
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  return std::ldexp(1.0, exponent - std::numeric_limits<T>::digits);
}

// |got - truth| in units; infinite where one is NaN or infinite after rounding and the other not.
template <class T>
double error_in_units(T got, long double truth) {
  const T nearest = static_cast<T>(truth);
  if (std::isnan(nearest) && std::isnan(got)) return 0;
  if (std::isnan(nearest) || std::isnan(got) || std::isinf(nearest) || std::isinf(got)) {
    // At the overflow threshold either side is half a unit away.
    const T limit = std::numeric_limits<T>::max();
    const bool is_edge = std::fabs(got) >= limit && std::fabs(nearest) >= limit &&
                         std::signbit(got) == std::signbit(nearest);
    return got == nearest || is_edge ? 0 : std::numeric_limits<double>::infinity();
  }
  return static_cast<double>(std::fabs(static_cast<long double>(got) - truth) /
                             static_cast<long double>(unit_at<T>(truth)));
}

// A third each: any bit pattern; evenly spread over [low, high]; evenly spread exponents inside.
inline std::vector<double> arguments(double low, double high, int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto fraction = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<double> out;
  const double reach = std::fmax(std::fabs(low), std::fabs(high));
  for (int i = 0; i < count; ++i) {
    double x = std::bit_cast<double>(random());
    if (i % 3 == 1) x = low + (high - low) * fraction();
    if (i % 3 == 2) {
      x = std::exp2(-60 + (60 + std::log2(reach)) * fraction()) * (i % 2 == 0 ? 1 : -1);
    }
    if (x == x) out.push_back(x);
  }
  return out;
}

}  // namespace graphgate::optimized
