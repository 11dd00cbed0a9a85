#include <gtest/gtest.h>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

Tensor indices(const Sizes& sizes, const std::vector<std::int64_t>& values) {
  return make_integers(DType::kInt64, sizes, values);
}

Item index_list(std::vector<Item> items) { return {Item::List(std::move(items))}; }

TEST(Scatter, RefusesAnIndexOutOfRangeBeforeItWrites) {
  const Tensor x = make_tensor(DType::kFloat32, {4}, {1, 2, 3, 4});
  const Tensor part = view_of(x, {2}, {1}, 1);
  EXPECT_THROW(run_op("aten.scatter_.value", {part, 0, indices({1}, {2}), 9}), OpError);
  EXPECT_EQ(numbers(x), (Numbers{1, 2, 3, 4}));
}

TEST(Scatter, LetsTheLastOfRepeatedIndicesWin) {
  const Tensor x = make_tensor(DType::kFloat32, {2});
  const Tensor source = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  EXPECT_EQ(numbers(run_one("aten.scatter.src", {x, 0, indices({3}, {1, 1, 0}), source})),
            (Numbers{3, 2}));
}

TEST(Scatter, RefusesToReadWhatItWrites) {
  const Tensor x = make_tensor(DType::kFloat32, {2}, {1, 2});
  EXPECT_THROW(run_op("aten.scatter_.src", {x, 0, indices({2}, {1, 0}), x}), OpError);
  EXPECT_THROW(run_op("aten.index_put_.default", {x, index_list({{indices({2}, {1, 0})}}), x}),
               OpError);
}

TEST(Scatter, ReadsASourceThatPartlyOverlapsFromACopy) {
  const Tensor base = make_tensor(DType::kFloat32, {4}, {1, 2, 3, 4});
  const Tensor target = view_of(base, {3}, {1}, 1);
  const Tensor source = view_of(base, {3}, {1}, 0);
  run_op("aten.index_copy_.default", {target, 0, indices({3}, {0, 1, 2}), source});
  EXPECT_EQ(numbers(base), (Numbers{1, 1, 2, 3}));
}

TEST(ScatterAdd, RoundsNarrowFloatsOnce) {
  // 256 + 1 is not a bfloat16: added one by one, the ones would be lost.
  const Tensor x = make_tensor(DType::kBFloat16, {1}, {256});
  const Tensor ones = make_tensor(DType::kBFloat16, {8}, Numbers(8, 1));
  const Tensor zeros = indices({8}, std::vector<std::int64_t>(8, 0));
  EXPECT_EQ(numbers(run_one("aten.scatter_add.default", {x, 0, zeros, ones})), (Numbers{264}));
  run_op("aten.index_add_.default", {x, 0, zeros, ones});
  EXPECT_EQ(numbers(x), (Numbers{264}));
}

TEST(ScatterAdd, AddsInTheSameOrderWhateverTheStrides) {
  constexpr std::int64_t kCount = 64;
  Numbers values;
  for (std::int64_t i = 0; i < kCount; ++i) values.push_back(1.0 / static_cast<double>(i * i + 3));
  const Tensor source = make_tensor(DType::kFloat32, {kCount}, values);
  const Tensor zeros = indices({kCount}, std::vector<std::int64_t>(kCount, 0));
  const Tensor alone =
      run_one("aten.scatter_add.default", {make_tensor(DType::kFloat32, {1}), 0, zeros, source});
  const Tensor wide_source = view_of(source, {kCount, 3}, {1, 0});
  const Tensor wide_zeros = view_of(zeros, {kCount, 3}, {1, 0});
  const Tensor turned = make_tensor(DType::kFloat32, {1, 3}, {}, {1, 2});
  const Tensor rows = run_one("aten.scatter_add.default", {turned, 0, wide_zeros, wide_source});
  for (std::int64_t column = 0; column < 3; ++column) {
    EXPECT_EQ(packed(view_of(rows, {1}, {1}, column)), packed(alone));
  }
}

TEST(ScatterReduce, TakesTheMeanOfContributionsAlone) {
  const Tensor x = make_tensor(DType::kInt32, {2}, {100, 7});
  const Tensor source = make_tensor(DType::kInt32, {2}, {-3, -4});
  const Tensor zeros = indices({2}, {0, 0});
  EXPECT_EQ(numbers(run_one("aten.scatter_reduce.two", {x, 0, zeros, source, "mean"},
                            {{"include_self", false}})),
            (Numbers{-4, 7}));  // integers round down
  EXPECT_THROW(run_op("aten.scatter_reduce.two", {x, 0, zeros, source, "median"}), OpError);
}

TEST(IndexPut, WritesBehindAMaskThatChangesBetweenRuns) {
  const Tensor x = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  const Tensor mask = make_tensor(DType::kBool, {3}, {0, 1, 1});
  const Tensor one = make_tensor(DType::kFloat32, {}, {9});
  const Tensor two = make_tensor(DType::kFloat32, {2}, {8, 9});
  run_op("aten.index_put_.default", {x, index_list({{mask}}), one});
  EXPECT_EQ(numbers(x), (Numbers{1, 9, 9}));
  const Tensor all = make_tensor(DType::kBool, {3}, {1, 1, 1});
  EXPECT_THROW(run_op("aten.index_put_.default", {x, index_list({{all}}), two}), OpError);
}

TEST(MaskedScatter, RefusesASourceThatIsTooShort) {
  const Tensor x = make_tensor(DType::kFloat32, {3});
  const Tensor mask = make_tensor(DType::kBool, {3}, {1, 1, 0});
  EXPECT_THROW(run_op("aten.masked_scatter.default", {x, mask, make_tensor(DType::kFloat32, {1})}),
               OpError);
  const Tensor pair = make_tensor(DType::kFloat32, {2}, {4, 5});
  EXPECT_EQ(numbers(run_one("aten.masked_scatter.default", {x, mask, pair})), (Numbers{4, 5, 0}));
}

TEST(SliceScatter, KeepsTheStridesOfSelf) {
  const Tensor base = make_tensor(DType::kInt64, {3, 2}, {0, 1, 2, 3, 4, 5});
  const Tensor turned = view_of(base, {2, 3}, {1, 2});
  const Tensor source = make_tensor(DType::kInt64, {2, 1}, {8, 9});
  const Tensor out = run_one("aten.slice_scatter.default", {turned, source, 1, 1, 2});
  EXPECT_EQ(out.strides, (Sizes{1, 2}));
  EXPECT_EQ(numbers(out), (Numbers{0, 8, 4, 1, 9, 5}));
  EXPECT_THROW(run_op("aten.slice_scatter.default", {turned, source, 1, 0, 2}), OpError);
}

// The strides are those of self, wherever the result is to lie.
TEST(AsStridedScatter, WritesAnOutArgumentOfAnotherLayout) {
  const Tensor self = make_tensor(DType::kInt64, {2, 3}, {0, 1, 2, 3, 4, 5});
  const Tensor source = make_tensor(DType::kInt64, {2}, {8, 9});
  const Tensor base = make_tensor(DType::kInt64, {3, 2});
  const Tensor turned = view_of(base, {2, 3}, {1, 2});
  run_op("aten.as_strided_scatter.out", {self, source, Sizes{2}, Sizes{2}}, {{"out", turned}});
  EXPECT_EQ(numbers(turned), (Numbers{8, 1, 9, 3, 4, 5}));
}

}  // namespace
}  // namespace graphgate::optimized::testing
