#include "reference/number/float_format.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace graphgate::reference {
namespace {

using spec::DType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kNarrow = {DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3FN,
                                DType::kFloat8E5M2};

double decode(unsigned bits, DType dtype) {
  std::array<std::byte, 2> bytes{};
  const auto word = static_cast<std::uint16_t>(bits);
  std::memcpy(bytes.data(), &word, sizeof(word));
  return decode_float(bytes.data(), dtype);
}
unsigned encode(double value, DType dtype) {
  std::array<std::byte, 2> bytes{};
  encode_float(value, dtype, bytes.data());
  std::uint16_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof(word));
  return word;
}
unsigned pattern_count(DType dtype) { return spec::item_size_bytes(dtype) == 1 ? 256 : 65536; }

TEST(FloatFormat, EveryBitPatternRoundTrips) {
  for (const DType dtype : kNarrow) {
    for (unsigned bits = 0; bits < pattern_count(dtype); ++bits) {
      const double value = decode(bits, dtype);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode(encode(value, dtype), dtype)));
        continue;
      }
      ASSERT_EQ(encode(value, dtype), bits) << spec::torch_name(dtype);
      ASSERT_EQ(round_to_dtype(value, dtype), value) << spec::torch_name(dtype);
    }
  }
}

TEST(FloatFormat, NeighboursAreOneSpacingApartAndTiesGoToTheEvenOne) {
  for (const DType dtype : kNarrow) {
    for (unsigned bits = 0; bits + 1 < pattern_count(dtype) / 2; ++bits) {
      const double low = decode(bits, dtype);
      const double high = decode(bits + 1, dtype);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      ASSERT_EQ(half_ulp(low, dtype), (high - low) / 2) << spec::torch_name(dtype) << bits;
      const double middle = low + (high - low) / 2;
      ASSERT_EQ(round_to_dtype(middle, dtype), bits % 2 == 0 ? low : high);
      ASSERT_EQ(round_to_dtype(low + (high - low) / 4, dtype), low);
      ASSERT_EQ(round_to_dtype(high - (high - low) / 4, dtype), high);
    }
  }
}

TEST(FloatFormat, ArraysAreDecodedAndEncodedAsEachElementIs) {
  const std::vector<double> values = {1, -0.0, 1.0 / 3, 1e300, kInf, 5e-324};
  for (const DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                            DType::kFloat8E4M3FN, DType::kFloat8E5M2}) {
    const auto item = static_cast<std::size_t>(spec::item_size_bytes(dtype));
    for (const std::size_t step : {item, 3 * item}) {
      std::vector<std::byte> together(values.size() * step);
      encode_floats(values, dtype, together.data(), static_cast<std::int64_t>(step));
      std::vector<double> decoded(values.size());
      decode_floats(together.data(), static_cast<std::int64_t>(step), dtype, decoded);
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::vector<std::byte> alone(step);
        encode_float(values[i], dtype, alone.data());
        EXPECT_EQ(std::memcmp(alone.data(), &together[i * step], step), 0) << i;
        const double value = decode_float(alone.data(), dtype);
        EXPECT_EQ(std::memcmp(&value, &decoded[i], sizeof(double)), 0) << i;
      }
    }
  }
}

struct Rounding {
  double from;
  DType dtype;
  double to;
};

// What torch.tensor(from, dtype=float64).to(dtype) gives in PyTorch 2.11.
const Rounding kRecordedRoundings[] = {
    {65519, DType::kFloat16, 65504},
    {65520, DType::kFloat16, kInf},
    {-1e39, DType::kFloat16, -kInf},
    {0x1p-25, DType::kFloat16, 0},
    {0x1p-25 * 1.01, DType::kFloat16, 0x1p-24},
    {3.3953137e38, DType::kBFloat16, 3.3895313892515355e38},
    {3.3961775292304957e38, DType::kBFloat16, kInf},
    {1.5 * 0x1p-134, DType::kBFloat16, 0x1p-133},
    {448, DType::kFloat8E4M3FN, 448},
    {464, DType::kFloat8E4M3FN, 448},
    {464.1, DType::kFloat8E4M3FN, kNaN},
    {kInf, DType::kFloat8E4M3FN, kNaN},
    {-1e39, DType::kFloat8E4M3FN, kNaN},
    {0x1p-10, DType::kFloat8E4M3FN, 0},
    {0x1p-10 * 1.01, DType::kFloat8E4M3FN, 0x1p-9},
    {61439, DType::kFloat8E5M2, 57344},
    {61440, DType::kFloat8E5M2, kInf},
    {-kInf, DType::kFloat8E5M2, -kInf},
    {0x1p-17 * 1.01, DType::kFloat8E5M2, 0x1p-16},
    // A tie only after the first rounding, to float32: conversions from float64 round twice.
    {1 + 0x1p-8 + 0x1p-40, DType::kBFloat16, 1},
    {1 + 0x1p-11 + 0x1p-40, DType::kFloat16, 1},
};

TEST(FloatFormat, OverflowUnderflowAndDoubleRoundingAreTheRecordedOnes) {
  for (const Rounding& row : kRecordedRoundings) {
    const double to = round_to_dtype(row.from, row.dtype);
    if (std::isnan(row.to)) {
      EXPECT_TRUE(std::isnan(to)) << row.from << " gave " << to;
    } else {
      EXPECT_EQ(to, row.to) << row.from;
    }
  }
  EXPECT_TRUE(std::signbit(round_to_dtype(-0.0, DType::kFloat8E5M2)));
  EXPECT_TRUE(std::isnan(round_to_dtype(kNaN, DType::kFloat8E4M3FN)));
}

TEST(FloatFormat, WideValuesRoundOnceToFloat64) {
  EXPECT_EQ(round_to_dtype(1.0L + 0x1p-54L, DType::kFloat64), 1.0);
  EXPECT_EQ(round_to_dtype(1.0L + 0x1p-53L + 0x1p-60L, DType::kFloat64), 1.0 + 0x1p-52);
  EXPECT_GT(half_ulp(0.0L, DType::kFloat64), 0);
  EXPECT_EQ(half_ulp(3.0L, DType::kInt64), 0);
}

// Over all of long double's exponents, from the elements themselves: powers of two, what lies next
// to them, and what is no number.
TEST(FloatFormat, HalfASpacingIsThatOfTheNextElement) {
  struct Least {
    DType dtype;
    int precision;
    int exponent;  // of the smallest normal number
  };
  for (const Least& of : {Least{DType::kFloat64, 53, -1022}, Least{DType::kFloat32, 24, -126},
                          Least{DType::kFloat16, 11, -14}, Least{DType::kBFloat16, 8, -126},
                          Least{DType::kFloat8E4M3FN, 4, -6}, Least{DType::kFloat8E5M2, 3, -14}}) {
    EXPECT_EQ(unit_roundoff(of.dtype), std::ldexp(1.0, -of.precision));
    for (int exponent = -1200; exponent <= 1030; ++exponent) {
      const long double power = std::ldexp(1.0L, exponent);
      for (const long double value : {power, std::nextafter(power, 0.0L), -1.5L * power}) {
        const auto narrow = static_cast<double>(value);
        double expected = 0;
        if (std::isfinite(narrow)) {
          const int least = narrow == 0 ? of.exponent : std::max(std::ilogb(narrow), of.exponent);
          expected = std::max(std::ldexp(1.0, least - (of.precision - 1)) / 2, 0x1p-1074);
        }
        ASSERT_EQ(half_ulp(value, of.dtype), expected) << exponent;
      }
    }
    EXPECT_EQ(half_ulp(std::numeric_limits<long double>::quiet_NaN(), of.dtype), 0);
  }
}

}  // namespace
}  // namespace graphgate::reference
