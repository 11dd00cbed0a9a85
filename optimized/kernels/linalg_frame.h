// Batches of matrices, read and written one after the other, for the kernels of linear algebra:
// linalg_factor, linalg_solve and linalg_spectral.
//
// All compute in double, column by column, and round each result once. They run on the host alone:
// nothing here tells a device what to do.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "optimized/kernel.h"
#include "optimized/rows.h"

namespace graphgate::optimized {

// A matrix whose columns lie one after the other.
struct DenseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> data;

  DenseMatrix() = default;
  DenseMatrix(std::int64_t m, std::int64_t n) : rows(m), columns(n), data(at(m * n)) {}

  double& operator()(std::int64_t i, std::int64_t j) { return data[at(j * rows + i)]; }
  double operator()(std::int64_t i, std::int64_t j) const { return data[at(j * rows + i)]; }
  double* column(std::int64_t j) { return data.data() + j * rows; }
  [[nodiscard]] const double* column(std::int64_t j) const { return data.data() + j * rows; }
};

[[nodiscard]] inline DenseMatrix unit_matrix(std::int64_t rows, std::int64_t columns) {
  DenseMatrix out(rows, columns);
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) out(i, i) = 1;
  return out;
}
[[nodiscard]] inline DenseMatrix transpose_of(const DenseMatrix& a) {
  DenseMatrix out(a.columns, a.rows);
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) out(j, i) = a(i, j);
  }
  return out;
}
[[nodiscard]] inline DenseMatrix product_of(const DenseMatrix& a, const DenseMatrix& b) {
  DenseMatrix out(a.rows, b.columns);
  for (std::int64_t j = 0; j < b.columns; ++j) {
    for (std::int64_t k = 0; k < a.columns; ++k) {
      for (std::int64_t i = 0; i < a.rows; ++i) out(i, j) += a(i, k) * b(k, j);
    }
  }
  return out;
}

// The last two dimensions of a tensor.
class MatrixBatch {
 public:
  explicit MatrixBatch(const Tensor& tensor)
      : all_(tensor, {tensor.rank() - 2, tensor.rank() - 1}),
        rows_(tensor.size(-2)),
        columns_(tensor.size(-1)) {}

  [[nodiscard]] std::int64_t count() const { return all_.count(); }
  [[nodiscard]] DenseMatrix load(std::int64_t batch) const {
    std::vector<double> lines(at(rows_ * columns_));
    all_.load<double>(batch, lines.data());
    DenseMatrix out(rows_, columns_);
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) out(i, j) = lines[at(i * columns_ + j)];
    }
    return out;
  }
  // Writes the first rows and columns of a matrix.
  void store(std::int64_t batch, const DenseMatrix& matrix) const {
    std::vector<double> lines(at(rows_ * columns_));
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) lines[at(i * columns_ + j)] = matrix(i, j);
    }
    all_.store<double>(batch, lines.data());
  }

 private:
  Rows all_;
  std::int64_t rows_;
  std::int64_t columns_;
};

// The last dimension of a tensor: pivots, factors of reflections, singular values.
class VectorBatch {
 public:
  explicit VectorBatch(const Tensor& tensor) : all_(tensor, {tensor.rank() - 1}) {}

  [[nodiscard]] std::int64_t length() const { return all_.length(); }
  template <class C>
  [[nodiscard]] std::vector<C> load(std::int64_t batch) const {
    std::vector<C> out(at(all_.length()));
    all_.load<C>(batch, out.data());
    return out;
  }
  template <class C>
  void store(std::int64_t batch, const std::vector<C>& values) const {
    all_.store<C>(batch, values.data());
  }

 private:
  Rows all_;
};

[[nodiscard]] inline Sizes leading_of(const Tensor& tensor, std::int64_t inner = 2) {
  return {tensor.sizes.begin(), tensor.sizes.end() - inner};
}
[[nodiscard]] inline Sizes extended(Sizes sizes, std::initializer_list<std::int64_t> inner) {
  sizes.insert(sizes.end(), inner);
  return sizes;
}

// Strides of matrices whose columns lie one after the other, row-major before that; a size of 0
// counts as 1. Of one dimension: as it lies.
[[nodiscard]] inline Sizes by_columns(const Sizes& sizes) {
  Sizes strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(sizes[d], 1);
  }
  const std::size_t rank = sizes.size();
  if (rank < 2) return strides;
  strides[rank - 2] = 1;
  strides[rank - 1] = std::max<std::int64_t>(sizes[rank - 2], 1);
  return strides;
}

// Throws OpError unless the tensor holds matrices of float32 or float64.
inline void expect_matrices(const Tensor& tensor) {
  if (tensor.rank() < 2) throw OpError("matrices have two dimensions or more");
  if (tensor.dtype == spec::DType::kFloat32 || tensor.dtype == spec::DType::kFloat64) return;
  throw OpError("linear algebra wants float32 or float64");
}
inline void expect_square(const Tensor& tensor) {
  expect_matrices(tensor);
  if (tensor.size(-1) != tensor.size(-2)) {
    throw OpError("sizes " + print_sizes(tensor.sizes) + " are not those of square matrices");
  }
}

// Throws OpError for a matrix that could not be treated, where the call checks that.
inline void check_info(bool checks, std::int64_t batch, std::int64_t info) {
  if (!checks || info == 0) return;
  throw OpError("matrix " + std::to_string(batch) + " cannot be factored: info is " +
                std::to_string(info));
}

}  // namespace graphgate::optimized
