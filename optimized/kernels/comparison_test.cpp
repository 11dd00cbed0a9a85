#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

TEST(Clamp, LetsNanAndTheUpperBoundWin) {
  const Tensor x = make_tensor(DType::kFloat32, {3}, {1, 9, kNan});
  const auto crossed = numbers(run_one("aten.clamp.default", {x, 5, 3}));
  EXPECT_EQ(crossed[0], 3);
  EXPECT_EQ(crossed[1], 3);
  EXPECT_TRUE(std::isnan(crossed[2]));
  const Tensor bound = make_tensor(DType::kFloat32, {1}, {kNan});
  EXPECT_TRUE(std::isnan(numbers(run_one("aten.clamp.Tensor", {x, bound}))[0]));
  EXPECT_EQ(numbers(run_one("aten.clamp.default", {x, kNan}))[0], 1);
  EXPECT_TRUE(std::isnan(numbers(run_one("aten.clamp.default", {x, kNan, 4.0}))[0]));
}

TEST(Clamp, PromotesAndRefuses) {
  const Tensor x = make_tensor(DType::kInt8, {2}, {1, 5});
  const Tensor half = run_one("aten.clamp.default", {x, 1.5});
  EXPECT_EQ(half.dtype, DType::kFloat32);
  EXPECT_EQ(numbers(half), (Numbers{1.5, 5}));
  EXPECT_THROW(run_op("aten.clamp.default", {x, 300}), OpError);
  EXPECT_THROW(run_op("aten.clamp.default", {x}), OpError);
  EXPECT_THROW(run_op("aten.clamp_.default", {x, 1.5}), OpError);
}

TEST(Where, MovesBitsAsTheyAre) {
  // A NaN with a payload that arithmetic would make canonical.
  const Tensor x = make_tensor(DType::kBFloat16, {2}, {1, 2});
  const std::uint16_t payload = 0xffa5;
  std::memcpy(x.bytes, &payload, sizeof payload);
  const Tensor both = make_tensor(DType::kBool, {2}, {1, 0});
  const Tensor chosen = run_one("aten.where.ScalarOther", {both, x, 7});
  std::uint16_t bits = 0;
  std::memcpy(&bits, chosen.bytes, sizeof bits);
  EXPECT_EQ(bits, payload);
  EXPECT_EQ(numbers(chosen)[1], 7);
}

TEST(MaskedFill, BroadcastsAndRefuses) {
  const Tensor column = make_tensor(DType::kInt8, {2, 1}, {1, 2});
  const Tensor mask = make_tensor(DType::kBool, {3}, {1, 0, 1});
  EXPECT_EQ(integers(run_one("aten.masked_fill.Scalar", {column, mask, 2.7})),
            (std::vector<std::int64_t>{2, 1, 2, 2, 2, 2}));
  EXPECT_THROW(run_op("aten.masked_fill_.Scalar", {column, mask, 1}), OpError);
  EXPECT_THROW(run_op("aten.masked_fill.Scalar", {column, mask, 300}), OpError);
  EXPECT_THROW(run_op("aten.masked_fill.Scalar", {column, column, 1}), OpError);
  EXPECT_THROW(run_op("aten.masked_fill.Tensor", {column, mask, column}), OpError);
}

TEST(Comparison, TreatsNanAsATruthThatEqualsNothing) {
  const Tensor x = make_tensor(DType::kFloat32, {2}, {kNan, 0});
  EXPECT_EQ(integers(run_one("aten.eq.Tensor", {x, x})), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(integers(run_one("aten.logical_not.default", {x})), (std::vector<std::int64_t>{0, 1}));
  EXPECT_TRUE(std::isnan(
      numbers(run_one("aten.maximum.default", {x, make_tensor(DType::kFloat32, {2})}))[0]));
  EXPECT_THROW(run_op("aten.bitwise_and.Tensor", {x, x}), OpError);
}

TEST(NanToNum, TakesTheLimitsOfTheDtype) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = make_tensor(DType::kFloat16, {3}, {kNan, inf, -inf});
  EXPECT_EQ(numbers(run_one("aten.nan_to_num.default", {x})), (Numbers{0, 65504, -65504}));
  EXPECT_EQ(numbers(run_one("aten.nan_to_num.default", {x, 1e9}))[0], inf);
}

}  // namespace
}  // namespace graphgate::optimized::testing
