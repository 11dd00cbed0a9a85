#include <gtest/gtest.h>

#include "optimized/kernels/kernel_test.h"
#include "optimized/kernels/view_geometry.h"

namespace graphgate::optimized::testing {
namespace {

using List = std::vector<Tensor>;

Tensor counted(const Sizes& sizes) {
  Numbers values;
  for (std::int64_t i = 0; i < checked_count(sizes); ++i) {
    values.push_back(static_cast<double>(i));
  }
  return make_tensor(DType::kFloat32, sizes, values);
}

TEST(Cat, PromotesDtypesAndSkipsEmptyVectors) {
  const Tensor bytes = make_tensor(DType::kUInt8, {1, 2}, {1, 200});
  const Tensor small = make_tensor(DType::kInt8, {1, 2}, {-1, 3});
  const Tensor joined =
      run_one("aten.cat.default", {List{bytes, make_tensor(DType::kInt8, {0}), small}, 0});
  EXPECT_EQ(joined.dtype, DType::kInt16);
  EXPECT_EQ(numbers(joined), (Numbers{1, 200, -1, 3}));
}

TEST(Cat, RefusesWhatDoesNotFit) {
  EXPECT_THROW(run_one("aten.cat.default", {List{}}), OpError);
  EXPECT_THROW(run_one("aten.cat.default", {List{counted({2, 3}), counted({3, 2})}}), OpError);
  EXPECT_THROW(run_one("aten.cat.default", {List{counted({}), counted({})}}), OpError);
  EXPECT_THROW(run_one("aten.cat.default", {List{counted({2}), counted({2})}, 1}), OpError);
  const Tensor out = make_tensor(DType::kInt32, {4});
  EXPECT_THROW(run_one("aten.cat.out", {List{counted({2}), counted({2})}}, {{"out", out}}),
               OpError);
}

TEST(CatOut, ReadsInputsThatTheResultOverwrites) {
  const Tensor base = counted({6});
  const Tensor head = view_of(base, {3}, {1}, 0);
  const Tensor tail = view_of(base, {3}, {1}, 3);
  run_one("aten.cat.out", {List{tail, head}}, {{"out", base}});
  EXPECT_EQ(numbers(base), (Numbers{3, 4, 5, 0, 1, 2}));
}

TEST(Stack, PutsTensorsSideBySideAlongTheLastDimension) {
  const Tensor stacked = run_one("aten.stack.default", {List{counted({2}), counted({2})}, -1});
  EXPECT_EQ(numbers(stacked), (Numbers{0, 0, 1, 1}));
  EXPECT_THROW(run_one("aten.stack.default", {List{counted({2}), counted({1})}}), OpError);
}

TEST(FlipOut, TurnsItsOwnInputRound) {
  const Tensor self = counted({2, 2});
  run_one("aten.flip.out", {self, Sizes{0, 1}}, {{"out", self}});
  EXPECT_EQ(numbers(self), (Numbers{3, 2, 1, 0}));
  EXPECT_THROW(run_one("aten.flip.default", {self, Sizes{0, -2}}), OpError);
}

TEST(Roll, ShiftsBySeveralAmountsAlongOneDimension) {
  EXPECT_EQ(numbers(run_one("aten.roll.default", {counted({4}), Sizes{1, 2}, Sizes{0, 0}})),
            (Numbers{1, 2, 3, 0}));
  EXPECT_EQ(numbers(run_one("aten.roll.default", {counted({4}), Sizes{-9}, Sizes{0}})),
            (Numbers{1, 2, 3, 0}));
  EXPECT_THROW(run_one("aten.roll.default", {counted({4}), Sizes{1, 2}, Sizes{0}}), OpError);
}

TEST(Roll, GoesOverTheRowMajorElementsWithoutDimensions) {
  const Tensor turned = transposed(counted({2, 3}), 0, 1);  // 0 3 | 1 4 | 2 5
  EXPECT_EQ(numbers(run_one("aten.roll.default", {turned, Sizes{1}})), (Numbers{5, 0, 3, 1, 4, 2}));
}

TEST(Rot90, TurnsAPlaneByQuarters) {
  const Tensor self = counted({2, 2});
  EXPECT_EQ(numbers(run_one("aten.rot90.default", {self, 1})), (Numbers{1, 3, 0, 2}));
  EXPECT_EQ(numbers(run_one("aten.rot90.default", {self, -1})), (Numbers{2, 0, 3, 1}));
  EXPECT_EQ(numbers(run_one("aten.rot90.default", {self, 2})), (Numbers{3, 2, 1, 0}));
  EXPECT_EQ(numbers(run_one("aten.rot90.default", {self, 4})), (Numbers{0, 1, 2, 3}));
}

TEST(Repeat, AddsDimensionsAndTakesZero) {
  EXPECT_EQ(numbers(run_one("aten.repeat.default", {counted({2}), Sizes{2, 2}})),
            (Numbers{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_TRUE(numbers(run_one("aten.repeat.default", {counted({2}), Sizes{0}})).empty());
  EXPECT_THROW(run_one("aten.repeat.default", {counted({2, 2}), Sizes{2}}), OpError);
  EXPECT_THROW(run_one("aten.repeat.default", {counted({2}), Sizes{-1}}), OpError);
}

TEST(BlockDiag, CountsVectorsAsRows) {
  const Tensor joined =
      run_one("aten.block_diag.default", {List{counted({}), counted({2}), counted({0})}});
  EXPECT_EQ(joined.sizes, (Sizes{3, 3}));
  EXPECT_EQ(numbers(joined), (Numbers{0, 0, 0, 0, 0, 1, 0, 0, 0}));
}

}  // namespace
}  // namespace graphgate::optimized::testing
