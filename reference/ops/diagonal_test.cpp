#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(Diagonal, PutsAVectorOnADiagonalAndTakesAMatrixsOwn) {
  const auto wide = run_tensor(
      "aten.diag.default", {{"self", {tensor(DType::kFloat32, {2}, {3, 5})}}, {"diagonal", {-1L}}});
  EXPECT_EQ(wide->sizes, (Sizes{3, 3}));
  EXPECT_EQ(values(*wide), (Numbers{0, 0, 0, 3, 0, 0, 0, 5, 0}));
  const auto own =
      run_tensor("aten.diag.default", {{"self", {counting({2, 3})}}, {"diagonal", {1L}}});
  EXPECT_EQ(values(*own), (Numbers{1, 5}));
  EXPECT_THROW(run("aten.diag.default", {{"self", {counting({})}}}), OpError);
}

TEST(Diagonal, HasOnesOnTheDiagonalOfAnEye) {
  const auto eye = run_tensor("aten.eye.m", {{"n", {2L}}, {"m", {3L}}, {"dtype", {DType::kInt8}}});
  EXPECT_EQ(values(*eye), (Numbers{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(run_tensor("aten.eye.default", {{"n", {0L}}})->sizes, (Sizes{0, 0}));
}

TEST(Diagonal, ListsIndicesOfATriangleRowByRow) {
  const Arguments sizes = {{"row", {3L}}, {"col", {2L}}, {"offset", {-1L}}};
  const auto lower = run_tensor("aten.tril_indices.default", sizes);
  EXPECT_EQ(lower->dtype, DType::kInt64);
  EXPECT_EQ(values(*lower), (Numbers{1, 2, 2, 0, 0, 1}));
  const auto upper = run_tensor("aten.triu_indices.default", sizes);
  EXPECT_EQ(values(*upper), (Numbers{0, 0, 1, 1, 2, 0, 1, 0, 1, 1}));
  Arguments far = sizes;
  far[2].second = {-7L};
  EXPECT_EQ(run_tensor("aten.tril_indices.default", far)->sizes, (Sizes{2, 0}));
}

TEST(Logspace, RaisesTheBaseToEvenlySpacedExponents) {
  const auto powers =
      run_tensor("aten.logspace.default",
                 {{"start", {0L}}, {"end", {3L}}, {"steps", {4L}}, {"dtype", {DType::kInt32}}});
  EXPECT_EQ(values(*powers), (Numbers{1, 10, 100, 1000}));
  const auto lone =
      run_tensor("aten.logspace.default",
                 {{"start", {-2.0}}, {"end", {9L}}, {"steps", {1L}}, {"base", {2.0}}});
  EXPECT_EQ(values(*lone), Numbers{0.25});
}

}  // namespace
}  // namespace graphgate::reference::test
