#include <gtest/gtest.h>

#include <cmath>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

Tensor tensor_at(const std::vector<Item>& results, std::size_t i) {
  return *results.at(i).as<Tensor>();
}

TEST(Sort, IsStableWhenAskedAndPutsNanLast) {
  const Tensor x = make_tensor(DType::kFloat32, {5}, {2, kNan, 1, 2, kNan});
  const auto up = run_op("aten.sort.stable", {x}, {{"stable", true}});
  EXPECT_EQ(numbers(tensor_at(up, 1)), (Numbers{2, 0, 3, 1, 4}));
  const auto down = run_op("aten.sort.stable", {x}, {{"stable", true}, {"descending", true}});
  EXPECT_EQ(numbers(tensor_at(down, 1)), (Numbers{1, 4, 0, 3, 2}));
}

TEST(TopK, TakesNoneOfAnEmptyDimensionAndRefusesMoreThanThereAre) {
  const Tensor x = make_tensor(DType::kFloat32, {2, 0});
  EXPECT_EQ(tensor_at(run_op("aten.topk.default", {x, 0}), 0).sizes, (Sizes{2, 0}));
  EXPECT_THROW(run_op("aten.topk.default", {x, 1}), OpError);
}

TEST(Median, IsNanWhereThereIsOneAndTheLowerOfTwo) {
  const Tensor x = make_tensor(DType::kFloat32, {4}, {4, 1, 3, 2});
  EXPECT_EQ(numbers(run_one("aten.median.default", {x})), (Numbers{2}));
  const Tensor with_nan = make_tensor(DType::kFloat32, {3}, {4, kNan, 1});
  EXPECT_TRUE(std::isnan(numbers(run_one("aten.median.default", {with_nan}))[0]));
  EXPECT_EQ(numbers(run_one("aten.nanmedian.default", {with_nan})), (Numbers{1}));
}

TEST(KthValue, SelectsWhatSortingWouldPutThere) {
  Numbers values;
  for (int i = 0; i < 40; ++i) values.push_back(i * 7 % 11);
  const Tensor x = make_tensor(DType::kInt16, {40}, values);
  const Numbers sorted = numbers(run_one("aten.sort.default", {x}));
  for (int k = 1; k <= 40; ++k) {
    const auto found = run_op("aten.kthvalue.default", {x, k});
    const double value = numbers(tensor_at(found, 0))[0];
    EXPECT_EQ(value, sorted[static_cast<std::size_t>(k - 1)]);
    EXPECT_EQ(values[static_cast<std::size_t>(numbers(tensor_at(found, 1))[0])], value);
  }
  EXPECT_THROW(run_op("aten.kthvalue.default", {x, 41}), OpError);
}

TEST(Maximum, NamesTheFirstOfEqualsAndTheFirstNan) {
  const Tensor x = make_tensor(DType::kFloat32, {2, 3}, {1, 2, 2, 1, kNan, kNan});
  const auto found = run_op("aten.max.dim", {x, 1});
  EXPECT_EQ(numbers(tensor_at(found, 1)), (Numbers{1, 1}));
  EXPECT_TRUE(std::isnan(numbers(tensor_at(found, 0))[1]));
  EXPECT_THROW(run_op("aten.amax.default", {make_tensor(DType::kFloat32, {0})}), OpError);
}

TEST(Maximum, FindsNanInEveryPlaceOfALongRow) {
  for (std::size_t at = 0; at < 21; ++at) {
    Numbers values(21, -1);
    values[at] = kNan;
    const Tensor x = make_tensor(DType::kFloat32, {21}, values);
    EXPECT_TRUE(std::isnan(numbers(run_one("aten.amin.default", {x}))[0])) << at;
    values[at] = 5;
    const Tensor y = make_tensor(DType::kFloat32, {21}, values);
    EXPECT_EQ(numbers(run_one("aten.amax.default", {y}))[0], 5) << at;
  }
}

TEST(Histc, CountsWhatIsTooFarForTheArithmeticInTheFirstBin) {
  const Tensor x = make_tensor(DType::kFloat32, {3}, {3e38, 1, kNan});
  EXPECT_EQ(numbers(run_one("aten.histc.default", {x, 4, -1.0, 3.4e38})), (Numbers{2, 0, 0, 0}));
}

TEST(Bincount, RefusesNegativeNumbersAndWaitsForBytes) {
  const Tensor x = make_tensor(DType::kInt64, {3}, {2, 0, 2});
  EXPECT_THROW((void)infer_op("aten.bincount.default", {x}), NeedsData);
  EXPECT_EQ(numbers(run_one("aten.bincount.default", {x})), (Numbers{1, 0, 2}));
  EXPECT_THROW(run_op("aten.bincount.default", {make_tensor(DType::kInt64, {1}, {-1})}), OpError);
}

TEST(Searchsorted, ChecksTheSorter) {
  const Tensor sorted = make_tensor(DType::kFloat32, {3}, {3, 1, 2});
  const Tensor value = make_tensor(DType::kFloat32, {2}, {1.5, kNan});
  const auto search = [&](const Tensor& sorter) {
    return run_one("aten.searchsorted.Tensor", {sorted, value}, {{"sorter", sorter}});
  };
  EXPECT_EQ(numbers(search(make_tensor(DType::kInt64, {3}, {1, 2, 0}))), (Numbers{1, 3}));
  EXPECT_THROW(search(make_tensor(DType::kInt64, {3}, {1, 2, 3})), OpError);
}

TEST(MaxPool, LetsALaterNanWinAndRefusesTooMuchPadding) {
  const Tensor x = make_tensor(DType::kFloat32, {1, 1, 4}, {1, kNan, kNan, 4});
  const auto found = run_op("aten.max_pool2d_with_indices.default", {x, Sizes{1, 4}});
  EXPECT_EQ(numbers(tensor_at(found, 1)), (Numbers{2}));
  EXPECT_THROW(
      run_op("aten.max_pool2d_with_indices.default", {x, Sizes{1, 2}, Sizes{1, 1}, Sizes{0, 2}}),
      OpError);
}

TEST(MaxPool, HasTheLeastValueWhereAWindowStepsOverThePlane) {
  const Tensor x = make_tensor(DType::kInt8, {1, 1, 2}, {5, 6});
  const auto found = run_op("aten.max_pool2d_with_indices.default",
                            {x, Sizes{1, 2}, Sizes{1, 1}, Sizes{0, 1}, Sizes{1, 3}});
  EXPECT_EQ(numbers(tensor_at(found, 0)), (Numbers{-128}));
}

TEST(MaxPoolBackward, RefusesAPlaceOutsideThePlane) {
  const Tensor x = make_tensor(DType::kFloat32, {1, 2, 2});
  const Tensor gradient = make_tensor(DType::kFloat32, {1, 1, 1}, {1});
  const auto backward = [&](double place) {
    return run_one("aten.max_pool2d_with_indices_backward.default",
                   {gradient, x, Sizes{2, 2}, Sizes{2, 2}, Sizes{0, 0}, Sizes{1, 1}, false,
                    make_tensor(DType::kInt64, {1, 1, 1}, {place})});
  };
  EXPECT_EQ(numbers(backward(3)), (Numbers{0, 0, 0, 1}));
  EXPECT_THROW(backward(4), OpError);
}

}  // namespace
}  // namespace graphgate::optimized::testing
