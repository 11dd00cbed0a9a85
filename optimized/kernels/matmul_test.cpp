#include <gtest/gtest.h>

#include <limits>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

TEST(Matmul, ReadsWhatItOverwrites) {
  Tensor a = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  run_one("aten.addmm_.default", {a, a, a});
  EXPECT_EQ(numbers(a), (Numbers{8, 12, 18, 26}));
}

TEST(Matmul, DoesNotReadWhatBetaZeroDrops) {
  const Tensor nan = make_tensor(DType::kFloat32, {1}, {std::numeric_limits<double>::quiet_NaN()});
  const Tensor one = make_tensor(DType::kFloat32, {1, 1}, {2});
  EXPECT_EQ(numbers(run_one("aten.addmm.default", {nan, one, one}, {{"beta", 0}})), (Numbers{4}));
}

TEST(Matmul, ScalesBothTerms) {
  const Tensor bias = make_tensor(DType::kFloat64, {2}, {1, 2});
  const Tensor a = make_tensor(DType::kFloat64, {1, 1}, {3});
  const Tensor b = make_tensor(DType::kFloat64, {1, 2}, {5, 7});
  EXPECT_EQ(numbers(run_one("aten.addmm.default", {bias, a, b}, {{"beta", 10}, {"alpha", 2}})),
            (Numbers{40, 62}));
}

TEST(Matmul, AddsUpBatches) {
  const Tensor zero = make_tensor(DType::kFloat32, {1, 1}, {100});
  const Tensor a = make_tensor(DType::kFloat32, {2, 1, 2}, {1, 2, 3, 4});
  const Tensor b = make_tensor(DType::kFloat32, {2, 2, 1}, {5, 6, 7, 8});
  EXPECT_EQ(numbers(run_one("aten.addbmm.default", {zero, a, b})), (Numbers{170}));
}

TEST(Matmul, RefusesWhatDoesNotFit) {
  const Tensor a = make_tensor(DType::kFloat32, {2, 3});
  EXPECT_THROW(run_one("aten.mm.default", {a, a}), OpError);
  EXPECT_THROW(run_one("aten.mm.default", {a, make_tensor(DType::kFloat64, {3, 2})}), OpError);
  EXPECT_THROW(run_one("aten.dot.default", {a, a}), OpError);
  EXPECT_THROW(run_one("aten.linear.default", {a, make_tensor(DType::kFloat32, {4, 2})}), OpError);
}

TEST(Einsum, TakesDiagonalsAndSums) {
  const Tensor a = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  const auto einsum = [&](const char* equation, const std::vector<Tensor>& operands) {
    return numbers(run_one("aten.einsum.default", {equation, operands}));
  };
  EXPECT_EQ(einsum("ii", {a}), (Numbers{5}));
  EXPECT_EQ(einsum("ij->j", {a}), (Numbers{4, 6}));
  EXPECT_EQ(einsum("ij,jk->ki", {a, a}), (Numbers{7, 15, 10, 22}));
  EXPECT_EQ(einsum("...j,kj->k...", {a, a}), (Numbers{5, 11, 11, 25}));
  EXPECT_EQ(einsum("ij,jk,kl->il", {a, a, a}), (Numbers{37, 54, 81, 118}));
}

TEST(Einsum, IsDenseWhereAllThatTheRightOperandHasAloneComesFirst) {
  const Tensor a = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  const Tensor b = make_tensor(DType::kFloat32, {2, 3}, {5, 6, 7, 8, 9, 10});
  const auto strides = [&](const char* equation) {
    return run_one("aten.einsum.default", {equation, std::vector<Tensor>{a, b}}).strides;
  };
  EXPECT_EQ(strides("as,sb->ba"), (Sizes{2, 1}));
  EXPECT_EQ(strides("as,sb->ab"), (Sizes{3, 1}));
}

TEST(IntegerProduct, SumsBytesInInt32) {
  const Tensor a = make_integers(DType::kInt8, {1, 2}, {-128, 3});
  const Tensor b = make_integers(DType::kInt8, {2, 1}, {-128, 7});
  EXPECT_EQ(integers(run_one("aten._int_mm.default", {a, b})), (std::vector<std::int64_t>{16405}));
}

TEST(ScaledProduct, ScalesWhatTheProductsSumUpTo) {
  const Tensor a = make_tensor(DType::kFloat8E5M2, {1, 2}, {1, 2});
  const Tensor b = make_tensor(DType::kFloat8E4M3FN, {2, 2}, {1, 3, 1, 5});
  const Tensor half = make_tensor(DType::kFloat32, {}, {0.5});
  const Tensor bias = make_tensor(DType::kBFloat16, {2}, {1, -1});
  EXPECT_EQ(numbers(run_one("aten._scaled_mm.default", {a, b, half, half, bias},
                            {{"out_dtype", DType::kFloat16}})),
            (Numbers{1.75, 2.25}));
  EXPECT_THROW((void)run_one("aten._scaled_mm.default",
                             {a, b, make_tensor(DType::kFloat32, {2}, {1, 1}), half}),
               OpError);
}

TEST(GroupedProduct, CutsRowsColumnsOrDepth) {
  const Tensor rows = make_tensor(DType::kFloat32, {3, 1}, {1, 2, 3});
  const Tensor line = make_tensor(DType::kFloat32, {1, 3}, {1, 2, 3});
  const Tensor matrices = make_tensor(DType::kFloat32, {2, 1, 1}, {10, 100});
  const Tensor ends = make_integers(DType::kInt32, {2}, {1, 3});
  EXPECT_EQ(numbers(run_one("aten._grouped_mm.default", {rows, matrices, ends})),
            (Numbers{10, 200, 300}));
  EXPECT_EQ(numbers(run_one("aten._grouped_mm.default", {matrices, line, ends})),
            (Numbers{10, 200, 300}));
  EXPECT_EQ(numbers(run_one("aten._grouped_mm.default", {line, rows, ends})), (Numbers{1, 13}));
  EXPECT_EQ(numbers(run_one("aten._grouped_mm.default", {matrices, matrices})),
            (Numbers{100, 10000}));
}

TEST(Einsum, RefusesAnEquationThatDoesNotFit) {
  const Tensor a = make_tensor(DType::kFloat32, {2, 3});
  const auto einsum = [](const char* equation, const std::vector<Tensor>& operands) {
    return run_one("aten.einsum.default", {equation, operands});
  };
  EXPECT_THROW(einsum("i->i", {a}), OpError);
  EXPECT_THROW(einsum("ij,jk->ik", {a, a}), OpError);
  EXPECT_THROW(einsum("i1->i", {a}), OpError);
  EXPECT_THROW(einsum("ij->ik", {a}), OpError);
}

}  // namespace
}  // namespace graphgate::optimized::testing
