#include <gtest/gtest.h>

#include <cmath>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

Tensor rough(const Sizes& sizes, DType dtype = DType::kFloat32) {
  Numbers values(static_cast<std::size_t>(checked_count(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<double>(i) * 1.7);
  return make_tensor(dtype, sizes, values);
}

Tensor row_of(const Tensor& matrix, std::int64_t row) {
  return view_of(matrix, {1, matrix.sizes[1]}, matrix.strides, row * matrix.strides[0]);
}

// An op along the last dimension gives a row the same bits alone, among others, and strided.
void expect_rows_alone(std::string_view op, const std::vector<testing::TestArgument>& more) {
  const Tensor all = rough({5, 3000});
  std::vector<testing::TestArgument> arguments = {all};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Tensor whole = run_one(op, arguments);
  const Tensor flat = view_of(whole, {5, whole.count() / 5}, {whole.count() / 5, 1});
  const Tensor apart = make_tensor(DType::kFloat32, {1, 3000}, numbers(row_of(all, 4)), {9000, 3});
  for (const Tensor& alone : {row_of(all, 4), apart}) {
    arguments[0] = alone;
    EXPECT_EQ(packed(run_one(op, arguments)), packed(row_of(flat, 4))) << op;
  }
}

TEST(RowOps, GiveARowTheSameBitsWhereverItLies) {
  expect_rows_alone("aten.sum.dim_IntList", {Sizes{1}});
  expect_rows_alone("aten.mean.dim", {Sizes{1}});
  expect_rows_alone("aten.var.correction", {Sizes{1}});
  expect_rows_alone("aten.linalg_vector_norm.default", {2, Sizes{1}});
  expect_rows_alone("aten.logsumexp.default", {Sizes{1}});
  expect_rows_alone("aten._softmax.default", {1, false});
  expect_rows_alone("aten._log_softmax.default", {1, false});
  expect_rows_alone("aten.cumsum.default", {1});
  expect_rows_alone("aten.layer_norm.default", {Sizes{3000}});
}

TEST(Reduction, HasAValueForNoElements) {
  const Tensor none = make_tensor(DType::kFloat32, {0, 2});
  EXPECT_EQ(numbers(run_one("aten.sum.dim_IntList", {none, Sizes{0}})), (Numbers{0, 0}));
  EXPECT_EQ(numbers(run_one("aten.prod.dim_int", {none, 0})), (Numbers{1, 1}));
  EXPECT_EQ(numbers(run_one("aten.all.dim", {none, 0})), (Numbers{1, 1}));
  EXPECT_TRUE(std::isnan(numbers(run_one("aten.mean.default", {none}))[0]));
  EXPECT_TRUE(std::isnan(numbers(run_one("aten.var.correction", {none}))[0]));
  EXPECT_THROW(run_one("aten.linalg_vector_norm.default", {none, INFINITY, Sizes{0}}), OpError);
}

TEST(Reduction, ConvertsTheInputFirst) {
  const Tensor x = make_tensor(DType::kFloat32, {2}, {1.75, 2.75});
  EXPECT_EQ(numbers(run_one("aten.sum.default", {x}, {{"dtype", DType::kInt32}})), (Numbers{3}));
}

TEST(Reduction, SumsBytesWithoutOverflow) {
  const Tensor x = make_tensor(DType::kUInt8, {3}, {200, 200, 200});
  EXPECT_EQ(numbers(run_one("aten.sum.default", {x})), (Numbers{600}));
}

TEST(Reduction, RefusesAMeanOfIntegers) {
  EXPECT_THROW(run_one("aten.mean.default", {make_tensor(DType::kInt64, {2}, {1, 2})}), OpError);
  EXPECT_THROW(run_one("aten.sum.dim_IntList", {rough({2, 2}), Sizes{0, 0}}), OpError);
  EXPECT_THROW(run_one("aten.sum.dim_IntList", {rough({2, 2}), Sizes{2}}), OpError);
}

TEST(Scan, RunsInPlace) {
  const Tensor x = make_tensor(DType::kInt32, {4}, {1, 2, 3, 4});
  run_one("aten.cumsum_.default", {x, 0});
  EXPECT_EQ(numbers(x), (Numbers{1, 3, 6, 10}));
}

TEST(Scan, KeepsTheLastOfEqualElements) {
  const Tensor x = make_tensor(DType::kFloat32, {5}, {1, 3, 3, NAN, 5});
  const auto both = run_op("aten.cummax.default", {x, 0});
  EXPECT_EQ(numbers(*both[1].as<Tensor>()), (Numbers{0, 1, 2, 3, 3}));
}

TEST(Softmax, OfNothingButMaskedIsZeroWhereItIsSafe) {
  const Tensor x = make_tensor(DType::kFloat32, {2}, {-INFINITY, -INFINITY});
  EXPECT_EQ(numbers(run_one("aten._safe_softmax.default", {x, 0})), (Numbers{0, 0}));
  EXPECT_TRUE(std::isnan(numbers(run_one("aten._softmax.default", {x, 0, false}))[0]));
}

TEST(Variance, HasNoDistanceInAScalar) {
  const Tensor one = make_tensor(DType::kFloat32, {}, {3});
  EXPECT_EQ(numbers(run_one("aten.var.dim", {one, Sizes{0}, false})), (Numbers{0}));
}

}  // namespace
}  // namespace graphgate::optimized::testing
