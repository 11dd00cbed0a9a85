// Dense matrices of wide numbers, and their decompositions: plain algorithms in long double. Used
// by the families linalg_factor, linalg_solve and linalg_spectral.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace graphgate::reference {

// A place in a container.
[[nodiscard]] inline std::size_t nth(std::int64_t i) { return static_cast<std::size_t>(i); }

// Row-major.
struct WideMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<long double> data;

  WideMatrix() = default;
  WideMatrix(std::int64_t m, std::int64_t n, long double fill = 0)
      : rows(m), columns(n), data(static_cast<std::size_t>(m * n), fill) {}

  long double& operator()(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
  const long double& operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
};

[[nodiscard]] WideMatrix identity_matrix(std::int64_t n);
[[nodiscard]] WideMatrix flipped(const WideMatrix& a);  // rows become columns
[[nodiscard]] WideMatrix operator*(const WideMatrix& a, const WideMatrix& b);
[[nodiscard]] WideMatrix operator-(const WideMatrix& a, const WideMatrix& b);
[[nodiscard]] WideMatrix magnitudes(WideMatrix a);
// `rows` x `columns` elements from (i, j) on.
[[nodiscard]] WideMatrix part_of(const WideMatrix& a, std::int64_t i, std::int64_t j,
                                 std::int64_t rows, std::int64_t columns);
// The rows of `a` in this order.
[[nodiscard]] WideMatrix with_rows(const WideMatrix& a, const std::vector<std::int64_t>& order);
// One triangle and the diagonal, or zeros beside it; `is_unit` puts ones on the diagonal.
[[nodiscard]] WideMatrix triangle_of(const WideMatrix& a, bool upper, bool is_unit = false);
// The largest sum of a row's magnitudes, and the root of the sum of squares.
[[nodiscard]] long double row_norm(const WideMatrix& a);
[[nodiscard]] long double frobenius_norm(const WideMatrix& a);

// The inverse of a square triangle by substitution: not finite where the diagonal has a zero.
[[nodiscard]] WideMatrix inverse_of_triangle(const WideMatrix& t, bool upper);

// PA = LU with partial pivoting, the first of equal pivots; m x n.
struct LuFactors {
  WideMatrix lu;                     // L below the diagonal (of ones), U on and above it
  std::vector<std::int64_t> pivots;  // row k was exchanged with row pivots[k]
  std::vector<std::int64_t> order;   // row i of P A is row order[i] of A
  std::int64_t first_zero = 0;       // the first pivot that is zero, counted from 1; 0: none is
};
[[nodiscard]] LuFactors lu_of(WideMatrix a);
// The order of the rows of P A after exchanging row k with row pivots[k] for each k.
[[nodiscard]] std::vector<std::int64_t> order_of_rows(const std::vector<std::int64_t>& pivots,
                                                      std::int64_t rows);

// A = L L^T of the lower triangle of A.
struct CholeskyFactor {
  WideMatrix lower;
  std::int64_t failed = 0;       // the first leading minor that is not positive; 0: none
  long double failed_pivot = 0;  // what should have been positive there
};
[[nodiscard]] CholeskyFactor cholesky_of(const WideMatrix& a);

// A = Q R by Householder's reflections, as LAPACK's geqrf keeps them: R on and above the diagonal,
// vectors below it without their first element, 1. H = 1 - tau v v^T maps a column to beta e1 with
// beta = -sign(alpha) |column|. A column that is zero below the diagonal has tau = 0.
struct Reflections {
  WideMatrix packed;
  std::vector<long double> tau;
};
[[nodiscard]] Reflections reflections_of(WideMatrix a);
// H_1 H_2 ... H_k (of the given vectors) applied to `c` from the left; from H_k on, or (transposed)
// from H_1 on.
[[nodiscard]] WideMatrix apply_reflections(const Reflections& h, WideMatrix c, bool transposed);

// Eigenvalues of a symmetric matrix (ascending) and eigenvectors (columns), by Jacobi's rotations.
struct Eigen {
  std::vector<long double> values;
  WideMatrix vectors;
};
[[nodiscard]] Eigen eigen_of(WideMatrix a);

// A = U S V^T: singular values (descending), min(m, n) of them, by one-sided Jacobi rotations.
// Columns of U or V that belong to zeros may be zero.
struct SingularValues {
  WideMatrix u;  // m x k
  std::vector<long double> values;
  WideMatrix v;  // n x k
};
[[nodiscard]] SingularValues singular_values_of(const WideMatrix& a);

}  // namespace graphgate::reference
