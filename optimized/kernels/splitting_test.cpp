#include <gtest/gtest.h>

#include "optimized/kernels/kernel_test.h"
#include "optimized/kernels/view_geometry.h"

namespace graphgate::optimized::testing {
namespace {

std::vector<Tensor> parts(std::string_view op,
                          const std::vector<testing::TestArgument>& arguments) {
  std::vector<Tensor> out;
  const auto results = run_op(op, arguments);
  for (const Item& item : std::get<Item::List>(results.at(0).value)) {
    out.push_back(std::get<Tensor>(item.value));
  }
  return out;
}

TEST(Split, LeavesTheRestToTheLastPart) {
  const Tensor self = make_tensor(DType::kInt32, {5}, {0, 1, 2, 3, 4});
  const auto split = parts("aten.split.Tensor", {self, 2});
  ASSERT_EQ(split.size(), 3U);
  EXPECT_EQ(split[1].offset, 2);
  EXPECT_EQ(split[1].storage, self.storage);
  EXPECT_EQ(split[2].sizes, (Sizes{1}));
  EXPECT_EQ(parts("aten.split.Tensor", {make_tensor(DType::kInt32, {0}), 0}).size(), 1U);
  EXPECT_THROW(run_op("aten.split.Tensor", {self, 0}), OpError);
}

TEST(Chunk, MakesFewerPartsThanAskedWhenTheyWouldBeEmpty) {
  EXPECT_EQ(parts("aten.chunk.default", {make_tensor(DType::kInt32, {5}), 4}).size(), 3U);
  EXPECT_EQ(parts("aten.chunk.default", {make_tensor(DType::kInt32, {0}), 4}).size(), 4U);
  EXPECT_THROW(run_op("aten.chunk.default", {make_tensor(DType::kInt32, {5}), 0}), OpError);
}

TEST(SplitWithSizes, WantsSizesThatAddUp) {
  const Tensor self = make_tensor(DType::kInt32, {5});
  EXPECT_THROW(run_op("aten.split_with_sizes.default", {self, Sizes{2, 2}}), OpError);
  EXPECT_THROW(run_op("aten.split_with_sizes.default", {self, Sizes{-1, 6}}), OpError);
  EXPECT_THROW(run_op("aten.split_with_sizes.default", {make_tensor(DType::kInt32, {}), Sizes{}}),
               OpError);
}

TEST(SplitWithSizesCopy, WritesOutTensorsOfAnotherDtypeWithoutReturningThem) {
  const Tensor self = make_tensor(DType::kInt32, {3}, {1, 2, 3});
  const Tensor a = make_tensor(DType::kFloat64, {1});
  const Tensor b = make_tensor(DType::kFloat64, {2});
  EXPECT_TRUE(run_op("aten.split_with_sizes_copy.out", {self, Sizes{1, 2}},
                     {{"out", std::vector<Tensor>{a, b}}})
                  .empty());
  EXPECT_EQ(numbers(a), (Numbers{1}));
  EXPECT_EQ(numbers(b), (Numbers{2, 3}));
  EXPECT_THROW(run_op("aten.split_with_sizes_copy.out", {self, Sizes{1, 2}},
                      {{"out", std::vector<Tensor>{a}}}),
               OpError);
}

TEST(UnsafeSplit, MakesViewsWhateverItsSchemaSays) {
  const Tensor self = make_tensor(DType::kInt32, {2, 2}, {1, 2, 3, 4});
  const auto split = parts("aten.unsafe_split.Tensor", {self, 1, 1});
  ASSERT_EQ(split.size(), 2U);
  EXPECT_EQ(split[1].storage, self.storage);
  EXPECT_EQ(split[1].strides, (Sizes{2, 1}));
  EXPECT_EQ(numbers(split[1]), (Numbers{2, 4}));
}

}  // namespace
}  // namespace graphgate::optimized::testing
