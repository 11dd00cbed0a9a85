#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(JoiningOps, CatPromotesAndSkipsEmptyTensorsOfRankOne) {
  const TensorRef empty = counting({0}, DType::kFloat64);
  const TensorRef x = counting({1, 2}, DType::kInt32);
  const TensorRef out =
      run_tensor("aten.cat.default", {{"tensors", list_of({empty, x, x})}, {"dim", {-1L}}});
  EXPECT_EQ(out->dtype, DType::kFloat64);
  EXPECT_EQ(out->sizes, (Sizes{1, 4}));
  EXPECT_EQ(values(*out), (Numbers{0, 1, 0, 1}));
}

TEST(JoiningOps, CatOfChannelsLastTensorsIsChannelsLast) {
  const TensorRef x = tensor(DType::kFloat32, {1, 2, 2, 2}, Numbers(8, 1), {8, 1, 4, 2});
  const TensorRef y = counting({1, 2, 2, 2});
  const Datum dim{1L};
  EXPECT_EQ(run_tensor("aten.cat.default", {{"tensors", list_of({x, x})}, {"dim", dim}})->strides,
            (Sizes{16, 1, 8, 4}));
  EXPECT_EQ(run_tensor("aten.cat.default", {{"tensors", list_of({x, y})}, {"dim", dim}})->strides,
            (Sizes{16, 4, 2, 1}));
}

TEST(JoiningOps, CatRefusesSizesThatDiffer) {
  EXPECT_THROW(
      (void)run("aten.cat.default", {{"tensors", list_of({counting({2, 2}), counting({2, 3})})}}),
      OpError);
  EXPECT_THROW((void)run("aten.cat.default", {{"tensors", list_of({counting({})})}}), OpError);
}

TEST(JoiningOps, StackAddsTheDimensionWhereAsked) {
  const TensorRef x = tensor(DType::kInt64, {2}, {1, 2});
  const TensorRef y = tensor(DType::kInt64, {2}, {3, 4});
  const Datum both = list_of({x, y});
  EXPECT_EQ(values(*run_tensor("aten.stack.default", {{"tensors", both}})), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(values(*run_tensor("aten.stack.default", {{"tensors", both}, {"dim", {-1L}}})),
            (Numbers{1, 3, 2, 4}));
}

TEST(JoiningOps, RepeatCopiesAndMayAddDimensions) {
  const TensorRef x = tensor(DType::kBool, {2}, {1, 0});
  const TensorRef out =
      run_tensor("aten.repeat.default", {{"self", {x}}, {"repeats", ints({2, 2})}});
  EXPECT_EQ(out->sizes, (Sizes{2, 4}));
  EXPECT_EQ(values(*out), (Numbers{1, 0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(run_tensor("aten.repeat.default", {{"self", {x}}, {"repeats", ints({0})}})->sizes,
            Sizes{0});
  EXPECT_THROW(
      (void)run("aten.repeat.default", {{"self", {x}}, {"repeats", ints({1L << 62, 1L << 62})}}),
      OpError);
}

TEST(JoiningOps, FlipAndRollMoveElementsOnly) {
  const TensorRef x = tensor(DType::kBFloat16, {2, 2}, {-0.0, 1, 2, NAN});
  const TensorRef flipped =
      run_tensor("aten.flip.default", {{"self", {x}}, {"dims", ints({0, 1})}});
  EXPECT_TRUE(std::isnan(values(*flipped)[0]));
  EXPECT_TRUE(std::signbit(values(*flipped)[3]));
  const TensorRef rolled =
      run_tensor("aten.roll.default", {{"self", {counting({4})}}, {"shifts", ints({-1})}});
  EXPECT_EQ(values(*rolled), (Numbers{1, 2, 3, 0}));
}

TEST(JoiningOps, MovedElementsKeepTheirRadii) {
  const TensorRef x = tensor(DType::kBFloat16, {2}, {1, 3});
  const TensorRef third =
      run_tensor("aten.full.default",
                 {{"size", ints({2})}, {"fill_value", {1.0 / 3}}, {"dtype", {DType::kBFloat16}}},
                 Mode::kWorstCase);
  const TensorRef both =
      run_tensor("aten.cat.default", {{"tensors", list_of({x, third})}}, Mode::kWorstCase);
  const TensorRef again =
      run_tensor("aten.flip.default", {{"self", {both}}, {"dims", ints({0})}}, Mode::kWorstCase);
  EXPECT_EQ(radii(*again)[3], 0);
  EXPECT_GT(radii(*third)[0], 0);
  EXPECT_EQ(radii(*again)[0], radii(*third)[0]);
}

}  // namespace
}  // namespace graphgate::reference::test
