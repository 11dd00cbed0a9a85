#include <gtest/gtest.h>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

const spec::None kNoTensor;

Tensor sequence(const Sizes& sizes) {
  Numbers values(static_cast<std::size_t>(checked_count(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i + 1);
  return make_tensor(DType::kFloat32, sizes, values);
}

TEST(Convolution, PadsDilatesAndSteps) {
  const Tensor x = sequence({1, 1, 6});
  const Tensor w = make_tensor(DType::kFloat32, {1, 1, 2}, {1, 10});
  EXPECT_EQ(numbers(run_one("aten.conv1d.default", {x, w})), (Numbers{21, 32, 43, 54, 65}));
  EXPECT_EQ(
      numbers(run_one("aten.conv1d.default", {x, w, kNoTensor, Sizes{2}, Sizes{1}, Sizes{2}})),
      (Numbers{20, 42, 64}));
}

TEST(Convolution, PadsTheEndMoreWhereTheSameSizeAsksForIt) {
  const Tensor x = sequence({1, 3});
  const Tensor w = make_tensor(DType::kFloat32, {1, 1, 2}, {1, 10});
  EXPECT_EQ(numbers(run_one("aten.conv1d.padding", {x, w, kNoTensor, Sizes{1}, "same"})),
            (Numbers{21, 32, 3}));
}

TEST(Convolution, KeepsGroupsApart) {
  const Tensor x = sequence({1, 2, 2});
  const Tensor w = make_tensor(DType::kFloat32, {4, 1, 1}, {1, 2, 3, 4});
  const Tensor bias = make_tensor(DType::kFloat32, {4}, {0, 0, 100, 0});
  EXPECT_EQ(numbers(run_one("aten.conv1d.default", {x, w, bias, Sizes{1}, Sizes{0}, Sizes{1}, 2})),
            (Numbers{1, 2, 2, 4, 109, 112, 12, 16}));
}

TEST(ConvolutionBackward, IsTheOtherKindOfConvolutionAndAProductOfPatches) {
  const Item::List mask = {{true}, {true}, {true}};
  const Tensor weight = make_tensor(DType::kFloat32, {1, 1, 2}, {10, 100});
  const auto out =
      run_op("aten.convolution_backward.default",
             {make_tensor(DType::kFloat32, {1, 1, 2}, {1, 2}), sequence({1, 1, 3}), weight,
              Sizes{1}, Sizes{1}, Sizes{0}, Sizes{1}, false, Sizes{0}, 1, Item{mask}});
  EXPECT_EQ(numbers(*out[0].as<Tensor>()), (Numbers{10, 120, 200}));
  EXPECT_EQ(numbers(*out[1].as<Tensor>()), (Numbers{5, 8}));
  EXPECT_EQ(numbers(*out[2].as<Tensor>()), Numbers{3});
}

TEST(ConvolutionBackward, KeepsGroupsApart) {
  const Item::List mask = {{true}, {true}, {false}};
  const auto out =
      run_op("aten.convolution_backward.default",
             {sequence({1, 2, 1}), make_tensor(DType::kFloat32, {1, 2, 2}, {1, 2, 3, 4}),
              make_tensor(DType::kFloat32, {2, 1, 2}, {1, 10, 100, 1000}), spec::None{}, Sizes{1},
              Sizes{0}, Sizes{1}, false, Sizes{0}, 2, Item{mask}});
  EXPECT_EQ(numbers(*out[0].as<Tensor>()), (Numbers{1, 10, 200, 2000}));
  EXPECT_EQ(numbers(*out[1].as<Tensor>()), (Numbers{1, 2, 6, 8}));
  EXPECT_TRUE(out[2].as<spec::None>() != nullptr);
}

TEST(Convolution, SpreadsItsInputWhenTransposed) {
  const Tensor x = sequence({1, 1, 3});
  const Tensor w = make_tensor(DType::kFloat32, {1, 1, 3}, {1, 10, 100});
  EXPECT_EQ(numbers(run_one("aten.convolution.default",
                            {x, w, kNoTensor, Sizes{2}, Sizes{1}, Sizes{1}, true, Sizes{1}, 1})),
            (Numbers{10, 102, 20, 203, 30, 300}));
}

TEST(Convolution, FollowsAnInputInChannelsLast) {
  const Tensor x =
      make_tensor(DType::kFloat32, {1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, {8, 1, 4, 2});
  const Tensor w = make_tensor(DType::kFloat32, {2, 2, 1, 1}, {1, 0, 1, 1});
  const Tensor out = run_one("aten.conv2d.default", {x, w});
  EXPECT_EQ(out.strides, (Sizes{8, 1, 4, 2}));
  EXPECT_EQ(numbers(out), (Numbers{1, 2, 3, 4, 6, 8, 10, 12}));
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  const Tensor x = sequence({1, 1, 3});
  EXPECT_THROW(run_one("aten.conv1d.default", {x, sequence({1, 1, 4})}), OpError);
  EXPECT_THROW(run_one("aten.conv1d.default", {x, sequence({1, 2, 1})}), OpError);
  EXPECT_THROW(run_one("aten.conv1d.default", {x, sequence({1, 1, 1}), kNoTensor, Sizes{0}}),
               OpError);
}

}  // namespace
}  // namespace graphgate::optimized::testing
