#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

const Datum kEveryLoss;

Arguments pair(const TensorRef& self, const TensorRef& target, std::int64_t reduction) {
  return {{"self", {self}}, {"target", {target}}, {"reduction", {reduction}}};
}

TEST(Loss, OfDistancesIsReducedOverAllElements) {
  const auto x = tensor(DType::kFloat32, {2, 2}, {1, 2, 5, 0});
  const auto y = tensor(DType::kFloat32, {2, 2}, {1, 4, 1, 0});
  EXPECT_EQ(values(*run_tensor("aten.mse_loss.default", pair(x, y, 0))), (Numbers{0, 4, 16, 0}));
  EXPECT_EQ(values(*run_tensor("aten.mse_loss.default", pair(x, y, 1))), (Numbers{5}));
  EXPECT_EQ(values(*run_tensor("aten.l1_loss.default", pair(x, y, 2))), (Numbers{6}));
  EXPECT_EQ(values(*run_tensor("aten.smooth_l1_loss.default", pair(x, y, 0))),
            (Numbers{0, 1.5, 3.5, 0}));
  EXPECT_EQ(values(*run_tensor("aten.huber_loss.default", pair(x, y, 0))),
            (Numbers{0, 1.5, 3.5, 0}));
  EXPECT_THROW(run("aten.mse_loss.default", pair(x, y, 3)), OpError);
}

TEST(Loss, OfNothingHasNoMean) {
  const auto x = tensor(DType::kFloat32, {0, 2}, {});
  EXPECT_TRUE(std::isnan(values(*run_tensor("aten.mse_loss.default", pair(x, x, 1)))[0]));
  EXPECT_EQ(values(*run_tensor("aten.mse_loss.default", pair(x, x, 2))), (Numbers{0}));
}

TEST(Loss, OfIntegersWrapsBeforeItLosesItsSign) {
  const auto x = tensor(DType::kInt8, {2}, {100, 1});
  const auto y = tensor(DType::kInt8, {2}, {-100, 3});
  const auto each = run_tensor("aten.l1_loss.default", pair(x, y, 0));
  EXPECT_EQ(values(*each), (Numbers{56, 2}));
  const auto sum = run_tensor("aten.l1_loss.default", pair(x, y, 2));
  EXPECT_EQ(sum->dtype, DType::kInt64);
  EXPECT_EQ(values(*sum), (Numbers{58}));
  EXPECT_THROW(run("aten.l1_loss.default", pair(x, y, 1)), OpError);
  EXPECT_THROW(run("aten.mse_loss.default", pair(x, y, 0)), OpError);
}

TEST(Loss, HuberHasTheDtypeOfItsInputAndOthersThePromotedOne) {
  const auto x = tensor(DType::kFloat32, {1}, {3});
  const auto y = tensor(DType::kFloat64, {1}, {1});
  EXPECT_EQ(run_tensor("aten.huber_loss.default", pair(x, y, 1))->dtype, DType::kFloat32);
  EXPECT_EQ(run_tensor("aten.mse_loss.default", pair(x, y, 1))->dtype, DType::kFloat64);
}

TEST(CrossEntropy, EndsLogarithmsAtMinusOneHundred) {
  const auto x = tensor(DType::kFloat32, {4}, {0, 1, 0, 0.5});
  const auto y = tensor(DType::kFloat32, {4}, {1, 0, 0, 0.5});
  const Numbers out = values(*run_tensor("aten.binary_cross_entropy.default", pair(x, y, 0)));
  EXPECT_EQ(out[0], 100);
  EXPECT_EQ(out[1], 100);
  EXPECT_EQ(out[2], 0);
  EXPECT_FLOAT_EQ(static_cast<float>(out[3]), std::log(2.0F));
  const auto outside = tensor(DType::kFloat32, {1}, {1.25});
  const auto one = tensor(DType::kFloat32, {1}, {1});
  EXPECT_THROW(run("aten.binary_cross_entropy.default", pair(outside, one, 0)), OpError);
  // The CPU's kernel takes any target, CUDA's asserts on the device.
  EXPECT_FALSE(run("aten.binary_cross_entropy.default", pair(one, outside, 0)).empty());
  Arithmetic arithmetic;
  arithmetic.refuses_as_cuda = true;
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_THROW(run("aten.binary_cross_entropy.default", pair(one, outside, 0)), OpError);
}

TEST(CrossEntropy, OfLogitsDoesNotOverflow) {
  const auto x = tensor(DType::kFloat32, {3}, {1000, -1000, 0});
  const auto y = tensor(DType::kFloat32, {3}, {0, 1, 1});
  const Numbers out =
      values(*run_tensor("aten.binary_cross_entropy_with_logits.default", pair(x, y, 0)));
  EXPECT_EQ(out[0], 1000);
  EXPECT_EQ(out[1], 1000);
  EXPECT_FLOAT_EQ(static_cast<float>(out[2]), std::log(2.0F));
}

Arguments likelihood(const TensorRef& self, const TensorRef& target, std::int64_t reduction,
                     std::int64_t ignored, const Datum& weight = kEveryLoss) {
  return {{"self", {self}},
          {"target", {target}},
          {"weight", weight},
          {"reduction", {reduction}},
          {"ignore_index", {ignored}}};
}

TEST(Likelihood, OfAMeanIsWeightedAndLeavesIgnoredTargetsOut) {
  const auto x = tensor(DType::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const auto target = tensor(DType::kInt64, {3}, {0, 1, 0});
  const auto weight = tensor(DType::kFloat32, {2}, {1, 3});
  const auto out = run("aten.nll_loss_forward.default", likelihood(x, target, 1, -100, {weight}));
  EXPECT_EQ(values(result(out, 0)), (Numbers{static_cast<double>(-3.6F)}));  // -(1 + 12 + 5) / 5
  EXPECT_EQ(values(result(out, 1)), (Numbers{5}));
  const auto some = run("aten.nll_loss_forward.default", likelihood(x, target, 2, 0));
  EXPECT_EQ(values(result(some, 0)), (Numbers{-4}));
  EXPECT_EQ(values(result(some, 1)), (Numbers{1}));
  const auto each = run("aten.nll_loss_forward.default", likelihood(x, target, 0, 0));
  EXPECT_EQ(values(result(each, 0)), (Numbers{0, -4, 0}));
  EXPECT_EQ(values(result(each, 1)), (Numbers{0}));
}

TEST(Likelihood, RefusesWhatIsNoClass) {
  const auto x = tensor(DType::kFloat32, {1, 2}, {1, 2});
  const auto target = tensor(DType::kInt64, {1}, {2});
  EXPECT_THROW(run("aten.nll_loss_forward.default", likelihood(x, target, 1, -100)), OpError);
}

TEST(Likelihood, OfPlanesTakesTheClassOfEachPlace) {
  const auto x = counting({1, 2, 1, 2});
  const auto target = tensor(DType::kInt64, {1, 1, 2}, {1, 0});
  const auto out = run("aten.nll_loss2d_forward.default", likelihood(x, target, 0, -100));
  EXPECT_EQ(values(result(out, 0)), (Numbers{-2, -1}));
}

TEST(Likelihood, GradientIsAtTheScoresThatWereTaken) {
  const auto x = counting({2, 2});
  const auto target = tensor(DType::kInt64, {2}, {1, 0});
  Arguments arguments = likelihood(x, target, 1, -100);
  arguments.emplace_back("grad_output", Datum{tensor(DType::kFloat32, {}, {3})});
  arguments.emplace_back("total_weight", Datum{tensor(DType::kFloat32, {}, {2})});
  EXPECT_EQ(values(*run_tensor("aten.nll_loss_backward.default", arguments)),
            (Numbers{0, -1.5, -1.5, 0}));
}

TEST(MultiMargin, LeavesTheTargetOut) {
  const auto x = tensor(DType::kFloat32, {1, 4}, {0, 2, 1, 4});
  const auto target = tensor(DType::kInt64, {1}, {1});
  // 1 - 2 + 0 < 0, 1 - 2 + 1 = 0, 1 - 2 + 4 = 3, over four classes.
  EXPECT_EQ(values(*run_tensor("aten.multi_margin_loss.default", pair(x, target, 1))),
            (Numbers{0.75}));
  Arguments squared = pair(x, target, 1);
  squared.emplace_back("p", Datum{std::int64_t{2}});
  EXPECT_EQ(values(*run_tensor("aten.multi_margin_loss.default", squared)), (Numbers{2.25}));
}

TEST(MultilabelMargin, EndsTargetsAtMinusOne) {
  const auto x = tensor(DType::kFloat32, {1, 4}, {1, 2, 1, 4});
  const auto target = tensor(DType::kInt64, {1, 4}, {3, 0, -1, 1});
  const auto out = run("aten.multilabel_margin_loss_forward.default", pair(x, target, 1));
  // Of class 3: nothing. Of class 0: 1 - 1 + 2 and 1 - 1 + 1, over four classes.
  EXPECT_EQ(values(result(out, 0)), (Numbers{0.75}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{1, 0, 0, 1}));
}

}  // namespace
}  // namespace graphgate::reference::test
