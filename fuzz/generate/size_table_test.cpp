#include "fuzz/generate/size_table.h"

#include <gtest/gtest.h>

namespace graphgate::fuzz {
namespace {

class Sizes : public testing::Test {
 protected:
  SizeTable table_;
  Size s0_ = table_.symbol("s0", {2, 64});
  Size s1_ = table_.symbol("s1", {1, 8});

  [[nodiscard]] std::string text(Size size) const {
    return spec::print_sym_expr(table_.expression(size));
  }
};

TEST_F(Sizes, AreEqualWhereTheirExpressionsAre) {
  EXPECT_EQ(table_.product(4, s0_), table_.product(2, table_.product(2, s0_)));
  EXPECT_EQ(table_.plus(table_.plus(s0_, 3), -1), table_.plus(s0_, 2));
  EXPECT_EQ(table_.sum(s0_, s0_), table_.product(2, s0_));
  EXPECT_EQ(table_.quotient(table_.product(6, s0_), 3), table_.product(2, s0_));
  EXPECT_NE(table_.product(s0_, s1_), table_.product(s0_, s0_));
  EXPECT_EQ(table_.plus(table_.plus(s0_, 3), -3), s0_);
}

TEST_F(Sizes, PrintAsGraphTextHasThem) {
  EXPECT_EQ(text(table_.product(s1_, table_.product(s0_, 4))), "4*s1*s0");
  EXPECT_EQ(text(table_.plus(s0_, -1)), "s0 - 1");
  EXPECT_EQ(text(table_.quotient(s0_, 2)), "s0 // 2");
  EXPECT_EQ(text(7), "7");
}

TEST_F(Sizes, HaveBoundsAndValues) {
  const Size size = table_.product(3, table_.sum(s0_, s1_));
  EXPECT_EQ(table_.bounds(size).least, 9);
  EXPECT_EQ(table_.bounds(size).most, 216);
  EXPECT_EQ(table_.evaluate(size, {10, 2}), 36);
  EXPECT_EQ(table_.evaluate(table_.quotient(table_.plus(s0_, 1), 2), {8, 1}), 4);
  EXPECT_TRUE(table_.is_multiple(size, 3));
  EXPECT_FALSE(table_.is_multiple(s0_, 2));
}

TEST_F(Sizes, KnowWhereDataDecide) {
  const Size u0 = table_.symbol("u0", {0, 8});
  EXPECT_TRUE(table_.is_unbacked(table_.plus(table_.product(2, u0), 1)));
  EXPECT_FALSE(table_.is_unbacked(table_.sum(s0_, s1_)));
}

}  // namespace
}  // namespace graphgate::fuzz
