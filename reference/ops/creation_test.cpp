#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(CreationOps, FullTakesItsDtypeFromTheNumber) {
  const auto full = [](Datum value) {
    return run_tensor("aten.full.default", {{"size", ints({2})}, {"fill_value", std::move(value)}});
  };
  EXPECT_EQ(full({true})->dtype, DType::kBool);
  EXPECT_EQ(full({std::int64_t{3}})->dtype, DType::kInt64);
  EXPECT_EQ(full({3.5})->dtype, DType::kFloat32);
}

TEST(CreationOps, FullRefusesANumberThatTheDtypeCannotHold) {
  const auto full = [](Datum value, DType dtype) {
    return values(*run_tensor(
        "aten.full.default",
        {{"size", ints({1})}, {"fill_value", std::move(value)}, {"dtype", {dtype}}}))[0];
  };
  EXPECT_THROW(full({std::int64_t{300}}, DType::kUInt8), OpError);
  EXPECT_THROW(full({1e39}, DType::kFloat32), OpError);
  EXPECT_EQ(full({std::int64_t{-1}}, DType::kUInt8), 255);
  EXPECT_EQ(full({0.5}, DType::kBool), 1);
}

TEST(CreationOps, OnlyASingleElementMayOverflowAHalf) {
  const auto full = [](std::int64_t count) {
    return run_tensor(
        "aten.full.default",
        {{"size", ints({count})}, {"fill_value", {7e4}}, {"dtype", {DType::kFloat16}}});
  };
  EXPECT_TRUE(std::isinf(values(*full(1))[0]));
  EXPECT_THROW(full(2), OpError);
}

TEST(CreationOps, AnOracleRunKnowsNothingOfUnwrittenElements) {
  const auto empty = [](Mode mode) {
    return radii(*run_tensor("aten.empty.memory_format", {{"size", ints({2})}}, mode));
  };
  EXPECT_EQ(empty(Mode::kEager), Numbers(2, 0.0));
  EXPECT_TRUE(std::isinf(empty(Mode::kWorstCase)[0]));
}

// As PyTorch 2.15 does; 2.11 cut floats off first where int64 was asked for.
TEST(CreationOps, ArangeCountsFloatsInFloatsAndIntegersInIntegers) {
  const auto count = [](Datum start, Datum end, Datum step, DType dtype) {
    return run_tensor("aten.arange.start_step",
                      {{"start", start}, {"end", end}, {"step", step}, {"dtype", {dtype}}})
        ->sizes[0];
  };
  for (const DType dtype : {DType::kInt64, DType::kInt32, DType::kUInt8}) {
    EXPECT_EQ(count({0.5}, {5.5}, {1.5}, dtype), 4);
    EXPECT_EQ(count({0.0}, {3.1}, {1.0}, dtype), 4);
    EXPECT_EQ(count({0.0}, {3.0}, {0.5}, dtype), 6);
  }
  constexpr std::int64_t kBig = (std::int64_t{1} << 62) + 1;
  EXPECT_EQ(count({kBig}, {kBig + 3}, {std::int64_t{2}}, DType::kInt64), 2);
}

TEST(CreationOps, ArangeIntoInt64CutsFloatsOffFirstInOlderReleases) {
  const auto count = [](spec::TorchRelease release, Datum start, Datum end, Datum step,
                        DType dtype) {
    const DeclaredSemantics declared({release, nullptr});
    return run_tensor("aten.arange.start_step",
                      {{"start", start}, {"end", end}, {"step", step}, {"dtype", {dtype}}})
        ->sizes[0];
  };
  constexpr spec::TorchRelease kOlder{2, 11};
  EXPECT_EQ(count(kOlder, {0.5}, {5.5}, {1.5}, DType::kInt64), 5);
  EXPECT_EQ(count(kOlder, {0.5}, {5.5}, {1.5}, DType::kInt32), 4);
  EXPECT_THROW(count(kOlder, {0.0}, {3.0}, {0.5}, DType::kInt64), OpError);
  EXPECT_EQ(count({2, 13}, {0.5}, {5.5}, {1.5}, DType::kInt64), 5);
  EXPECT_EQ(count({2, 14}, {0.5}, {5.5}, {1.5}, DType::kInt64), 4);
  EXPECT_EQ(count({2, 16}, {0.5}, {5.5}, {1.5}, DType::kInt64), 4);
  // Where nobody says the release, only what releases do alike is known.
  EXPECT_THROW(count({}, {0.5}, {5.5}, {1.5}, DType::kInt64), Undecidable);
  EXPECT_EQ(count({}, {0.0}, {4.0}, {2.0}, DType::kInt64), 2);
}

TEST(CreationOps, ArangeIsExactWhereEveryElementIs) {
  const TensorRef whole = run_tensor("aten.arange.default", {{"end", {40.0}}}, Mode::kWorstCase);
  EXPECT_EQ(radii(*whole), Numbers(40, 0.0));
  const TensorRef tenths =
      run_tensor("aten.arange.start_step", {{"start", {0.0}}, {"end", {1.0}}, {"step", {0.1}}},
                 Mode::kWorstCase);
  EXPECT_GT(radii(*tenths)[3], 0);
  EXPECT_LT(radii(*tenths)[3], 0x1p-24);
}

TEST(CreationOps, ArangeRefusesAStepOfZeroAndAStepAwayFromTheEnd) {
  const auto arange = [](std::int64_t end, std::int64_t step) {
    return run("aten.arange.start_step",
               {{"start", {std::int64_t{0}}}, {"end", {end}}, {"step", {step}}});
  };
  EXPECT_THROW(arange(3, 0), OpError);
  EXPECT_THROW(arange(3, -1), OpError);
}

TEST(CreationOps, FullLikeKeepsTheStridesOfADenseOperand) {
  const TensorRef x = tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2});
  const Datum one{std::int64_t{1}};
  EXPECT_EQ(run_tensor("aten.full_like.default", {{"self", {x}}, {"fill_value", one}})->strides,
            (Sizes{1, 2}));
  EXPECT_EQ(
      run_tensor("aten.full_like.default", {{"self", {x}},
                                            {"fill_value", one},
                                            {"memory_format", {spec::MemoryFormat::kContiguous}}})
          ->strides,
      (Sizes{3, 1}));
}

TEST(CreationOps, NegativeAndHugeSizesAreRefused) {
  EXPECT_THROW((void)run("aten.zeros.default", {{"size", ints({-1})}}), OpError);
  EXPECT_THROW((void)run("aten.zeros.default", {{"size", ints({1L << 40, 1L << 40})}}), OpError);
}

TEST(CreationOps, TrilInPlaceZeroesAboveTheDiagonal) {
  const TensorRef x = tensor(DType::kInt32, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_tensor("aten.tril_.default", {{"self", {x}}, {"diagonal", {std::int64_t{1}}}}), x);
  EXPECT_EQ(values(*x), (Numbers{1, 2, 0, 4, 5, 6}));
}

// arange fills an out= tensor that holds as many elements as it has numbers, whatever its sizes.
TEST(CreationOps, ArangeKeepsTheSizesOfAnOutTensorWithAsManyElements) {
  const TensorRef out = tensor(DType::kInt64, {2, 3}, {0, 0, 0, 0, 0, 0}, {1, 2});
  const auto count_to = [&](std::int64_t end) {
    return run_tensor("aten.arange.start_out", {{"start", {std::int64_t{0}}},
                                                {"end", {end}},
                                                {"step", {std::int64_t{1}}},
                                                {"out", {out}}});
  };
  EXPECT_EQ(values(*count_to(6)), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(out->sizes, (Sizes{2, 3}));
  EXPECT_EQ(out->strides, (Sizes{1, 2}));
  EXPECT_EQ(count_to(4)->sizes, Sizes{4});
}

TEST(CreationOps, LinspaceKeepsTheSizesOfAnOutTensorWithAsManyElements) {
  const TensorRef out = tensor(DType::kFloat32, {1, 3}, {0, 0, 0});
  const TensorRef made =
      run_tensor("aten.linspace.out",
                 {{"start", {0.0}}, {"end", {1.0}}, {"steps", {std::int64_t{3}}}, {"out", {out}}});
  EXPECT_EQ(made->sizes, (Sizes{1, 3}));
  EXPECT_EQ(values(*made), (Numbers{0, 0.5, 1}));
}

}  // namespace
}  // namespace graphgate::reference::test
