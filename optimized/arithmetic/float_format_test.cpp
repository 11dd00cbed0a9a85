// Every pattern of every narrow format, and rounding judged by enumerating the neighbours.
#include "optimized/arithmetic/float_format.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace graphgate::optimized {
namespace {

// A format described by its fields alone; decoding and rounding are derived here a second time.
struct Format {
  const char* name;
  int mantissa_bits;
  int exponent_bits;
  bool has_infinity;  // else the greatest exponent holds numbers, and only its last pattern is NaN
  std::uint32_t (*encode)(float);
  float (*decode)(std::uint32_t);

  [[nodiscard]] int bits() const { return 1 + exponent_bits + mantissa_bits; }
  [[nodiscard]] std::uint32_t sign() const { return 1U << (bits() - 1); }
  [[nodiscard]] std::uint32_t infinity() const {
    return ((1U << exponent_bits) - 1) << mantissa_bits;
  }
  // The first magnitude that is no finite number.
  [[nodiscard]] std::uint32_t finite_end() const { return has_infinity ? infinity() : sign() - 1; }

  // The value of a finite magnitude, or what it would be with one exponent more.
  [[nodiscard]] double magnitude_value(std::uint32_t magnitude) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(magnitude >> mantissa_bits);
    const int mantissa = static_cast<int>(magnitude & ((1U << mantissa_bits) - 1));
    const int whole = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
    return std::ldexp(whole, (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
  }
};

const Format kFormats[] = {
    {"f16", 10, 5, true, [](float x) -> std::uint32_t { return float_to_f16(x); },
     [](std::uint32_t b) { return f16_to_float(static_cast<std::uint16_t>(b)); }},
    {"bf16", 7, 8, true, [](float x) -> std::uint32_t { return float_to_bf16(x); },
     [](std::uint32_t b) { return bf16_to_float(static_cast<std::uint16_t>(b)); }},
    {"f8e4m3fn", 3, 4, false, [](float x) -> std::uint32_t { return float_to_f8e4m3fn(x); },
     [](std::uint32_t b) { return f8e4m3fn_to_float(static_cast<std::uint8_t>(b)); }},
    {"f8e5m2", 2, 5, true, [](float x) -> std::uint32_t { return float_to_f8e5m2(x); },
     [](std::uint32_t b) { return f8e5m2_to_float(static_cast<std::uint8_t>(b)); }},
};

// The magnitude nearest to x >= 0, ties to the even pattern; finite_end() when it overflows.
std::uint32_t nearest_magnitude(const Format& format, double x) {
  std::uint32_t low = 0;
  std::uint32_t high = format.finite_end();  // its would-be value is where the next number stood
  if (x >= format.magnitude_value(high)) return high;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (format.magnitude_value(middle) <= x ? low : high) = middle;
  }
  const double below = x - format.magnitude_value(low);
  const double above = format.magnitude_value(high) - x;
  if (below != above) return below < above ? low : high;
  return (low & 1) == 0 ? low : high;
}

void expect_nearest(const Format& format, float x) {
  const std::uint32_t want = nearest_magnitude(format, std::fabs(static_cast<double>(x))) |
                             (std::signbit(x) ? format.sign() : 0);
  EXPECT_EQ(format.encode(x), want) << format.name << " of " << x;
}

TEST(FloatFormat, DecodesEveryFinitePatternToItsValueAndBack) {
  for (const Format& format : kFormats) {
    for (std::uint32_t magnitude = 0; magnitude < format.finite_end(); ++magnitude) {
      const double value = format.magnitude_value(magnitude);
      const std::uint32_t negative = magnitude | format.sign();
      ASSERT_EQ(format.decode(magnitude), value) << format.name << " " << magnitude;
      ASSERT_EQ(format.decode(negative), -value) << format.name << " " << magnitude;
      ASSERT_TRUE(std::signbit(format.decode(negative)));
      ASSERT_EQ(format.encode(format.decode(magnitude)), magnitude) << format.name;
      ASSERT_EQ(format.encode(format.decode(negative)), negative) << format.name;
    }
  }
}

TEST(FloatFormat, DecodesInfinitiesAndEveryNaN) {
  for (const Format& format : kFormats) {
    for (std::uint32_t magnitude = format.finite_end(); magnitude < format.sign(); ++magnitude) {
      for (const std::uint32_t sign : {0U, format.sign()}) {
        const float value = format.decode(magnitude | sign);
        if (format.has_infinity && magnitude == format.infinity()) {
          ASSERT_TRUE(std::isinf(value)) << format.name;
        } else {
          ASSERT_TRUE(std::isnan(value)) << format.name << " " << magnitude;
        }
        ASSERT_EQ(std::signbit(value), sign != 0) << format.name << " " << magnitude;
      }
    }
  }
}

TEST(FloatFormat, RoundsEveryNeighbourPairAtAboveAndBelowItsMiddle) {
  for (const Format& format : kFormats) {
    for (std::uint32_t magnitude = 0; magnitude < format.finite_end(); ++magnitude) {
      const double low = format.magnitude_value(magnitude);
      const auto middle = static_cast<float>((low + format.magnitude_value(magnitude + 1)) / 2);
      for (const float sign : {1.0F, -1.0F}) {
        expect_nearest(format, sign * middle);
        expect_nearest(format, sign * std::nextafter(middle, 0.0F));
        if (middle < std::numeric_limits<float>::max()) {
          expect_nearest(format, sign * std::nextafter(middle, 3e38F));
        }
      }
    }
  }
}

TEST(FloatFormat, RoundsFloatsOfAllExponentsToTheNearest) {
  std::mt19937 random(1);
  for (int i = 0; i < 300000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(x)) continue;
    for (const Format& format : kFormats) expect_nearest(format, x);
  }
}

RC_GTEST_PROP(FloatFormat, RoundsAnyFiniteFloatToTheNearest, (std::uint32_t bits)) {
  const float x = std::bit_cast<float>(bits);
  RC_PRE(std::isfinite(x));
  for (const Format& format : kFormats) expect_nearest(format, x);
}

TEST(FloatFormat, SendsOverflowToInfinityOrNaNAndKeepsNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Format& format : kFormats) {
    for (const float big : {std::numeric_limits<float>::max(), infinity}) {
      const float value = format.decode(format.encode(big));
      EXPECT_TRUE(format.has_infinity ? std::isinf(value) : std::isnan(value)) << format.name;
      EXPECT_EQ(format.encode(-big), format.encode(big) | format.sign()) << format.name;
    }
    for (const std::uint32_t nan : {0x7fc00000U, 0x7f800001U, 0xffc12345U, 0x7fffffffU}) {
      EXPECT_TRUE(std::isnan(format.decode(format.encode(std::bit_cast<float>(nan)))));
    }
  }
  EXPECT_EQ(float_to_f16(std::bit_cast<float>(0xffc12345U)), 0xfe09);
  EXPECT_EQ(float_to_f8e5m2(std::bit_cast<float>(0xffc12345U)), 0xff);
  EXPECT_EQ(float_to_f8e4m3fn(std::bit_cast<float>(0x7f800001U)), 0x7f);
}

// Expected values were recorded from PyTorch 2.11 on x86.
TEST(NumberConversion, TruncatesAndWrapsAsPyTorchOnX86) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::int64_t least64 = std::numeric_limits<std::int64_t>::min();
  const std::int32_t least32 = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(truncate_to<std::int64_t>(-1.9), -1);
  for (const double x : {1e19, -1e19, nan, infinity, -infinity, 0x1p63}) {
    EXPECT_EQ(truncate_to<std::int64_t>(x), least64);
    EXPECT_EQ(truncate_to<std::int32_t>(x), least32);
    EXPECT_EQ(truncate_to<std::int16_t>(x), 0);
    EXPECT_EQ(truncate_to<std::int8_t>(x), 0);
    EXPECT_EQ(truncate_to<std::uint8_t>(x), 0);
  }
  EXPECT_EQ(truncate_to<std::int32_t>(2147483647.9), 2147483647);
  EXPECT_EQ(truncate_to<std::int32_t>(-2147483648.9), least32);
  EXPECT_EQ(truncate_to<std::int32_t>(2147483648.0F), least32);
  EXPECT_EQ(truncate_to<std::int16_t>(5e9 + 3), 0);
  EXPECT_EQ(truncate_to<std::int16_t>(70000.5), 4464);
  EXPECT_EQ(truncate_to<std::int16_t>(-32769.0F), 32767);
  EXPECT_EQ(truncate_to<std::int8_t>(300.7), 44);
  EXPECT_EQ(truncate_to<std::int8_t>(-300.7), -44);
  EXPECT_EQ(truncate_to<std::int8_t>(2147483647.9), -1);
  EXPECT_EQ(truncate_to<std::uint8_t>(5e9 + 3), 3);
  EXPECT_EQ(truncate_to<std::uint8_t>(-300.0F), 212);
  EXPECT_TRUE(to_bool(nan));
  EXPECT_TRUE(to_bool(std::numeric_limits<float>::denorm_min()));
  EXPECT_FALSE(to_bool(-0.0));
}

RC_GTEST_PROP(NumberConversion, WrapsModuloThePowerOfTwo, (std::int64_t value)) {
  const auto rest = [value](int bits) { return value & ((std::int64_t{1} << bits) - 1); };
  RC_ASSERT((wrap_to<std::uint8_t>(value)) == rest(8));
  RC_ASSERT((wrap_to<std::int8_t>(value) & 0xff) == rest(8));
  RC_ASSERT((wrap_to<std::int16_t>(value) & 0xffff) == rest(16));
  RC_ASSERT((static_cast<std::int64_t>(wrap_to<std::int32_t>(value)) & 0xffffffff) == rest(32));
}

}  // namespace
}  // namespace graphgate::optimized
