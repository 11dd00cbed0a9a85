#include "reference/number/tracked.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "base/split_mix.h"
#include "reference/number/bound_test.h"
#include "reference/number/functions.h"
#include "reference/number/sum.h"

namespace graphgate::reference {
namespace {

using spec::DType;

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

// What an estimate allows at least.
double allowed(const Sampled& x) { return RootSumSquare::kAllowedRadii * x.radius; }

TEST(Tracked, AnEstimateAllowsTheJumpAtAnEdgeHoweverNear) {
  for (const long double x : {2.5L, 2.8L, 2.9L, 2.99L, 3.0L, 3.01L, 3.1L}) {
    EXPECT_GE(allowed(floor(Sampled(x, 0.1, Sampled::Arithmetic::kFloat32))), 1);
  }
  EXPECT_EQ(floor(Sampled(2.5L, 0.05, Sampled::Arithmetic::kFloat32)).radius, 0);
}

// Each of these is as likely beyond its edge as not, or nearly: that all are is no rare thing.
TEST(Tracked, AnEstimateAllowsTheJumpsOfSeveralTermsAtOnce) {
  for (const int terms : {2, 4, 16}) {
    Sum<Sampled> sum;
    for (int i = 0; i < terms; ++i) {
      sum.add(floor(Sampled(i + 0.999L, 0.01, Sampled::Arithmetic::kFloat32)));
    }
    EXPECT_GE(allowed(sum.result()), terms);
  }
}

TEST(Tracked, AnEstimateAllowsBothFactorsToBeAsFarOffAsTheyMayBe) {
  const Sampled zero(0.0L, 0.01, Sampled::Arithmetic::kFloat32);
  const Sampled other(0x1p-40L, 0.01, Sampled::Arithmetic::kFloat32);
  EXPECT_GE(allowed(zero * other), allowed(zero) * allowed(other));
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

// An infinity divided by it is NaN, a number 0.
TEST(Tracked, WhatIsOpenOverAnInfinityIsOpen) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {1.0, infinity, std::nan("")}) {
    EXPECT_TRUE(std::isinf((Bounded(value, infinity, kSingle) / exact(INFINITY)).radius)) << value;
  }
  EXPECT_EQ((Bounded(1, 0.5, kSingle) / exact(INFINITY)).radius, 0);
  EXPECT_EQ((exact(NAN) / Bounded(2, 0.5, kSingle)).radius, 0);
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

TEST(Tracked, AFunctionOfWhatIsOpenIsOpen) {
  const Bounded open(1, std::numeric_limits<double>::infinity(), kSingle);
  EXPECT_TRUE(std::isinf(sin(open).radius));
  EXPECT_TRUE(std::isinf(erf(open).radius));
}

TEST(Tracked, TheErrorOfASquareCountsTwice) {
  const Sampled x(2.0L, 0x1p-10, Sampled::Arithmetic::kFloat32);
  EXPECT_GE((x * x).radius, 0x1p-8);
}

TEST(Tracked, TheErrorOfADoubledNumberCountsTwice) {
  const Sampled x(2.0L, 0x1p-10, Sampled::Arithmetic::kFloat32);
  const Sampled y(2.5L, 0x1p-10, Sampled::Arithmetic::kFloat32);
  EXPECT_GE((x + x).radius, 0x1p-9);
  EXPECT_LT((x + y).radius, 0x1p-9);
}

// What a copy rounded once more is still the number that it came from.
TEST(Tracked, TheErrorOfAProductWithACopyCountsTwice) {
  const Sampled x(2.0L, 0x1p-10, Sampled::Arithmetic::kFloat32);
  const Sampled copy(2.0L, 0x1.8p-10, Sampled::Arithmetic::kFloat32);
  EXPECT_GE((x * copy).radius, 2 * 0x1.4p-9);
}

// Executors are off by several standard deviations; asin(1.001) is NaN, asin of 1 is not.
TEST(Tracked, AnEstimateOutsideOfADomainIsOpenAsFarAsExecutorsMayBeOff) {
  const auto arithmetic = Sampled::Arithmetic::kFloat32;
  EXPECT_TRUE(std::isinf(asin(Sampled(1.001L, 0.0005, arithmetic)).radius));
  EXPECT_TRUE(std::isinf(asin(Sampled(0.999L, 0.0005, arithmetic)).radius));
  EXPECT_EQ(asin(Sampled(1.1L, 0.0005, arithmetic)).radius, 0);
  EXPECT_EQ(asin(exact(2)).radius, 0);
}

TEST(Tracked, WhatMayLieBeyondAPoleIsOpen) {
  EXPECT_TRUE(std::isinf(tan(Bounded(1.57L, 0.01, kSingle)).radius));
  EXPECT_TRUE(std::isinf(tan(Bounded(-4.72L, 0.01, kSingle)).radius));
  EXPECT_TRUE(std::isinf(tan(Bounded(0.25L, 3.2, kSingle)).radius));
  EXPECT_TRUE(std::isinf(tan(Sampled(1.56L, 0.005, Sampled::Arithmetic::kFloat32)).radius));
  EXPECT_LT(tan(Bounded(1.5L, 0.01, kSingle)).radius, 3);
  EXPECT_TRUE(std::isfinite(tan(exact(1.57079637F)).radius));
  EXPECT_TRUE(std::isinf(pow(Bounded(0.1L, 0.2, kSingle), exact(-2)).radius));
  EXPECT_LT(pow(Bounded(0.1L, 0.2, kSingle), exact(2)).radius, 1);
}

TEST(Tracked, ARemainderWhoseQuotientOverflowsIsOpen) {
  EXPECT_EQ(fmod(exact(7), exact(4)).radius, 0);
  EXPECT_TRUE(std::isinf(fmod(exact(1e30F), exact(1e-20F)).radius));
}

// From 65520 on a number is infinite in float16: whoever may land on the other side is right, too.
TEST(Tracked, AHalfThatMayOverflowIsOpenOnBothSides) {
  const auto is_open = [](auto x) { return std::isinf(round_edge(x, DType::kFloat16).radius); };
  EXPECT_TRUE(is_open(Bounded(65500.0L, 30, kSingle)));
  EXPECT_FALSE(is_open(Bounded(65500.0L, 10, kSingle)));
  EXPECT_TRUE(is_open(Bounded(65540.0L, 30, kSingle)));
  EXPECT_FALSE(is_open(Bounded(65540.0L, 10, kSingle)));
  // A radius of the estimate is one deviation; a judge allows several.
  const auto single = Sampled::Arithmetic::kFloat32;
  EXPECT_TRUE(is_open(Sampled(65540.0L, 10, single)));
  EXPECT_TRUE(is_open(Sampled(65400.0L, 20, single)));
  EXPECT_FALSE(is_open(Sampled(65400.0L, 10, single)));
  EXPECT_FALSE(is_open(Sampled(66000.0L, 10, single)));
}

TEST(Tracked, ACoshThatMayBeThatOfZeroIsOpen) {
  EXPECT_TRUE(std::isinf(cosh(Bounded(1e6L, 1e7, kSingle)).radius));
  EXPECT_TRUE(std::isinf(cosh(Bounded(1e6L, 1e6, kSingle)).radius));
  EXPECT_EQ(cosh(Bounded(1e6L, 10, kSingle)).radius, 0) << "infinite, whatever the error";
  EXPECT_TRUE(std::isinf(sinh(Bounded(1e6L, 1e7, kSingle)).radius));
}

// As eager attention masks scores: added to them, moved by the greatest of them, and scaled.
TEST(Tracked, AMaskOfTheSmallestNumberStaysOne) {
  const auto masked = [](auto score) {
    using N = decltype(score);
    const N mask(-static_cast<long double>(max_finite(DType::kFloat32)), 0, score.arithmetic);
    return round_edge((mask + score) - score, DType::kFloat32);
  };
  for (const long double score : {-7.5L, 0.25L, 7.5L}) {
    EXPECT_FALSE(std::isinf(masked(Bounded(score, 0.01, kSingle)).radius));
    EXPECT_FALSE(std::isinf(masked(Sampled(score, 0.01, Sampled::Arithmetic::kFloat32)).radius));
  }
}

TEST(Tracked, AHalfThatOverflowsIsInfiniteOrKeptWide) {
  EXPECT_EQ(round_edge(exact(70000), DType::kFloat16).radius, 0);
  const DeclaredArithmetic declared(*parse_arithmetic("fast"));
  EXPECT_TRUE(std::isinf(round_edge(exact(70000), DType::kFloat16).radius));
  EXPECT_EQ(round_edge(exact(70000), DType::kFloat32).radius, 0);
}

// 70000 is infinite to a kernel that holds it in float16, and none to one that computes in float32.
TEST(HeldIn, LeavesOpenWhatOverflowsANarrowDtypeBetweenTwoSteps) {
  EXPECT_EQ(held_in(70000.0, DType::kFloat16), std::numeric_limits<double>::infinity());
  const auto between = held_in(exact(70000), DType::kFloat16);
  EXPECT_TRUE(std::isinf(between.radius));
  EXPECT_TRUE(std::isinf((between - exact(1)).radius));
  EXPECT_EQ(held_in(exact(65504), DType::kFloat16).radius, 0);
  EXPECT_EQ(held_in(exact(70000), DType::kFloat32).radius, 0);
}

TEST(Tracked, ADoubleBecomesAHalfInTwoRoundings) {
  const Bounded x(0.61206052758L, 0, Bounded::Arithmetic::kFloat64);
  EXPECT_GT(round_edge(x, DType::kFloat16).radius, half_ulp(x.value, DType::kFloat16));
  EXPECT_EQ(round_edge(exact(0.1F), DType::kFloat16).radius, half_ulp(0.1L, DType::kFloat16));
}

TEST(Tracked, ARemainderByWhatMayBeZeroIsOpen) {
  const Bounded tiny(1e-9L, 1e-8, kSingle);
  EXPECT_TRUE(std::isinf(fmod(tiny, tiny).radius));
  EXPECT_TRUE(std::isinf(fmod(exact(1), tiny).radius));
  EXPECT_GE(fmod(Bounded(3, 0.5, kSingle), Bounded(3, 0.5, kSingle)).radius, 3.5);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isinf(fmod(Bounded(1, infinity, kSingle), exact(1)).radius));
}

// A divisor as far from zero as standard deviations say is as near to it as executors may be.
TEST(Tracked, AnEstimateOfADivisorNearZeroLeavesTheQuotientOpen) {
  const Sampled divisor(1e-3L, 6e-4, Sampled::Arithmetic::kFloat32);
  EXPECT_TRUE(std::isinf((Sampled(1) / divisor).radius));
  EXPECT_FALSE(std::isinf((exact(1) / Bounded(1e-3L, 6e-4, kSingle)).radius));
}

TEST(Tracked, WhichOfTwoZerosIsTheLargerIsOpenToWhoDividesByIt) {
  const Bounded zero = maximum(exact(0.0F), exact(-0.0F));
  EXPECT_TRUE(allows(zero, 0.0F));
  for (const Bounded& one :
       {zero, minimum(exact(-0.0F), exact(0.0F)), zero * exact(1e30F),
        round_edge(zero, DType::kFloat16), -zero, zero + zero, maximum(zero, exact(0.0F)),
        minimum(exact(-0.0F), zero), zero / exact(4), fmod(zero, exact(2)), trunc(zero),
        floor(zero), nearbyint(zero), trunc(Bounded(0.25L, 0.5, kSingle))}) {
    EXPECT_EQ(one.value, 0);
    EXPECT_TRUE(std::isinf((exact(1) / one).radius));
    EXPECT_TRUE(std::isinf(rsqrt(one).radius));
    EXPECT_EQ(copysign(exact(2), one).radius, 4);
    // Nobody else can tell.
    EXPECT_FALSE(less(one, exact(0)).undecided || equal(one, exact(0)).undecided);
    EXPECT_EQ((one + exact(3)).radius, 0);
    EXPECT_EQ(maximum(one, exact(5)).radius, 0);
  }
  EXPECT_EQ((exact(1) / maximum(exact(0), exact(0))).radius, 0);
}

TEST(Tracked, ZeroTimesWhatMayBeOfEitherSignIsAZeroOfOpenSign) {
  const Bounded either(1e-8L, 1e-6, kSingle);
  for (const Bounded& zero : {either * exact(0.0F), exact(-0.0F) * either}) {
    EXPECT_EQ(zero.value, 0);
    EXPECT_TRUE(std::isinf((exact(1) / zero).radius));
    EXPECT_FALSE(less(zero, exact(0)).undecided || equal(zero, exact(0)).undecided);
    EXPECT_EQ((zero + exact(3)).radius, 0);
  }
  EXPECT_EQ((Bounded(1, 0.5, kSingle) * exact(0)).radius, 0);
  EXPECT_EQ((exact(-2) * exact(0)).radius, 0);
}

// There radii of numbers are as small; only at zero does such a one tell of the sign.
TEST(Tracked, AZeroOfOpenSignIsOneInFloat64Too) {
  constexpr auto kDouble = Bounded::Arithmetic::kFloat64;
  const auto number = [](long double value) { return Bounded(value, 0, kDouble); };
  const Bounded underflowed = number(-0.3L) * number(0x1p-1074L);
  EXPECT_GT(underflowed.radius, 0);
  const Bounded either = maximum(underflowed, number(0)) * number(0);
  for (const Bounded& zero : {either, either * number(0x1p996L), either + either,
                              -either + number(0), either / number(0x1p-996L), floor(either)}) {
    EXPECT_EQ(zero.value, 0);
    EXPECT_TRUE(std::isinf((number(1) / zero).radius));
    EXPECT_TRUE(std::isinf(rsqrt(zero).radius));
    EXPECT_FALSE(less(zero, number(0)).undecided || equal(zero, number(0)).undecided);
    EXPECT_EQ((zero + number(3)).radius, 0);
    EXPECT_EQ((zero * number(0x1p996L) + number(0x1p-996L)).radius, 0);
  }
  EXPECT_GT((underflowed + number(0x1p-1070L)).radius, 0) << "of a number it is an error";
}

TEST(Tracked, LeavesOpenWhatADomainInsideOfTheRadiusMakes) {
  const Bounded wide(3.0L, 5, kSingle);  // an executor may have 0.5, and a number
  for (const Bounded& result : {atanh(wide), acos(wide), asin(wide)}) {
    EXPECT_TRUE(std::isinf(result.radius));
  }
  EXPECT_EQ(atanh(Bounded(3.0L, 1, kSingle)).radius, 0) << "no number, wherever it is";
  const Sampled spread(3.0L, 1, Sampled::Arithmetic::kFloat32);
  EXPECT_TRUE(std::isinf(atanh(spread).radius));
}

// y is -0.25 +- 0.26, or an estimate with that at two sigmas: where it is nearly zero the angle is
// pi or -pi, farther than at either end.
TEST(Tracked, AnAngleMayLieOnEitherSideOfTheNegativeAxis) {
  const Bounded left = exact(-0x1p-100F);
  EXPECT_TRUE(allows(atan2(Bounded(-0.25L, 0.26, kSingle), left), 3.1415927F));
  EXPECT_TRUE(allows(atan2(Bounded(-0.25L, 0.26, kSingle), left), -3.1415927F));
  EXPECT_FALSE(allows(atan2(Bounded(-0.25L, 0.24, kSingle), left), 3.1415927F));
  EXPECT_FALSE(allows(atan2(Bounded(-0.25L, 0.26, kSingle), exact(0x1p-100F)), 3.1415927F));
  EXPECT_TRUE(allows(atan2(exact(0), Bounded(1.0L, 2, kSingle)), 3.1415927F));
  EXPECT_FALSE(allows(atan2(exact(0), exact(1)), 3.1415927F));
  EXPECT_LT(atan2(exact(0), exact(-1)).radius, 1e-5);
  const auto estimated = Sampled::Arithmetic::kFloat32;
  EXPECT_GT(atan2(Sampled(-0.25L, 0.13, estimated), Sampled(-0x1p-100L, 0, estimated)).radius, 6);
}

// float8_e5m2 ends at 57344, and rounds to infinity from 61440 on; float8_e4m3fn at 448, to no
// number from 464 on.
TEST(Tracked, ACastThatMayOverflowIsOpen) {
  const auto cast_of = [](long double value, DType dtype) {
    return cast(Bounded(value, 100, kSingle), dtype);
  };
  for (const double value : {61500.0, 61400.0}) {
    EXPECT_TRUE(std::isinf(cast_of(value, DType::kFloat8E5M2).radius)) << value;
  }
  const Bounded infinite = cast_of(61600, DType::kFloat8E5M2);
  EXPECT_TRUE(std::isinf(infinite.value) && infinite.radius == 0);
  EXPECT_TRUE(std::isinf(cast_of(520, DType::kFloat8E4M3FN).radius));
  const Bounded none = cast_of(600, DType::kFloat8E4M3FN);
  EXPECT_TRUE(std::isnan(none.value) && none.radius == 0);
}

// A number and a radius of every kind: near and far from the ends of float32, exact or not.
template <class P>
Tracked<P> drawn(SplitMix64& random) {
  using Arithmetic = typename Tracked<P>::Arithmetic;
  const auto below = [&](std::uint64_t count) { return static_cast<int>(random.next() % count); };
  const int exponent = below(4) > 0   ? below(60) - 30
                       : below(2) > 0 ? below(300) - 150
                                      : below(2200) - 1100;
  const long double size =
      std::ldexp(1 + static_cast<long double>(random.next() >> 1) * 0x1p-63L, exponent);
  const std::array<long double, 8> values = {size,
                                             size,
                                             static_cast<float>(size),
                                             static_cast<float>(size),
                                             static_cast<double>(size),
                                             std::ldexp(1.0L, exponent),
                                             0.0L,
                                             below(2) > 0 ? INFINITY : NAN};
  const long double value = values[random.next() % values.size()] * (below(2) > 0 ? 1 : -1);
  const double close = std::isfinite(value) ? std::fabs(static_cast<double>(value)) * 0x1p-22 : 0;
  const std::array<double, 6> radii = {
      0,
      0,
      close,
      8 * close,
      std::ldexp(1.0, below(2000) - 1074),
      below(4) > 0 ? std::numeric_limits<double>::denorm_min() : detail::kInfinity};
  const double radius = radii[random.next() % radii.size()];
  const Arithmetic arithmetic = below(8) > 0   ? Arithmetic::kFloat32
                                : below(2) > 0 ? Arithmetic::kFloat64
                                               : Arithmetic::kNone;
  return {value, std::isnan(radius) ? 0 : radius, arithmetic};
}

template <class P>
void expect_one_rounding(SplitMix64& random) {
  const Tracked<P> x = drawn<P>(random);
  for (const double ulps : {0.5, 2.0}) {
    const auto a = detail::rounded<P>(x.value, x.radius, x.arithmetic, ulps);
    const auto b = detail::rounded_in_general<P>(x.value, x.radius, x.arithmetic, ulps);
    const bool is_same = a.value == b.value || (std::isnan(a.value) && std::isnan(b.value));
    ASSERT_TRUE(is_same && a.radius == b.radius && a.arithmetic == b.arithmetic)
        << static_cast<double>(x.value) << " +- " << x.radius << ": " << a.radius << ", in general "
        << b.radius;
  }
}

TEST(Tracked, TheShortWayOfRoundingComesToWhatTheGeneralOneDoes) {
  SplitMix64 random(7);
  for (const char* name : {"strict", "fast", "approximate"}) {
    const DeclaredArithmetic declared(*parse_arithmetic(name));
    for (int i = 0; i < 100000; ++i) {
      expect_one_rounding<WorstCase>(random);
      expect_one_rounding<RootSumSquare>(random);
    }
  }
}

}  // namespace
}  // namespace graphgate::reference
