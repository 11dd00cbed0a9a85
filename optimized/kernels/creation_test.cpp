#include <gtest/gtest.h>

#include <limits>

#include "optimized/kernels/kernel_test.h"
#include "optimized/kernels/view_geometry.h"

namespace graphgate::optimized::testing {
namespace {

TEST(Full, TakesItsDtypeFromTheNumber) {
  EXPECT_EQ(run_one("aten.full.default", {Sizes{1}, 2}).dtype, DType::kInt64);
  EXPECT_EQ(run_one("aten.full.default", {Sizes{1}, 2.0}).dtype, DType::kFloat32);
  EXPECT_EQ(run_one("aten.full.default", {Sizes{1}, true}).dtype, DType::kBool);
}

TEST(Full, RefusesNumbersThatTheDtypeDoesNotHold) {
  const auto filled = [](const testing::TestArgument& number, DType dtype) {
    return numbers(run_one("aten.full.default", {Sizes{1}, number}, {{"dtype", dtype}})).at(0);
  };
  EXPECT_EQ(filled(-255, DType::kUInt8), 1);
  EXPECT_THROW(filled(-256, DType::kUInt8), OpError);
  EXPECT_THROW(filled(128, DType::kInt8), OpError);
  EXPECT_EQ(filled(-128.9, DType::kInt16), -128);
  EXPECT_THROW(filled(std::numeric_limits<double>::quiet_NaN(), DType::kInt64), OpError);
  EXPECT_THROW(filled(1e300, DType::kFloat32), OpError);
  EXPECT_EQ(filled(1e10, DType::kFloat16), std::numeric_limits<double>::infinity());
  EXPECT_EQ(filled(std::numeric_limits<double>::infinity(), DType::kFloat32),
            std::numeric_limits<double>::infinity());
}

TEST(FullOut, FillsAnOutTensorOfAnotherDtypeAndItsStrides) {
  const Tensor out = make_tensor(DType::kFloat64, {2, 2}, {}, {1, 4});
  run_one("aten.full.out", {Sizes{2, 2}, 3}, {{"out", out}});
  EXPECT_EQ(numbers(out), (Numbers{3, 3, 3, 3}));
}

TEST(Arange, CountsExactlyInInt64) {
  constexpr std::int64_t kBig = (std::int64_t{1} << 62) + 1;
  EXPECT_EQ(integers(run_one("aten.arange.start", {kBig, kBig + 2})),
            (std::vector<std::int64_t>{kBig, kBig + 1}));
  EXPECT_EQ(integers(run_one("aten.arange.start_step", {3, -3, -4})),
            (std::vector<std::int64_t>{3, -1}));
  EXPECT_TRUE(numbers(run_one("aten.arange.start", {2, 2})).empty());
}

TEST(Arange, CountsFloatsInFloatsWhateverDtypeIsAskedFor) {
  for (const DType dtype : {DType::kInt64, DType::kInt32}) {
    EXPECT_EQ(integers(run_one("aten.arange.default", {3.1}, {{"dtype", dtype}})),
              (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(integers(run_one("aten.arange.start_step", {0, 2, 0.5}, {{"dtype", dtype}})),
              (std::vector<std::int64_t>{0, 0, 0, 0}));
  }
}

TEST(Arange, RefusesWrongSteps) {
  EXPECT_THROW(run_one("aten.arange.start", {3, 2}), OpError);
  EXPECT_THROW(run_one("aten.arange.start_step", {0, 2, 0}), OpError);
  EXPECT_THROW(run_one("aten.arange.default", {std::numeric_limits<double>::infinity()}), OpError);
}

TEST(Linspace, EndsAtTheEndAndReadsScalarTensorsWhenItRuns) {
  EXPECT_EQ(numbers(run_one("aten.linspace.default", {0, 1, 5})), (Numbers{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(numbers(run_one("aten.linspace.default", {3, 4, 1})), (Numbers{3}));
  EXPECT_EQ(numbers(run_one("aten.linspace.default", {0.5, 9.7, 5}, {{"dtype", DType::kInt32}})),
            (Numbers{0, 2, 4, 6, 9}));
  const Tensor start = make_tensor(DType::kInt64, {}, {1});
  EXPECT_EQ(numbers(run_one("aten.linspace.Tensor_Scalar", {start, 2, 3})), (Numbers{1, 1.5, 2}));
  EXPECT_THROW(run_one("aten.linspace.Tensor_Scalar", {make_tensor(DType::kInt64, {1}), 2, 3}),
               OpError);
}

TEST(Tril, WorksInPlaceOnAView) {
  const Tensor base = make_tensor(DType::kInt32, {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  run_one("aten.tril_.default", {transposed(base, 0, 1), -1});
  EXPECT_EQ(numbers(base), (Numbers{0, 2, 3, 0, 0, 6, 0, 0, 0}));
}

TEST(Triu, TakesDiagonalsFarOutside) {
  const Tensor self = make_tensor(DType::kInt32, {2, 2}, {1, 2, 3, 4});
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(numbers(run_one("aten.triu.default", {self, kFar})), (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(numbers(run_one("aten.triu.default", {self, -kFar})), (Numbers{1, 2, 3, 4}));
  EXPECT_THROW(run_one("aten.triu.default", {make_tensor(DType::kInt32, {2})}), OpError);
  EXPECT_TRUE(numbers(run_one("aten.triu.default", {make_tensor(DType::kInt32, {0, 2})})).empty());
}

TEST(DiagEmbed, PutsElementsOnADiagonalOfZeros) {
  const Tensor self = make_tensor(DType::kFloat32, {2}, {1, 2});
  EXPECT_EQ(numbers(run_one("aten.diag_embed.default", {self, 1})),
            (Numbers{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_THROW(run_one("aten.diag_embed.default", {self, 0, 1, 1}), OpError);
}

TEST(EmptyPermuted, WantsEveryDimensionOnce) {
  EXPECT_EQ(run_one("aten.empty_permuted.default", {Sizes{2, 3, 4}, Sizes{2, 0, 1}}).strides,
            (Sizes{3, 1, 6}));
  EXPECT_THROW(run_one("aten.empty_permuted.default", {Sizes{2, 3}, Sizes{0}}), OpError);
  EXPECT_THROW(run_one("aten.empty_permuted.default", {Sizes{2, 3}, Sizes{0, 0}}), OpError);
  EXPECT_THROW(run_one("aten.empty_permuted.default", {Sizes{2, 3}, Sizes{0, 2}}), OpError);
}

// An out= tensor with as many elements keeps its sizes; another number of them, or gaps between
// rows, is refused.
TEST(Arange, KeepsTheSizesOfAnOutTensorWithAsManyElements) {
  const Tensor out = make_tensor(DType::kInt64, {2, 3}, {});
  run_one("aten.arange.start_out", {0, 6}, {{"out", out}});
  EXPECT_EQ(integers(out), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  const Tensor one = make_tensor(DType::kFloat32, {}, {});
  run_one("aten.linspace.out", {4.0, 5.0, 1}, {{"out", one}});
  EXPECT_EQ(numbers(one), (Numbers{4}));
  EXPECT_THROW(run_one("aten.arange.start_out", {0, 5}, {{"out", out}}), Unsupported);
  const Tensor turned = make_tensor(DType::kInt64, {2, 3}, {}, {1, 2});
  EXPECT_THROW(run_one("aten.arange.start_out", {0, 6}, {{"out", turned}}), Unsupported);
}

}  // namespace
}  // namespace graphgate::optimized::testing
