// Matrix products: the one multiplication behind matmul, linear, einsum, convolution and attention.
//
// An element of a product is accumulated over k in order: in blocks of kGemmDepth, whose sums are
// added up in order. That order depends on the number of terms alone: not on the number of rows,
// columns or matrices, on strides, or on an element's place. So a row of a product has the same
// bits alone, among others, and in a padded batch. Products are rounded before they are added;
// integers wrap modulo 2^64.
//
//   a [m, k] -> panels of 4 rows      b [k, n] -> panels of two SSE vectors of columns
//   each 4 x 2 tile of vectors stays in registers over a block of k
//
// Panels are converted from any dtype as they are packed. All strides here are in bytes.
#pragma once

#include <functional>
#include <utility>

#include "optimized/kernel.h"

namespace graphgate::optimized {

inline constexpr std::int64_t kGemmDepth = 256;  // terms of one block

// A matrix anywhere in memory. Strides may be 0 or negative.
struct Factor {
  spec::DType dtype = spec::DType::kFloat32;
  const std::byte* first = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

// Takes `n` finished elements of row `row`, from column `column` on; each element comes once. It
// may change them in place.
template <class C>
using Finish = std::function<void(std::int64_t row, std::int64_t column, C* values, int n)>;

// The product of a [m, k] and b [k, n], in compute type C (float, double, std::int64_t). With k 0
// all elements are 0.
template <class C>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const Factor& a, const Factor& b,
          const Finish<C>& finish);

extern template void gemm<float>(std::int64_t, std::int64_t, std::int64_t, const Factor&,
                                 const Factor&, const Finish<float>&);
extern template void gemm<double>(std::int64_t, std::int64_t, std::int64_t, const Factor&,
                                  const Factor&, const Finish<double>&);
extern template void gemm<std::int64_t>(std::int64_t, std::int64_t, std::int64_t, const Factor&,
                                        const Factor&, const Finish<std::int64_t>&);

// A row-major matrix of compute type C, dense.
template <class C>
[[nodiscard]] Factor dense_factor(const C* first, std::int64_t columns) {
  constexpr bool kIsInteger = std::is_same_v<C, std::int64_t>;
  constexpr spec::DType kDType = kIsInteger                  ? spec::DType::kInt64
                                 : std::is_same_v<C, double> ? spec::DType::kFloat64
                                                             : spec::DType::kFloat32;
  return {kDType, reinterpret_cast<const std::byte*>(first),
          columns * static_cast<std::int64_t>(sizeof(C)), static_cast<std::int64_t>(sizeof(C))};
}
[[nodiscard]] inline Factor transposed(Factor factor) {
  std::swap(factor.row_stride, factor.column_stride);
  return factor;
}

// result = alpha * (a @ b) + beta * added, rounded to `rounds_to` once. `result` is [..., m, n], a
// [..., m, k] and b [..., k, n] with the same rank; leading sizes of 1 broadcast. `added`
// broadcasts to the result; null counts as beta 0, and with beta 0 it is not read.
struct Product {
  Tensor result;
  Tensor a;
  Tensor b;
  std::optional<Tensor> added = {};
  Item alpha{std::int64_t{1}};
  Item beta{std::int64_t{1}};
  spec::DType rounds_to = spec::DType::kFloat32;
};
[[nodiscard]] Launch product_launch(const DeviceListener* listener, Product product);

// Views for the shapes that ops have: with a size of 1 (stride 0) put in before `dim`, and with two
// dimensions exchanged.
[[nodiscard]] Tensor with_unit_dim(Tensor tensor, std::int64_t dim);
[[nodiscard]] Tensor swapped(Tensor tensor, std::int64_t dim_a, std::int64_t dim_b);

}  // namespace graphgate::optimized
