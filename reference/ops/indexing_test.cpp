#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TensorRef longs(const Sizes& sizes, const Numbers& numbers) {
  return tensor(DType::kInt64, sizes, numbers);
}
Datum index_list(const std::vector<TensorRef>& indices) {
  Datum::List list;
  for (const TensorRef& index : indices) {
    list.push_back(index ? Datum{index} : Datum{spec::None{}});
  }
  return {list};
}
// An index tensor of which an oracle run knows nothing but its likely values.
TensorRef undecided_longs(const Sizes& sizes, const Numbers& numbers) {
  TensorRef index = longs(sizes, numbers);
  Array<Whole> elements = load<Whole>(*index, DType::kInt64);
  for (Whole& x : elements.data) x.undecided = true;
  store(*index, elements);
  return index;
}

TEST(Index, BroadcastsItsIndicesAgainstEachOther) {
  const TensorRef out = run_tensor(
      "aten.index.Tensor", {{"self", {counting({3, 4})}},
                            {"indices", index_list({longs({2, 1}, {0, -1}), longs({2}, {1, 3})})}});
  EXPECT_EQ(out->sizes, (Sizes{2, 2}));
  EXPECT_EQ(values(*out), (Numbers{1, 3, 9, 11}));
}

TEST(Index, PutsNeighbouringIndexedDimensionsWhereTheyStood) {
  const TensorRef at = longs({2}, {0, 1});
  const TensorRef self = counting({2, 3, 4, 5});
  const TensorRef out = run_tensor("aten.index.Tensor",
                                   {{"self", {self}}, {"indices", index_list({nullptr, at, at})}});
  EXPECT_EQ(out->sizes, (Sizes{2, 2, 5}));
  EXPECT_EQ(values(*out)[5], 25);  // [0, 1, 0] is self[0, 1, 1, 0]
}

TEST(Index, PutsSeparatedIndexedDimensionsFirst) {
  const TensorRef at = longs({2}, {0, 1});
  const TensorRef self = counting({2, 3, 4});
  const TensorRef out = run_tensor("aten.index.Tensor",
                                   {{"self", {self}}, {"indices", index_list({at, nullptr, at})}});
  EXPECT_EQ(out->sizes, (Sizes{2, 3}));
  EXPECT_EQ(values(*out), (Numbers{0, 4, 8, 13, 17, 21}));
}

TEST(Index, TakesAMaskOfSeveralDimensionsAsItsCoordinates) {
  const TensorRef mask = tensor(DType::kBool, {2, 3}, {0, 1, 0, 1, 0, 1});
  const TensorRef out = run_tensor("aten.index.Tensor",
                                   {{"self", {counting({2, 3})}}, {"indices", index_list({mask})}});
  EXPECT_EQ(values(*out), (Numbers{1, 3, 5}));
}

TEST(Index, LaysItsResultOutAsTheIndexLies) {
  const TensorRef at = tensor(DType::kInt64, {2, 3}, {0, 1, 2, 3, 4, 5}, {1, 2});
  const TensorRef out =
      run_tensor("aten.index.Tensor", {{"self", {counting({6})}}, {"indices", index_list({at})}});
  EXPECT_EQ(out->strides, (Sizes{1, 2}));
  EXPECT_EQ(values(*out), (Numbers{0, 1, 2, 3, 4, 5}));
}

TEST(Index, RefusesWhatLiesOutside) {
  const auto index_at = [](const TensorRef& at) {
    return run_tensor("aten.index.Tensor",
                      {{"self", {counting({2, 3})}}, {"indices", index_list({at})}});
  };
  EXPECT_THROW(index_at(longs({1}, {2})), OpError);
  EXPECT_THROW(index_at(longs({1}, {-3})), OpError);
  EXPECT_THROW(index_at(tensor(DType::kBool, {3}, {1, 0, 1})), OpError);
  EXPECT_THROW(index_at(tensor(DType::kFloat32, {1}, {0})), OpError);
}

TEST(Index, KnowsNothingOfWhatAnUndecidedIndexReads) {
  const TensorRef out =
      run_tensor("aten.index.Tensor",
                 {{"self", {counting({3})}}, {"indices", index_list({undecided_longs({1}, {1})})}},
                 Mode::kWorstCase);
  EXPECT_TRUE(std::isinf(radii(*out)[0]));
}

TEST(Gather, ReadsAlongOneDimensionAndRefusesNegativeIndices) {
  const auto gather = [](const Numbers& at) {
    return run_tensor(
        "aten.gather.default",
        {{"self", {counting({2, 3})}}, {"dim", {std::int64_t{1}}}, {"index", {longs({2, 2}, at)}}});
  };
  EXPECT_EQ(values(*gather({2, 0, 1, 1})), (Numbers{2, 0, 4, 4}));
  EXPECT_THROW(gather({-1, 0, 0, 0}), OpError);
}

TEST(Gather, IsExactInAnOracleRun) {
  const TensorRef out = run_tensor("aten.gather.default",
                                   {{"self", {tensor(DType::kFloat32, {2}, {0.1, 0.2})}},
                                    {"dim", {std::int64_t{0}}},
                                    {"index", {longs({1}, {1})}}},
                                   Mode::kWorstCase);
  EXPECT_EQ(radii(*out), (Numbers{0}));
}

TEST(Embedding, ReadsThePaddingRowLikeAnyOther) {
  const TensorRef out = run_tensor("aten.embedding.default", {{"weight", {counting({3, 2})}},
                                                              {"indices", {longs({2}, {2, 0})}},
                                                              {"padding_idx", {std::int64_t{0}}}});
  EXPECT_EQ(values(*out), (Numbers{4, 5, 0, 1}));
}

TEST(Nonzero, GivesColumnMajorStrides) {
  const TensorRef out = run_tensor("aten.nonzero.default",
                                   {{"self", {tensor(DType::kFloat32, {2, 2}, {0, NAN, 3, 0})}}});
  EXPECT_EQ(out->sizes, (Sizes{2, 2}));
  EXPECT_EQ(out->strides, (Sizes{1, 2}));
  EXPECT_EQ(values(*out), (Numbers{0, 1, 1, 0}));
}

// [1, ?, 1]
TensorRef with_an_undecided_element() {
  const TensorRef self = tensor(DType::kInt64, {3}, {1, 0, 1});
  Array<Whole> elements = load<Whole>(*self, DType::kInt64);
  elements[1].undecided = true;
  store(*self, elements);
  return self;
}

TEST(NonzeroStatic, LeavesEverythingAfterAnUndecidedElementOpen) {
  const TensorRef out = run_tensor(
      "aten.nonzero_static.default",
      {{"self", {with_an_undecided_element()}}, {"size", {std::int64_t{2}}}}, Mode::kWorstCase);
  const Array<Whole> found = load<Whole>(*out, DType::kInt64);
  EXPECT_FALSE(found[0].undecided);
  EXPECT_TRUE(found[1].undecided);
}

// [1, ?] has one nonzero element or two, [?] none or one.
TEST(NonzeroStatic, LeavesTheFillOpenBehindAnUndecidedLastElement) {
  const auto is_open = [](const Numbers& elements) {
    const TensorRef self =
        tensor(DType::kInt64, {static_cast<std::int64_t>(elements.size())}, elements);
    Array<Whole> wholes = load<Whole>(*self, DType::kInt64);
    wholes.data.back().undecided = true;
    store(*self, wholes);
    const TensorRef out =
        run_tensor("aten.nonzero_static.default", {{"self", {self}}, {"size", {std::int64_t{2}}}},
                   Mode::kWorstCase);
    std::vector<bool> open;
    for (const Whole& place : load<Whole>(*out, DType::kInt64).data)
      open.push_back(place.undecided);
    return open;
  };
  EXPECT_EQ(is_open({1, 0}), (std::vector<bool>{false, true}));
  EXPECT_EQ(is_open({0}), (std::vector<bool>{true, true}));
}

TEST(NonzeroStatic, IsFilledByCoordinateByCudaKernels) {
  const Arguments given = {{"self", {counting({2, 2})}}, {"size", {std::int64_t{3}}}};
  EXPECT_EQ(run_tensor("aten.nonzero_static.default", given)->strides, (Sizes{2, 1}));
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_EQ(run_tensor("aten.nonzero_static.default", given)->strides, (Sizes{1, 3}));
}

// How many there are is the size of the result, and everything after depends on it.
TEST(Nonzero, HasNoOracleWhereTheCountIsUndecided) {
  const TensorRef self = with_an_undecided_element();
  EXPECT_THROW((void)run_tensor("aten.nonzero.default", {{"self", {self}}}, Mode::kWorstCase),
               Undecidable);
}

TEST(MaskedSelect, BroadcastsItsMask) {
  const TensorRef out =
      run_tensor("aten.masked_select.default",
                 {{"self", {counting({2, 3})}}, {"mask", {tensor(DType::kBool, {3}, {1, 0, 1})}}});
  EXPECT_EQ(values(*out), (Numbers{0, 2, 3, 5}));
}

TEST(Take, CountsNegativeIndicesFromTheEndOfTheFlattenedTensor) {
  const TensorRef out = run_tensor(
      "aten.take.default", {{"self", {counting({2, 3})}}, {"index", {longs({2}, {-1, 1})}}});
  EXPECT_EQ(values(*out), (Numbers{5, 1}));
}

TEST(RepeatInterleave, RepeatsEachRowItsOwnNumberOfTimes) {
  const TensorRef out =
      run_tensor("aten.repeat_interleave.self_Tensor",
                 {{"self", {counting({3})}}, {"repeats", {longs({3}, {2, 0, 1})}}});
  EXPECT_EQ(values(*out), (Numbers{0, 0, 2}));
  const TensorRef places =
      run_tensor("aten.repeat_interleave.Tensor", {{"repeats", {longs({3}, {1, 0, 2})}}});
  EXPECT_EQ(values(*places), (Numbers{0, 2, 2}));
  EXPECT_THROW(run_tensor("aten.repeat_interleave.Tensor", {{"repeats", {longs({1}, {-1})}}}),
               OpError);
}

TEST(Histc, ClosesTheLastBinAndIgnoresNanAndWhatLiesOutside) {
  const TensorRef self = tensor(DType::kFloat32, {6}, {0, 1, 2, 4, 9, NAN});
  const TensorRef out =
      run_tensor("aten.histc.default",
                 {{"self", {self}}, {"bins", {std::int64_t{2}}}, {"min", {0.0}}, {"max", {4.0}}});
  EXPECT_EQ(values(*out), (Numbers{2, 2}));
}

// 7 (x + 1) / 3 is 1.994 for this x; bfloat16 makes 5.988, its numerator, 6.
TEST(Histc, FindsTheBinInTheArithmeticOfTheDtype) {
  const auto counts = [](DType dtype) {
    const TensorRef self = tensor(dtype, {1}, {-0.1455078125});
    return values(*run_tensor(
        "aten.histc.default",
        {{"self", {self}}, {"bins", {std::int64_t{7}}}, {"min", {-1.0}}, {"max", {2.0}}}));
  };
  EXPECT_EQ(counts(DType::kFloat32), (Numbers{0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(counts(DType::kBFloat16), (Numbers{0, 0, 1, 0, 0, 0, 0}));
}

TEST(Histc, LeavesItOpenOnWhichSideOfAnInexactEdgeANumberLies) {
  const TensorRef self = tensor(DType::kFloat32, {2}, {0.05, 0.1});  // the first edge is about 0.1
  const TensorRef out =
      run_tensor("aten.histc.default",
                 {{"self", {self}}, {"bins", {std::int64_t{3}}}, {"min", {0.0}}, {"max", {0.3}}},
                 Mode::kWorstCase);
  ASSERT_EQ(radii(*out).size(), 3U);
  EXPECT_GE(radii(*out)[0], 1);
  EXPECT_GE(radii(*out)[1], 1);
  EXPECT_EQ(radii(*out)[2], 0);
}

TEST(Histc, LeavesItOpenWhetherANumberAtTheEndOfTheRangeCounts) {
  const TensorRef self = tensor(DType::kFloat32, {2}, {0.25, 1});
  self->storage->marks = {{0.25L, 0}, {1.0009L, 1e-3}};
  const TensorRef out =
      run_tensor("aten.histc.default",
                 {{"self", {self}}, {"bins", {std::int64_t{2}}}, {"min", {0.0}}, {"max", {1.0}}},
                 Mode::kWorstCase);
  EXPECT_EQ(values(*out), (Numbers{1, 0}));
  ASSERT_EQ(radii(*out).size(), 2U);
  EXPECT_EQ(radii(*out)[0], 0);
  EXPECT_GE(radii(*out)[1], 1);
  EXPECT_LT(radii(*out)[1], 2);
}

TEST(Searchsorted, DiffersBetweenLeftAndRightOnEqualBoundaries) {
  const auto find = [](bool right) {
    return values(*run_tensor("aten.bucketize.Tensor",
                              {{"self", {tensor(DType::kFloat32, {3}, {0, 2, NAN})}},
                               {"boundaries", {tensor(DType::kFloat32, {3}, {1, 2, 3})}},
                               {"right", {right}}}));
  };
  EXPECT_EQ(find(false), (Numbers{0, 1, 3}));
  EXPECT_EQ(find(true), (Numbers{0, 2, 3}));
}

}  // namespace
}  // namespace graphgate::reference::test
