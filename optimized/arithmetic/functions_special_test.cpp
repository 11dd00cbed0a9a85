// Zeros, infinities, NaNs, thresholds: C99 Annex F (as the C library has it) or PyTorch's choice.
#include <gtest/gtest.h>

#include <cfloat>
#include <limits>

#include "optimized/arithmetic/functions.h"

namespace graphgate::optimized {
namespace {

constexpr double kTiny = std::numeric_limits<double>::denorm_min();
constexpr double kHuge = std::numeric_limits<double>::max();

const double kSpecial[] = {
    0.0,           -0.0,    1.0,      -1.0,    2.0,        -2.0,       3.0,         -3.0,
    0.5,           -0.5,    1.5,      -2.5,    kTiny,      -kTiny,     kHuge,       -kHuge,
    1e-30,         -1e-30,  0x1p53,   -0x1p53, 0x1p53 + 2, 0x1p52 + 1, -0x1p52 - 1, 0x1p51 + 0.5,
    -0x1p51 - 0.5, DBL_MIN, -DBL_MIN, 1e300,   -1e300,     kInfinity,  -kInfinity,  kNaN};

// Equal as special values: NaN with NaN; zeros and infinities with their sign; others within 2 ulp.
template <class T>
::testing::AssertionResult same_kind(T got, T want) {
  if (std::isnan(want) && std::isnan(got)) return ::testing::AssertionSuccess();
  const bool is_exact = want == 0 || std::isinf(want) || want == 1 || want == -1;
  const T slack = is_exact ? T{0}
                           : std::numeric_limits<T>::epsilon() * 2 * std::fabs(want) +
                                 std::numeric_limits<T>::denorm_min();
  const bool is_same = is_exact ? got == want && std::signbit(got) == std::signbit(want)
                                : std::fabs(got - want) <= slack;
  if (is_same) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << got << " instead of " << want;
}

#define GRAPHGATE_CHECK_SPECIAL(name)                                                        \
  for (const double x : kSpecial) {                                                          \
    EXPECT_TRUE(same_kind(name(x), std::name(x))) << #name "(" << x << ")";                  \
    const float narrow = static_cast<float>(x);                                              \
    EXPECT_TRUE(same_kind(name(narrow), std::name(narrow))) << #name " of float " << narrow; \
  }

TEST(SpecialValues, OfExponentialsFollowAnnexF){
    GRAPHGATE_CHECK_SPECIAL(exp) GRAPHGATE_CHECK_SPECIAL(exp2) GRAPHGATE_CHECK_SPECIAL(expm1)
        GRAPHGATE_CHECK_SPECIAL(sinh) GRAPHGATE_CHECK_SPECIAL(cosh) GRAPHGATE_CHECK_SPECIAL(tanh)}

TEST(SpecialValues, OfLogarithmsFollowAnnexF){
    GRAPHGATE_CHECK_SPECIAL(log) GRAPHGATE_CHECK_SPECIAL(log2) GRAPHGATE_CHECK_SPECIAL(log10)
        GRAPHGATE_CHECK_SPECIAL(log1p) GRAPHGATE_CHECK_SPECIAL(asinh) GRAPHGATE_CHECK_SPECIAL(acosh)
            GRAPHGATE_CHECK_SPECIAL(atanh)}

TEST(SpecialValues, OfTrigonometryAndErrorFunctionsFollowAnnexF){
    GRAPHGATE_CHECK_SPECIAL(sin) GRAPHGATE_CHECK_SPECIAL(cos) GRAPHGATE_CHECK_SPECIAL(tan)
        GRAPHGATE_CHECK_SPECIAL(asin) GRAPHGATE_CHECK_SPECIAL(acos) GRAPHGATE_CHECK_SPECIAL(atan)
            GRAPHGATE_CHECK_SPECIAL(erf) GRAPHGATE_CHECK_SPECIAL(erfc)
                GRAPHGATE_CHECK_SPECIAL(lgamma)}

TEST(SpecialValues, OfTwoArgumentsFollowAnnexF) {
  for (const double x : kSpecial) {
    for (const double y : kSpecial) {
      EXPECT_TRUE(same_kind(pow(x, y), std::pow(x, y))) << "pow " << x << " " << y;
      EXPECT_TRUE(same_kind(atan2(x, y), std::atan2(x, y))) << "atan2 " << x << " " << y;
      EXPECT_TRUE(same_kind(hypot(x, y), std::hypot(x, y))) << "hypot " << x << " " << y;
      const auto a = static_cast<float>(x);
      const auto b = static_cast<float>(y);
      EXPECT_TRUE(same_kind(pow(a, b), std::pow(a, b))) << "pow of floats " << a << " " << b;
      EXPECT_TRUE(same_kind(atan2(a, b), std::atan2(a, b))) << "atan2 of floats " << a << " " << b;
      EXPECT_TRUE(same_kind(hypot(a, b), std::hypot(a, b))) << "hypot of floats " << a << " " << b;
    }
  }
}

TEST(SpecialValues, OfActivationsHaveTheirLimits) {
  EXPECT_EQ(sigmoid(kInfinity), 1);
  EXPECT_TRUE(same_kind(sigmoid(-kInfinity), 0.0));
  EXPECT_EQ(sigmoid(0.0F), 0.5F);
  EXPECT_EQ(sigmoid(-std::numeric_limits<float>::infinity()), 0);
  EXPECT_EQ(log1p_exp(kInfinity), kInfinity);
  EXPECT_EQ(log1p_exp(-kInfinity), 0);
  EXPECT_EQ(log1p_exp(1e30F), 1e30F);
  EXPECT_TRUE(std::isnan(sigmoid(kNaN)) && std::isnan(log1p_exp(kNaN)));
  EXPECT_TRUE(std::isnan(sigmoid(std::nanf(""))) && std::isnan(log1p_exp(std::nanf(""))));
}

TEST(SpecialValues, OfInverseErrorFunctionGammaAndBesselFollowPyTorch) {
  EXPECT_EQ(erfinv(1.0), kInfinity);
  EXPECT_EQ(erfinv(-1.0), -kInfinity);
  EXPECT_TRUE(std::isnan(erfinv(1.0000001)) && std::isnan(erfinv(kNaN)));
  EXPECT_TRUE(same_kind(erfinv(-0.0), -0.0));
  EXPECT_EQ(digamma(0.0), -kInfinity);
  EXPECT_EQ(digamma(-0.0), kInfinity);
  EXPECT_EQ(digamma(kInfinity), kInfinity);
  for (const double x : {-1.0, -7.0, -1e30, -kInfinity, kNaN}) EXPECT_TRUE(std::isnan(digamma(x)));
  EXPECT_EQ(i0(0.0), 1);
  EXPECT_TRUE(std::isnan(i0(-kInfinity)));
  EXPECT_EQ(i0(800.0), kInfinity);
  EXPECT_EQ(i0e(kInfinity), 0);
  EXPECT_EQ(k1e(0x1p-1074), kInfinity);
  // 1 over the square root of 2 pi x, far above 0.
  EXPECT_TRUE(i0e(-0x1.fffffffffffffp1023) > 0x1p-514 && i0e(0x1.fffffffffffffp1023) < 0x1p-513);
  EXPECT_TRUE(std::isnan(i0(kNaN)));
  EXPECT_EQ(rsqrt(0.0), kInfinity);
  EXPECT_EQ(rsqrt(-0.0), -kInfinity);
  EXPECT_EQ(rsqrt(kInfinity), 0);
  EXPECT_TRUE(std::isnan(rsqrt(-1.0)));
}

TEST(SpecialValues, OfSincFollowPyTorchsRounding) {
  EXPECT_EQ(sinc(0.0), 1);
  EXPECT_NEAR(sinc(1.0F), -2.7828e-08F, 1e-12F);  // pi is rounded to float before the sine
  EXPECT_TRUE(std::isnan(sinc(kInfinity)));
}

TEST(SpecialValues, SitAtTheExactOverflowThresholds) {
  EXPECT_LT(exp(88.72283F), std::numeric_limits<float>::infinity());
  EXPECT_EQ(exp(88.72284F), std::numeric_limits<float>::infinity());
  EXPECT_LT(exp(0x1.62e42fefa39efp+9), kInfinity);
  EXPECT_EQ(exp(0x1.62e42fefa39fp+9), kInfinity);
  EXPECT_GT(exp(-745.13), 0);
  EXPECT_EQ(exp(-745.14), 0);
  EXPECT_LT(sinh(0x1.633ce8fb9f87dp+9), kInfinity);
  EXPECT_EQ(cosh(0x1.633ce8fb9f87ep+9), kInfinity);
  EXPECT_EQ(exp2(-1074.0), kTiny);
  EXPECT_EQ(exp2(1024.0), kInfinity);
  EXPECT_EQ(pow(2.0, -1074.0), kTiny);
  EXPECT_EQ(pow(3.0, 20.0), 3486784401.0);
  EXPECT_EQ(log2(0x1p-1074), -1074);
  EXPECT_EQ(log10(1000.0), 3);
}

TEST(SpecialValues, OfBesselAndAiryFunctionsArePyTorchs) {
  EXPECT_EQ(i1(-0.0), 0);
  EXPECT_FALSE(std::signbit(i1(-0.0)));
  EXPECT_EQ(i1(-800.0), -kInfinity);
  EXPECT_EQ(k0(0.0), kInfinity);
  EXPECT_TRUE(std::isnan(k1(-1.0)));
  EXPECT_EQ(k0(kInfinity), 0);
  EXPECT_EQ(k1e(kInfinity), 0);
  EXPECT_EQ(k0(2000.0), 0);
  EXPECT_EQ(bessel_j0(0.0), 1);
  EXPECT_TRUE(std::signbit(bessel_j1(-0.0)));
  EXPECT_TRUE(std::isnan(bessel_j0(kInfinity)));
  EXPECT_EQ(bessel_y0(0.0), -kInfinity);
  EXPECT_TRUE(std::isnan(bessel_y1(-1.0)));
  EXPECT_EQ(airy_ai(104.0), 0);
  EXPECT_TRUE(std::isnan(airy_ai(-kInfinity)));
  EXPECT_EQ(spherical_bessel_j0(kInfinity), 0);
  EXPECT_EQ(spherical_bessel_j0(0.0), 1);
}

TEST(SpecialValues, OfGammaZetaAndNormalFunctionsArePyTorchs) {
  EXPECT_EQ(trigamma(0.0), kInfinity);
  EXPECT_EQ(trigamma(kInfinity), 0);
  EXPECT_EQ(zeta(1.0, 2.0), kInfinity);
  EXPECT_TRUE(std::isnan(zeta(0.5, 2.0)));
  EXPECT_EQ(zeta(3.0, -2.0), kInfinity);
  EXPECT_TRUE(std::isnan(zeta(2.5, -2.5)));
  EXPECT_EQ(zeta(kInfinity, 1.0), 1);
  EXPECT_EQ(igamma(0.0, 1.0), 1);
  EXPECT_EQ(igammac(2.0, kInfinity), 0);
  EXPECT_TRUE(std::isnan(igamma(-1.0, 1.0)));
  EXPECT_TRUE(std::isnan(igamma(0.0, 0.0)));
  EXPECT_EQ(erfcx(-30.0), kInfinity);
  EXPECT_EQ(erfcx(kInfinity), 0);
  EXPECT_EQ(log_ndtr(-kInfinity), -kInfinity);
  EXPECT_EQ(log_ndtr(kInfinity), 0);
  EXPECT_EQ(ndtri(0.0), -kInfinity);
  EXPECT_EQ(ndtri(1.0), kInfinity);
  EXPECT_TRUE(std::isnan(ndtri(1.5)));
}

}  // namespace
}  // namespace graphgate::optimized
