#include <gtest/gtest.h>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

Numbers part(const std::vector<Item>& results, std::size_t i) {
  return numbers(std::get<Tensor>(results[i].value));
}

TEST(UniqueKernels, AskForBytesAndNumberItems) {
  const Tensor x = make_tensor(DType::kInt64, {2, 3}, {3, 1, 3, 2, 5, 2});
  EXPECT_THROW((void)infer_op("aten._unique2.default", {x}), NeedsData);
  const auto all = run_op("aten._unique2.default", {x, true, true, true});
  EXPECT_EQ(part(all, 0), (Numbers{1, 2, 3, 5}));
  EXPECT_EQ(part(all, 1), (Numbers{2, 0, 2, 1, 3, 1}));
  EXPECT_EQ(part(all, 2), (Numbers{1, 2, 2, 1}));
  const auto columns = run_op("aten.unique_dim.default", {x, 1});
  EXPECT_EQ(part(columns, 0), (Numbers{1, 3, 5, 2}));
  EXPECT_EQ(std::get<Tensor>(columns[0].value).strides, (Sizes{1, 2}));
  EXPECT_EQ(part(columns, 1), (Numbers{1, 0, 1}));
  const auto runs = run_op("aten.unique_consecutive.default", {x});
  EXPECT_EQ(part(runs, 0), (Numbers{3, 1, 3, 2, 5, 2}));
  EXPECT_EQ(part(runs, 1), Numbers{});
}

TEST(UniqueKernels, TakeTheRowsOfOneDimensionForItsElements) {
  const Tensor x = make_tensor(DType::kInt64, {4}, {7, 7, 1, 7});
  EXPECT_EQ(part(run_op("aten.unique_consecutive.default", {x, false, false, 0}), 1), Numbers{});
  EXPECT_EQ(part(run_op("aten.unique_consecutive.default", {x, false, false, -1}), 1),
            (Numbers{0, 0, 1, 2}));
}

TEST(EqualityKernels, AnswerWithABool) {
  const Tensor x = make_tensor(DType::kFloat32, {2}, {1, kNan});
  const Tensor y = make_tensor(DType::kFloat32, {2}, {1.000001, kNan});
  const auto answer = [](const std::vector<Item>& results) {
    return std::get<bool>(results[0].value);
  };
  EXPECT_FALSE(answer(run_op("aten.equal.default", {x, x})));
  EXPECT_TRUE(answer(run_op("aten.allclose.default", {x, y}, {{"equal_nan", true}})));
  EXPECT_FALSE(answer(run_op("aten.allclose.default", {x, y})));
  EXPECT_EQ(numbers(run_one("aten.isin.Tensor_Tensor", {x, x})), (Numbers{1, 0}));
  EXPECT_EQ(
      numbers(run_one("aten.isin.Tensor_Scalar", {make_tensor(DType::kInt8, {2}, {44, 2}), 300})),
      (Numbers{1, 0}));
}

TEST(SortingKernels, FindTheModeAndItsLastPlace) {
  const auto out = run_op("aten.mode.default",
                          {make_tensor(DType::kInt64, {2, 5}, {2, 1, 2, 1, 3, 4, 4, 4, 0, 0})});
  EXPECT_EQ(part(out, 0), (Numbers{1, 4}));
  EXPECT_EQ(part(out, 1), (Numbers{3, 2}));
}

TEST(BinningKernels, CountBetweenEdges) {
  const Tensor x = make_tensor(DType::kFloat32, {6}, {0, 0.5, 1, 1, 2, 3});
  const Tensor edges = make_tensor(DType::kFloat32, {3}, {0, 1, 2});
  const auto out = run_op("aten.histogram.bins_tensor", {x, edges}, {{"density", true}});
  EXPECT_EQ(part(out, 0), (Numbers{0.4F, 0.6F}));
  EXPECT_EQ(part(run_op("aten.histogram.bin_ct", {x, 2}), 1), (Numbers{0, 1.5, 3}));
}

TEST(MaskedIndexKernels, BringIndicesInsideAndFillTheRest) {
  const Tensor x = make_tensor(DType::kFloat32, {3}, {5, 6, 7});
  const Tensor mask = make_tensor(DType::kBool, {3}, {1, 0, 1});
  const Tensor index = make_tensor(DType::kInt64, {3}, {9, 0, -2});
  const Tensor ones = make_tensor(DType::kFloat32, {3}, {1, 1, 1});
  const std::vector<Tensor> indices = {index};
  EXPECT_EQ(numbers(run_one("aten._unsafe_masked_index.default", {x, mask, indices, 0.5})),
            (Numbers{7, 0.5, 6}));
  EXPECT_EQ(numbers(run_one("aten._unsafe_masked_index_put_accumulate.default",
                            {x, mask, indices, ones})),
            (Numbers{5, 7, 8}));
}

}  // namespace
}  // namespace graphgate::optimized::testing
