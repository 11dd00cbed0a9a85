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

}  // namespace
}  // namespace graphgate::reference
