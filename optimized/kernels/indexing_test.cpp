#include "base/result_test.h"
#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

Tensor indices(const Sizes& sizes, const std::vector<std::int64_t>& values) {
  return make_integers(DType::kInt64, sizes, values);
}

// The Tensor?[] of index and index_put.
Item index_list(std::vector<Item> items) { return {Item::List(std::move(items))}; }

TEST(Gather, RefusesAnIndexOutOfRangeByName) {
  const Tensor x = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  for (const std::int64_t bad : {std::int64_t{3}, std::int64_t{-1}, std::int64_t{1} << 62}) {
    try {
      run_op("aten.gather.default", {x, 0, indices({2}, {0, bad})});
      FAIL() << bad;
    } catch (const OpError& e) {
      EXPECT_TRUE(contains(std::string(e.what()), "index " + std::to_string(bad)));
    }
  }
}

TEST(Gather, TakesAnEmptyIndexOfAnyDtype) {
  const Tensor x = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  const Tensor none = make_tensor(DType::kUInt8, {0});
  EXPECT_EQ(run_one("aten.gather.default", {x, 0, none}).sizes, (Sizes{0}));
  EXPECT_THROW(run_op("aten.gather.default", {x, 0, make_tensor(DType::kUInt8, {1})}), OpError);
}

TEST(Index, PutsSeparatedIndicesInFront) {
  const Tensor x = make_tensor(DType::kInt32, {2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Item list = index_list({{indices({1}, {-1})}, {spec::None{}}, {indices({1}, {0})}});
  const Tensor picked = run_one("aten.index.Tensor", {x, list});
  EXPECT_EQ(picked.sizes, (Sizes{1, 2}));
  EXPECT_EQ(numbers(picked), (Numbers{4, 6}));
}

TEST(Index, NeedsBytesForAMaskAlone) {
  const Tensor x = make_tensor(DType::kInt32, {3}, {7, 8, 9});
  const Tensor mask = make_tensor(DType::kBool, {3}, {1, 0, 1});
  EXPECT_THROW((void)infer_op("aten.index.Tensor", {x, index_list({{mask}})}), NeedsData);
  EXPECT_EQ(infer_op("aten.index.Tensor", {x, index_list({{indices({2}, {0, 1})}})}).size(), 1u);
  EXPECT_EQ(numbers(run_one("aten.index.Tensor", {x, index_list({{mask}})})), (Numbers{7, 9}));
  const Tensor longer = make_tensor(DType::kBool, {4});
  EXPECT_THROW(run_op("aten.index.Tensor", {x, index_list({{longer}})}), OpError);
}

TEST(Take, CountsElementsOfAStridedViewInRowMajorOrder) {
  const Tensor base = make_tensor(DType::kInt64, {2, 3}, {0, 1, 2, 3, 4, 5});
  const Tensor turned = view_of(base, {3, 2}, {1, 3});
  EXPECT_EQ(numbers(run_one("aten.take.default", {turned, indices({3}, {1, -1, 2})})),
            (Numbers{3, 5, 1}));
}

TEST(Nonzero, ListsCoordinatesColumnByColumn) {
  const Tensor x = make_tensor(DType::kFloat32, {2, 2}, {0, 3, 0, -1});
  const Tensor found = run_one("aten.nonzero.default", {x});
  EXPECT_EQ(found.strides, (Sizes{1, 2}));
  EXPECT_EQ(numbers(found), (Numbers{0, 1, 1, 1}));
  EXPECT_EQ(run_one("aten.nonzero.default", {make_tensor(DType::kBool, {0, 4})}).sizes,
            (Sizes{0, 2}));
}

TEST(RepeatInterleave, ChecksRepeatsAndTheStatedSize) {
  const Tensor x = make_tensor(DType::kInt32, {2}, {5, 6});
  const Tensor repeats = indices({2}, {2, 1});
  EXPECT_EQ(numbers(run_one("aten.repeat_interleave.self_Tensor", {x, repeats})),
            (Numbers{5, 5, 6}));
  EXPECT_THROW(run_op("aten.repeat_interleave.self_Tensor", {x, repeats, 0}, {{"output_size", 4}}),
               OpError);
  EXPECT_THROW(run_op("aten.repeat_interleave.self_Tensor", {x, indices({2}, {-1, 1})}), OpError);
}

}  // namespace
}  // namespace graphgate::optimized::testing
