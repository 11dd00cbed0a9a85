#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(Sum, OfIntegersAndBooleansIsInt64AndAnEmptyDimListMeansAll) {
  const auto mask = tensor(DType::kBool, {2, 2}, {1, 0, 1, 1});
  const auto out = run_tensor("aten.sum.dim_IntList", {{"self", {mask}}, {"dim", ints({})}});
  EXPECT_EQ(out->dtype, DType::kInt64);
  EXPECT_TRUE(out->sizes.empty());
  EXPECT_EQ(values(*out), Numbers{3});
}

TEST(Sum, KeepsReducedDimensionsAsOnesAndIsContiguous) {
  const auto x = tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2});
  const auto out =
      run_tensor("aten.sum.dim_IntList", {{"self", {x}}, {"dim", ints({-1})}, {"keepdim", {true}}});
  EXPECT_EQ(out->sizes, (Sizes{2, 1}));
  EXPECT_EQ(out->strides, (Sizes{1, 1}));
  EXPECT_EQ(values(*out), (Numbers{6, 15}));
}

// Rows of two numbers, three numbers apart: the CPU's kernel adds each row to a bfloat16.
TEST(Nansum, MayKeepPartialSumsIn16Bits) {
  const double tiny = 0x1p-7 + 0x1p-9;
  const auto radius = [&](const Sizes& strides) {
    const auto x = tensor(DType::kBFloat16, {3, 2}, {1, tiny, 1, tiny, 1, tiny}, strides);
    const auto out =
        run_tensor("aten.nansum.default", {{"self", {x}}, {"dim", ints({0, 1})}}, Mode::kWorstCase);
    return radii(*out)[0];
  };
  EXPECT_GT(radius({3, 1}), 1.5 * radius({2, 1}));
}

TEST(Sum, RefusesADimensionNamedTwice) {
  EXPECT_THROW(run("aten.sum.dim_IntList", {{"self", {counting({2, 2})}}, {"dim", ints({0, -2})}}),
               OpError);
}

TEST(Mean, OfNoElementsIsNaN) {
  const auto out = run_tensor("aten.mean.default", {{"self", {counting({0})}}});
  EXPECT_TRUE(std::isnan(values(*out)[0]));
}

TEST(Mean, OfA16BitDtypeRoundsOnce) {
  // 778 / 3 rounds to 260; had the sum been rounded first, to 776, the mean would be 258.
  const auto x = tensor(DType::kBFloat16, {3}, {258, 260, 260});
  EXPECT_EQ(values(*run_tensor("aten.mean.default", {{"self", {x}}})), Numbers{260});
}

TEST(Prod, IsExactOnPowersOfTwoAndSmallIntegers) {
  const auto x = tensor(DType::kBFloat16, {4}, {3, 0.5, -4, 5});
  const auto out = run_tensor("aten.prod.default", {{"self", {x}}}, Mode::kWorstCase);
  EXPECT_EQ(values(*out), Numbers{-30});
  EXPECT_EQ(radii(*out), Numbers{0});
}

TEST(Prod, CountsOneRoundingPerMultiplicationInTheDtypeItself) {
  const auto x = tensor(DType::kBFloat16, {3}, {1.0078125, 1.0078125, 1.0078125});
  const double radius =
      radii(*run_tensor("aten.prod.default", {{"self", {x}}}, Mode::kWorstCase))[0];
  EXPECT_GT(radius, 2 * std::ldexp(1.0, -8));
  EXPECT_LT(radius, 4 * std::ldexp(1.0, -8));
}

TEST(Prod, IsUnknownWhenSomeOrderOverflows) {
  const auto x = tensor(DType::kFloat32, {4}, {3e30, 3e30, 3e-31, 3e-31});
  EXPECT_EQ(radii(*run_tensor("aten.prod.default", {{"self", {x}}}, Mode::kWorstCase))[0],
            kInfinity);
}

TEST(AnyAndAll, KeepUint8AndTakeAnEmptyDimListLiterally) {
  const auto bytes = tensor(DType::kUInt8, {2}, {0, 7});
  EXPECT_EQ(run_tensor("aten.any.default", {{"self", {bytes}}})->dtype, DType::kUInt8);
  const auto same = run_tensor("aten.all.dims", {{"self", {bytes}}, {"dim", ints({})}});
  EXPECT_EQ(same->sizes, Sizes{2});
  EXPECT_EQ(values(*same), (Numbers{0, 1}));
  const auto columns = tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4}, {1, 2});
  const auto dense = run_tensor("aten.any.dims", {{"self", {columns}}, {"dim", ints({})}});
  EXPECT_EQ(dense->strides, (Sizes{2, 1}));
}

TEST(AnyAndAll, TakeNaNAsTrueAndNothingAsFalseAndTrue) {
  const auto nan = tensor(DType::kFloat32, {1}, {kNan});
  EXPECT_EQ(values(*run_tensor("aten.any.default", {{"self", {nan}}})), Numbers{1});
  const auto none = counting({0});
  EXPECT_EQ(values(*run_tensor("aten.any.default", {{"self", {none}}})), Numbers{0});
  EXPECT_EQ(values(*run_tensor("aten.all.default", {{"self", {none}}})), Numbers{1});
}

TEST(Logsumexp, OfInfinitiesIsInfinite) {
  const auto low = tensor(DType::kFloat32, {2}, {-kInfinity, -kInfinity});
  const auto out = run_tensor("aten.logsumexp.default", {{"self", {low}}, {"dim", ints({0})}});
  EXPECT_EQ(values(*out), Numbers{-kInfinity});
}

TEST(VectorNorm, KnowsItsLimitsAndZero) {
  const auto x = tensor(DType::kFloat32, {3}, {3, 0, -4});
  const auto norm = [&](Datum order) {
    return values(
        *run_tensor("aten.linalg_vector_norm.default", {{"self", {x}}, {"ord", order}}))[0];
  };
  EXPECT_EQ(norm({2.0}), 5);
  EXPECT_EQ(norm({std::int64_t{1}}), 7);
  EXPECT_EQ(norm({0.0}), 2);
  EXPECT_EQ(norm({kInfinity}), 4);
  EXPECT_EQ(norm({-kInfinity}), 0);
}

// As PyTorch 2.15: powers of float32 overflow and underflow in float32.
TEST(VectorNorm, OfPowersBeyondTheDtypeIsInfiniteOrZero) {
  const auto norms = [](DType dtype, const Numbers& x, double order) {
    const auto count = static_cast<std::int64_t>(x.size());
    const auto twice = tensor(dtype, {count, 2}, [&] {
      Numbers all;
      for (const double number : x) all.insert(all.end(), 2, number);
      return all;
    }());
    return values(*run_tensor("aten.linalg_vector_norm.default",
                              {{"self", {twice}}, {"ord", {order}}, {"dim", ints({1})}}));
  };
  EXPECT_EQ(norms(DType::kFloat32, {1e30, 1e-30}, 2), (Numbers{kInfinity, 0}));
  EXPECT_EQ(norms(DType::kFloat32, {1e30, 1e-30}, 3), (Numbers{kInfinity, 0}));
  EXPECT_EQ(norms(DType::kBFloat16, {1e30, 1e-30}, 3), (Numbers{kInfinity, 0}));
  EXPECT_EQ(norms(DType::kFloat32, {1e30, 1e-30}, -2), (Numbers{kInfinity, 0}));
  EXPECT_EQ(norms(DType::kFloat64, {1e200, 1e-200}, 2), (Numbers{kInfinity, 0}));
  EXPECT_TRUE(std::isfinite(norms(DType::kFloat64, {1e200}, 1.5)[0]));
}

// PyTorch takes the magnitude of a single number; who takes powers all the same may be infinite.
TEST(VectorNorm, OfOneNumberIsItsMagnitude) {
  const auto x = tensor(DType::kFloat32, {3, 1}, {-1e30, 1e-30, 3});
  const Arguments cubed = {{"self", {x}}, {"ord", {3.0}}, {"dim", ints({1})}};
  const auto eager = run_tensor("aten.linalg_vector_norm.default", cubed);
  EXPECT_EQ(values(*eager), values(*tensor(DType::kFloat32, {3}, {1e30, 1e-30, 3})));
  const auto bounds = run_tensor("aten.linalg_vector_norm.default", cubed, Mode::kWorstCase);
  EXPECT_EQ(values(*bounds), values(*eager));
  EXPECT_TRUE(std::isinf(radii(*bounds)[0]));
  EXPECT_GE(radii(*bounds)[1], 1e-30);
  EXPECT_LT(radii(*bounds)[2], 1e-5);
}

TEST(Maximum, PropagatesNaNAndPointsAtTheFirstOne) {
  const auto x = tensor(DType::kFloat32, {4}, {1, kNan, 9, kNan});
  const auto out = run("aten.max.dim", {{"self", {x}}, {"dim", {std::int64_t{0}}}});
  EXPECT_TRUE(std::isnan(values(**out[0].as<TensorRef>())[0]));
  EXPECT_EQ(values(**out[1].as<TensorRef>()), Numbers{1});
}

TEST(Maximum, OfEqualElementsIsTheFirst) {
  const auto x = tensor(DType::kInt32, {2, 3}, {5, 7, 7, 2, 2, 2});
  const auto out = run_tensor("aten.argmax.default", {{"self", {x}}, {"dim", {std::int64_t{1}}}});
  EXPECT_EQ(values(*out), (Numbers{1, 0}));
}

TEST(Maximum, OfNoElementsIsAnError) {
  EXPECT_THROW(run("aten.amax.default", {{"self", {counting({0, 2})}}, {"dim", ints({0})}}),
               OpError);
  EXPECT_EQ(
      run_tensor("aten.amax.default", {{"self", {counting({0, 2})}}, {"dim", ints({1})}})->sizes,
      Sizes{0});
}

TEST(Maximum, LeavesTheIndexOpenWhenRadiiOverlap) {
  const auto x = counting({3}, DType::kFloat32);
  x->storage->marks = {{1.0L, 0}, {2.0L, 0.5}, {2.25L, 0}};
  const auto out =
      run("aten.max.dim", {{"self", {x}}, {"dim", {std::int64_t{0}}}}, Mode::kWorstCase);
  EXPECT_NEAR(radii(**out[0].as<TensorRef>())[0], 0.5, 1e-6);
  EXPECT_EQ(radii(**out[1].as<TensorRef>())[0], kInfinity);
}

TEST(Variance, DividesByWhatTheCorrectionLeaves) {
  const auto x = tensor(DType::kFloat32, {4}, {1, 2, 3, 6});
  const auto var = [&](Datum correction) {
    return values(
        *run_tensor("aten.var.correction", {{"self", {x}}, {"correction", correction}}))[0];
  };
  EXPECT_FLOAT_EQ(static_cast<float>(var({std::int64_t{0}})), 3.5F);
  EXPECT_FLOAT_EQ(static_cast<float>(var({spec::None{}})), static_cast<float>(14.0 / 3));
  EXPECT_EQ(var({std::int64_t{4}}), kInfinity);
}

TEST(Variance, OfAConstantIsExactlyZeroAndOtherwiseAllowsRunningMeans) {
  const auto same = tensor(DType::kFloat32, {3}, {2, 2, 2});
  EXPECT_EQ(radii(*run_tensor("aten.var.default", {{"self", {same}}}, Mode::kWorstCase))[0], 0);
  const auto x = tensor(DType::kFloat32, {4}, {1000, 1001, 1002, 1005});
  const double radius =
      radii(*run_tensor("aten.var.default", {{"self", {x}}}, Mode::kWorstCase))[0];
  EXPECT_GT(radius, 1000 * std::ldexp(1.0, -24));
  EXPECT_LT(radius, 1000 * std::ldexp(1.0, -18));
}

}  // namespace
}  // namespace graphgate::reference::test
