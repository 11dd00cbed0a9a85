#include <cmath>
#include <limits>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TensorRef row(DType dtype, const Numbers& x) {
  return tensor(dtype, {static_cast<std::int64_t>(x.size())}, x);
}
Numbers compare(std::string_view op, const TensorRef& a, const Datum& b) {
  return values(*run_tensor(op, {{"self", {a}}, {"other", b}}));
}
Numbers clamped(const TensorRef& x, const Datum& low, const Datum& high) {
  return values(*run_tensor("aten.clamp.default", {{"self", {x}}, {"min", low}, {"max", high}}));
}

TEST(Comparison, NaNIsUnequalAndUnordered) {
  const TensorRef x = row(DType::kFloat32, {kNaN, 1, 2});
  EXPECT_EQ(compare("aten.ge.Scalar", x, {1.0}), (Numbers{0, 1, 1}));
  EXPECT_EQ(compare("aten.le.Scalar", x, {1.0}), (Numbers{0, 1, 0}));
  EXPECT_EQ(compare("aten.ne.Tensor", x, {x}), (Numbers{1, 0, 0}));
}

TEST(Comparison, OperandsMeetInTheCommonDtype) {
  EXPECT_EQ(compare("aten.eq.Scalar", row(DType::kInt64, {16777217}), {16777216.0}), (Numbers{1}));
  EXPECT_EQ(compare("aten.lt.Scalar", row(DType::kUInt8, {0, 255}), {std::int64_t{-1}}),
            (Numbers{1, 0}));  // -1 wraps to 255
}

TEST(Comparison, ATieOfInexactNumbersIsUndecided) {
  // An oracle run's third is not the float32 third, and only their distance decides.
  const TensorRef third =
      run_tensor("aten.div.Scalar", {{"self", {row(DType::kFloat32, {1})}}, {"other", {3.0}}},
                 Mode::kWorstCase);
  const Datum held{tensor(DType::kFloat32, {1}, {1.0 / 3})};
  const TensorRef near =
      run_tensor("aten.lt.Tensor", {{"self", {third}}, {"other", held}}, Mode::kWorstCase);
  EXPECT_TRUE(std::isinf(radii(*near)[0]));
  const TensorRef far =
      run_tensor("aten.lt.Scalar", {{"self", {third}}, {"other", {0.5}}}, Mode::kWorstCase);
  EXPECT_EQ(radii(*far)[0], 0);
}

TEST(Comparison, BitsAreForIntegers) {
  EXPECT_EQ(compare("aten.bitwise_and.Scalar", row(DType::kUInt8, {255}), {std::int64_t{300}}),
            (Numbers{44}));
  EXPECT_EQ(
      compare("aten.bitwise_xor.Tensor", row(DType::kBool, {1, 1}), {row(DType::kBool, {1, 0})}),
      (Numbers{0, 1}));
  EXPECT_THROW(
      compare("aten.bitwise_or.Tensor", row(DType::kFloat32, {1}), {row(DType::kFloat32, {1})}),
      OpError);
}

TEST(Clamp, KeepsNaNAndLetsMaxWin) {
  const Numbers out = clamped(row(DType::kFloat32, {kNaN, 5, -5}), {3.0}, {2.0});
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(out[2], 2);
}

TEST(Clamp, ANaNBoundAloneIsIgnoredAndAmongTwoSpoilsAll) {
  EXPECT_EQ(clamped(row(DType::kFloat32, {1}), {kNaN}, {}), (Numbers{1}));
  EXPECT_TRUE(std::isnan(clamped(row(DType::kFloat32, {1}), {kNaN}, {2.0})[0]));
}

TEST(Clamp, AFloatBoundPromotesIntegersAndAnIntegerLeavesSomeOfThem) {
  EXPECT_EQ(clamped(row(DType::kInt64, {1, 2}), {1.5}, {}), (Numbers{1.5, 2}));
  EXPECT_EQ(clamped(row(DType::kUInt8, {1}), {}, {std::int64_t{300}}), Numbers{1});
  EXPECT_THROW(clamped(row(DType::kUInt8, {1}), {}, {std::int64_t{-1}}), OpError);
  EXPECT_THROW(clamped(row(DType::kInt64, {1}), {}, {}), OpError);
}

TEST(Where, PromotesTheValuesOnlyAndWantsABoolCondition) {
  const TensorRef condition = row(DType::kBool, {1, 0});
  const TensorRef out = run_tensor(
      "aten.where.ScalarOther",
      {{"condition", {condition}}, {"self", {row(DType::kInt64, {7, 8})}}, {"other", {2.5}}});
  EXPECT_EQ(out->dtype, DType::kFloat32);
  EXPECT_EQ(values(*out), (Numbers{7, 2.5}));
  EXPECT_THROW(run("aten.where.self", {{"condition", {row(DType::kInt64, {1})}},
                                       {"self", {condition}},
                                       {"other", {condition}}}),
               OpError);
}

TEST(Where, OfAConditionAloneListsIndices) {
  const std::vector<Datum> out =
      run("aten.where.default", {{"condition", {tensor(DType::kBool, {2, 2}, {1, 0, 1, 1})}}});
  const auto& list = *out.front().as<Datum::List>();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(values(**list[0].as<TensorRef>()), (Numbers{0, 1, 1}));
  EXPECT_EQ(values(**list[1].as<TensorRef>()), (Numbers{0, 0, 1}));
}

TEST(MaskedFill, TakesSelfsDtypeAndRefusesWhatItCannotHold) {
  const TensorRef mask = row(DType::kBool, {1, 0});
  const auto filled = [&](DType dtype, const Datum& value) {
    return values(
        *run_tensor("aten.masked_fill.Scalar",
                    {{"self", {row(dtype, {1, 2})}}, {"mask", {mask}}, {"value", value}}));
  };
  EXPECT_EQ(filled(DType::kInt64, {2.5}), (Numbers{2, 2}));
  EXPECT_EQ(filled(DType::kFloat16, {-kInf}), (Numbers{-kInf, 2}));
  EXPECT_THROW(filled(DType::kFloat16, {-1e9}), OpError);
}

}  // namespace
}  // namespace graphgate::reference::test
