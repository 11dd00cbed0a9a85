#include "optimized/gemm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

// Numbers whose products round, so that the order of addition shows.
Tensor rough_matrix(const Sizes& sizes, int seed, DType dtype = DType::kFloat32) {
  Numbers values(static_cast<std::size_t>(checked_count(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<double>(i) * 1.7 + seed) * 3;
  }
  return make_tensor(dtype, sizes, values);
}

Tensor rows_of(const Tensor& matrix, std::int64_t begin, std::int64_t end) {
  Tensor out = matrix;
  out.sizes[0] = end - begin;
  out.offset += begin * out.strides[0];
  return out;
}

TEST(Gemm, GivesARowTheSameBitsAloneAndAmongOthers) {
  const Tensor a = rough_matrix({150, 700}, 1);
  const Tensor b = rough_matrix({700, 37}, 2);
  const Tensor all = run_one("aten.mm.default", {a, b});
  for (const std::int64_t row : {0, 3, 64, 149}) {
    const Tensor alone = run_one("aten.mm.default", {rows_of(a, row, row + 1), b});
    EXPECT_EQ(packed(alone), packed(rows_of(all, row, row + 1))) << row;
  }
}

TEST(Gemm, GivesAColumnTheSameBitsAloneAndAmongOthers) {
  const Tensor a = rough_matrix({5, 700}, 1);
  const Tensor b = rough_matrix({700, 300}, 2);
  const Tensor all = run_one("aten.mm.default", {a, b});
  const Tensor column = view_of(b, {700, 1}, {300, 1}, 299);
  EXPECT_EQ(packed(run_one("aten.mm.default", {a, column})),
            packed(view_of(all, {5, 1}, {300, 1}, 299)));
}

TEST(Gemm, DoesNotSeeStrides) {
  const Tensor a = rough_matrix({9, 513}, 1);
  const Tensor b = rough_matrix({513, 131}, 2);
  const Tensor a_by_columns = run_one("aten.clone.default", {swapped(a, 0, 1)});
  const Tensor b_by_columns = run_one("aten.clone.default", {swapped(b, 0, 1)});
  const Tensor product = run_one("aten.mm.default", {a, b});
  EXPECT_EQ(packed(run_one("aten.mm.default", {swapped(a_by_columns, 0, 1), b})), packed(product));
  EXPECT_EQ(packed(run_one("aten.mm.default", {a, swapped(b_by_columns, 0, 1)})), packed(product));
}

TEST(Gemm, GivesABatchTheBitsOfItsMatrices) {
  const Tensor a = rough_matrix({3, 4, 300}, 1, DType::kBFloat16);
  const Tensor b = rough_matrix({300, 20}, 2, DType::kBFloat16);
  const Tensor batch = run_one("aten.matmul.default", {a, b});
  for (std::int64_t i = 0; i < 3; ++i) {
    const Tensor one = run_one("aten.mm.default", {view_of(a, {4, 300}, {300, 1}, i * 1200), b});
    EXPECT_EQ(packed(one), packed(view_of(batch, {4, 20}, {20, 1}, i * 80))) << i;
  }
}

TEST(Gemm, WrapsIntegers) {
  const Tensor a = make_integers(DType::kInt64, {1, 2}, {std::int64_t{1} << 62, 3});
  const Tensor b = make_integers(DType::kInt64, {2, 1}, {4, 5});
  EXPECT_EQ(integers(run_one("aten.mm.default", {a, b})), (std::vector<std::int64_t>{15}));
}

TEST(Gemm, GivesZerosForAnEmptySum) {
  const Tensor a = make_tensor(DType::kFloat32, {2, 0});
  const Tensor b = make_tensor(DType::kFloat32, {0, 3});
  EXPECT_EQ(numbers(run_one("aten.mm.default", {a, b})), (Numbers(6, 0)));
}

TEST(Gemm, IsExactForSmallIntegers) {
  const Tensor a = make_tensor(DType::kFloat16, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = make_tensor(DType::kFloat16, {3, 2}, {7, 8, 9, 10, 11, 12});
  EXPECT_EQ(numbers(run_one("aten.mm.default", {a, b})), (Numbers{58, 64, 139, 154}));
}

}  // namespace
}  // namespace graphgate::optimized::testing
