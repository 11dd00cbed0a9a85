#include "optimized/arithmetic/trigonometric.h"

#include <bit>
#include <cstddef>

namespace graphgate::optimized {
namespace {

__extension__ using Wide = unsigned __int128;

// 64 bits of 2/pi, from the bit of weight 2^-(1 + offset) on; bits before the point are 0.
std::uint64_t two_over_pi_bits(std::int64_t offset) {
  const auto word = [](std::int64_t index) {
    return index < 0 ? 0 : tables::kTwoOverPiBits[static_cast<std::size_t>(index)];
  };
  const std::int64_t index = offset >> 6;
  const int shift = static_cast<int>(offset & 63);
  if (shift == 0) return word(index);
  return word(index) << shift | word(index + 1) >> (64 - shift);
}

// The 128-bit two's complement fraction f / 2^128 as a pair (the upper 106 bits or more of it).
Pair pair_of_fraction(Wide fraction) {
  const bool is_negative = (fraction >> 127) != 0;
  Wide magnitude = is_negative ? 0 - fraction : fraction;
  int lost_zeros = 0;
  const auto upper = static_cast<std::uint64_t>(magnitude >> 64);
  if (upper != 0) {
    lost_zeros = std::countl_zero(upper);
  } else {
    lost_zeros = 64 + std::countl_zero(static_cast<std::uint64_t>(magnitude) | 1);
  }
  magnitude <<= lost_zeros;
  const auto high = static_cast<double>(static_cast<std::uint64_t>(magnitude >> 75));
  const auto low =
      static_cast<double>(static_cast<std::uint64_t>(magnitude >> 22) & ((1ULL << 53) - 1));
  const double unit = power_of_two(-53 - lost_zeros);
  const Pair value = quick_two_sum(high * unit, low * unit * 0x1p-53);
  return is_negative ? negate(value) : value;
}

// atan(y / x) for 0 <= y <= x, x > 0.
Pair atan_of_ratio(Pair y, Pair x) {
  const double j = nearest_integer(y.high / x.high * 32);
  const Pair node = {j / 32, 0};
  const Pair above = subtract(y, multiply(x, node.high));
  const Pair t = divide(above, add(x, multiply(y, node.high)));
  const double square = t.high * t.high;
  const double tail = polynomial(tables::kAtanTail, square) * (square * t.high);
  const Pair reduced = quick_two_sum(t.high, t.low + tail);
  return add(tables::kAtanTable[static_cast<std::size_t>(j)], reduced);
}

// sqrt(1 - x^2), |x| <= 1.
Pair other_side(double x) { return square_root(multiply(two_sum(1.0, -x), two_sum(1.0, x))); }

}  // namespace

Reduced reduce_huge_angle(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t significand = (bits & ((1ULL << 52) - 1)) | 1ULL << 52;
  const auto exponent = static_cast<std::int64_t>(bits >> 52 & 0x7ff) - 1075;  // of the last bit
  // Bits of 2/pi of weight >= 2^(2 - exponent) only add multiples of 4.
  const std::int64_t offset = exponent - 2;
  const std::uint64_t first = two_over_pi_bits(offset);
  const std::uint64_t second = two_over_pi_bits(offset + 64);
  const std::uint64_t third = two_over_pi_bits(offset + 128);
  const Wide high = (static_cast<Wide>(significand * first) << 64) + Wide{significand} * second;
  const Wide turn = high + (Wide{significand} * third >> 64);  // x * 2/pi mod 4, over 2^126
  const auto quadrant = static_cast<std::uint64_t>((turn + (Wide{1} << 125)) >> 126) & 3;
  const Pair fraction = pair_of_fraction(turn << 2);  // two's complement: [-1/2, 1/2)
  const Pair rest = multiply(fraction, tables::kHalfPi);
  if (x < 0) return {(4 - quadrant) & 3, negate(rest)};
  return {quadrant, rest};
}

Pair angle_of(Pair y, Pair x) {
  const Pair width = x.high < 0 ? negate(x) : x;
  const bool is_steep = y.high > width.high;
  const Pair angle = is_steep ? atan_of_ratio(width, y) : atan_of_ratio(y, width);
  const Pair acute = is_steep ? subtract(tables::kHalfPi, angle) : angle;
  return x.high < 0 ? subtract(tables::kPi, acute) : acute;
}

double atan2(double y, double x) {
  if (x != x || y != y) return x + y;
  const double height = std::fabs(y);
  const double width = std::fabs(x);
  double result = 0;
  if (height == 0 || width == kInfinity || height == kInfinity || width == 0) {
    const bool is_diagonal = height == width && height != 0;
    const bool is_flat = height == 0 || (width == kInfinity && !is_diagonal);
    const double acute = is_flat ? 0 : tables::kHalfPi.high * (is_diagonal ? 0.5 : 1.0);
    result = std::signbit(x)
                 ? (is_diagonal ? 1.5 * tables::kHalfPi.high : (is_flat ? tables::kPi.high : acute))
                 : acute;
  } else {
    // Into the middle of the exponent range; a ratio beyond 2^100 is decided by its sign alone.
    const double larger = height > width ? height : width;
    const double power = larger > 0x1p500 ? 0x1p-600 : (larger < 0x1p-400 ? 0x1p500 : 1.0);
    const bool is_level = height < width * 0x1p-200 && x > 0;
    result = is_level ? height / width : angle_of({height * power, 0}, {x * power, 0}).value();
  }
  return std::copysign(result, y);
}

double atan(double x) {
  const double magnitude = std::fabs(x);
  if (!(magnitude < 0x1p60)) return x == x ? std::copysign(tables::kHalfPi.high, x) : x;
  if (magnitude < 0x1p-28) return x;
  return std::copysign(angle_of({magnitude, 0}, {1, 0}).value(), x);
}

double asin(double x) {
  const double magnitude = std::fabs(x);
  if (!(magnitude <= 1)) return x == x ? kNaN : x;
  if (magnitude < 0x1p-28) return x;
  return std::copysign(angle_of({magnitude, 0}, other_side(x)).value(), x);
}

double acos(double x) {
  if (!(std::fabs(x) <= 1)) return x == x ? kNaN : x;
  return angle_of(other_side(x), {x, 0}).value();
}

}  // namespace graphgate::optimized
