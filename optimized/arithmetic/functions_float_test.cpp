// The float functions over all exponents; equal bits at every place of a tile and on every machine.
#include <gtest/gtest.h>

#include <cfloat>
#include <cstring>

#include "optimized/arithmetic/function_test_support.h"
#include "optimized/arithmetic/functions.h"

namespace graphgate::optimized {
namespace {

using Wide = long double;

// A function as a scalar call that cannot be inlined into a loop, and as a loop over a tile.
struct FloatCase {
  const char* name;
  float (*scalar)(float);
  void (*tile)(const float*, std::int64_t stride, int, float*);
  Wide (*truth)(Wide);
};

#define GRAPHGATE_FLOAT(name, truth_of_x)                                                     \
  {                                                                                           \
#name, [](float x) { return name(x); },                                                     \
   [](const float* in, std::int64_t stride, int n, float* out) {                               \
     for (int i = 0; i < n; ++i) out[i] = name(in[i * stride]);                                \
   },                                                                                          \
   [](Wide x) -> Wide { return truth_of_x; } \
  }

Wide lgamma_truth(Wide x) { return x <= 0 && x == std::floor(x) ? HUGE_VALL : std::lgamma(x); }

const FloatCase kFloatCases[] = {
    GRAPHGATE_FLOAT(exp, std::exp(x)),
    GRAPHGATE_FLOAT(exp2, std::exp2(x)),
    GRAPHGATE_FLOAT(expm1, std::expm1(x)),
    GRAPHGATE_FLOAT(sigmoid, 1 / (1 + std::exp(-x))),
    GRAPHGATE_FLOAT(sinh, std::sinh(x)),
    GRAPHGATE_FLOAT(cosh, std::cosh(x)),
    GRAPHGATE_FLOAT(tanh, std::tanh(x)),
    GRAPHGATE_FLOAT(log, std::log(x)),
    GRAPHGATE_FLOAT(log2, std::log2(x)),
    GRAPHGATE_FLOAT(log10, std::log10(x)),
    GRAPHGATE_FLOAT(log1p, std::log1p(x)),
    GRAPHGATE_FLOAT(log1p_exp, x > 11000 ? x : std::log1p(std::exp(x))),
    GRAPHGATE_FLOAT(asinh, std::asinh(x)),
    GRAPHGATE_FLOAT(acosh, std::acosh(x)),
    GRAPHGATE_FLOAT(atanh, std::atanh(x)),
    GRAPHGATE_FLOAT(sin, std::sin(x)),
    GRAPHGATE_FLOAT(cos, std::cos(x)),
    GRAPHGATE_FLOAT(tan, std::tan(x)),
    GRAPHGATE_FLOAT(asin, std::asin(x)),
    GRAPHGATE_FLOAT(acos, std::acos(x)),
    GRAPHGATE_FLOAT(atan, std::atan(x)),
    GRAPHGATE_FLOAT(erf, std::erf(x)),
    GRAPHGATE_FLOAT(erfc, std::erfc(x)),
    GRAPHGATE_FLOAT(lgamma, lgamma_truth(x)),
    GRAPHGATE_FLOAT(rsqrt, 1 / std::sqrt(x)),
};

TEST(FloatFunctions, AreRoundedNearlyCorrectlyOverAllExponents) {
  if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no wider than double here";
  constexpr std::uint64_t kStep = 4093;  // a prime: a million patterns of all signs and exponents
  for (const FloatCase& item : kFloatCases) {
    double worst = 0;
    float at = 0;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += kStep) {
      const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      const double error = error_in_units(item.scalar(x), item.truth(static_cast<Wide>(x)));
      if (error > worst) worst = error, at = x;
    }
    EXPECT_LT(worst, 0.501) << item.name << " at " << at << ": " << item.scalar(at);
  }
}

TEST(FloatFunctions, RoundPowersNearlyCorrectly) {
  if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no wider than double here";
  std::mt19937 random(5);
  for (int i = 0; i < 500000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    float y = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (i % 2 == 0) y = static_cast<float>(random() % 160) - 80;
    if (i % 4 == 1) y = (static_cast<float>(random()) * 0x1p-25F - 64) / std::log(std::fabs(x));
    if (std::isnan(x) || std::isnan(y)) continue;
    const Wide truth = std::pow(static_cast<Wide>(x), static_cast<Wide>(y));
    ASSERT_LT(error_in_units(pow(x, y), truth), 0.501) << x << " " << y;
  }
}

bool same_bits(const float* a, const float* b, std::size_t count) {
  return std::memcmp(a, b, count * sizeof(float)) == 0;
}

// Values of all kinds; the first ones are ordinary, so that short tiles are too.
std::vector<float> mixed_values(int count) {
  std::mt19937 random(9);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const float ordinary = static_cast<float>(random() % 4000) * 0.01F - 20;
    const float any = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    out.push_back(i % 5 == 4 && any == any ? any : ordinary);
  }
  return out;
}

TEST(FloatFunctions, GiveTheSameBitsAtEveryLengthStrideAndPlace) {
  const std::vector<float> values = mixed_values(67 * 3);
  for (const FloatCase& item : kFloatCases) {
    for (int n = 1; n <= 67; ++n) {
      for (const std::int64_t stride : {1, 2, 3, 0}) {
        std::vector<float> tile(static_cast<std::size_t>(n));
        std::vector<float> scalar;
        scalar.reserve(tile.size());
        item.tile(values.data(), stride, n, tile.data());
        for (int i = 0; i < n; ++i) {
          scalar.push_back(item.scalar(values[static_cast<std::size_t>(i * stride)]));
        }
        ASSERT_TRUE(same_bits(tile.data(), scalar.data(), tile.size())) << item.name << " " << n;
      }
    }
  }
}

TEST(FloatFunctions, GiveTheSameBitsInSineAndCosineTiles) {
  std::vector<float> values = mixed_values(67);
  for (const bool is_small : {false, true}) {
    if (is_small) {
      for (float& x : values) x = std::fabs(x) < 100 ? x : 1.5F;
    }
    for (int n = 0; n <= 67; ++n) {
      std::vector<float> sines(static_cast<std::size_t>(n));
      std::vector<float> cosines(static_cast<std::size_t>(n));
      sin_tile(values.data(), n, sines.data());
      cos_tile(values.data(), n, cosines.data());
      for (std::size_t i = 0; i < sines.size(); ++i) {
        const float want[] = {sin(values[i]), cos(values[i])};
        const float got[] = {sines[i], cosines[i]};
        ASSERT_TRUE(same_bits(want, got, 2)) << values[i] << " of " << n;
      }
    }
  }
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return (hash ^ word) * 0x100000001b3;  // FNV-1a over words
}

// Arguments whose results are numbers; NaNs are left out, their bits differ between machines.
TEST(FloatFunctions, KeepTheirBitsOnEveryMachineAndCompiler) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int i = 1; i < 2000; ++i) {
    const double x = 0.0005 * i;
    const double wide = 37.0 * (i - 1000) / 999;
    for (const FloatCase& item : kFloatCases) {
      const float result = item.scalar(static_cast<float>(x));
      if (result == result) hash = mix(hash, std::bit_cast<std::uint32_t>(result));
    }
    for (const double y : {exp(wide),      expm1(wide),     tanh(wide),        sigmoid(wide),
                           sinh(wide),     log(x),          log1p(x),          log10(x),
                           asinh(wide),    sin(wide * 1e9), cos(wide * 1e200), tan(wide),
                           atan(wide),     asin(x * 0.99),  erf(wide * 0.1),   erfc(wide * 0.5),
                           lgamma(x * 40), digamma(x * 40), erfinv(x * 0.99),  i0(wide),
                           rsqrt(x),       pow(x, wide),    hypot(x, wide),    atan2(wide, x)}) {
      hash = mix(hash, std::bit_cast<std::uint64_t>(y));
    }
  }
  EXPECT_EQ(hash, 0x3299cd4f8dbd9df6) << "is contraction off (-ffp-contract=off)?";
}

}  // namespace
}  // namespace graphgate::optimized
