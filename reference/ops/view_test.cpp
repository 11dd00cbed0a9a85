#include "reference/ops/view.h"

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(ViewOps, AViewSharesTheStorageOfItsOperand) {
  const TensorRef x = counting({2, 6});
  const TensorRef y = run_tensor("aten.view.default", {{"self", {x}}, {"size", ints({3, -1})}});
  EXPECT_EQ(y->sizes, (Sizes{3, 4}));
  EXPECT_EQ(y->storage, x->storage);
  EXPECT_NE(y, x);
}

TEST(ViewOps, ViewRefusesWhatReshapeCopies) {
  const TensorRef x = run_tensor("aten.t.default", {{"self", {counting({2, 3})}}});
  EXPECT_THROW((void)run("aten.view.default", {{"self", {x}}, {"size", ints({6})}}), OpError);
  const TensorRef y = run_tensor("aten.reshape.default", {{"self", {x}}, {"shape", ints({6})}});
  EXPECT_NE(y->storage, x->storage);
  EXPECT_EQ(values(*y), (Numbers{0, 3, 1, 4, 2, 5}));
}

TEST(ViewOps, ViewCopyCopiesWhatCannotBeViewed) {
  const TensorRef x = run_tensor("aten.t.default", {{"self", {counting({2, 3})}}});
  const Arguments arguments = {{"self", {x}}, {"size", ints({2, -1})}};
  const TensorRef y = run_tensor("aten.view_copy.default", arguments);
  EXPECT_NE(y->storage, x->storage);
  EXPECT_EQ(y->strides, (Sizes{3, 1}));
  EXPECT_EQ(values(*y), (Numbers{0, 3, 1, 4, 2, 5}));
  EXPECT_THROW((void)run("aten.view_copy.default", {{"self", {x}}, {"size", ints({4})}}), OpError);
}

TEST(ViewOps, ReshapeOfAnEmptyTensorCannotInferASizeBesideZero) {
  const TensorRef x = counting({0, 3});
  EXPECT_THROW((void)run("aten.reshape.default", {{"self", {x}}, {"shape", ints({0, -1})}}),
               OpError);
  EXPECT_THROW((void)run("aten.reshape.default", {{"self", {x}}, {"shape", ints({-1, -1})}}),
               OpError);
}

TEST(ViewOps, SliceClampsItsBoundsAndCountsNegativeOnesFromTheEnd) {
  const TensorRef x = counting({5});
  const auto slice = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
    return values(
        *run_tensor("aten.slice.Tensor",
                    {{"self", {x}}, {"start", {start}}, {"end", {end}}, {"step", {step}}}));
  };
  EXPECT_EQ(slice(1, INT64_MAX, 2), (Numbers{1, 3}));
  EXPECT_EQ(slice(-3, -1, 1), (Numbers{2, 3}));
  EXPECT_EQ(slice(-100, 2, 1), (Numbers{0, 1}));
  EXPECT_EQ(slice(4, 2, 1), Numbers{});
  EXPECT_THROW(slice(0, 5, 0), OpError);
}

TEST(ViewOps, InPlaceFormsChangeTheTensorForEveryHolder) {
  const TensorRef x = counting({1, 2, 3});
  const TensorRef squeezed = run_tensor("aten.squeeze_.dim", {{"self", {x}}, {"dim", {0L}}});
  EXPECT_EQ(squeezed, x);
  EXPECT_EQ(x->sizes, (Sizes{2, 3}));
  (void)run("aten.t_.default", {{"self", {x}}});
  EXPECT_EQ(x->strides, (Sizes{1, 3}));
}

TEST(ViewOps, FlattenOfOneDimensionReturnsTheVeryOperand) {
  const TensorRef x = counting({4});
  EXPECT_EQ(run_tensor("aten.flatten.using_ints", {{"self", {x}}}), x);
}

TEST(ViewOps, ResizeKeepsOldBytesAndGrowsTheStorage) {
  const TensorRef x = counting({2, 2});
  (void)run("aten.resize_.default", {{"self", {x}}, {"size", ints({3})}});
  EXPECT_EQ(values(*x), (Numbers{0, 1, 2}));
  EXPECT_EQ(x->storage->size_bytes(), 16);
  (void)run("aten.resize_.default", {{"self", {x}}, {"size", ints({6})}});
  EXPECT_EQ(x->storage->size_bytes(), 24);
  EXPECT_EQ(values(*x)[3], 3);
}

TEST(ViewOps, TheFunctionalResizeReadsACopyThatKeepsTheOrderOfItsBytes) {
  const auto resized = [](const TensorRef& x, const Datum& size) {
    return run_tensor("aten.resize.default", {{"self", {x}}, {"size", size}});
  };
  const TensorRef x = run_tensor("aten.t.default", {{"self", {counting({2, 3})}}});
  EXPECT_EQ(values(*resized(x, ints({2, 2}))), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(resized(x, ints({3, 2}))->strides, (Sizes{1, 3}));
  EXPECT_EQ(values(*resized(x, ints({3, 2}))), (Numbers{0, 3, 1, 4, 2, 5}));
  // The copy of what is not dense is, and starts at the first element.
  const TensorRef part = view_of(*counting({3, 4}), {3, 2}, {4, 1}, 1);
  EXPECT_EQ(values(*resized(part, ints({4}))), (Numbers{1, 2, 5, 6}));
}

TEST(ViewOps, AsStridedMustStayInsideTheStorage) {
  const TensorRef x = counting({6});
  const auto at = [&](std::int64_t offset) {
    return run_tensor("aten.as_strided.default", {{"self", {x}},
                                                  {"size", ints({2, 2})},
                                                  {"stride", ints({1, 2})},
                                                  {"storage_offset", {offset}}});
  };
  EXPECT_EQ(values(*at(2)), (Numbers{2, 4, 3, 5}));
  EXPECT_THROW(at(3), OpError);
}

TEST(ViewOps, SliceThatStartsBeyondTheEndIsEmpty) {
  const Arguments arguments = {
      {"self", {counting({3})}}, {"start", {INT64_MAX}}, {"end", {INT64_MAX}}};
  EXPECT_EQ(run_tensor("aten.slice.Tensor", arguments)->sizes, Sizes{0});
}

TEST(ViewOps, ExpandGivesStretchedDimensionsStrideZero) {
  const TensorRef x = counting({1, 3});
  const TensorRef y =
      run_tensor("aten.expand.default", {{"self", {x}}, {"size", ints({2, 4, -1})}});
  EXPECT_EQ(y->sizes, (Sizes{2, 4, 3}));
  EXPECT_EQ(y->strides, (Sizes{0, 0, 1}));
  EXPECT_THROW((void)run("aten.expand.default", {{"self", {x}}, {"size", ints({1, 4})}}), OpError);
}

TEST(ViewOps, ChunkOfATooShortTensorReturnsFewerParts) {
  const auto parts = run("aten.chunk.default", {{"self", {counting({5})}}, {"chunks", {4L}}});
  const auto& list = *parts[0].as<Datum::List>();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ((*list[2].as<TensorRef>())->sizes, Sizes{1});
}

TEST(ViewOps, ReadingBytesAsAnotherDtypeRescalesTheLastDimension) {
  const TensorRef x = tensor(DType::kFloat32, {1, 2}, {1, 2});
  const TensorRef y = run_tensor("aten.view.dtype", {{"self", {x}}, {"dtype", {DType::kInt16}}});
  EXPECT_EQ(y->sizes, (Sizes{1, 4}));
  EXPECT_EQ(values(*y), (Numbers{0, 0x3f80, 0, 0x4000}));
}

}  // namespace
}  // namespace graphgate::reference::test
