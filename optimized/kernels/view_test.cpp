// Geometry and copies that recorded calls do not cover: errors, the forms that write, and views of
// storages that overlap themselves.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <numeric>

#include "optimized/kernels/kernel_test.h"
#include "optimized/kernels/view_geometry.h"

namespace graphgate::optimized::testing {
namespace {

Tensor counted(const Sizes& sizes) {
  Numbers values(static_cast<std::size_t>(checked_count(sizes)));
  std::iota(values.begin(), values.end(), 0.0);
  return make_tensor(DType::kFloat32, sizes, values);
}

TEST(View, SharesTheStorageAndKeepsTheOffset) {
  const Tensor base = counted({2, 6});
  const Tensor row = run_one("aten.select.int", {base, 0, -1});
  const Tensor view = run_one("aten.view.default", {row, Sizes{2, -1}});
  EXPECT_EQ(view.storage, base.storage);
  EXPECT_EQ(view.offset, 6);
  EXPECT_EQ(view.sizes, (Sizes{2, 3}));
  EXPECT_EQ(numbers(view), (Numbers{6, 7, 8, 9, 10, 11}));
}

TEST(View, RefusesSizesThatNeedACopy) {
  const Tensor turned = transposed(counted({2, 3}), 0, 1);
  EXPECT_THROW(run_one("aten.view.default", {turned, Sizes{6}}), OpError);
  EXPECT_THROW(run_one("aten.view.default", {turned, Sizes{-1, -1}}), OpError);
  EXPECT_THROW(run_one("aten.view.default", {turned, Sizes{4, -1}}), OpError);
  EXPECT_THROW(run_one("aten.view.default", {counted({0, 3}), Sizes{-1, 0}}), OpError);
}

TEST(Reshape, CopiesWhatHasNoViewAndOnlyThat) {
  const Tensor base = counted({2, 3});
  EXPECT_EQ(run_one("aten.reshape.default", {base, Sizes{3, 2}}).storage, base.storage);
  const Tensor copy = run_one("aten.reshape.default", {transposed(base, 0, 1), Sizes{6}});
  EXPECT_NE(copy.storage, base.storage);
  EXPECT_EQ(numbers(copy), (Numbers{0, 3, 1, 4, 2, 5}));
}

TEST(ViewCopy, WritesAnOutTensorWithAnyStridesWhereThereIsNoView) {
  const Tensor turned = transposed(counted({2, 3}), 0, 1);
  const Tensor out = make_tensor(DType::kFloat32, {2, 3}, {}, {1, 2});
  run_one("aten.view_copy.out", {turned, Sizes{2, 3}}, {{"out", out}});
  EXPECT_EQ(numbers(out), (Numbers{0, 3, 1, 4, 2, 5}));
}

TEST(TransposeCopy, ReadsBeforeItOverwritesItsOwnInput) {
  const Tensor square = counted({3, 3});
  run_one("aten.transpose_copy.int_out", {square, 0, 1}, {{"out", square}});
  EXPECT_EQ(numbers(square), (Numbers{0, 3, 6, 1, 4, 7, 2, 5, 8}));
}

TEST(ViewAsDtype, ChangesTheLastDimensionByTheRatioOfItemSizes) {
  const Tensor base = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  const Tensor halves = run_one("aten.view.dtype", {base, DType::kInt16});
  EXPECT_EQ(halves.sizes, (Sizes{2, 4}));
  EXPECT_EQ(halves.strides, (Sizes{4, 1}));
  const Tensor wide = run_one("aten.view.dtype", {base, DType::kInt64});
  EXPECT_EQ(wide.sizes, (Sizes{2, 1}));
  EXPECT_THROW(run_one("aten.view.dtype", {transposed(base, 0, 1), DType::kInt16}), OpError);
  EXPECT_THROW(run_one("aten.view.dtype", {counted({2, 3}), DType::kInt64}), OpError);
}

TEST(SqueezeInPlace, ReshapesTheArgumentItself) {
  const Tensor self = counted({1, 3});
  const auto made = infer_op("aten.squeeze_.dim", {self, 0});
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].kind, Made::Kind::kReshaped);
  EXPECT_EQ(made[0].tensor.sizes, (Sizes{3}));
}

TEST(ResizeInPlace, KeepsTheBytesAndRefusesToGrow) {
  const auto made = infer_op("aten.resize_.default", {counted({2, 3}), Sizes{4}});
  EXPECT_EQ(made.at(0).kind, Made::Kind::kReshaped);
  EXPECT_EQ(made.at(0).tensor.strides, (Sizes{1}));
  EXPECT_THROW((void)infer_op("aten.resize_.default", {counted({2, 3}), Sizes{7}}), Unsupported);
}

TEST(Resize, TakesTheFirstElementsOfAClonesMemory) {
  const Tensor turned = transposed(counted({2, 3}), 0, 1);
  const Tensor resized = run_one("aten.resize.default", {turned, Sizes{2, 2}});
  EXPECT_EQ(numbers(resized), (Numbers{0, 1, 2, 3}));
}

TEST(AsStrided, RefusesNegativeStridesAndSharedOuts) {
  const Tensor base = counted({6});
  EXPECT_THROW(run_one("aten.as_strided.default", {base, Sizes{2}, Sizes{-1}}), OpError);
  EXPECT_THROW(run_one("aten.as_strided.default", {base, Sizes{2, 2}, Sizes{1}}), OpError);
  const Tensor windows =
      run_one("aten.as_strided_copy.default", {base, Sizes{2, 2}, Sizes{1, 1}, 2});
  EXPECT_EQ(numbers(windows), (Numbers{2, 3, 3, 4}));
  const Tensor part = view_of(base, {2}, {1});
  EXPECT_THROW(run_one("aten.as_strided_copy.out", {base, Sizes{2}, Sizes{1}}, {{"out", part}}),
               Unsupported);
}

TEST(Expand, StretchesSizesOfOneOnly) {
  EXPECT_EQ(run_one("aten.expand.default", {counted({3, 1}), Sizes{2, -1, 4}}).strides,
            (Sizes{0, 1, 0}));
  EXPECT_THROW(run_one("aten.expand.default", {counted({3, 1}), Sizes{2, 1}}), OpError);
  EXPECT_THROW(run_one("aten.expand.default", {counted({3}), Sizes{-1, 3}}), OpError);
}

RC_GTEST_PROP(ViewStrides, AViewOfARowMajorTensorReadsItInOrder, ()) {
  const auto a = *rc::gen::inRange<std::int64_t>(1, 5);
  const auto b = *rc::gen::inRange<std::int64_t>(1, 5);
  const auto c = *rc::gen::inRange<std::int64_t>(1, 5);
  const Tensor base = counted({a, b, c});
  for (const Sizes& sizes :
       {Sizes{a * b, c}, Sizes{a, b * c}, Sizes{1, c, b, a}, Sizes{c * a, b}}) {
    RC_ASSERT(numbers(viewed(base, sizes)) == numbers(base));
  }
}

RC_GTEST_PROP(ViewStrides, ASplitAndMergedDimensionKeepsStridedElements, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 5);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 5);
  const auto step = *rc::gen::inRange<std::int64_t>(1, 4);
  const Tensor every = sliced(counted({rows, 2 * columns * step}), 1, {}, {}, step);
  const Tensor split = viewed(every, {rows, 2, columns});
  RC_ASSERT(numbers(split) == numbers(every));
  RC_ASSERT(numbers(viewed(split, {rows, 2 * columns})) == numbers(every));
}

}  // namespace
}  // namespace graphgate::optimized::testing
