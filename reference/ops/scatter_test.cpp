#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TensorRef longs(const Sizes& sizes, const Numbers& numbers) {
  return tensor(DType::kInt64, sizes, numbers);
}
TensorRef floats(const Numbers& numbers, DType dtype = DType::kFloat32) {
  return tensor(dtype, {static_cast<std::int64_t>(numbers.size())}, numbers);
}
const Datum kDimZero{std::int64_t{0}};

TEST(Scatter, WritesTheLastOfSeveralSourcesAndSaysThatTheOrderIsOpen) {
  const Arguments arguments = {{"self", {floats({0, 0, 7})}},
                               {"dim", kDimZero},
                               {"index", {longs({3}, {1, 1, 0})}},
                               {"src", {floats({5, 8, 1})}}};
  EXPECT_EQ(values(*run_tensor("aten.scatter.src", arguments)), (Numbers{1, 8, 7}));
  const TensorRef judged = run_tensor("aten.scatter.src", arguments, Mode::kWorstCase);
  EXPECT_EQ(radii(*judged), (Numbers{0, 3, 0}));
}

// 2048 + 1 + 1 in float16: 2050, or 2048 where every partial sum is rounded.
TEST(Scatter, MayAddInTheOwnDtypeWhereThatIsDeclared) {
  const Arguments arguments = {{"self", {floats({2048}, DType::kFloat16)}},
                               {"dim", kDimZero},
                               {"index", {longs({2}, {0, 0})}},
                               {"src", {floats({1, 1}, DType::kFloat16)}}};
  EXPECT_EQ(radii(*run_tensor("aten.scatter_add.default", arguments, Mode::kWorstCase)),
            (Numbers{0}));
  const DeclaredArithmetic declared(*parse_arithmetic("fast"));
  const TensorRef judged = run_tensor("aten.scatter_add.default", arguments, Mode::kWorstCase);
  EXPECT_EQ(values(*judged), (Numbers{2050}));
  EXPECT_GE(radii(*judged)[0], 2);
}

TEST(Scatter, KnowsNothingOfTheLineThatAnUndecidedIndexMayReach) {
  const TensorRef index = longs({1, 2}, {0, 1});
  Array<Whole> elements = load<Whole>(*index, DType::kInt64);
  elements[1].undecided = true;
  store(*index, elements);
  const TensorRef out = run_tensor(
      "aten.scatter.value",
      {{"self", {counting({2, 2})}}, {"dim", kDimZero}, {"index", {index}}, {"value", {9.0}}},
      Mode::kWorstCase);
  const Numbers spread = radii(*out);
  EXPECT_EQ(spread[0], 0);
  EXPECT_TRUE(std::isinf(spread[1]));
  EXPECT_EQ(spread[2], 0);
  EXPECT_TRUE(std::isinf(spread[3]));
}

TEST(Scatter, ChangesSelfInTheInPlaceForm) {
  const TensorRef self = floats({1, 2, 3});
  const TensorRef out = run_tensor(
      "aten.scatter_.value",
      {{"self", {self}}, {"dim", kDimZero}, {"index", {longs({1}, {2})}}, {"value", {0.5}}});
  EXPECT_EQ(out, self);
  EXPECT_EQ(values(*self), (Numbers{1, 2, 0.5}));
}

TEST(Scatter, RefusesNegativeIndices) {
  EXPECT_THROW(run_tensor("aten.scatter.value", {{"self", {floats({1, 2})}},
                                                 {"dim", kDimZero},
                                                 {"index", {longs({1}, {-1})}},
                                                 {"value", {0.0}}}),
               OpError);
}

TEST(ScatterReduce, ReducesWithAndWithoutSelf) {
  const auto reduce = [](const char* how, bool include_self) {
    return values(*run_tensor("aten.scatter_reduce.two", {{"self", {floats({4, 10})}},
                                                          {"dim", kDimZero},
                                                          {"index", {longs({2}, {0, 0})}},
                                                          {"src", {floats({1, 3})}},
                                                          {"reduce", {std::string(how)}},
                                                          {"include_self", {include_self}}}));
  };
  EXPECT_EQ(reduce("sum", true), (Numbers{8, 10}));
  EXPECT_EQ(reduce("sum", false), (Numbers{4, 10}));
  EXPECT_EQ(reduce("prod", true), (Numbers{12, 10}));
  EXPECT_EQ(reduce("mean", false), (Numbers{2, 10}));
  EXPECT_EQ(reduce("amax", true), (Numbers{4, 10}));
  EXPECT_EQ(reduce("amin", false), (Numbers{1, 10}));
}

TEST(ScatterReduce, WrapsAnIntegerSumBeforeTheMeanDividesIt) {
  const TensorRef out =
      run_tensor("aten.scatter_reduce.two", {{"self", {tensor(DType::kInt8, {1}, {100})}},
                                             {"dim", kDimZero},
                                             {"index", {longs({2}, {0, 0})}},
                                             {"src", {tensor(DType::kInt8, {2}, {100, 100})}},
                                             {"reduce", {std::string("mean")}}});
  EXPECT_EQ(values(*out), (Numbers{14}));  // 300 wraps to 44; floor(44 / 3)
}

TEST(IndexAdd, AllowsForRoundingsOfPartialSumsInANarrowDtype) {
  const auto add = [](Mode mode) {
    return run_tensor("aten.index_add.default",
                      {{"self", {floats({256}, DType::kBFloat16)}},
                       {"dim", kDimZero},
                       {"index", {longs({4}, {0, 0, 0, 0})}},
                       {"source", {floats({1, 1, 1, 1}, DType::kBFloat16)}}},
                      mode);
  };
  // One after the other, every sum of 256 and 1 rounds back to 256.
  const TensorRef judged = add(Mode::kWorstCase);
  EXPECT_GE(radii(*judged)[0], 4);
  EXPECT_LE(radii(*judged)[0], 8);
}

TEST(IndexAdd, IsExactWhereNoOrderRounds) {
  const TensorRef out = run_tensor("aten.index_add.default",
                                   {{"self", {floats({1, 0}, DType::kBFloat16)}},
                                    {"dim", kDimZero},
                                    {"index", {longs({2}, {0, 0})}},
                                    {"source", {floats({2, 3}, DType::kBFloat16)}},
                                    {"alpha", {2.0}}},
                                   Mode::kWorstCase);
  EXPECT_EQ(values(*out), (Numbers{11, 0}));
  EXPECT_EQ(radii(*out), (Numbers{0, 0}));
}

TEST(IndexPut, AddsUpWhatSeveralIndicesSend) {
  const auto put = [](bool accumulate) {
    return values(
        *run_tensor("aten.index_put.default", {{"self", {floats({1, 2, 3})}},
                                               {"indices", list_of({longs({3}, {0, 0, -1})})},
                                               {"values", {floats({10, 20, 30})}},
                                               {"accumulate", {accumulate}}}));
  };
  EXPECT_EQ(put(true), (Numbers{31, 2, 33}));
  EXPECT_EQ(put(false), (Numbers{20, 2, 30}));
}

TEST(IndexPut, BroadcastsItsValuesOverAMask) {
  const TensorRef self = counting({2, 3});
  run("aten.index_put_.default", {{"self", {self}},
                                  {"indices", list_of({tensor(DType::kBool, {2}, {0, 1})})},
                                  {"values", {tensor(DType::kFloat32, {}, {9})}}});
  EXPECT_EQ(values(*self), (Numbers{0, 1, 2, 9, 9, 9}));
}

TEST(MaskedScatter, TakesTheSourceInOrder) {
  const TensorRef mask = tensor(DType::kBool, {4}, {1, 0, 1, 0});
  const auto scatter = [&](const Numbers& source) {
    return run_tensor("aten.masked_scatter.default",
                      {{"self", {counting({4})}}, {"mask", {mask}}, {"source", {floats(source)}}});
  };
  EXPECT_EQ(values(*scatter({7, 8, 9})), (Numbers{7, 1, 8, 3}));
  EXPECT_THROW(scatter({7}), OpError);
}

TEST(SliceScatter, KeepsTheGeometryAndTheStorageOfASlice) {
  const TensorRef base = counting({4, 6});
  const TensorRef self = view_of(*base, {4, 3}, {6, 2}, 1);
  const TensorRef out = run_tensor("aten.slice_scatter.default",
                                   {{"self", {self}},
                                    {"src", {tensor(DType::kFloat32, {1, 3}, {-1, -2, -3})}},
                                    {"dim", kDimZero},
                                    {"start", {std::int64_t{1}}},
                                    {"end", {std::int64_t{2}}}});
  EXPECT_EQ(out->strides, (Sizes{6, 2}));
  EXPECT_EQ(out->offset, 1);
  EXPECT_EQ(values(*out), (Numbers{1, 3, 5, -1, -2, -3, 13, 15, 17, 19, 21, 23}));
  EXPECT_EQ(values(*base), values(*counting({4, 6})));
}

TEST(SliceScatter, LeavesOpenWhichOfSeveralWritesToOnePlaceStays) {
  const TensorRef windows = view_of(*counting({4}), {3, 2}, {1, 1}, 0);
  const TensorRef out = run_tensor("aten.slice_scatter.default",
                                   {{"self", {windows}},
                                    {"src", {tensor(DType::kFloat32, {2, 2}, {7, 8, 9, 10})}},
                                    {"dim", kDimZero},
                                    {"start", {std::int64_t{1}}}},
                                   Mode::kWorstCase);
  EXPECT_EQ(values(*out)[1], 7);
  const Numbers spread = test::radii(*out);
  EXPECT_EQ(spread[0] + spread[1] + spread[2] + spread[5], 0);
  EXPECT_TRUE(std::isinf(spread[3]) && std::isinf(spread[4]));
}

TEST(SelectScatter, LaysAnExpandedTensorOutAnew) {
  const TensorRef self = view_of(*counting({3}), {2, 3}, {0, 1}, 0);
  const TensorRef out = run_tensor("aten.select_scatter.default", {{"self", {self}},
                                                                   {"src", {floats({7, 8, 9})}},
                                                                   {"dim", kDimZero},
                                                                   {"index", {std::int64_t{-1}}}});
  EXPECT_EQ(out->strides, (Sizes{3, 1}));
  EXPECT_EQ(values(*out), (Numbers{0, 1, 2, 7, 8, 9}));
}

// 1e30 * 1e30 overflows unless 1e-30 comes between.
TEST(ScatterReduce, MultipliesInAnyOrder) {
  const TensorRef out = run_tensor("aten.scatter_reduce.two",
                                   {{"self", {floats({1e30})}},
                                    {"dim", {std::int64_t{0}}},
                                    {"index", {tensor(DType::kInt64, {2}, {0, 0})}},
                                    {"src", {floats({1e30, 1e-30})}},
                                    {"reduce", {std::string("prod")}}},
                                   Mode::kWorstCase);
  EXPECT_TRUE(std::isinf(test::radii(*out)[0]));
}

// A bound covers both rows; an estimate would take a choice for a rounding, and lose sight of it in
// the square, whose operands choose alike.
TEST(IndexCopy, OfTwoRowsToOneIsBoundedAndNotEstimated) {
  const auto radius = [](Mode mode) {
    const Arguments given = {{"self", {tensor(DType::kFloat32, {2}, {0, 0})}},
                             {"dim", {std::int64_t{0}}},
                             {"index", {tensor(DType::kInt64, {2}, {1, 1})}},
                             {"source", {tensor(DType::kFloat32, {2}, {3, 5})}}};
    return test::radii(*run_tensor("aten.index_copy.default", given, mode));
  };
  EXPECT_EQ(radius(Mode::kWorstCase), (Numbers{0, 2}));
  EXPECT_EQ(radius(Mode::kSampled), (Numbers{0, HUGE_VAL}));
}

// Their difference has more digits than a float64, and may not be rounded down.
TEST(IndexCopy, BoundsReachTheOtherOfTwoRows) {
  const double first = 0x1.8p1 + 0x1p-51;
  const double last = -0x1p-1 - 0x1p-54;
  const Arguments given = {{"self", {tensor(DType::kFloat64, {1}, {0})}},
                           {"dim", {std::int64_t{0}}},
                           {"index", {tensor(DType::kInt64, {2}, {0, 0})}},
                           {"source", {tensor(DType::kFloat64, {2}, {first, last})}}};
  const TensorRef out = run_tensor("aten.index_copy.default", given, Mode::kWorstCase);
  const auto apart = static_cast<long double>(first) - static_cast<long double>(last);
  EXPECT_GE(static_cast<long double>(test::radii(*out)[0]), apart);
}

}  // namespace
}  // namespace graphgate::reference::test
