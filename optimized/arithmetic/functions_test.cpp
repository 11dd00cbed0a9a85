// The stated error bounds of the double functions, against long double.
#include "optimized/arithmetic/functions.h"

#include <gtest/gtest.h>

#include <cfloat>

#include "optimized/arithmetic/function_test_support.h"

namespace graphgate::optimized {
namespace {

using Wide = long double;

struct UnaryCase {
  std::string name;
  double (*ours)(double);
  Wide (*truth)(Wide);
  double low;
  double high;
  double bound;
};

#define GRAPHGATE_UNARY(name, low, high, bound)                                                    \
  {                                                                                                \
#name, [](double x) { return name(x); }, [](Wide x) -> Wide { return std::name(x); }, low,     \
                                                                                       high, bound \
  }

// digamma from its recurrence and asymptotic series, in long double, x > 0.
Wide digamma_truth(Wide x) {
  Wide sum = 0;
  while (x < 60) {
    sum += 1 / x;
    x += 1;
  }
  const Wide square = 1 / (x * x);
  const Wide tail =
      square * (1.0L / 12 - square * (1.0L / 120 - square * (1.0L / 252 - square / 240)));
  return std::log(x) - 0.5L / x - tail - sum;
}

// i0 from its power series, in long double.
Wide i0_truth(Wide x) {
  Wide sum = 1;
  Wide term = 1;
  for (int k = 1; term > sum * 1e-25L; ++k) {
    term *= x * x / 4 / (static_cast<Wide>(k) * k);
    sum += term;
  }
  return sum;
}

// erfinv by Newton's method on long double erf and erfc, from our own value.
Wide erfinv_truth(Wide x) {
  const Wide magnitude = std::fabs(x);
  if (!(magnitude < 1)) return magnitude == 1 ? x / 0.0L : std::nan("");
  Wide y = erfinv(static_cast<double>(magnitude));
  for (int i = 0; i < 3; ++i) {
    const Wide miss = magnitude > 0.5L ? (1 - magnitude) - std::erfc(y) : std::erf(y) - magnitude;
    y -= miss * std::exp(y * y) * 0.886226925452758013649083741670572591L;
  }
  return std::copysign(y, x);
}

const UnaryCase kCases[] = {
    GRAPHGATE_UNARY(exp, -746, 711, 0.8),
    GRAPHGATE_UNARY(exp, -1, 1, 0.8),
    GRAPHGATE_UNARY(exp2, -1076, 1025, 0.8),
    GRAPHGATE_UNARY(exp2, -1, 1, 0.8),
    GRAPHGATE_UNARY(expm1, -40, 711, 0.85),
    GRAPHGATE_UNARY(expm1, -2, 2, 0.85),
    GRAPHGATE_UNARY(sinh, -711, 711, 0.85),
    GRAPHGATE_UNARY(sinh, -2, 2, 0.85),
    GRAPHGATE_UNARY(cosh, -711, 711, 0.8),
    GRAPHGATE_UNARY(cosh, -2, 2, 0.8),
    GRAPHGATE_UNARY(tanh, -22, 22, 0.8),
    GRAPHGATE_UNARY(tanh, -1, 1, 0.8),
    {"sigmoid", [](double x) { return sigmoid(x); },
     [](Wide x) -> Wide { return 1 / (1 + std::exp(-x)); }, -746, 40, 0.8},
    GRAPHGATE_UNARY(log, 0, 1000, 0.51),
    GRAPHGATE_UNARY(log, 0.98, 1.02, 0.51),
    GRAPHGATE_UNARY(log2, 0, 4, 0.51),
    GRAPHGATE_UNARY(log10, 0, 4, 0.51),
    GRAPHGATE_UNARY(log1p, -1, 3, 0.51),
    GRAPHGATE_UNARY(log1p, -0.01, 0.01, 0.51),
    {"log1p_exp", [](double x) { return log1p_exp(x); },
     [](Wide x) -> Wide { return x > 11000 ? x : std::log1p(std::exp(x)); }, -746, 60, 0.8},
    GRAPHGATE_UNARY(asinh, -4, 4, 0.51),
    GRAPHGATE_UNARY(asinh, -1e12, 1e12, 0.51),
    GRAPHGATE_UNARY(acosh, 1, 4, 0.51),
    GRAPHGATE_UNARY(acosh, 1, 1e12, 0.51),
    GRAPHGATE_UNARY(atanh, -1, 1, 0.51),
    GRAPHGATE_UNARY(sin, -100, 100, 0.8),
    GRAPHGATE_UNARY(sin, -1e8, 1e8, 0.8),
    GRAPHGATE_UNARY(cos, -100, 100, 0.8),
    GRAPHGATE_UNARY(cos, -1e8, 1e8, 0.8),
    GRAPHGATE_UNARY(tan, -100, 100, 1.0),
    GRAPHGATE_UNARY(tan, -1e8, 1e8, 1.0),
    GRAPHGATE_UNARY(asin, -1, 1, 0.51),
    GRAPHGATE_UNARY(acos, -1, 1, 0.51),
    GRAPHGATE_UNARY(atan, -40, 40, 0.51),
    GRAPHGATE_UNARY(erf, -6, 6, 1.0),
    GRAPHGATE_UNARY(erf, -1, 1, 1.0),
    GRAPHGATE_UNARY(erfc, -6, 27.5, 1.2),
    GRAPHGATE_UNARY(erfc, -1, 1, 1.2),
    {"erfinv", [](double x) { return erfinv(x); }, erfinv_truth, -1, 1, 1.7},
    {"lgamma", [](double x) { return x < 0 ? 0 : lgamma(x); },
     [](Wide x) -> Wide { return x < 0 ? 0 : std::lgamma(x); }, 0, 40, 1.0},
    {"lgamma", [](double x) { return x < 0 ? 0 : lgamma(x); },
     [](Wide x) -> Wide { return x < 0 ? 0 : std::lgamma(x); }, 0.5, 3, 1.0},
    {"i0", [](double x) { return std::fabs(x) > 713 ? 0 : i0(x); },
     [](Wide x) -> Wide { return std::fabs(x) > 713 ? 0 : i0_truth(x); }, -713, 713, 0.8},
    {"rsqrt", [](double x) { return rsqrt(x); }, [](Wide x) -> Wide { return 1 / std::sqrt(x); }, 0,
     100, 0.51},
};

constexpr int kArguments = 60000;

TEST(Functions, StayWithinTheirStatedErrorInDouble) {
  if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no wider than double here";
  std::uint64_t seed = 1;
  for (const UnaryCase& item : kCases) {
    double worst = 0;
    double at = 0;
    for (const double x : arguments(item.low, item.high, kArguments, ++seed)) {
      const double error = error_in_units(item.ours(x), item.truth(x));
      if (error > worst) worst = error, at = x;
    }
    EXPECT_LE(worst, item.bound) << item.name << " at " << at << ": " << item.ours(at);
    RecordProperty(item.name + "_" + std::to_string(seed), std::to_string(worst));
  }
}

// Of e^-x I_nu(x) the integral of e^(x (cos t - 1)) cos(nu t) / pi over [0, pi], and of e^x K_nu(x)
// that of e^(-x (cosh t - 1)) cosh(nu t): the trapezoidal rule converges as fast as can be.
Wide scaled_i_truth(int nu, Wide x) {
  constexpr int kPoints = 400;
  Wide sum = 0;
  for (int i = 0; i <= kPoints; ++i) {
    const Wide t = std::numbers::pi_v<Wide> * i / kPoints;
    const Wide half = std::sin(t / 2);
    const Wide weight = i == 0 || i == kPoints ? 0.5L : 1.0L;
    sum += weight * std::exp(-2 * x * half * half) * std::cos(nu * t);
  }
  return sum / kPoints;
}
Wide scaled_k_truth(int nu, Wide x) {
  constexpr Wide kStep = 1.0L / 64;
  Wide sum = 0.5L;
  for (Wide t = kStep; t < 12; t += kStep) {
    const Wide half = std::sinh(t / 2);
    sum += std::exp(-2 * x * half * half) * std::cosh(nu * t);
  }
  return sum * kStep;
}

TEST(Functions, ModifiedBesselFunctionsStayWithinSomeUnits) {
  if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no wider than double here";
  constexpr double kUnits = 3;
  for (double at = 0.5; at < 120; at += 0.0625 + at / 512) {
    const auto size = static_cast<Wide>(at);
    EXPECT_LE(error_in_units(i0e(at), scaled_i_truth(0, size)), kUnits) << at;
    EXPECT_LE(error_in_units(i1e(at), scaled_i_truth(1, size)), kUnits) << at;
    EXPECT_LE(error_in_units(k0e(at), scaled_k_truth(0, size)), kUnits) << at;
    EXPECT_LE(error_in_units(k1e(at), scaled_k_truth(1, size)), kUnits) << at;
  }
}

// J_nu(x) is the mean of cos(nu t - x sin t) over [0, pi].
TEST(Functions, BesselFunctionsStayWithinAbsoluteErrors) {
  if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no wider than double here";
  const auto j_truth = [](int nu, Wide x) {
    constexpr int kPoints = 200;
    Wide sum = 0;
    for (int i = 0; i <= kPoints; ++i) {
      const Wide t = std::numbers::pi_v<Wide> * i / kPoints;
      sum += (i == 0 || i == kPoints ? 0.5L : 1.0L) * std::cos(nu * t - x * std::sin(t));
    }
    return sum / kPoints;
  };
  for (double x = -60; x < 80; x += 0.078125) {
    const auto at = static_cast<Wide>(x);
    EXPECT_NEAR(bessel_j0(x), static_cast<double>(j_truth(0, at)), 0x1p-52) << x;
    EXPECT_NEAR(bessel_j1(x), static_cast<double>(j_truth(1, at)), 0x1p-52) << x;
    if (x == 0) continue;
    // The Wronskian, which holds Y to J.
    const double size = std::fabs(x);
    const double wronskian = bessel_j1(size) * bessel_y0(size) - bessel_j0(size) * bessel_y1(size);
    EXPECT_NEAR(wronskian * std::numbers::pi * size / 2, 1, 1e-13) << size;
  }
}

// Where a series gives way to another both are the same function: values on both sides of a seam go
// on along their slope.
TEST(Functions, SeriesMeetAtTheirSeams) {
  const auto jump = [](auto f, double seam) {
    constexpr double kStep = 0x1p-20;
    const double before = f(seam - kStep) - f(seam - 2 * kStep);
    const double after = f(seam + 2 * kStep) - f(seam + kStep);
    const double across = f(seam + kStep) - f(seam - kStep);
    return std::fabs(across - before - after) / std::fabs(f(seam));
  };
  EXPECT_LT(jump([](double x) { return airy_ai(x); }, -10), 1e-10);
  EXPECT_LT(jump([](double x) { return airy_ai(x); }, 6), 1e-10);
  EXPECT_LT(jump([](double x) { return bessel_y0(x); }, 25), 1e-10);
  EXPECT_LT(jump([](double x) { return bessel_y1(x); }, 25), 1e-10);
  EXPECT_LT(jump([](double x) { return erfcx(x); }, 30), 1e-10);
  EXPECT_LT(jump([](double x) { return erfcx(x); }, 0.5), 1e-10);
  EXPECT_LT(jump([](double x) { return log_ndtr(x); }, -1), 1e-10);
  EXPECT_LT(jump([](double x) { return ndtri(x); }, 0.1), 1e-10);
  EXPECT_LT(jump([](double x) { return igamma(1e6, x); }, 1e6), 1e-10);
  EXPECT_LT(jump([](double a) { return igamma(a, 1000100.0); }, 1e6), 1e-10);
  EXPECT_LT(jump([](double x) { return igammac(0.75, x); }, 2), 1e-10);
}

TEST(Functions, InverseOfTheNormalDistributionInverts) {
  for (const double p : {1e-300, 1e-20, 1e-3, 0.0999, 0.11, 0.3, 0.5}) {
    EXPECT_NEAR(log_ndtr(ndtri(p)) / std::log(p), 1, 1e-15) << p;
  }
}

TEST(Functions, KeepRelativePrecisionNextToTheZerosOfSineAndCosine) {
  if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no wider than double here";
  double k = 0;
  while (k < 0x1p1000) {
    k = k < 5000 ? k + 1 : k * 1.37;
    const double x = std::round(k) * 1.5707963267948966;
    EXPECT_LE(error_in_units(sin(x), std::sin(static_cast<Wide>(x))), 0.8) << x;
    EXPECT_LE(error_in_units(cos(x), std::cos(static_cast<Wide>(x))), 0.8) << x;
    EXPECT_LE(error_in_units(tan(x), std::tan(static_cast<Wide>(x))), 1.0) << x;
  }
  // The double closest to a multiple of pi/2 of all.
  const double closest = 0x1.6ac5b262ca1ffp+849;
  EXPECT_LE(error_in_units(cos(closest), std::cos(static_cast<Wide>(closest))), 0.8);
  EXPECT_LT(std::fabs(cos(closest)), 0x1p-60);
}

// Subnormal results are rounded twice.
double hypot_bound(double x) { return std::fabs(x) < 0x1p-1021 ? 0.75 : 0.51; }

TEST(Functions, StayWithinTheirStatedErrorWithTwoArguments) {
  if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no wider than double here";
  const std::vector<double> first = arguments(0, 10, 200000, 11);
  const std::vector<double> second = arguments(-300, 300, 200000, 12);
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const double x = first[i];
    // Every other exponent is chosen so that the power is a number of ordinary size.
    const double y = i % 2 == 0 ? second[i] : 2.3 * second[i] / std::log(std::fabs(x));
    if (y != y) continue;
    const Wide wx = x;
    const Wide wy = y;
    ASSERT_LE(error_in_units(pow(x, y), std::pow(wx, wy)), 0.75) << x << " " << y;
    ASSERT_LE(error_in_units(hypot(x, y), std::hypot(wx, wy)), hypot_bound(x)) << x << " " << y;
    ASSERT_LE(error_in_units(atan2(x, y), std::atan2(wx, wy)), 0.51) << x << " " << y;
    const double near = x * (1 + second[i] * 1e-4);
    ASSERT_LE(error_in_units(hypot(x, near), std::hypot(wx, static_cast<Wide>(near))),
              hypot_bound(x));
    ASSERT_LE(error_in_units(atan2(near, x), std::atan2(static_cast<Wide>(near), wx)), 0.51);
  }
}

TEST(Functions, BoundLgammaAndDigammaAbsolutelyNextToTheirZeros) {
  if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no wider than double here";
  for (const double x : arguments(-60, 0, kArguments, 21)) {
    if (x >= 0 || x < -1e6 || x > -1e-300) continue;
    const Wide log_gamma = std::lgamma(static_cast<Wide>(x));
    const Wide scale = std::fmax(1.0L, std::fabs(log_gamma));
    EXPECT_LE(std::fabs(lgamma(x) - log_gamma), 0x1p-52L * scale) << x;
  }
  for (const double x : arguments(0, 40, kArguments, 22)) {
    if (x <= 0 || x > 1e6 || x < 1e-300) continue;
    const Wide truth = digamma_truth(x);
    const Wide allowed = 1.0L * unit_at<double>(truth) + 0x1p-58L;
    EXPECT_LE(std::fabs(digamma(x) - truth), allowed) << x;
    // Reflection: digamma(1 - x) - digamma(x) = pi / tan(pi x).
    const double fraction = 0.05 + 0.9 * (x - std::floor(x));
    const Wide pi = 3.14159265358979323846264338327950288L;
    const Wide mirror =
        digamma_truth(1 + static_cast<Wide>(fraction)) + pi / std::tan(pi * fraction);
    EXPECT_NEAR(digamma(-fraction), static_cast<double>(mirror), 0x1p-46) << fraction;
  }
}

TEST(Functions, ComputeExactRemainders) {
  const std::vector<double> first = arguments(-100, 100, 20000, 31);
  const std::vector<double> second = arguments(-10, 10, 20000, 32);
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const double x = first[i];
    const double y = second[i];
    if (!std::isfinite(x) || !std::isfinite(y) || y == 0) continue;
    const double rest = fmod(x, y);
    EXPECT_LT(std::fabs(rest), std::fabs(y));
    EXPECT_EQ(std::signbit(rest), std::signbit(x));
    const double modulo = remainder(x, y);
    EXPECT_LE(std::fabs(modulo), std::fabs(y));
    EXPECT_TRUE(modulo == 0 || std::signbit(modulo) == std::signbit(y)) << x << " " << y;
    EXPECT_TRUE(modulo == rest || modulo == rest + y);
  }
  EXPECT_EQ(remainder(-7.0, 3.0), 2.0);
  EXPECT_EQ(remainder(7.0F, -3.0F), -2.0F);
  EXPECT_TRUE(std::signbit(remainder(-6.0, 3.0)));
  EXPECT_TRUE(std::isnan(remainder(5.0, -0.0)) && std::isnan(fmod(kInfinity, 2.0)));
  EXPECT_EQ(remainder(-1.0, kInfinity), kInfinity);
}

}  // namespace
}  // namespace graphgate::optimized
