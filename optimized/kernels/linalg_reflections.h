// Householder's reflections as LAPACK keeps them: 1 - tau v v^T, whose v has a 1 that is left out.
#pragma once

#include "optimized/kernels/linalg_frame.h"

namespace graphgate::optimized {

// Takes tau v (v^T c) off a column, v beginning at row k.
inline void reflect(const double* v, double tau, std::int64_t k, std::int64_t rows, double* c) {
  if (tau == 0) return;
  double inner = c[k];
  for (std::int64_t i = k + 1; i < rows; ++i) inner += v[i] * c[i];
  inner *= tau;
  c[k] -= inner;
  for (std::int64_t i = k + 1; i < rows; ++i) c[i] -= v[i] * inner;
}

// Makes column k zero below the diagonal: its vector takes the zeros' place.
[[nodiscard]] inline double make_reflection(double* column, std::int64_t k, std::int64_t rows) {
  double most = 0;
  for (std::int64_t i = k + 1; i < rows; ++i) {
    if (!(std::abs(column[i]) <= most)) most = std::abs(column[i]);
  }
  if (most == 0) return 0;
  most = std::max(most, std::abs(column[k]));
  double squares = 0;
  for (std::int64_t i = k; i < rows; ++i) {
    const double scaled = column[i] / most;
    squares += scaled * scaled;
  }
  const double length = most * std::sqrt(squares);
  const double first = column[k];
  const double opposite = std::signbit(first) ? length : -length;
  for (std::int64_t i = k + 1; i < rows; ++i) column[i] /= first - opposite;
  column[k] = opposite;
  return 1 - first / opposite;
}

// The reflections that make a matrix upper triangular; left-looking.
[[nodiscard]] inline std::vector<double> make_triangular(DenseMatrix& a) {
  std::vector<double> tau;
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::size_t k = 0; k < tau.size(); ++k) {
      const auto row = static_cast<std::int64_t>(k);
      reflect(a.column(row), tau[k], row, a.rows, a.column(j));
    }
    if (j < a.rows) tau.push_back(make_reflection(a.column(j), j, a.rows));
  }
  return tau;
}

// Applies all of them to each column: the first one first, or the last one.
inline void reflect_all(const DenseMatrix& v, const std::vector<double>& tau, bool first_first,
                        DenseMatrix& c) {
  for (std::int64_t j = 0; j < c.columns; ++j) {
    for (std::size_t step = 0; step < tau.size(); ++step) {
      const std::size_t k = first_first ? step : tau.size() - 1 - step;
      const auto row = static_cast<std::int64_t>(k);
      reflect(v.column(row), tau[k], row, c.rows, c.column(j));
    }
  }
}

}  // namespace graphgate::optimized
