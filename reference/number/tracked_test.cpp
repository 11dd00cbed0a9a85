#include "reference/number/tracked.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "reference/number/functions.h"
#include "reference/number/left_open.h"

namespace graphgate::reference {
namespace {

using spec::DType;
constexpr auto kSingle = Bounded::Arithmetic::kFloat32;

// An exact float32 in the oracle's arithmetic.
Bounded exact(float x) { return {static_cast<long double>(x), 0, kSingle}; }

// Whether a float32 executor's number lies where the oracle allows.
::testing::AssertionResult allows(const Bounded& bound, float x) {
  const long double off = std::fabs(static_cast<long double>(x) - bound.value);
  if (off <= static_cast<long double>(bound.radius)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << x << " is outside " << static_cast<double>(bound.value) << " +- " << bound.radius;
}

float draw() {
  const int mantissa = *rc::gen::inRange(-(1 << 24), 1 << 24);
  return std::ldexp(static_cast<float>(mantissa), *rc::gen::inRange(-40, 10));
}

RC_GTEST_PROP(TrackedProperty, AChainOfFloat32OperationsStaysInsideTheBound, ()) {
  Bounded oracle = exact(draw());
  auto executor = static_cast<float>(oracle.value);
  for (int step = 0; step < 8; ++step) {
    const float operand = draw();
    RC_PRE(operand != 0.0F);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        oracle = oracle + exact(operand), executor += operand;
        break;
      case 1:
        oracle = oracle - exact(operand), executor -= operand;
        break;
      case 2:
        oracle = oracle * exact(operand), executor *= operand;
        break;
      default:
        oracle = oracle / exact(operand), executor /= operand;
        break;
    }
    if (!std::isfinite(executor)) return;
    RC_ASSERT(allows(oracle, executor));
  }
}

RC_GTEST_PROP(TrackedProperty, SmallIntegersNeverGetARadius, ()) {
  const auto a = static_cast<float>(*rc::gen::inRange(-2000, 2000));
  const auto b = static_cast<float>(*rc::gen::inRange(-2000, 2000));
  RC_ASSERT((exact(a) * exact(b) + exact(a) - exact(b)).radius == 0);
}

RC_GTEST_PROP(TrackedProperty, ADecidedComparisonIsTheExecutors, ()) {
  const float a = draw();
  const float b = draw();
  const float c = draw();
  const Whole verdict = less(exact(a) + exact(b), exact(c));
  if (!verdict.undecided) RC_ASSERT((verdict.value != 0) == (a + b < c));
}

TEST(Tracked, OneRoundingIsHalfAUnitInTheLastPlace) {
  const Bounded third = exact(1) / exact(3);
  EXPECT_EQ(third.radius, 0x1p-26);
  EXPECT_TRUE(allows(third, 1.0F / 3.0F));
  EXPECT_EQ((exact(1) / exact(4)).radius, 0);
}

TEST(Tracked, OverflowIsInfinityOnlyWhenItIsCertain) {
  const Bounded certain = exact(3e38F) * exact(2);
  EXPECT_TRUE(std::isinf(certain.value));
  EXPECT_EQ(certain.radius, 0);
  const Bounded open = Bounded(3.4e38L, 1e37, kSingle) + exact(1e36F);
  EXPECT_TRUE(std::isinf(open.radius));
}

TEST(Tracked, AChoiceThatHangsOnATieReachesBothValues) {
  const Bounded x(0.0L, 1e-6, kSingle);
  const Bounded chosen = select(less(x, Bounded(0.0)), exact(-1), exact(2));
  EXPECT_EQ(chosen.value, 2);
  EXPECT_GE(chosen.radius, 3);
  EXPECT_EQ(select(less(exact(-1), Bounded(0.0)), exact(-1), exact(2)).radius, 0);
}

TEST(Tracked, AStepInsideTheRadiusCountsAndOneOutsideDoesNot) {
  EXPECT_EQ(floor(Bounded(2.5L, 0.25, kSingle)).radius, 0);
  EXPECT_EQ(floor(Bounded(3.1L, 0.25, kSingle)).radius, 1);
}

TEST(Tracked, ACastRoundsAndAnEdgeBetweenNodesWidens) {
  const Bounded x = exact(1.0F + 0x1p-9F);
  EXPECT_EQ(cast(x, DType::kBFloat16).value, 1);
  EXPECT_EQ(cast(x, DType::kBFloat16).radius, 0);
  EXPECT_EQ(round_edge(x, DType::kBFloat16).value, x.value);
  EXPECT_EQ(round_edge(x, DType::kBFloat16).radius, 0x1p-8);
  EXPECT_EQ(round_edge(exact(1.5F), DType::kBFloat16).radius, 0);
}

TEST(Tracked, NaNHasNoRadiusAndADivisorThatMayBeZeroLeavesAllOpen) {
  EXPECT_TRUE(std::isnan((exact(0) / exact(0)).value));
  EXPECT_EQ((exact(0) / exact(0)).radius, 0);
  EXPECT_TRUE(std::isinf((exact(1) / Bounded(0.001L, 0.01, kSingle)).radius));
}

TEST(Tracked, WhatMayLieOutsideOfADomainIsOpen) {
  EXPECT_TRUE(std::isinf(sqrt(Bounded(1e-3L, 0.01, kSingle)).radius));
  const Bounded maybe = sqrt(Bounded(-1e-3L, 0.01, kSingle));
  EXPECT_TRUE(std::isnan(maybe.value) && std::isinf(maybe.radius));
  EXPECT_TRUE(std::isinf((maybe + exact(1)).radius));
  EXPECT_TRUE(std::isinf(exp(maybe).radius));
  EXPECT_EQ((maybe + exact(0) / exact(0)).radius, 0);
  EXPECT_EQ(sqrt(exact(-1)).radius, 0);
  EXPECT_TRUE(std::isinf(cos(Bounded(3, std::numeric_limits<double>::infinity(), kSingle)).radius));
}

TEST(Tracked, TheErrorOfASquareCountsTwice) {
  const Sampled x(2.0L, 0x1p-10, Sampled::Arithmetic::kFloat32);
  EXPECT_GE((x * x).radius, 0x1p-8);
}

TEST(Tracked, ARemainderWhoseQuotientOverflowsIsOpen) {
  EXPECT_EQ(fmod(exact(7), exact(4)).radius, 0);
  EXPECT_TRUE(std::isinf(fmod(exact(1e30F), exact(1e-20F)).radius));
}

TEST(Tracked, WhatIsOpenMayBeNaNWhateverIsMadeOfIt) {
  const Bounded maybe = sqrt(Bounded(-1e-3L, 0.01, kSingle));
  EXPECT_TRUE(std::isinf(tanh(maybe).radius));
  EXPECT_TRUE(std::isinf(atan(maybe).radius));
  EXPECT_TRUE(std::isinf(erf(maybe).radius));
}

TEST(Tracked, NothingIsNearANaN) {
  const Bounded nan = exact(0) / exact(0);
  EXPECT_FALSE(less(nan, Bounded(1.0L, 0.5, kSingle)).undecided);
}

TEST(Tracked, APoleInsideTheRadiusLeavesAllOpen) {
  EXPECT_TRUE(std::isinf(tan(Bounded(1.5L, 0.2, kSingle)).radius));
  EXPECT_LE(tan(Bounded(1.5L, 0.01, kSingle)).radius, 3);
  EXPECT_TRUE(std::isinf(pow(Bounded(0.1L, 0.2, kSingle), exact(-1)).radius));
  EXPECT_TRUE(std::isinf(pow(Bounded(0.1L, 0.2, kSingle), exact(-2)).radius));
  EXPECT_LE(pow(Bounded(0.1L, 0.2, kSingle), exact(2)).radius, 0.1);
}

TEST(Tracked, EveryAngleIsPossibleAtTheCut) {
  const Bounded angle = atan2(Bounded(0.1L, 0.2, kSingle), Bounded(0.1L, 0.2, kSingle));
  EXPECT_TRUE(allows(angle, std::atan2(-1e-6F, -0.1F)));
  EXPECT_TRUE(allows(atan2(Bounded(0.0L, 0.1, kSingle), exact(-1)), -3.14159274F));
  EXPECT_LE(atan2(Bounded(0.0L, 0.1, kSingle), exact(1)).radius, 0.11);
}

TEST(Tracked, APowerOfTwoInexactNumbersReachesItsCorners) {
  const Bounded power = pow(Bounded(2.0L, 1, kSingle), Bounded(2.0L, 1, kSingle));
  EXPECT_TRUE(allows(power, 27));
}

TEST(Tracked, ARemainderMayChangeSignWithItsDividend) {
  const Bounded rest = fmod(Bounded(0.9L, 2, kSingle), exact(1));
  EXPECT_TRUE(allows(rest, -0.95F));
  EXPECT_TRUE(std::isinf(fmod(exact(1), Bounded(0.1L, 0.2, kSingle)).radius));
}

TEST(Tracked, ACastThatMayOverflowIsOpen) {
  EXPECT_TRUE(std::isinf(cast(Bounded(65521.0L, 10, kSingle), DType::kFloat16).radius));
  EXPECT_TRUE(std::isinf(cast(Bounded(65515.0L, 10, kSingle), DType::kFloat16).radius));
  EXPECT_EQ(cast(Bounded(65540.0L, 10, kSingle), DType::kFloat16).radius, 0);
}

// Multiples of a standard deviation up to kDecisionRadii lie inside the same multiple of the
// result's.
TEST(Sampled, LooksForPolesAsFarAsAnErrorMayReach) {
  constexpr auto kArithmetic = Sampled::Arithmetic::kFloat32;
  const Sampled near_zero(1.0L, 0.2, kArithmetic);
  EXPECT_TRUE(std::isinf((Sampled(1.0) / near_zero).radius));
  EXPECT_TRUE(std::isinf(sqrt(near_zero).radius));
  EXPECT_TRUE(std::isinf(log(near_zero).radius));
  EXPECT_TRUE(std::isinf(rsqrt(near_zero).radius));
  EXPECT_TRUE(std::isinf(pow(near_zero, Sampled(-1.0)).radius));
  const Sampled x(1.0L, 0.1, kArithmetic);
  for (const double multiple : {1.0, 4.0, 6.0, 7.9}) {
    const double off = 0.1 * multiple;
    EXPECT_GE(multiple * (Sampled(1.0) / x).radius, 1 / (1 - off) - 1) << multiple;
    EXPECT_GE(multiple * log(x).radius, -std::log(1 - off)) << multiple;
    EXPECT_GE(multiple * sqrt(x).radius, 1 - std::sqrt(1 - off)) << multiple;
    EXPECT_GE(multiple * (x * x).radius, (1 + off) * (1 + off) - 1) << multiple;
  }
}

TEST(Tracked, ANumberCoversItsOtherForm) {
  const Bounded x(1.0L, 0.25, kSingle);
  EXPECT_EQ(covering(x, Bounded(1.5L, 0.125, kSingle)).radius, 0.625);
  EXPECT_EQ(covering(exact(2), exact(2)).radius, 0);
  EXPECT_TRUE(std::isinf(covering(exact(2), exact(INFINITY)).radius));
  EXPECT_EQ(covering(exact(INFINITY), exact(INFINITY)).radius, 0);
}

}  // namespace
}  // namespace graphgate::reference
