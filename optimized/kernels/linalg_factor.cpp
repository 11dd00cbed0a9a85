// Factors of matrices: Cholesky's, LU, LDL^T, QR by Householder's reflections, and determinants.
#include "optimized/arithmetic/functions.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/linalg_lu.h"
#include "optimized/kernels/linalg_reflections.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// ---- Cholesky

void infer_cholesky_ex(Inference& call) {
  const Tensor& a = call.tensor("self");
  expect_square(a);
  call.make(a.dtype, a.sizes, by_columns(a.sizes));
  call.make(DType::kInt32, leading_of(a));
}

void infer_cholesky(Inference& call) {
  const Tensor& a = call.tensor("self");
  expect_square(a);
  call.make(a.dtype, a.sizes, by_columns(a.sizes));
}

// The lower factor in the place of the lower triangle, zeros beside it: right-looking. Returns the
// first minor that is not positive, counted from 1, or 0.
std::int64_t factor_cholesky(DenseMatrix& a) {
  std::int64_t info = 0;
  for (std::int64_t k = 0; k < a.columns && info == 0; ++k) {
    double* l = a.column(k);
    if (!(l[k] > 0)) {
      info = k + 1;
      break;
    }
    l[k] = std::sqrt(l[k]);
    for (std::int64_t i = k + 1; i < a.rows; ++i) l[i] /= l[k];
    for (std::int64_t j = k + 1; j < a.columns; ++j) {
      for (std::int64_t i = j; i < a.rows; ++i) a(i, j) -= l[i] * l[j];
    }
  }
  for (std::int64_t j = 0; j < a.columns; ++j) std::fill_n(a.column(j), j, 0.0);
  return info;
}

Launch bind_any_cholesky(const Binding& call, bool checks) {
  const bool upper = call.boolean("upper");
  const bool has_info = call.result_count() == 2;
  return [a = MatrixBatch(call.tensor("self")), out = MatrixBatch(call.result(0)), upper, checks,
          info = has_info ? std::optional<Rows>(Rows(call.result(1), {})) : std::nullopt] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      DenseMatrix matrix = upper ? transpose_of(a.load(b)) : a.load(b);
      const std::int64_t failed = factor_cholesky(matrix);
      check_info(checks, b, failed);
      out.store(b, upper ? transpose_of(matrix) : matrix);
      if (info) info->store_one<std::int64_t>(b, failed);
    }
  };
}

Launch bind_cholesky_ex(const Binding& call) {
  return bind_any_cholesky(call, call.boolean_or("check_errors", false));
}
Launch bind_cholesky(const Binding& call) { return bind_any_cholesky(call, true); }

// ---- LU

std::int64_t steps_of(const Tensor& a) { return std::min(a.size(-2), a.size(-1)); }

void expect_pivots(const KernelCall& call) {
  if (!call.boolean_or("pivot", true)) throw OpError("LU without pivots is not for the CPU");
}

void infer_lu_factor_ex(Inference& call) {
  const Tensor& a = call.tensor("A");
  expect_matrices(a);
  expect_pivots(call);
  call.make(a.dtype, a.sizes, by_columns(a.sizes));
  call.make(DType::kInt32, extended(leading_of(a), {steps_of(a)}));
  call.make(DType::kInt32, leading_of(a));
}

Launch bind_lu_factor_ex(const Binding& call) {
  return [a = MatrixBatch(call.tensor("A")), out = MatrixBatch(call.result(0)),
          pivots = VectorBatch(call.result(1)), info = Rows(call.result(2), {}),
          checks = call.boolean_or("check_errors", false)] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      const PivotedLu lu = pivoted_lu(a.load(b));
      check_info(checks, b, lu.info);
      out.store(b, lu.lu);
      pivots.store(b, counted_from_one(lu.pivots));
      info.store_one<std::int64_t>(b, lu.info);
    }
  };
}

// Sizes of P, L and U.
void make_factors(Inference& call, const Tensor& a, bool makes_p, bool makes_lu) {
  const Sizes none = {0};
  const Sizes leading = leading_of(a);
  const std::int64_t steps = steps_of(a);
  call.make(a.dtype, makes_p ? extended(leading, {a.size(-2), a.size(-2)}) : none);
  call.make(a.dtype, makes_lu ? extended(leading, {a.size(-2), steps}) : none);
  call.make(a.dtype, makes_lu ? extended(leading, {steps, a.size(-1)}) : none);
}

// P, of which column i has its one where row i of L U goes in A.
DenseMatrix permutation_of(const std::vector<std::int64_t>& pivots, std::int64_t rows) {
  DenseMatrix out = unit_matrix(rows, rows);
  exchange_rows(pivots, false, out);
  return out;
}

// One triangle of LU, as wide or as high as it has steps.
DenseMatrix lower_part(const DenseMatrix& lu) {
  DenseMatrix out = unit_matrix(lu.rows, std::min(lu.rows, lu.columns));
  for (std::int64_t j = 0; j < out.columns; ++j) {
    for (std::int64_t i = j + 1; i < out.rows; ++i) out(i, j) = lu(i, j);
  }
  return out;
}
DenseMatrix upper_part(const DenseMatrix& lu, std::int64_t rows) {
  DenseMatrix out(rows, lu.columns);
  for (std::int64_t j = 0; j < out.columns; ++j) {
    for (std::int64_t i = 0; i <= std::min(j, rows - 1); ++i) out(i, j) = lu(i, j);
  }
  return out;
}

void infer_lu(Inference& call) {
  const Tensor& a = call.tensor("A");
  expect_matrices(a);
  expect_pivots(call);
  make_factors(call, a, true, true);
}

Launch bind_lu(const Binding& call) {
  return [a = MatrixBatch(call.tensor("A")), p = MatrixBatch(call.result(0)),
          lower = MatrixBatch(call.result(1)), upper = MatrixBatch(call.result(2))] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      const PivotedLu lu = pivoted_lu(a.load(b));
      p.store(b, permutation_of(lu.pivots, lu.lu.rows));
      lower.store(b, lower_part(lu.lu));
      upper.store(b, upper_part(lu.lu, std::min(lu.lu.rows, lu.lu.columns)));
    }
  };
}

void infer_lu_unpack(Inference& call) {
  const Tensor& data = call.tensor("LU_data");
  const Tensor& pivots = call.tensor("LU_pivots");
  expect_matrices(data);
  const bool unpacks_pivots = call.boolean_or("unpack_pivots", true);
  if (unpacks_pivots && (pivots.dtype != DType::kInt32 ||
                         pivots.sizes != extended(leading_of(data), {steps_of(data)}))) {
    throw OpError("LU_pivots is not int32 with a pivot for each step");
  }
  make_factors(call, data, unpacks_pivots, call.boolean_or("unpack_data", true));
}

Launch bind_lu_unpack(const Binding& call) {
  const bool makes_p = call.boolean_or("unpack_pivots", true);
  const bool makes_lu = call.boolean_or("unpack_data", true);
  const auto matrices = [](bool makes, const Tensor& tensor) {
    return makes ? std::optional<MatrixBatch>(MatrixBatch(tensor)) : std::nullopt;
  };
  const Tensor& data = call.tensor("LU_data");
  return [data = MatrixBatch(data), pivots = call.tensor("LU_pivots"), rows = data.size(-2),
          steps = steps_of(data), p = matrices(makes_p, call.result(0)),
          lower = matrices(makes_lu, call.result(1)), upper = matrices(makes_lu, call.result(2))] {
    for (std::int64_t b = 0; b < data.count(); ++b) {
      if (p) {
        p->store(
            b, permutation_of(counted_from_zero(VectorBatch(pivots).load<std::int64_t>(b)), rows));
      }
      if (!lower) continue;
      const DenseMatrix lu = data.load(b);
      lower->store(b, lower_part(lu));
      upper->store(b, upper_part(lu, steps));
    }
  };
}

// ---- determinants

// A row-major matrix is factored as LAPACK sees it: transposed.
PivotedLu factor_as_it_lies(const DenseMatrix& a, bool is_row_major) {
  return pivoted_lu(is_row_major ? transpose_of(a) : a);
}

double parity_of(const PivotedLu& lu) {
  double sign = 1;
  for (std::size_t k = 0; k < lu.pivots.size(); ++k) {
    if (lu.pivots[k] != static_cast<std::int64_t>(k)) sign = -sign;
  }
  return sign;
}

// Ops of older names call it self.
const Tensor& the_matrix(const KernelCall& call) {
  return call.tensor(call.has("A") ? "A" : "self");
}

// Numbers, and the factors where the op returns them.
void make_determinant(Inference& call, std::size_t numbers) {
  const Tensor& a = the_matrix(call);
  expect_square(a);
  for (std::size_t i = 0; i < numbers; ++i) call.make(a.dtype, leading_of(a));
  if (call.row().schema.returns.size() == numbers) return;
  call.make(a.dtype, a.sizes, by_columns(a.sizes));
  call.make(DType::kInt32, leading_of(a, 1));
}
void infer_det(Inference& call) { make_determinant(call, 1); }
void infer_slogdet(Inference& call) { make_determinant(call, 2); }

// `put(batch, factors)` writes the numbers; the factors follow them.
template <class Put>
Launch bind_determinant(const Binding& call, std::size_t numbers, const Put& put) {
  std::optional<MatrixBatch> factors;
  std::optional<VectorBatch> pivots;
  if (call.result_count() > numbers) {
    factors.emplace(call.result(numbers));
    pivots.emplace(call.result(numbers + 1));
  }
  const Tensor& a = the_matrix(call);
  return [a = MatrixBatch(a), is_row_major = is_contiguous(a), factors, pivots, put] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      const PivotedLu lu = factor_as_it_lies(a.load(b), is_row_major);
      put(b, lu);
      if (!factors) continue;
      factors->store(b, lu.lu);
      pivots->store(b, counted_from_one(lu.pivots));
    }
  };
}

Launch bind_det(const Binding& call) {
  return bind_determinant(call, 1,
                          [out = Rows(call.result(0), {})](std::int64_t b, const PivotedLu& lu) {
                            double product = parity_of(lu);
                            for (std::int64_t k = 0; k < lu.lu.rows; ++k) product *= lu.lu(k, k);
                            out.store_one(b, product);
                          });
}

Launch bind_slogdet(const Binding& call) {
  return bind_determinant(call, 2,
                          [signs = Rows(call.result(0), {}), logarithms = Rows(call.result(1), {})](
                              std::int64_t b, const PivotedLu& lu) {
                            double sign = parity_of(lu);
                            double sum = 0;
                            for (std::int64_t k = 0; k < lu.lu.rows; ++k) {
                              const double pivot = lu.lu(k, k);
                              sum += log(std::abs(pivot));
                              if (pivot < 0) sign = -sign;
                              if (pivot == 0 || pivot != pivot) sign *= pivot;
                            }
                            signs.store_one(b, sign);
                            logarithms.store_one(b, sum);
                          });
}

// ---- QR

struct QrMode {
  bool makes_q = true;
  bool is_complete = false;
};
QrMode qr_mode(const KernelCall& call) {
  const std::string_view mode = call.has("mode") ? call.text("mode") : "reduced";
  if (mode == "reduced") return {};
  if (mode == "complete") return {true, true};
  if (mode == "r") return {false, false};
  throw OpError("the mode of a QR is '" + std::string(mode) + "'");
}

void infer_qr(Inference& call) {
  const Tensor& a = call.tensor("A");
  expect_matrices(a);
  const QrMode mode = qr_mode(call);
  const std::int64_t inner = mode.is_complete ? a.size(-2) : steps_of(a);
  const Sizes q = mode.makes_q ? extended(leading_of(a), {a.size(-2), inner}) : Sizes{0};
  const Sizes r = extended(leading_of(a), {inner, a.size(-1)});
  call.make(a.dtype, q, by_columns(q));
  call.make(a.dtype, r, by_columns(r));
}

Launch bind_qr(const Binding& call) {
  const Tensor& a = call.tensor("A");
  const QrMode mode = qr_mode(call);
  const std::int64_t inner = mode.is_complete ? a.size(-2) : steps_of(a);
  std::optional<MatrixBatch> q;
  if (mode.makes_q) q.emplace(call.result(0));
  return [a = MatrixBatch(a), q, r = MatrixBatch(call.result(1)), inner] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      DenseMatrix packed = a.load(b);
      const std::vector<double> tau = make_triangular(packed);
      r.store(b, upper_part(packed, inner));
      if (!q) continue;
      DenseMatrix columns = unit_matrix(packed.rows, inner);
      reflect_all(packed, tau, false, columns);
      q->store(b, columns);
    }
  };
}

void infer_geqrf(Inference& call) {
  const Tensor& a = call.tensor("self");
  expect_matrices(a);
  call.make(a.dtype, a.sizes, by_columns(a.sizes));
  call.make(a.dtype, extended(leading_of(a), {steps_of(a)}));
}

Launch bind_geqrf(const Binding& call) {
  return [a = MatrixBatch(call.tensor("self")), out = MatrixBatch(call.result(0)),
          factors = VectorBatch(call.result(1))] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      DenseMatrix packed = a.load(b);
      const std::vector<double> tau = make_triangular(packed);
      out.store(b, packed);
      factors.store(b, tau);
    }
  };
}

void expect_reflections(const Tensor& vectors, const Tensor& tau) {
  expect_matrices(vectors);
  if (tau.dtype != vectors.dtype || tau.rank() != vectors.rank() - 1 ||
      leading_of(tau, 1) != leading_of(vectors) || tau.size(-1) > vectors.size(-1)) {
    throw OpError("tau of sizes " + print_sizes(tau.sizes) + " does not fit vectors of sizes " +
                  print_sizes(vectors.sizes));
  }
}

void infer_householder_product(Inference& call) {
  const Tensor& input = call.tensor("input");
  expect_reflections(input, call.tensor("tau"));
  if (input.size(-2) < input.size(-1)) throw OpError("there are more vectors than rows");
  call.make(input.dtype, input.sizes, by_columns(input.sizes));
}

Launch bind_householder_product(const Binding& call) {
  return [input = MatrixBatch(call.tensor("input")), tau = VectorBatch(call.tensor("tau")),
          out = MatrixBatch(call.result())] {
    for (std::int64_t b = 0; b < input.count(); ++b) {
      const DenseMatrix vectors = input.load(b);
      DenseMatrix columns = unit_matrix(vectors.rows, vectors.columns);
      reflect_all(vectors, tau.load<double>(b), false, columns);
      out.store(b, columns);
    }
  };
}

void infer_ormqr(Inference& call) {
  const Tensor& vectors = call.tensor("self");
  const Tensor& tau = call.tensor("input2");
  const Tensor& other = call.tensor("input3");
  expect_reflections(vectors, tau);
  expect_matrices(other);
  const std::int64_t side = other.size(call.boolean_or("left", true) ? -2 : -1);
  if (other.dtype != vectors.dtype || leading_of(other) != leading_of(vectors) ||
      side != vectors.size(-2) || tau.size(-1) > side) {
    throw OpError("reflections of sizes " + print_sizes(vectors.sizes) + " do not fit " +
                  print_sizes(other.sizes));
  }
  call.make(other.dtype, other.sizes, by_columns(other.sizes));
}

Launch bind_ormqr(const Binding& call) {
  return [input = MatrixBatch(call.tensor("self")), tau = VectorBatch(call.tensor("input2")),
          other = MatrixBatch(call.tensor("input3")), out = MatrixBatch(call.result()),
          left = call.boolean_or("left", true), transpose = call.boolean_or("transpose", false)] {
    for (std::int64_t b = 0; b < input.count(); ++b) {
      // From the right it is the other order, on rows.
      DenseMatrix c = left ? other.load(b) : transpose_of(other.load(b));
      reflect_all(input.load(b), tau.load<double>(b), left ? transpose : !transpose, c);
      out.store(b, left ? c : transpose_of(c));
    }
  };
}

// ---- LDL^T

void infer_ldl_factor_ex(Inference& call) {
  const Tensor& a = call.tensor("self");
  expect_square(a);
  call.make(a.dtype, a.sizes, by_columns(a.sizes));
  call.make(DType::kInt32, leading_of(a, 1));
  call.make(DType::kInt32, leading_of(a));
}

// Bunch and Kaufman's pivots of a lower triangle, in place, as LAPACK's sytf2 chooses them.
class BunchKaufman {
 public:
  explicit BunchKaufman(DenseMatrix& a) : a_(a), n_(a.rows) {}

  void run() {
    for (std::int64_t k = 0; k < n_;) k += step(k);
    for (std::int64_t j = 0; j < n_; ++j) std::fill_n(a_.column(j), j, 0.0);
  }
  [[nodiscard]] const std::vector<std::int64_t>& pivots() const { return pivots_; }
  [[nodiscard]] std::int64_t info() const { return info_; }

 private:
  [[nodiscard]] double entry(std::int64_t i, std::int64_t j) const {
    return i >= j ? a_(i, j) : a_(j, i);
  }

  // The largest beside the diagonal of a row of what is left.
  [[nodiscard]] std::pair<std::int64_t, double> largest(std::int64_t row, std::int64_t from) const {
    std::pair<std::int64_t, double> out = {from, 0};
    for (std::int64_t j = from; j < n_; ++j) {
      if (j != row && std::abs(entry(row, j)) > out.second) out = {j, std::abs(entry(row, j))};
    }
    return out;
  }

  std::int64_t step(std::int64_t k) {
    static const double kRatio = (1 + std::sqrt(17.0)) / 8;
    const double diagonal = std::abs(a_(k, k));
    const auto [row, in_column] = largest(k, k);
    if (diagonal == 0 && in_column == 0) {
      if (info_ == 0) info_ = k + 1;
      pivots_.push_back(k + 1);
      return 1;
    }
    std::int64_t pivot = k;
    std::int64_t size = 1;
    if (diagonal < kRatio * in_column) {
      const double in_row = largest(row, k).second;
      if (diagonal < kRatio * in_column * (in_column / in_row)) {
        pivot = row;
        if (std::abs(a_(row, row)) < kRatio * in_row) size = 2;
      }
    }
    exchange(k, k + size - 1, pivot);
    if (size == 1) {
      pivots_.push_back(pivot + 1);
      eliminate_one(k);
    } else {
      pivots_.insert(pivots_.end(), 2, -(pivot + 1));
      eliminate_two(k);
    }
    return size;
  }

  // Exchanges rows and columns p < q of the part from k on; only its lower triangle is kept.
  void exchange(std::int64_t k, std::int64_t p, std::int64_t q) {
    if (p == q) return;
    for (std::int64_t j = k; j < p; ++j) std::swap(a_(p, j), a_(q, j));
    for (std::int64_t i = p + 1; i < q; ++i) std::swap(a_(i, p), a_(q, i));
    for (std::int64_t i = q + 1; i < n_; ++i) std::swap(a_(i, p), a_(i, q));
    std::swap(a_(p, p), a_(q, q));
  }

  void eliminate_one(std::int64_t k) {
    double* column = a_.column(k);
    for (std::int64_t j = k + 1; j < n_; ++j) {
      const double factor = column[j] / column[k];
      for (std::int64_t i = j; i < n_; ++i) a_(i, j) -= column[i] * factor;
    }
    for (std::int64_t i = k + 1; i < n_; ++i) column[i] /= column[k];
  }

  void eliminate_two(std::int64_t k) {
    const double below = a_(k + 1, k);
    const double first = a_(k, k) / below;
    const double second = a_(k + 1, k + 1) / below;
    const double scale = 1 / (first * second - 1) / below;
    for (std::int64_t j = k + 2; j < n_; ++j) {
      const double left = scale * (second * a_(j, k) - a_(j, k + 1));
      const double right = scale * (first * a_(j, k + 1) - a_(j, k));
      for (std::int64_t i = j; i < n_; ++i) a_(i, j) -= a_(i, k) * left + a_(i, k + 1) * right;
      a_(j, k) = left;
      a_(j, k + 1) = right;
    }
  }

  DenseMatrix& a_;
  std::int64_t n_;
  std::vector<std::int64_t> pivots_;
  std::int64_t info_ = 0;
};

Launch bind_ldl_factor_ex(const Binding& call) {
  return [a = MatrixBatch(call.tensor("self")), out = MatrixBatch(call.result(0)),
          pivots = VectorBatch(call.result(1)), info = Rows(call.result(2), {}),
          checks = call.boolean_or("check_errors", false)] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      DenseMatrix matrix = a.load(b);
      BunchKaufman factors(matrix);
      factors.run();
      check_info(checks, b, factors.info());
      out.store(b, matrix);
      pivots.store(b, factors.pivots());
      info.store_one<std::int64_t>(b, factors.info());
    }
  };
}

}  // namespace

std::span<const Kernel> linalg_factor_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten._linalg_det", infer_det, bind_det},
      {"aten._linalg_slogdet", infer_slogdet, bind_slogdet},
      {"aten.cholesky", infer_cholesky, bind_cholesky},
      {"aten.det", infer_det, bind_det},
      {"aten.geqrf", infer_geqrf, bind_geqrf},
      {"aten.linalg_cholesky", infer_cholesky, bind_cholesky},
      {"aten.linalg_cholesky_ex", infer_cholesky_ex, bind_cholesky_ex},
      {"aten.linalg_det", infer_det, bind_det},
      {"aten.linalg_householder_product", infer_householder_product, bind_householder_product},
      {"aten.linalg_ldl_factor_ex", infer_ldl_factor_ex, bind_ldl_factor_ex},
      {"aten.linalg_lu", infer_lu, bind_lu},
      {"aten.linalg_lu_factor_ex", infer_lu_factor_ex, bind_lu_factor_ex},
      {"aten.linalg_qr", infer_qr, bind_qr},
      {"aten.linalg_slogdet", infer_slogdet, bind_slogdet},
      {"aten.lu_unpack", infer_lu_unpack, bind_lu_unpack},
      {"aten.ormqr", infer_ormqr, bind_ormqr},
      {"aten.slogdet", infer_slogdet, bind_slogdet},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
