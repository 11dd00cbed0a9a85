#include <gtest/gtest.h>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

Tensor counting(const Sizes& sizes) {
  Numbers numbers(static_cast<std::size_t>(checked_count(sizes)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  return make_tensor(DType::kFloat32, sizes, numbers);
}

TEST(ShuffleKernels, MovePixelsToChannelsAndBack) {
  const Tensor x = counting({1, 2, 4});
  const Tensor channels = run_one("aten.pixel_unshuffle.default", {x, 2});
  EXPECT_EQ(channels.sizes, (Sizes{4, 1, 2}));
  EXPECT_EQ(numbers(channels), (Numbers{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(numbers(run_one("aten.pixel_shuffle.default", {channels, 2})), numbers(x));
  EXPECT_EQ(numbers(run_one("aten.native_channel_shuffle.default", {counting({1, 6, 1}), 2})),
            (Numbers{0, 3, 1, 4, 2, 5}));
  EXPECT_THROW(run_op("aten.pixel_shuffle.default", {counting({3, 1, 1}), 2}), OpError);
}

TEST(FoldingKernels, CutImagesIntoColumnsAndAddThemUp) {
  const Sizes two = {2, 2};
  const Sizes one = {1, 1};
  const Sizes none = {0, 0};
  const Tensor columns =
      run_one("aten.im2col.default", {counting({1, 2, 3}), two, one, Sizes{0, 1}, one});
  EXPECT_EQ(columns.sizes, (Sizes{4, 4}));
  EXPECT_EQ(numbers(columns), (Numbers{0, 0, 1, 2, 0, 1, 2, 0, 0, 3, 4, 5, 3, 4, 5, 0}));
  const Tensor blocks = make_tensor(DType::kFloat32, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(numbers(run_one("aten.col2im.default", {blocks, Sizes{2, 3}, two, one, none, one})),
            (Numbers{1, 5, 4, 5, 13, 8}));
  EXPECT_THROW(run_op("aten.im2col.default", {counting({1, 1, 1}), two, one, none, one}), OpError);
}

TEST(UnpoolingKernels, LeaveZerosWhereNothingIsPut) {
  const Tensor x = make_tensor(DType::kFloat32, {1, 1, 2}, {5, 7});
  const Tensor places = make_tensor(DType::kInt64, {1, 1, 2}, {3, 0});
  EXPECT_EQ(numbers(run_one("aten.max_unpool2d.default", {x, places, Sizes{2, 2}})),
            (Numbers{7, 0, 0, 5}));
  EXPECT_THROW(run_op("aten.max_unpool2d.default", {x, places, Sizes{1, 2}}), OpError);
}

TEST(FractionalKernels, PutWindowsWhereTheSampleSays) {
  const Tensor samples = make_tensor(DType::kFloat32, {1, 1, 2}, {0.5, 0});
  const auto out = run_op("aten.fractional_max_pool2d.default",
                          {counting({1, 1, 5}), Sizes{1, 2}, Sizes{1, 3}, samples});
  EXPECT_EQ(numbers(std::get<Tensor>(out[0].value)), (Numbers{1, 3, 4}));
  EXPECT_EQ(numbers(std::get<Tensor>(out[1].value)), (Numbers{1, 3, 4}));
}

TEST(DiagonalKernels, ListIndicesRowByRow) {
  EXPECT_EQ(numbers(run_one("aten.tril_indices.default", {3, 2, -1})), (Numbers{1, 2, 2, 0, 0, 1}));
  EXPECT_EQ(numbers(run_one("aten.triu_indices.default", {2, 2})), (Numbers{0, 0, 1, 0, 1, 1}));
  EXPECT_EQ(numbers(run_one("aten.eye.m", {2, 3})), (Numbers{1, 0, 0, 0, 1, 0}));
  const Tensor x = make_tensor(DType::kFloat32, {2}, {3, 5});
  EXPECT_EQ(numbers(run_one("aten.diag.default", {x, -1})), (Numbers{0, 0, 0, 3, 0, 0, 0, 5, 0}));
}

TEST(ContractionKernels, MultiplyVectorsOfThreeAndThreeTensors) {
  const Tensor a = make_tensor(DType::kFloat32, {3}, {0, 1, 2});
  const Tensor b = make_tensor(DType::kFloat32, {3}, {1, 5, 2});
  EXPECT_EQ(numbers(run_one("aten.linalg_cross.default", {a, b})), (Numbers{-8, 2, -1}));
  const Tensor x = make_tensor(DType::kFloat32, {1, 2}, {1, 2});
  const Tensor w = make_tensor(DType::kFloat32, {1, 2, 2}, {1, 0, 0, 3});
  const Tensor y = make_tensor(DType::kFloat32, {1, 2}, {5, 7});
  EXPECT_EQ(numbers(run_one("aten._trilinear.default",
                            {x, w, y, Sizes{1, 3}, Sizes{0}, Sizes{1, 2}, Sizes{2, 3}})),
            Numbers{47});
}

}  // namespace
}  // namespace graphgate::optimized::testing
