// Batches of matrices as the ops of linear algebra take and make them: the last two dimensions, or
// the last one of vectors. Used by the families linalg_factor, linalg_solve and linalg_spectral.
#pragma once

#include "reference/call.h"
#include "reference/ops/linalg_errors.h"

namespace graphgate::reference {

// How errors add up in a number type.
template <class N>
[[nodiscard]] ErrorRule error_rule(spec::DType dtype) {
  if constexpr (requires { typename N::PolicyType; }) {
    return ErrorRule::of(typename N::PolicyType(), compute_dtype(dtype));
  } else {
    return {};
  }
}

inline long double wide_value(double x) { return static_cast<long double>(x); }
inline long double wide_radius(double /*x*/) { return 0; }
template <class P>
long double wide_value(const Tracked<P>& x) {
  return x.value;
}
template <class P>
long double wide_radius(const Tracked<P>& x) {
  return static_cast<long double>(detail::error_of(x));
}

// A number of a dtype that is known within a radius.
template <class N>
[[nodiscard]] N known_number(long double value, long double radius, spec::DType dtype) {
  if constexpr (requires { typename N::PolicyType; }) {
    using Policy = typename N::PolicyType;
    const auto arithmetic =
        dtype == spec::DType::kFloat64 ? N::Arithmetic::kFloat64 : N::Arithmetic::kFloat32;
    const bool is_open = !(radius < kOpenRadius);
    return detail::rounded<Policy>(value, is_open ? detail::kInfinity : detail::rounded_up(radius),
                                   arithmetic);
  } else {
    return static_cast<double>(value);
  }
}

// Matrix number `batch` of dense batches of rows x columns.
template <class N>
[[nodiscard]] KnownMatrix matrix_at(const Array<N>& all, std::int64_t batch, std::int64_t rows,
                                    std::int64_t columns) {
  KnownMatrix out{WideMatrix(rows, columns), WideMatrix(rows, columns)};
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const N& x = all[batch * rows * columns + i];
    out.value.data[static_cast<std::size_t>(i)] = wide_value(x);
    out.radius.data[static_cast<std::size_t>(i)] = wide_radius(x);
  }
  return out;
}

template <class N>
void put_matrix(Array<N>& all, std::int64_t batch, const KnownMatrix& matrix, spec::DType dtype) {
  const auto count = static_cast<std::int64_t>(matrix.value.data.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    all[batch * count + i] = known_number<N>(matrix.value.data[at], matrix.radius.data[at], dtype);
  }
}

// The sizes before the last `inner` dimensions, with others behind them.
[[nodiscard]] inline Sizes batch_sizes(const Tensor& tensor, std::int64_t inner = 2) {
  return {tensor.sizes.begin(), tensor.sizes.end() - inner};
}
[[nodiscard]] inline Sizes with_inner(Sizes batches, std::initializer_list<std::int64_t> inner) {
  batches.insert(batches.end(), inner);
  return batches;
}

// Rows and columns of a tensor's matrices.
[[nodiscard]] inline std::int64_t row_count(const Tensor& tensor) {
  return tensor.sizes[tensor.sizes.size() - 2];
}
[[nodiscard]] inline std::int64_t column_count(const Tensor& tensor) { return tensor.sizes.back(); }

// Row-major batches of matrices that lie column by column, as LAPACK wants them. A size of 0 counts
// as 1. Of one dimension: its elements one after the other.
[[nodiscard]] inline Sizes column_major_strides(const Sizes& sizes) {
  Sizes strides = spec::contiguous_strides(sizes);
  if (sizes.size() < 2) return strides;
  strides[sizes.size() - 2] = 1;
  strides.back() = std::max<std::int64_t>(sizes[sizes.size() - 2], 1);
  return strides;
}

// Matrices of float32 or float64. Throws OpError.
inline void require_matrices(const Tensor& tensor, std::string_view name) {
  const std::string what = std::string(name);
  if (tensor.rank() < 2) throw OpError(what + ": the input must have at least 2 dimensions");
  if (tensor.dtype != spec::DType::kFloat32 && tensor.dtype != spec::DType::kFloat64) {
    throw OpError(what + " takes float32 or float64, but got " +
                  std::string(spec::torch_name(tensor.dtype)));
  }
}
inline void require_square(const Tensor& tensor, std::string_view name) {
  require_matrices(tensor, name);
  if (row_count(tensor) != column_count(tensor)) {
    throw OpError(std::string(name) + ": matrices must be square, but got sizes " +
                  print_sizes(tensor.sizes));
  }
}
inline void require_same_dtype(const Tensor& a, const Tensor& b, std::string_view name) {
  if (a.dtype == b.dtype) return;
  throw OpError(std::string(name) + " takes operands of one dtype");
}

// Throws OpError where an `info` says that a matrix cannot be treated, and Undecidable where nobody
// can tell.
inline void require_success(const Array<Whole>& info, std::string_view name) {
  for (std::int64_t i = 0; i < info.count(); ++i) {
    if (info[i].undecided) {
      throw Undecidable("whether a matrix can be factored depends on rounding");
    }
    if (info[i].value == 0) continue;
    throw OpError(std::string(name) + ": (Batch element " + std::to_string(i) + "): info is " +
                  std::to_string(info[i].value));
  }
}

}  // namespace graphgate::reference
