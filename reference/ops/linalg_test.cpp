// Linear algebra: values worked out by hand, what depends on rounding, and bounds that hold and are
// not idle.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TensorRef square(const Numbers& values, DType dtype = DType::kFloat32) {
  const auto n = static_cast<std::int64_t>(std::lround(std::sqrt(values.size())));
  return tensor(dtype, {n, n}, values);
}

bool has_open(const Tensor& tensor) {
  const Numbers all = radii(tensor);
  return std::any_of(all.begin(), all.end(), [](double r) { return std::isinf(r); });
}

TEST(Cholesky, FactorsTheTriangleThatItReads) {
  const auto a = square({4, 99, 2, 5});
  const auto lower = run("aten.linalg_cholesky_ex.default", {{"self", {a}}});
  EXPECT_EQ(values(result(lower, 0)), (Numbers{2, 0, 1, 2}));
  EXPECT_EQ(values(result(lower, 1)), (Numbers{0}));
  EXPECT_EQ(result(lower, 0).strides, (Sizes{1, 2}));
  const auto b = square({4, 2, 99, 5});
  const auto upper = run("aten.linalg_cholesky_ex.default", {{"self", {b}}, {"upper", {true}}});
  EXPECT_EQ(values(result(upper, 0)), (Numbers{2, 1, 0, 2}));
}

TEST(Cholesky, SaysWhichMinorIsNotPositiveAndLeavesItsRowOpen) {
  const auto a = square({4, 0, 0, 0, -1, 0, 0, 0, 9});
  const auto out = run("aten.linalg_cholesky_ex.default", {{"self", {a}}}, Mode::kWorstCase);
  EXPECT_EQ(values(result(out, 1)), (Numbers{2}));
  EXPECT_EQ(radii(result(out, 1)), (Numbers{0}));
  const Numbers widths = radii(result(out, 0));
  EXPECT_TRUE(std::isfinite(widths[0]));
  EXPECT_TRUE(std::isinf(widths[4]));
  EXPECT_THROW(run("aten.linalg_cholesky_ex.default", {{"self", {a}}, {"check_errors", {true}}}),
               OpError);
}

TEST(Cholesky, DoesNotTellOfAMinorThatIsZeroWithinRounding) {
  const auto a = square({1, 1, 1, 1});
  const auto out = run("aten.linalg_cholesky_ex.default", {{"self", {a}}}, Mode::kWorstCase);
  EXPECT_TRUE(has_open(result(out, 1)));
}

TEST(Lu, ExchangesRowsForTheLargestPivot) {
  const auto a = square({1, 2, 4, 4});
  const auto out = run("aten.linalg_lu_factor_ex.default", {{"A", {a}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{4, 4, 0.25, 1}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{2, 2}));
  EXPECT_EQ(result(out, 0).strides, (Sizes{1, 2}));
  const auto parts = run("aten.linalg_lu.default", {{"A", {a}}});
  EXPECT_EQ(values(result(parts, 0)), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(values(result(parts, 1)), (Numbers{1, 0, 0.25, 1}));
  EXPECT_EQ(values(result(parts, 2)), (Numbers{4, 4, 0, 1}));
}

TEST(Lu, TakesTheFirstOfEqualPivots) {
  const auto a = square({2, 1, -2, 3});
  const auto out = run("aten.linalg_lu_factor_ex.default", {{"A", {a}}}, Mode::kWorstCase);
  EXPECT_EQ(values(result(out, 1)), (Numbers{1, 2}));
  EXPECT_FALSE(has_open(result(out, 1)));
}

// 1/3 and 1/3 are equal for a second pivot, but for roundings.
TEST(Lu, LeavesOpenWhatHangsOnAPivotThatRoundingDecides) {
  const auto a = square({3, 1, 1, 1, 1, 2, -1, -1, 7});
  const auto out = run("aten.linalg_lu_factor_ex.default", {{"A", {a}}}, Mode::kWorstCase);
  const Numbers pivots = radii(result(out, 1));
  EXPECT_EQ(pivots[0], 0);
  EXPECT_TRUE(std::isinf(pivots[1]));
  const Numbers widths = radii(result(out, 0));
  EXPECT_EQ(widths[0], 0);
  EXPECT_TRUE(std::isinf(widths[4]));
}

TEST(Lu, TellsOfASingularMatrix) {
  const auto zeros = square({0, 0, 0, 0});
  const auto out = run("aten.linalg_lu_factor_ex.default", {{"A", {zeros}}}, Mode::kWorstCase);
  EXPECT_EQ(values(result(out, 2)), (Numbers{1}));
  EXPECT_FALSE(has_open(result(out, 2)));
  EXPECT_FALSE(has_open(result(out, 0)));
}

TEST(LuUnpack, ReadsPivotsAsExchanges) {
  const auto data = square({4, 4, 0.25, 1});
  const auto pivots = tensor(DType::kInt32, {2}, {2, 2});
  const auto out = run("aten.lu_unpack.default", {{"LU_data", {data}}, {"LU_pivots", {pivots}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{0, 1, 1, 0}));
  const auto wrong = tensor(DType::kInt32, {2}, {3, 2});
  EXPECT_THROW(run("aten.lu_unpack.default", {{"LU_data", {data}}, {"LU_pivots", {wrong}}}),
               OpError);
}

TEST(Determinant, FactorsARowMajorMatrixTransposed) {
  const auto a = square({1, 2, 4, 4});
  const auto out = run("aten._linalg_det.default", {{"A", {a}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{-4}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{2, 4, 0.5, 2}));
  const auto logarithm = run("aten._linalg_slogdet.default", {{"A", {a}}});
  EXPECT_EQ(values(result(logarithm, 0)), (Numbers{-1}));
  EXPECT_NEAR(values(result(logarithm, 1))[0], std::log(4.0), 1e-6);
}

TEST(Determinant, IsExactlyZeroWhereEliminationIs) {
  const auto a = square({1, 1, 1, 1, 1, 1, 1, 1, 1});
  const auto out = run("aten._linalg_det.default", {{"A", {a}}}, Mode::kWorstCase);
  EXPECT_EQ(values(result(out, 0)), (Numbers{0}));
  EXPECT_EQ(radii(result(out, 0)), (Numbers{0}));
  const auto logarithm = run("aten._linalg_slogdet.default", {{"A", {a}}}, Mode::kWorstCase);
  EXPECT_EQ(values(result(logarithm, 0)), (Numbers{0}));
  EXPECT_TRUE(std::isinf(values(result(logarithm, 1))[0]));
}

TEST(Qr, HasTheSignsOfHouseholdersReflections) {
  const auto a = square({3, 1, 4, 2});
  const auto out = run("aten.linalg_qr.default", {{"A", {a}}}, Mode::kWorstCase);
  const Numbers q = values(result(out, 0));
  const Numbers r = values(result(out, 1));
  EXPECT_NEAR(q[0], -0.6, 1e-6);
  EXPECT_NEAR(q[2], -0.8, 1e-6);
  EXPECT_NEAR(r[0], -5, 1e-6);
  EXPECT_NEAR(r[1], -2.2, 1e-6);
  EXPECT_NEAR(r[3], 0.4, 1e-6);
  EXPECT_EQ(r[2], 0);
  for (const double radius : radii(result(out, 0))) EXPECT_LT(radius, 1e-3);
  const auto packed = run("aten.geqrf.default", {{"self", {a}}});
  EXPECT_NEAR(values(result(packed, 1))[0], 1.6, 1e-6);  // 1 + 3/5
  EXPECT_NEAR(values(result(packed, 0))[2], 0.5, 1e-6);  // 4 / (3 + 5)
  EXPECT_EQ(values(result(packed, 1))[1], 0);
}

TEST(Qr, LeavesATriangleAsItIs) {
  const auto a = square({1, 2, 0, 3});
  const auto out = run("aten.linalg_qr.default", {{"A", {a}}}, Mode::kWorstCase);
  EXPECT_EQ(values(result(out, 0)), (Numbers{1, 0, 0, 1}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{1, 2, 0, 3}));
  EXPECT_EQ(radii(result(out, 1)), (Numbers{0, 0, 0, 0}));
}

TEST(Qr, LeavesOpenWhatDependentColumnsDoNotTell) {
  const auto a = tensor(DType::kFloat32, {3, 2}, {1, 1, 2, 2, 3, 3});
  const auto out = run("aten.linalg_qr.default", {{"A", {a}}}, Mode::kWorstCase);
  const Numbers q = radii(result(out, 0));
  EXPECT_TRUE(std::isfinite(q[0]));
  EXPECT_TRUE(std::isinf(q[1]));
}

TEST(Reflections, AreAppliedFromEitherSide) {
  // v = (1, 1), tau = 1: 1 - v v^T exchanges and negates.
  const auto vectors = tensor(DType::kFloat32, {2, 1}, {7, 1});
  const auto tau = tensor(DType::kFloat32, {1}, {1});
  const auto c = square({1, 2, 3, 4});
  const auto left =
      run("aten.ormqr.default", {{"self", {vectors}}, {"input2", {tau}}, {"input3", {c}}});
  EXPECT_EQ(values(result(left, 0)), (Numbers{-3, -4, -1, -2}));
  const auto right =
      run("aten.ormqr.default",
          {{"self", {vectors}}, {"input2", {tau}}, {"input3", {c}}, {"left", {false}}});
  EXPECT_EQ(values(result(right, 0)), (Numbers{-2, -1, -4, -3}));
  const auto product =
      run("aten.linalg_householder_product.default", {{"input", {vectors}}, {"tau", {tau}}});
  EXPECT_EQ(values(result(product, 0)), (Numbers{0, -1}));
}

TEST(Ldl, TakesABlockOfTwoWhereTheDiagonalIsZero) {
  const auto a = square({0, 99, 2, 0});
  const auto out = run("aten.linalg_ldl_factor_ex.default", {{"self", {a}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{0, 0, 2, 0}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{-2, -2}));
  const auto b = tensor(DType::kFloat32, {2, 1}, {4, 6});
  const auto solved =
      run("aten.linalg_ldl_solve.default",
          {{"LD", {*out[0].as<TensorRef>()}}, {"pivots", {*out[1].as<TensorRef>()}}, {"B", {b}}});
  EXPECT_EQ(values(result(solved, 0)), (Numbers{3, 2}));
}

// 1 / 49, rounded, times 49 is less than 1 in float64: executors that multiply with the reciprocal
// leave something.
TEST(Ldl, DoesNotTellOfAPivotThatIsZeroWithinRounding) {
  const auto a = square({49, 49, 49, 49}, DType::kFloat64);
  const auto out = run("aten.linalg_ldl_factor_ex.default", {{"self", {a}}}, Mode::kWorstCase);
  EXPECT_TRUE(has_open(result(out, 2)));
}

// Products and quotients that underflow. The square of 2e-162 is 4e-324, which rounds to the least
// number of float64.
TEST(Factorizations, DoNotTellOfPivotsThatUnderflow) {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  const auto a = square({4, 0, kLeast, kLeast}, DType::kFloat64);
  const auto ldl = run("aten.linalg_ldl_factor_ex.default", {{"self", {a}}}, Mode::kWorstCase);
  EXPECT_TRUE(has_open(result(ldl, 2)));
  const auto b = square({3, 2, kLeast, kLeast}, DType::kFloat64);
  const auto lu = run("aten.linalg_lu_factor_ex.default", {{"A", {b}}}, Mode::kWorstCase);
  EXPECT_TRUE(has_open(result(lu, 2)));
  const auto c = square({1, 0, 2e-162, kLeast}, DType::kFloat64);
  const auto cholesky = run("aten.linalg_cholesky_ex.default", {{"self", {c}}}, Mode::kWorstCase);
  EXPECT_TRUE(has_open(result(cholesky, 1)));
  const auto d = square({1e-200, 0, 0, 1e-200}, DType::kFloat64);
  const auto product = run_tensor("aten.det.default", {{"self", {d}}}, Mode::kWorstCase);
  EXPECT_GE(radii(*product)[0], kLeast);
}

// A product that underflows makes a diagonal of 0 a pivot, which divides: PyTorch 2.15 has
// infinities and NaN behind it, and 4 for `info`.
TEST(Ldl, DoesNotTellOfWhatAPivotOfZeroDivides) {
  const auto a = square({0, 0, 0, 0, -2e-23, 3e-40, 0, 0, 0, 1e20, -1e-38, 0, 0, -2e-23, 1e20, -1});
  const auto out = run("aten.linalg_ldl_factor_ex.default", {{"self", {a}}}, Mode::kWorstCase);
  EXPECT_TRUE(has_open(result(out, 2)));
}

// What is far from subnormal numbers is held as before.
TEST(Factorizations, TellOfPivotsThatDoNotUnderflow) {
  const auto a = square({4, 99, 2, 5}, DType::kFloat64);
  for (const char* op : {"aten.linalg_ldl_factor_ex.default", "aten.linalg_cholesky_ex.default"}) {
    const auto out = run(op, {{"self", {a}}}, Mode::kWorstCase);
    EXPECT_FALSE(has_open(result(out, 0))) << op;
    EXPECT_FALSE(has_open(result(out, 1))) << op;
    EXPECT_LT(radii(result(out, 0))[2], 1e-14) << op;
  }
  const auto b = square({1e-100, 0, 0, 1e-100}, DType::kFloat64);
  const auto det = run_tensor("aten.det.default", {{"self", {b}}}, Mode::kWorstCase);
  EXPECT_LT(radii(*det)[0], 1e-214);
}

TEST(Solve, LeavesTheSolutionOfASingularSystemOpen) {
  const auto a = square({1, 1, 1, 1});
  const auto b = tensor(DType::kFloat32, {2, 1}, {1, 2});
  const auto out = run("aten._linalg_solve_ex.default", {{"A", {a}}, {"B", {b}}}, Mode::kWorstCase);
  EXPECT_EQ(values(result(out, 3)), (Numbers{2}));
  EXPECT_TRUE(std::isinf(radii(result(out, 0))[0]));
  EXPECT_THROW(run("aten.linalg_solve.default", {{"A", {a}}, {"B", {b}}}), OpError);
}

TEST(Solve, TakesVectorsAndRowsFromTheRight) {
  const auto a = square({2, 0, 0, 4});
  const auto b = tensor(DType::kFloat32, {2}, {2, 8});
  const auto out = run("aten._linalg_solve_ex.default", {{"A", {a}}, {"B", {b}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{1, 2}));
  const auto rows = tensor(DType::kFloat32, {1, 2}, {2, 8});
  const auto right =
      run("aten._linalg_solve_ex.default", {{"A", {a}}, {"B", {rows}}, {"left", {false}}});
  EXPECT_EQ(values(result(right, 0)), (Numbers{1, 2}));
}

TEST(Inverse, HoldsWhatFloat32Makes) {
  const auto a = square({2, 1, 1, 3});
  const auto out = run("aten.linalg_inv_ex.default", {{"A", {a}}}, Mode::kWorstCase);
  const Numbers inverse = values(result(out, 0));
  const Numbers widths = radii(result(out, 0));
  const Numbers right = {0.6, -0.2, -0.2, 0.4};
  for (std::size_t i = 0; i < right.size(); ++i) {
    EXPECT_NEAR(inverse[i], right[i], 1e-7);
    EXPECT_GT(widths[i], 1e-8);
    EXPECT_LT(widths[i], 1e-5);
  }
}

TEST(Triangle, DividesByZeroAndLeavesThatOpen) {
  const auto a = square({0, 0, 0, 2});
  const auto b = tensor(DType::kFloat32, {2, 1}, {1, 4});
  const auto out = run("aten.linalg_solve_triangular.default",
                       {{"self", {a}}, {"B", {b}}, {"upper", {true}}}, Mode::kWorstCase);
  EXPECT_TRUE(std::isinf(radii(result(out, 0))[0]));
  EXPECT_EQ(values(result(out, 0))[1], 2);
  EXPECT_TRUE(std::isfinite(radii(result(out, 0))[1]));
}

TEST(Triangle, ReadsOneTriangleAndTransposesIt) {
  const auto a = square({2, 99, 1, 4});
  const auto b = tensor(DType::kFloat32, {2, 1}, {4, 10});
  const auto out =
      run("aten.linalg_solve_triangular.default", {{"self", {a}}, {"B", {b}}, {"upper", {false}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{2, 2}));
  const auto turned = run("aten.triangular_solve.default",
                          {{"self", {b}}, {"A", {a}}, {"upper", {false}}, {"transpose", {true}}});
  EXPECT_EQ(values(result(turned, 0)), (Numbers{0.75, 2.5}));
  EXPECT_EQ(values(result(turned, 1)), (Numbers{2, 99, 1, 4}));
}

TEST(CheckErrors, PassesZerosAlone) {
  const auto run_check = [](const TensorRef& info) {
    return run(
        "aten._linalg_check_errors.default",
        {{"info", {info}}, {"api_name", {std::string("linalg.inv")}}, {"is_matrix", {false}}});
  };
  EXPECT_NO_THROW(run_check(tensor(DType::kInt32, {2}, {0, 0})));
  EXPECT_THROW(run_check(tensor(DType::kInt32, {2}, {0, 1})), OpError);
}

TEST(Eigenvalues, AreJudgedAndVectorsButForTheirSign) {
  const auto a = square({2, 1, 1, 2});
  const auto plain = run("aten._linalg_eigh.default", {{"A", {a}}});
  EXPECT_NEAR(values(result(plain, 0))[0], 1, 1e-6);
  EXPECT_NEAR(values(result(plain, 0))[1], 3, 1e-6);
  EXPECT_NEAR(std::fabs(values(result(plain, 1))[0]), std::sqrt(0.5), 1e-6);
  const auto out = run("aten._linalg_eigh.default", {{"A", {a}}}, Mode::kWorstCase);
  EXPECT_LT(radii(result(out, 0))[0], 1e-5);
  EXPECT_EQ(values(result(out, 1))[0], 0);
  EXPECT_NEAR(radii(result(out, 1))[0], std::sqrt(0.5), 1e-4);
}

TEST(Eigenvalues, ThatAreEqualLeaveTheirVectorsOpenWithinOne) {
  const auto a = square({1, 0, 0, 1});
  const auto out = run("aten._linalg_eigh.default", {{"A", {a}}}, Mode::kWorstCase);
  for (const double radius : radii(result(out, 1))) EXPECT_NEAR(radius, 1, 1e-5);
}

TEST(SingularValues, DescendAndComplete) {
  const auto a = tensor(DType::kFloat32, {2, 1}, {3, 4});
  const auto out = run("aten._linalg_svd.default", {{"A", {a}}, {"full_matrices", {true}}});
  EXPECT_EQ(values(result(out, 1)), (Numbers{5}));
  EXPECT_EQ(result(out, 0).sizes, (Sizes{2, 2}));
  const Numbers u = values(result(out, 0));
  EXPECT_NEAR(u[0] * u[1] + u[2] * u[3], 0, 1e-6);
  EXPECT_NEAR(std::fabs(u[1]), 0.8, 1e-6);
}

// Two equal rows: the last value is 0, and its left vector lies along their difference.
TEST(Svd, KnowsTheVectorOfAValueThatIsNothing) {
  const float r = 0.678443849F;
  const float s = 0.970488429F;
  const float t = 0.804409683F;
  const float u = -0.597429633F;
  const auto a = tensor(DType::kFloat32, {4, 4},
                        {r, -1.028065801F, t, 0.341433257F, r, -1.028065801F, 0.780498326F,
                         0.341433257F, r, s, t, u, r, s, t, u});
  const auto out = run("aten._linalg_svd.default", {{"A", {a}}}, Mode::kWorstCase);
  const std::vector<Mark> left = marks_of(result(out, 0));
  const std::vector<double> last = {0, 0, -std::sqrt(0.5), std::sqrt(0.5)};
  for (std::size_t i = 0; i < 4; ++i) {
    const Mark& mark = left[i * 4 + 3];
    EXPECT_LE(std::fabs(static_cast<long double>(last[i]) - mark.value), mark.radius) << i;
    EXPECT_LT(mark.radius, std::fabs(last[i]) + 1e-2) << i;
  }
}

// cuSOLVER gives V, whose adjoint is the result.
TEST(CudaKernels, GiveRightSingularVectorsByRows) {
  const Arguments arguments = {{"A", {tensor(DType::kFloat32, {2, 2}, {3, 0, 0, 4})}}};
  EXPECT_EQ(result(run("aten._linalg_svd.default", arguments), 2).strides, (Sizes{1, 2}));
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_EQ(result(run("aten._linalg_svd.default", arguments), 0).strides, (Sizes{1, 2}));
  EXPECT_EQ(result(run("aten._linalg_svd.default", arguments), 2).strides, (Sizes{2, 1}));
}

TEST(Pinv, CutsOffWhatIsBelowTheTolerance) {
  const auto a = square({4, 0, 0, 1});
  const auto whole = run("aten.linalg_pinv.atol_rtol_tensor", {{"self", {a}}});
  EXPECT_EQ(values(result(whole, 0)), (Numbers{0.25, 0, 0, 1}));
  const auto two = tensor(DType::kFloat64, {}, {2});
  const auto cut = run("aten.linalg_pinv.atol_rtol_tensor", {{"self", {a}}, {"atol", {two}}});
  EXPECT_EQ(values(result(cut, 0)), (Numbers{0.25, 0, 0, 0}));
  const auto one = tensor(DType::kFloat64, {}, {1});
  const auto open =
      run("aten.linalg_pinv.atol_rtol_tensor", {{"self", {a}}, {"atol", {one}}}, Mode::kWorstCase);
  EXPECT_TRUE(has_open(result(open, 0)));
}

TEST(Lstsq, FindsTheMeanOfTwoAndWhatIsLeft) {
  const auto a = tensor(DType::kFloat32, {2, 1}, {1, 1});
  const auto b = tensor(DType::kFloat32, {2, 1}, {1, 3});
  const auto out = run("aten.linalg_lstsq.default",
                       {{"self", {a}}, {"b", {b}}, {"driver", {std::string("gelsd")}}});
  EXPECT_NEAR(values(result(out, 0))[0], 2, 1e-6);
  EXPECT_NEAR(values(result(out, 1))[0], 2, 1e-6);
  EXPECT_EQ(values(result(out, 2)), (Numbers{1}));
  EXPECT_NEAR(values(result(out, 3))[0], std::sqrt(2.0), 1e-6);
  EXPECT_EQ(result(out, 0).strides, (Sizes{1, 2}));
}

TEST(Polar, PartsAReflectionFromAStretch) {
  const auto a = square({0, 2, 3, 0});
  const auto out = run("aten.linalg_polar.default", {{"A", {a}}});
  const Numbers u = values(result(out, 0));
  const Numbers h = values(result(out, 1));
  const Numbers turn = {0, 1, 1, 0};
  const Numbers stretch = {3, 0, 0, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(u[i], turn[i], 1e-6);
    EXPECT_NEAR(h[i], stretch[i], 1e-6);
  }
}

TEST(MatrixSqrth, TakesNegativeEigenvaluesForZero) {
  const auto a = square({4, 99, 0, -1});
  const Numbers root = values(result(run("aten.linalg_matrix_sqrth.default", {{"self", {a}}}), 0));
  EXPECT_EQ(root, (Numbers{2, 0, 0, 0}));
}

TEST(MatrixExp, IsTheSeries) {
  const auto a = square({0, 1, 0, 0});
  const auto out = run("aten.linalg_matrix_exp.default", {{"self", {a}}}, Mode::kWorstCase);
  EXPECT_EQ(values(result(out, 0)), (Numbers{1, 1, 0, 1}));
  for (const double radius : radii(result(out, 0))) EXPECT_LT(radius, 1e-4);
}

// Where a square of it overflows, an executor may have added infinities of both signs.
TEST(MatrixExp, IsOpenWhereItOverflows) {
  const auto exponential = [](const Numbers& a) {
    return run("aten.linalg_matrix_exp.default", {{"self", {square(a)}}}, Mode::kWorstCase);
  };
  for (const Numbers& large : {Numbers{100, 0, 0, 1}, Numbers{200, -300, 40, 5}}) {
    const auto out = exponential(large);
    for (const double radius : radii(result(out, 0))) EXPECT_TRUE(std::isinf(radius));
  }
  const auto small = exponential({-200, 0, 0, 1});
  for (const double radius : radii(result(small, 0))) EXPECT_FALSE(std::isinf(radius));
}

}  // namespace
}  // namespace graphgate::reference::test
