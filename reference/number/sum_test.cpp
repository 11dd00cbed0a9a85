#include "reference/number/sum.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "reference/number/bound_test.h"

namespace graphgate::reference {
namespace {

Bounded exact(float x) { return {static_cast<long double>(x), 0, kSingle}; }

std::vector<float> draw_terms() {
  const auto mantissas =
      *rc::gen::container<std::vector<int>>(rc::gen::inRange(-(1 << 20), 1 << 20));
  std::vector<float> terms;
  for (const int mantissa : mantissas) {
    terms.push_back(std::ldexp(static_cast<float>(mantissa), *rc::gen::inRange(-30, 5)));
  }
  return terms;
}

// One of many ways to add up: joins two random partial sums until one is left.
float sum_in_some_order(std::vector<float> terms) {
  while (terms.size() > 1) {
    const auto at = static_cast<std::size_t>(*rc::gen::inRange<int>(0, 1 << 16)) % terms.size();
    std::swap(terms[at], terms.back());
    const float last = terms.back();
    terms.pop_back();
    const auto with = static_cast<std::size_t>(*rc::gen::inRange<int>(0, 1 << 16)) % terms.size();
    terms[with] += last;
  }
  return terms.empty() ? 0.0F : terms.front();
}

RC_GTEST_PROP(SumProperty, EveryOrderOfSummationLiesInsideTheBound, ()) {
  const std::vector<float> terms = draw_terms();
  Sum<Bounded> sum;
  for (const float x : terms) sum.add(exact(x));
  const Bounded bound = sum.result();
  const auto executor = static_cast<long double>(sum_in_some_order(terms));
  RC_ASSERT(std::fabs(executor - bound.value) <= static_cast<long double>(bound.radius));
}

// Squares of subnormals are 0 in float32, and the norm of such numbers, too.
TEST(Sum, AProductThatUnderflowsIsNotExact) {
  const float tiny = std::ldexp(1.0F, -127);
  Sum<Bounded> sum;
  sum.add_product(exact(tiny), exact(tiny));
  sum.add_product(exact(tiny), exact(tiny));
  const Bounded bound = sum.result();
  EXPECT_LE(bound.value, static_cast<long double>(bound.radius));
  Sum<Sampled> sampled;
  for (int i = 0; i < 2; ++i) {
    const Sampled x{static_cast<long double>(tiny), 0, Sampled::Arithmetic::kFloat32};
    sampled.add_product(x, x);
  }
  EXPECT_GT(sampled.result().radius, static_cast<double>(sampled.result().value));
}

RC_GTEST_PROP(SumProperty, ADotProductLiesInsideTheBoundWithAndWithoutFusing, ()) {
  const std::vector<float> a = draw_terms();
  Sum<Bounded> sum;
  float fused = 0;
  float separate = 0;
  for (const float x : a) {
    const auto y = static_cast<float>(*rc::gen::inRange(-1000, 1000)) / 7.0F;
    sum.add_product(exact(x), exact(y));
    fused = std::fma(x, y, fused);
    separate += x * y;
  }
  const Bounded bound = sum.result();
  for (const float executor : {fused, separate}) {
    const long double off = std::fabs(static_cast<long double>(executor) - bound.value);
    RC_ASSERT(off <= static_cast<long double>(bound.radius));
  }
}

RC_GTEST_PROP(SumProperty, ExactDataHasNoRadius, ()) {
  const auto terms = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1000, 1000));
  RC_PRE(terms.size() < 1000);
  Sum<Bounded> sum;
  Sum<Bounded> dot;
  for (const int x : terms) {
    sum.add(exact(static_cast<float>(x) / 16));
    dot.add_product(exact(static_cast<float>(x % 16)), exact(static_cast<float>(x % 7)));
  }
  RC_ASSERT(sum.result().radius == 0);
  // 0 * -1 alone is a negative zero.
  const Bounded product = dot.result();
  RC_ASSERT(product.radius == 0 || (product.value == 0 && product.radius == detail::kOpenSign));
}

TEST(Sum, ALostBitGivesARadiusThatHoldsIt) {
  Sum<Bounded> sum;
  sum.add(exact(0x1p24F));
  sum.add(exact(1));
  EXPECT_EQ(sum.result().value, 0x1p24L + 1);
  EXPECT_GE(sum.result().radius, 1);
}

TEST(Sum, NothingSumsToZeroAndInfinitiesStay) {
  EXPECT_EQ(Sum<Bounded>().result().value, 0);
  EXPECT_EQ(Sum<double>().result(), 0);
  Sum<Bounded> sum;
  sum.add(exact(1));
  sum.add(exact(std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(std::isinf(sum.result().value));
  EXPECT_EQ(sum.result().radius, 0);
}

TEST(Sum, NegativeZerosAloneLeaveTheSignOpen) {
  const auto sum = [](std::initializer_list<float> terms) {
    Sum<Bounded> out;
    for (const float term : terms) out.add({static_cast<long double>(term), 0, kSingle});
    return out.result();
  };
  for (const Bounded& open : {sum({-0.0F}), sum({-0.0F, -0.0F})}) {
    EXPECT_TRUE(std::isinf((Bounded(1) / open).radius));
  }
  for (const Bounded& zero : {sum({0.0F}), sum({-0.0F, 0.0F}), sum({1, -1})}) {
    EXPECT_EQ(zero.radius, 0);
  }
}

TEST(Sum, AnOverflowThatMeetsTheOtherInfinityIsOpen) {
  Sum<Bounded> sum;
  sum.add(exact(-std::numeric_limits<float>::infinity()));
  sum.add_product(exact(2), exact(0x1p127F));
  EXPECT_TRUE(std::isinf(sum.result().radius));
}

// One number that fills a tensor has one error, which no order of summation cancels.
TEST(Sum, ErrorsOfARepeatedTermAddUp) {
  const auto of = [](long double value) {
    return Sampled(value, 0x1p-10, Sampled::Arithmetic::kFloat32);
  };
  Sum<Sampled> repeated;
  Sum<Sampled> squares;
  Sum<Sampled> several;
  Sum<Sampled> masked;
  for (int i = 0; i < 16; ++i) {
    repeated.add(of(2));
    squares.add_product(of(2), of(2));
    several.add(of(2 + i));
    masked.add(of(i % 2));
  }
  EXPECT_GE(repeated.result().radius, 16 * 0x1p-10);
  EXPECT_GE(squares.result().radius, 16 * 4 * 0x1p-10);
  EXPECT_LT(several.result().radius, 4.1 * 0x1p-10);
  EXPECT_GE(masked.result().radius, 8 * 0x1p-10) << "zeros part no equal terms";
}

// 0.54 leaves the same remainder whenever it is added to a total between 128 and 256, whatever
// comes between (g4:2026112601:206684).
RC_GTEST_PROP(SumProperty, RoundingsOfEqualTermsAddUp, ()) {
  const int scale = *rc::gen::inRange(1, 1 << 23);
  const auto ones = *rc::gen::container<std::vector<bool>>(1024, rc::gen::arbitrary<bool>());
  const float other = static_cast<float>(scale) / static_cast<float>(1 << 23);
  Sum<Sampled> sum;
  float executor = 0;
  for (const bool is_one : ones) {
    const float x = is_one ? 1.0F : other;
    sum.add({static_cast<long double>(x), 0, Sampled::Arithmetic::kFloat32});
    executor += x;
    const Sampled estimate = sum.result();
    const auto error = std::fabs(static_cast<long double>(executor) - estimate.value);
    RC_ASSERT(error <= 6 * static_cast<long double>(estimate.radius));
  }
}

// Where terms differ nothing is added to a random walk: it grows as the root of their number.
TEST(Sum, RoundingsOfOtherTermsCancel) {
  const auto relative_radius = [](bool are_equal, int count) {
    Sum<Sampled> sum;
    for (int i = 0; i < count; ++i) {
      const float x = 1.0F + static_cast<float>(are_equal ? 1 : i) / 3000.0F;
      sum.add({static_cast<long double>(x), 0, Sampled::Arithmetic::kFloat32});
    }
    const Sampled out = sum.result();
    return out.radius / static_cast<double>(out.value);
  };
  EXPECT_LT(relative_radius(false, 4096) / relative_radius(false, 256), 4.5);
  EXPECT_GT(relative_radius(true, 4096) / relative_radius(true, 256), 8);
}

TEST(Sum, IntegersWrap) {
  Sum<Whole> sum;
  sum.add(std::numeric_limits<std::int64_t>::max());
  sum.add(1);
  EXPECT_EQ(sum.result().value, std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace graphgate::reference
