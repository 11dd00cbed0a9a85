#include <cmath>
#include <limits>

#include "optimized/kernels/kernel_test.h"

#include <gtest/gtest.h>

namespace graphgate::optimized::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(LossKernels, ReduceToTheMeanOrTheSum) {
  const Tensor x = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 5, 0});
  const Tensor y = make_tensor(DType::kFloat32, {2, 2}, {1, 4, 1, 0});
  EXPECT_EQ(numbers(run_one("aten.mse_loss.default", {x, y, 0})), (Numbers{0, 4, 16, 0}));
  EXPECT_EQ(numbers(run_one("aten.mse_loss.default", {x, y, 1})), (Numbers{5}));
  EXPECT_EQ(numbers(run_one("aten.l1_loss.default", {x, y, 2})), (Numbers{6}));
  EXPECT_EQ(numbers(run_one("aten.smooth_l1_loss.default", {x, y, 0})), (Numbers{0, 1.5, 3.5, 0}));
  EXPECT_EQ(numbers(run_one("aten.huber_loss.default", {x, y, 0})), (Numbers{0, 1.5, 3.5, 0}));
  EXPECT_THROW(run_one("aten.mse_loss.default", {x, y, 3}), OpError);
}

TEST(LossKernels, KeepTheLayoutOfTheirOperands) {
  const Tensor x = make_tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2});
  const Tensor each = run_one("aten.mse_loss.default", {x, x, 0});
  EXPECT_EQ(each.strides, (Sizes{1, 2}));
}

TEST(LossKernels, OfIntegersWrap) {
  const Tensor x = make_integers(DType::kInt8, {2}, {100, 1});
  const Tensor y = make_integers(DType::kInt8, {2}, {-100, 3});
  EXPECT_EQ(numbers(run_one("aten.l1_loss.default", {x, y, 0})), (Numbers{56, 2}));
  EXPECT_EQ(numbers(run_one("aten.l1_loss.default", {x, y, 2})), (Numbers{58}));
  EXPECT_THROW(run_one("aten.l1_loss.default", {x, y, 1}), OpError);
}

TEST(LossKernels, OfProbabilitiesAndLogitsStayFinite) {
  const Tensor x = make_tensor(DType::kFloat32, {2}, {0, 1});
  const Tensor y = make_tensor(DType::kFloat32, {2}, {1, 1});
  EXPECT_EQ(numbers(run_one("aten.binary_cross_entropy.default", {x, y, spec::None{}, 0})),
            (Numbers{100, 0}));
  const Tensor outside = make_tensor(DType::kFloat32, {2}, {2, 1});
  EXPECT_THROW(run_one("aten.binary_cross_entropy.default", {outside, y}), OpError);
  const Tensor logits = make_tensor(DType::kFloat32, {2}, {-1000, 1000});
  EXPECT_EQ(numbers(run_one("aten.binary_cross_entropy_with_logits.default",
                            {logits, y, spec::None{}, spec::None{}, 0})),
            (Numbers{1000, 0}));
}

TEST(ClassLossKernels, TakeTheScoresOfTheTargets) {
  const Tensor x = make_tensor(DType::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor target = make_integers(DType::kInt64, {3}, {0, 1, 0});
  const Tensor weight = make_tensor(DType::kFloat32, {2}, {1, 3});
  const auto mean = run_op("aten.nll_loss_forward.default", {x, target, weight, 1, -100});
  EXPECT_EQ(numbers(*mean[0].as<Tensor>()), (Numbers{static_cast<double>(-3.6F)}));
  EXPECT_EQ(numbers(*mean[1].as<Tensor>()), (Numbers{5}));
  const auto each = run_op("aten.nll_loss_forward.default", {x, target, spec::None{}, 0, 0});
  EXPECT_EQ(numbers(*each[0].as<Tensor>()), (Numbers{0, -4, 0}));
  const Tensor gradient = make_tensor(DType::kFloat32, {}, {3});
  const Tensor total = make_tensor(DType::kFloat32, {}, {2});
  EXPECT_EQ(numbers(run_one("aten.nll_loss_backward.default",
                            {gradient, x, target, spec::None{}, 1, 0, total})),
            (Numbers{0, 0, 0, -1.5, 0, 0}));
  const Tensor none = make_integers(DType::kInt64, {3}, {0, 2, 0});
  EXPECT_THROW(run_op("aten.nll_loss_forward.default", {x, none, spec::None{}, 1, -100}), OpError);
}

TEST(ClassLossKernels, OfMargins) {
  const Tensor x = make_tensor(DType::kFloat32, {1, 4}, {1, 2, 1, 4});
  const Tensor target = make_integers(DType::kInt64, {1}, {1});
  // 1 - 2 + 4 of class 3 alone, over four classes.
  EXPECT_EQ(numbers(run_one("aten.multi_margin_loss.default", {x, target, 2})), (Numbers{2.25}));
  const Tensor labels = make_integers(DType::kInt64, {1, 4}, {3, 0, -1, 1});
  const auto out = run_op("aten.multilabel_margin_loss_forward.default", {x, labels, 1});
  EXPECT_EQ(numbers(*out[0].as<Tensor>()), (Numbers{0.75}));
  EXPECT_EQ(numbers(*out[1].as<Tensor>()), (Numbers{1, 0, 0, 1}));
}

TEST(GradientKernels, OfActivations) {
  const Tensor g = make_tensor(DType::kFloat32, {3}, {4, 1, 3});
  const Tensor y = make_tensor(DType::kFloat32, {3}, {0.5, 0.25, kNan});
  const Numbers sigmoid = numbers(run_one("aten.sigmoid_backward.default", {g, y}));
  EXPECT_EQ(sigmoid[0], 1);
  EXPECT_EQ(sigmoid[1], 0.1875);
  EXPECT_EQ(numbers(run_one("aten.threshold_backward.default", {g, y, 0.25})), (Numbers{4, 0, 3}));
  const Tensor out = make_tensor(DType::kFloat32, {1, 2}, {0.5, 0.5});
  const Tensor above = make_tensor(DType::kFloat32, {1, 2}, {1, 3});
  EXPECT_EQ(
      numbers(run_one("aten._softmax_backward_data.default", {above, out, 1, DType::kFloat32})),
      (Numbers{-0.5, 0.5}));
}

TEST(SegmentKernels, BeginWithWhatIsAsked) {
  const Tensor x = make_tensor(DType::kFloat32, {3}, {1, 2, 6});
  const Tensor offsets = make_integers(DType::kInt64, {4}, {0, 2, 2, 3});
  const auto reduced = [&](const char* how) {
    return numbers(run_one("aten.segment_reduce.default", {x, how}, {{"offsets", offsets}}));
  };
  EXPECT_EQ(reduced("sum"), (Numbers{3, 0, 6}));
  EXPECT_EQ(reduced("min"), (Numbers{1, kInfinity, 6}));
  EXPECT_TRUE(std::isnan(reduced("mean")[1]));
}

TEST(BagKernels, TellBagsAndRows) {
  const Tensor weight = make_tensor(DType::kFloat64, {3, 1}, {1, 5, 3});
  const Tensor indices = make_integers(DType::kInt64, {4}, {0, 1, 2, 2});
  const Tensor offsets = make_integers(DType::kInt64, {3}, {0, 2, 2});
  const auto greatest =
      run_op("aten._embedding_bag_forward_only.default", {weight, indices, offsets, false, 2});
  EXPECT_EQ(numbers(*greatest[0].as<Tensor>()), (Numbers{5, 0, 3}));
  EXPECT_EQ(numbers(*greatest[1].as<Tensor>()), (Numbers{0, 0, 2, 2}));
  EXPECT_EQ(numbers(*greatest[2].as<Tensor>()), (Numbers{2, 0, 2}));
  EXPECT_EQ(numbers(*greatest[3].as<Tensor>()), (Numbers{1, 0, 2}));
  const Tensor sums = run_one("aten._embedding_bag.default", {weight, indices, offsets});
  EXPECT_EQ(numbers(sums), (Numbers{6, 0, 6}));
}

TEST(RenormKernels, ScaleWhatIsAboveTheLimit) {
  const Tensor x = make_tensor(DType::kFloat64, {2, 2}, {3, 4, 0.5, 0});
  const Numbers out = numbers(run_one("aten.renorm.default", {x, 2, 0, 1}));
  EXPECT_NEAR(out[0], 0.6, 1e-7);
  EXPECT_EQ(out[2], 0.5);
}

}  // namespace
}  // namespace graphgate::optimized::testing
