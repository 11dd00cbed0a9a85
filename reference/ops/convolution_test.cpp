#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TensorRef transpose_of(const TensorRef& input, const TensorRef& weight, std::int64_t stride,
                       std::int64_t output_padding) {
  return run_tensor("aten.convolution.default", {{"input", {input}},
                                                 {"weight", {weight}},
                                                 {"bias", {}},
                                                 {"stride", ints({stride})},
                                                 {"padding", ints({0})},
                                                 {"dilation", ints({1})},
                                                 {"transposed", {true}},
                                                 {"output_padding", ints({output_padding})},
                                                 {"groups", {std::int64_t{1}}}});
}

TEST(Convolution, SlidesTheKernelWithoutTurningIt) {
  const TensorRef input = tensor(DType::kFloat32, {1, 1, 4}, {1, 2, 3, 4});
  const TensorRef weight = tensor(DType::kFloat32, {1, 1, 2}, {1, 10});
  const TensorRef out = run_tensor(
      "aten.conv1d.default",
      {{"input", {input}}, {"weight", {weight}}, {"bias", {tensor(DType::kFloat32, {1}, {100})}}});
  EXPECT_EQ(values(*out), (Numbers{121, 132, 143}));
}

TEST(Convolution, PadsTheOddOneBehindForSame) {
  const TensorRef input = tensor(DType::kFloat32, {1, 1, 3}, {1, 2, 3});
  const TensorRef weight = tensor(DType::kFloat32, {1, 1, 2}, {1, 10});
  const TensorRef out =
      run_tensor("aten.conv1d.padding",
                 {{"input", {input}}, {"weight", {weight}}, {"padding", {std::string("same")}}});
  EXPECT_EQ(values(*out), (Numbers{21, 32, 3}));
}

TEST(Convolution, KeepsGroupsApart) {
  const TensorRef input = tensor(DType::kFloat32, {1, 2, 1, 1}, {2, 3});
  const TensorRef weight = tensor(DType::kFloat32, {2, 1, 1, 1}, {10, 100});
  const TensorRef out =
      run_tensor("aten.conv2d.default",
                 {{"input", {input}}, {"weight", {weight}}, {"groups", {std::int64_t{2}}}});
  EXPECT_EQ(values(*out), (Numbers{20, 300}));
}

TEST(Convolution, TransposedScattersAndLeavesGapsAndOutputPadding) {
  const TensorRef input = tensor(DType::kFloat32, {1, 1, 2}, {1, 2});
  const TensorRef weight = tensor(DType::kFloat32, {1, 1, 2}, {1, 10});
  const TensorRef out = transpose_of(input, weight, 3, 1);
  EXPECT_EQ(values(*out), (Numbers{1, 10, 0, 2, 20, 0}));
}

TEST(Convolution, IsChannelsLastWhenItsInputIs) {
  const TensorRef input = tensor(DType::kFloat32, {1, 2, 3, 3}, Numbers(18, 1), {18, 1, 6, 2});
  const TensorRef out =
      run_tensor("aten.conv2d.default", {{"input", {input}}, {"weight", {counting({2, 2, 2, 2})}}});
  EXPECT_EQ(out->strides, (Sizes{8, 1, 4, 2}));
}

TEST(Convolution, TakesAnInputWithoutABatch) {
  const TensorRef out = run_tensor(
      "aten.conv1d.default", {{"input", {counting({1, 3})}}, {"weight", {counting({2, 1, 2})}}});
  EXPECT_EQ(out->sizes, (Sizes{2, 2}));
  EXPECT_EQ(values(*out), (Numbers{1, 2, 3, 8}));
}

TEST(Convolution, RefusesAKernelLargerThanItsInput) {
  EXPECT_THROW(run_tensor("aten.conv1d.default",
                          {{"input", {counting({1, 1, 2})}}, {"weight", {counting({1, 1, 3})}}}),
               OpError);
}

}  // namespace
}  // namespace graphgate::reference::test
