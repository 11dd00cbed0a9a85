// LU factors with partial pivoting, column by column, and what is solved with them.
#pragma once

#include "optimized/kernels/linalg_frame.h"

namespace graphgate::optimized {

// PA = LU. L has ones on its diagonal, which are not kept.
struct PivotedLu {
  DenseMatrix lu;
  std::vector<std::int64_t> pivots;  // counted from 0
  std::int64_t info = 0;             // the first zero on U's diagonal, counted from 1
};

// Left-looking: each column gets all that the columns before it do, then its pivot.
[[nodiscard]] inline PivotedLu pivoted_lu(DenseMatrix a) {
  PivotedLu out;
  const std::int64_t steps = std::min(a.rows, a.columns);
  for (std::int64_t j = 0; j < a.columns; ++j) {
    double* column = a.column(j);
    const std::int64_t before = std::min(j, steps);
    for (std::int64_t k = 0; k < before; ++k) std::swap(column[k], column[out.pivots[at(k)]]);
    for (std::int64_t k = 0; k < before; ++k) {
      const double factor = column[k];
      const double* l = a.column(k);
      for (std::int64_t i = k + 1; i < a.rows; ++i) column[i] -= l[i] * factor;
    }
    if (j >= steps) continue;
    std::int64_t pivot = j;
    for (std::int64_t i = j + 1; i < a.rows; ++i) {
      if (std::abs(column[i]) > std::abs(column[pivot])) pivot = i;
    }
    out.pivots.push_back(pivot);
    for (std::int64_t k = 0; k <= j && pivot != j; ++k) std::swap(a(j, k), a(pivot, k));
    if (column[j] == 0) {
      if (out.info == 0) out.info = j + 1;
      continue;
    }
    for (std::int64_t i = j + 1; i < a.rows; ++i) column[i] /= column[j];
  }
  out.lu = std::move(a);
  return out;
}

// Solves with one triangle of `t`, in place: `by` says which, and whether it is transposed.
struct Triangle {
  bool upper = false;
  bool transposed = false;
  bool is_unit = false;
};
inline void solve_triangle(const DenseMatrix& t, Triangle by, DenseMatrix& b) {
  const std::int64_t n = t.rows;
  const bool backward = by.upper != by.transposed;
  for (std::int64_t c = 0; c < b.columns; ++c) {
    double* x = b.column(c);
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t k = backward ? n - 1 - step : step;
      if (!by.is_unit) x[k] /= t(k, k);
      const std::int64_t first = backward ? 0 : k + 1;
      const std::int64_t last = backward ? k : n;
      for (std::int64_t i = first; i < last; ++i) {
        x[i] -= (by.transposed ? t(k, i) : t(i, k)) * x[k];
      }
    }
  }
}

// Exchanges rows as the pivots say, from the first on, or from the last.
inline void exchange_rows(const std::vector<std::int64_t>& pivots, bool forward, DenseMatrix& b) {
  for (std::size_t step = 0; step < pivots.size(); ++step) {
    const std::size_t k = forward ? step : pivots.size() - 1 - step;
    if (pivots[k] < 0 || pivots[k] >= b.rows) throw OpError("a pivot is out of range");
    for (std::int64_t j = 0; j < b.columns; ++j) {
      std::swap(b(static_cast<std::int64_t>(k), j), b(pivots[k], j));
    }
  }
}

// Solves A X = B, or A^T X = B, in place.
inline void solve_lu(const DenseMatrix& lu, const std::vector<std::int64_t>& pivots,
                     bool transposed, DenseMatrix& b) {
  if (transposed) {
    solve_triangle(lu, {true, true, false}, b);
    solve_triangle(lu, {false, true, true}, b);
    exchange_rows(pivots, false, b);
  } else {
    exchange_rows(pivots, true, b);
    solve_triangle(lu, {false, false, true}, b);
    solve_triangle(lu, {true, false, false}, b);
  }
}

[[nodiscard]] inline std::vector<std::int64_t> counted_from_one(std::vector<std::int64_t> pivots) {
  for (std::int64_t& pivot : pivots) ++pivot;
  return pivots;
}
[[nodiscard]] inline std::vector<std::int64_t> counted_from_zero(std::vector<std::int64_t> pivots) {
  for (std::int64_t& pivot : pivots) --pivot;
  return pivots;
}

}  // namespace graphgate::optimized
