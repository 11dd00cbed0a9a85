// Kernels of linear algebra: products of what they make are the matrices that were given, and
// conventions that LAPACK has (signs, pivots, strides) are kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

constexpr std::int64_t kSize = 6;

Tensor result_at(const std::vector<Item>& results, std::size_t i) {
  return *results.at(i).as<Tensor>();
}

// Numbers without order, the same each time; the diagonal grows where `boost` says so.
Numbers mixed(std::int64_t rows, std::int64_t columns, double boost = 0) {
  Numbers out;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      out.push_back(std::sin(static_cast<double>(7 * i + 5 * i * j + 3 * j * j + 1)) +
                    (i == j ? boost : 0));
    }
  }
  return out;
}

Numbers product(const Numbers& a, const Numbers& b, std::int64_t inner) {
  const auto depth = static_cast<std::size_t>(inner);
  const std::size_t rows = a.size() / depth;
  const std::size_t columns = b.size() / depth;
  Numbers out(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < depth; ++k) {
      for (std::size_t j = 0; j < columns; ++j) {
        out[i * columns + j] += a[i * depth + k] * b[k * columns + j];
      }
    }
  }
  return out;
}

Numbers turned(const Numbers& a, std::int64_t rows) {
  const auto m = static_cast<std::size_t>(rows);
  const std::size_t n = a.size() / m;
  Numbers out(a.size());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) out[j * m + i] = a[i * n + j];
  }
  return out;
}

Numbers unit(std::int64_t n) {
  Numbers out(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) out[static_cast<std::size_t>(i * (n + 1))] = 1;
  return out;
}

void expect_near(const Numbers& a, const Numbers& b, double most = 1e-12) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], most) << i;
}

Tensor doubles(const Sizes& sizes, const Numbers& values) {
  return make_tensor(DType::kFloat64, sizes, values);
}

TEST(Lu, GivesBackWhatItFactored) {
  const Numbers a = mixed(kSize, 4);
  const auto out = run_op("aten.linalg_lu.default", {doubles({kSize, 4}, a)});
  const Numbers lu = product(numbers(result_at(out, 1)), numbers(result_at(out, 2)), 4);
  expect_near(product(numbers(result_at(out, 0)), lu, kSize), a);
}

TEST(Lu, SolvesWithItsFactorsFromEitherSide) {
  const Tensor a = doubles({kSize, kSize}, mixed(kSize, kSize, 2));
  const auto factors = run_op("aten.linalg_lu_factor_ex.default", {a});
  const Numbers b = mixed(kSize, 3);
  for (const bool adjoint : {false, true}) {
    const Tensor x = run_one("aten.linalg_lu_solve.default",
                             {result_at(factors, 0), result_at(factors, 1), doubles({kSize, 3}, b)},
                             {{"adjoint", adjoint}});
    const Numbers matrix = adjoint ? turned(numbers(a), kSize) : numbers(a);
    expect_near(product(matrix, numbers(x), kSize), b);
    const Tensor rows = run_one(
        "aten.linalg_lu_solve.default",
        {result_at(factors, 0), result_at(factors, 1), doubles({3, kSize}, turned(b, kSize))},
        {{"left", false}, {"adjoint", adjoint}});
    expect_near(product(numbers(rows), matrix, kSize), turned(b, kSize));
    EXPECT_EQ(rows.strides, (Sizes{kSize, 1}));
  }
}

TEST(Cholesky, GivesBackWhatItFactored) {
  const Numbers root = mixed(kSize, kSize, 3);
  const Numbers a = product(root, turned(root, kSize), kSize);
  const auto out = run_op("aten.linalg_cholesky_ex.default", {doubles({kSize, kSize}, a)});
  const Numbers l = numbers(result_at(out, 0));
  expect_near(product(l, turned(l, kSize), kSize), a, 1e-11);
  EXPECT_EQ(numbers(result_at(out, 1)), (Numbers{0}));
  const Numbers inverse = numbers(run_one("aten.cholesky_inverse.default", {result_at(out, 0)}));
  expect_near(product(inverse, a, kSize), unit(kSize), 1e-10);
  const Tensor solved =
      run_one("aten.cholesky_solve.default", {doubles({kSize, kSize}, a), result_at(out, 0)});
  expect_near(numbers(solved), unit(kSize), 1e-10);
}

TEST(Qr, GivesBackWhatItFactoredWithNegatedLengths) {
  const Numbers a = mixed(kSize, 4);
  const auto out = run_op("aten.linalg_qr.default", {doubles({kSize, 4}, a), "complete"});
  const Numbers q = numbers(result_at(out, 0));
  expect_near(product(q, numbers(result_at(out, 1)), kSize), a);
  expect_near(product(q, turned(q, kSize), kSize), unit(kSize));
  EXPECT_LT(numbers(result_at(out, 1))[0] * a[0], 0);
  const auto packed = run_op("aten.geqrf.default", {doubles({kSize, 4}, a)});
  const Tensor product_of = run_one("aten.linalg_householder_product.default",
                                    {result_at(packed, 0), result_at(packed, 1)});
  const auto reduced = run_op("aten.linalg_qr.default", {doubles({kSize, 4}, a)});
  EXPECT_EQ(numbers(product_of), numbers(result_at(reduced, 0)));
}

TEST(Ldl, SolvesWithItsFactors) {
  const Numbers half = mixed(kSize, kSize);
  Numbers a = half;
  const Numbers other = turned(half, kSize);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += other[i];
  const auto factors = run_op("aten.linalg_ldl_factor_ex.default", {doubles({kSize, kSize}, a)});
  const Numbers b = mixed(kSize, 2);
  const Tensor x = run_one("aten.linalg_ldl_solve.default",
                           {result_at(factors, 0), result_at(factors, 1), doubles({kSize, 2}, b)});
  expect_near(product(a, numbers(x), kSize), b, 1e-11);
}

TEST(Eigenvalues, AscendAndComposeTheMatrix) {
  const Numbers half = mixed(kSize, kSize);
  Numbers a = half;
  const Numbers other = turned(half, kSize);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += other[i];
  const auto out = run_op("aten._linalg_eigh.default", {doubles({kSize, kSize}, a)});
  const Numbers values = numbers(result_at(out, 0));
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  const Numbers v = numbers(result_at(out, 1));
  Numbers scaled = v;
  for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= values[i % kSize];
  expect_near(product(scaled, turned(v, kSize), kSize), a);
}

TEST(SingularValues, DescendAndComposeTheMatrix) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{6, 4}, {4, 6}}) {
    const Numbers a = mixed(rows, columns);
    const auto out = run_op("aten._linalg_svd.default", {doubles({rows, columns}, a)});
    const Numbers values = numbers(result_at(out, 1));
    EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
    Numbers u = numbers(result_at(out, 0));
    for (std::size_t i = 0; i < u.size(); ++i) u[i] *= values[i % 4];
    expect_near(product(u, numbers(result_at(out, 2)), 4), a);
  }
}

TEST(SingularValues, OfZeroHaveOrthonormalVectors) {
  const auto out = run_op("aten._linalg_svd.default", {doubles({3, 3}, Numbers(9, 1)), true});
  const Numbers u = numbers(result_at(out, 0));
  expect_near(product(turned(u, 3), u, 3), {1, 0, 0, 0, 1, 0, 0, 0, 1});
}

TEST(MatrixExp, OfARotationIsOne) {
  const Tensor a = doubles({2, 2}, {0, -20, 20, 0});
  const Numbers out = numbers(run_one("aten.linalg_matrix_exp.default", {a}));
  expect_near(out, {std::cos(20.0), -std::sin(20.0), std::sin(20.0), std::cos(20.0)}, 1e-11);
}

TEST(Lstsq, IsAtRightAnglesToWhatIsLeft) {
  const Numbers a = mixed(kSize, 3);
  const Numbers b = mixed(kSize, 2);
  const auto out = run_op("aten.linalg_lstsq.default",
                          {doubles({kSize, 3}, a), doubles({kSize, 2}, b)}, {{"driver", "gelsd"}});
  Numbers rest = product(a, numbers(result_at(out, 0)), 3);
  double squares = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    rest[i] -= b[i];
    if (i % 2 == 0) squares += rest[i] * rest[i];
  }
  expect_near(product(turned(a, kSize), rest, kSize), Numbers(6, 0));
  EXPECT_NEAR(numbers(result_at(out, 1))[0], squares, 1e-12);
  EXPECT_EQ(numbers(result_at(out, 2)), (Numbers{3}));
}

TEST(CheckErrors, WantsItsDataAndZeros) {
  const Tensor fine = make_tensor(DType::kInt32, {2}, {0, 0});
  EXPECT_NO_THROW(run_op("aten._linalg_check_errors.default", {fine, "x"}, {{"is_matrix", false}}));
  const Tensor failed = make_tensor(DType::kInt32, {2}, {0, 3});
  EXPECT_THROW(run_op("aten._linalg_check_errors.default", {failed, "x"}, {{"is_matrix", false}}),
               OpError);
}

}  // namespace
}  // namespace graphgate::optimized::testing
