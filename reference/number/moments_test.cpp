#include "reference/number/moments.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace graphgate::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Moments<Bounded> of(const std::vector<double>& numbers) {
  std::vector<Bounded> x;
  for (const double number : numbers) {
    x.emplace_back(static_cast<long double>(number), 0, Bounded::Arithmetic::kFloat32);
  }
  return moments<Bounded>(x);
}

TEST(Moments, AMeanBesideAnInfinityIsOpenAndDeviationsAreNoNumber) {
  for (const Moments<Bounded>& open : {of({kInfinity}), of({1, -kInfinity, 2})}) {
    EXPECT_TRUE(std::isinf(open.mean.value) && std::isinf(open.mean.radius));
    EXPECT_TRUE(std::isnan(open.squares.value) && open.squares.radius == 0);
  }
  for (const Moments<Bounded>& none :
       {of({kInfinity, -kInfinity}), of({kInfinity, std::nan("")})}) {
    EXPECT_TRUE(std::isnan(none.mean.value) && none.mean.radius == 0);
  }
}

TEST(Moments, ConstantDataHaveNoDeviation) {
  EXPECT_EQ(of({3, 3, 3}).mean.radius, 0);
  EXPECT_EQ(of({3, 3, 3}).squares.radius, 0);
  EXPECT_EQ(of({1, 3}).squares.value, 2);
}

// x * a + b with a = 1e3 * 2e35 makes 6e38 of 3, which float32 has not; (3 - 3) * 1e3 * 2e35 is 0.
TEST(Normalized, LeavesOpenWhetherTheFactorOverflowsWhereTheDifferenceDoesNot) {
  const auto number = [](double x) {
    return Bounded{static_cast<long double>(x), 0, Bounded::Arithmetic::kFloat32};
  };
  const Bounded bias = number(1);
  const auto radius = [&](double weight) {
    const Bounded factor = number(weight);
    return normalized(number(3), number(3), number(1e3), &factor, &bias).radius;
  };
  EXPECT_TRUE(std::isinf(radius(2e35)));
  EXPECT_TRUE(std::isfinite(radius(1e35)));
}

}  // namespace
}  // namespace graphgate::reference
