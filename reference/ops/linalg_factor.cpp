// Factors of matrices: Cholesky's, LU, LDL^T, QR by Householder's reflections, and determinants.
//
// Values are those of exact arithmetic, as far as wide numbers go; radii say how far executors lie
// that factor in the dtype, by blocks or not (linalg_errors.h). What a factorization decides by
// comparing numbers (pivots, the signs of reflections, whether a minor is positive) is undecided
// where rounding may decide it, and open with it is what depends on it.
#include <algorithm>
#include <array>

#include "reference/ops/linalg_frame.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// ---- Cholesky ---------------------------------------------------------------------------------

// A = L L^T of the lower triangle, or U^T U of the upper one. Where a minor is not positive, `info`
// says which, and nobody says what stands in its row and behind it.
Array<Whole> emit_cholesky(Call& call, const Tensor& a) {
  const std::int64_t n = row_count(a);
  const bool upper = call.boolean("upper");
  Array<Whole> infos(batch_sizes(a));
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(a, a.dtype);
    const ErrorRule rule = error_rule<N>(a.dtype);
    Array<N> out(a.sizes);
    for (std::int64_t b = 0; b < infos.count(); ++b) {
      const KnownMatrix matrix = matrix_at(in, b, n, n);
      const KnownCholesky known = known_cholesky(upper ? flipped(matrix) : matrix, rule);
      const KnownMatrix lower{known.factor.lower, known.radius};
      put_matrix(out, b, upper ? flipped(lower) : lower, a.dtype);
      infos[b] = Whole(known.factor.failed, known.info_is_open);
    }
    call.emit(out, a.dtype, column_major_strides(a.sizes));
  });
  return infos;
}

void cholesky_ex(Call& call) {
  const Tensor& a = *call.tensor("self");
  require_square(a, "linalg.cholesky");
  const Array<Whole> infos = emit_cholesky(call, a);
  if (call.boolean("check_errors")) require_success(infos, "linalg.cholesky_ex");
  call.emit(infos, DType::kInt32);
}

void cholesky(Call& call) {
  const Tensor& a = *call.tensor("self");
  require_square(a, "cholesky");
  require_success(emit_cholesky(call, a), "cholesky");
}

// ---- LU ---------------------------------------------------------------------------------------

std::int64_t step_count(const Tensor& a) { return std::min(row_count(a), column_count(a)); }

// The factors of a batch of matrices, as the ops return them.
template <class N>
struct LuBatch {
  Array<N> lu;
  Array<Whole> pivots;  // counted from 1
  Array<Whole> infos;
};

// Calls visit(batch, matrix, factors) for each matrix; of its transpose, where `flips`.
template <class N, class Visit>
LuBatch<N> factor_batch(const Tensor& a, bool flips, Visit&& visit) {
  const std::int64_t m = row_count(a);
  const std::int64_t n = column_count(a);
  const std::int64_t count = std::min(m, n);
  const Array<N> in = load<N>(a, a.dtype);
  const ErrorRule rule = error_rule<N>(a.dtype);
  LuBatch<N> out{Array<N>(a.sizes), Array<Whole>(with_inner(batch_sizes(a), {count})),
                 Array<Whole>(batch_sizes(a))};
  for (std::int64_t b = 0; b < out.infos.count(); ++b) {
    KnownMatrix matrix = matrix_at(in, b, m, n);
    if (flips) matrix = flipped(matrix);
    const KnownLu known = known_lu(matrix, rule);
    put_matrix(out.lu, b, {known.factors.lu, known.radius}, a.dtype);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t pivot = known.factors.pivots[static_cast<std::size_t>(k)];
      out.pivots[b * count + k] = Whole(pivot + 1, k >= known.open_from);
    }
    out.infos[b] = Whole(known.factors.first_zero, known.info_is_open);
    visit(b, matrix, known, rule);
  }
  return out;
}

void require_pivot(const Call& call, std::string_view name) {
  if (call.boolean("pivot")) return;
  throw OpError(std::string(name) + ": LU without pivoting is not implemented on the CPU");
}

void lu_factor_ex(Call& call) {
  const Tensor& a = *call.tensor("A");
  require_matrices(a, "torch.lu_factor");
  require_pivot(call, "linalg.lu_factor");
  with_real(call.mode(), [&]<class N>() {
    const LuBatch<N> out = factor_batch<N>(
        a, false, [](std::int64_t, const KnownMatrix&, const KnownLu&, const ErrorRule&) {});
    if (call.boolean("check_errors")) require_success(out.infos, "linalg.lu_factor_ex");
    call.emit(out.lu, a.dtype, column_major_strides(a.sizes));
    call.emit(out.pivots, DType::kInt32);
    call.emit(out.infos, DType::kInt32);
  });
}

// Writes the matrix P of A = P L U: row order[i] of A is row i of L U. From place `open_from` on
// nobody tells.
template <class N>
void put_permutation(Array<N>& out, std::int64_t batch, const std::vector<std::int64_t>& order,
                     std::int64_t open_from, DType dtype) {
  const auto m = static_cast<std::int64_t>(order.size());
  KnownMatrix p{WideMatrix(m, m), WideMatrix(m, m)};
  for (std::int64_t i = 0; i < m; ++i) p.value(order[static_cast<std::size_t>(i)], i) = 1;
  for (std::int64_t i = open_from; i < m; ++i) {
    for (std::int64_t r = 0; r < m; ++r) p.radius(r, i) = kOpenRadius;
  }
  put_matrix(out, batch, p, dtype);
}

// L (m x k) with ones on its diagonal, and U (k x n).
template <class N>
void put_triangles(Array<N>& lower, Array<N>& upper, const Array<N>& lu, std::int64_t m,
                   std::int64_t n) {
  const std::int64_t count = std::min(m, n);
  const std::int64_t size = std::max<std::int64_t>(m * n, 1);
  for (std::int64_t at = 0; at < lu.count(); ++at) {
    const std::int64_t b = at / size;
    const std::int64_t i = at % size / n;
    const std::int64_t j = at % n;
    if (j < count) lower[(b * m + i) * count + j] = i > j ? lu[at] : N(i == j ? 1.0 : 0.0);
    if (i < count) upper[(b * count + i) * n + j] = i <= j ? lu[at] : N(0.0);
  }
}

void lu(Call& call) {
  const Tensor& a = *call.tensor("A");
  require_matrices(a, "linalg.lu");
  require_pivot(call, "linalg.lu");
  const std::int64_t m = row_count(a);
  const std::int64_t n = column_count(a);
  const Sizes batches = batch_sizes(a);
  with_real(call.mode(), [&]<class N>() {
    Array<N> p(with_inner(batches, {m, m}));
    Array<N> lower(with_inner(batches, {m, step_count(a)}));
    Array<N> upper(with_inner(batches, {step_count(a), n}));
    const LuBatch<N> out = factor_batch<N>(
        a, false, [&](std::int64_t b, const KnownMatrix&, const KnownLu& known, const ErrorRule&) {
          const bool is_sure = known.open_from == step_count(a);
          put_permutation(p, b, known.factors.order, is_sure ? m : known.open_from, a.dtype);
        });
    put_triangles(lower, upper, out.lu, m, n);
    call.emit(p, a.dtype);
    call.emit(lower, a.dtype);
    call.emit(upper, a.dtype);
  });
}

// Pivots of one matrix, counted from 0, and the first one that nobody tells. Throws OpError.
struct ReadPivots {
  std::vector<std::int64_t> pivots;
  std::int64_t open_from = 0;
};
ReadPivots read_pivots(const Array<Whole>& all, std::int64_t batch, std::int64_t count,
                       std::int64_t rows) {
  ReadPivots out{{}, count};
  for (std::int64_t k = 0; k < count; ++k) {
    const Whole pivot = all[batch * count + k];
    if (pivot.value < 1 || pivot.value > rows) {
      throw OpError("pivots are out of range: they must lie between 1 and " + std::to_string(rows));
    }
    if (pivot.undecided) out.open_from = std::min(out.open_from, k);
    out.pivots.push_back(pivot.value - 1);
  }
  return out;
}

void lu_unpack(Call& call) {
  const Tensor& data = *call.tensor("LU_data");
  const Tensor& given = *call.tensor("LU_pivots");
  require_matrices(data, "torch.lu_unpack");
  const bool unpacks_data = call.boolean("unpack_data");
  const bool unpacks_pivots = call.boolean("unpack_pivots");
  if (unpacks_pivots && given.dtype != DType::kInt32) {
    throw OpError("torch.lu_unpack: LU_pivots is expected to be a tensor of int32");
  }
  const std::int64_t m = row_count(data);
  const std::int64_t n = column_count(data);
  const std::int64_t count = step_count(data);
  const Sizes batches = batch_sizes(data);
  with_real(call.mode(), [&]<class N>() {
    Array<N> p(unpacks_pivots ? with_inner(batches, {m, m}) : Sizes{0});
    if (unpacks_pivots) {
      if (given.sizes != with_inner(batches, {count})) {
        throw OpError("torch.lu_unpack: LU_pivots does not have one pivot for each step");
      }
      const Array<Whole> pivots = load<Whole>(given, DType::kInt32);
      for (std::int64_t b = 0; b < count_of(batches); ++b) {
        const ReadPivots read = read_pivots(pivots, b, count, m);
        const bool is_sure = read.open_from == count;
        put_permutation(p, b, order_of_rows(read.pivots, m), is_sure ? m : read.open_from,
                        data.dtype);
      }
    }
    Array<N> lower(unpacks_data ? with_inner(batches, {m, count}) : Sizes{0});
    Array<N> upper(unpacks_data ? with_inner(batches, {count, n}) : Sizes{0});
    if (unpacks_data) put_triangles(lower, upper, load<N>(data, data.dtype), m, n);
    call.emit(p, data.dtype);
    call.emit(lower, data.dtype);
    call.emit(upper, data.dtype);
  });
}

// ---- determinants -----------------------------------------------------------------------------

// The matrix is called A, or self in ops of older names.
const Tensor& matrix_argument(const Call& call) {
  return *call.tensor(call.has("A") ? "A" : "self");
}

// What a product of pivots comes to where it is subnormal on the way, in whatever order they are
// multiplied.
long double underflow_of_product(const KnownLu& known, const ErrorRule& rule, DType dtype) {
  long double least = 1;
  long double most = 1;
  const std::int64_t n = known.factors.lu.rows;
  for (std::int64_t k = 0; k < n; ++k) {
    const long double pivot = std::fabs(known.factors.lu(k, k));
    least *= std::min(1.0L, pivot);
    most *= std::max(1.0L, pivot + known.radius(k, k));
  }
  const long double smallest = static_cast<long double>(half_ulp(0, dtype)) / rule.roundings(1);
  if (!rule.tracks() || least > smallest) return 0;
  return rule.underflow(static_cast<long double>(n)) * most;
}

// PyTorch factors the transpose of a row-major matrix, which lies as LAPACK wants it.
void det_factors(Call& call) {
  const Tensor& a = matrix_argument(call);
  require_square(a, "linalg.det");
  with_real(call.mode(), [&]<class N>() {
    Array<N> result(batch_sizes(a));
    const LuBatch<N> out = factor_batch<N>(
        a, is_contiguous(a),
        [&](std::int64_t b, const KnownMatrix& matrix, const KnownLu& known,
            const ErrorRule& rule) {
          const KnownNumber det = known_determinant(matrix, known, rule);
          const long double underflow =
              det.value == 0 && det.radius == 0 ? 0 : underflow_of_product(known, rule, a.dtype);
          result[b] = known_number<N>(det.value, rule.joined(det.radius, underflow), a.dtype);
        });
    call.emit(result, a.dtype);
    if (call.row().schema.returns.size() == 1) return;  // det
    call.emit(out.lu, a.dtype, column_major_strides(a.sizes));
    call.emit(out.pivots, DType::kInt32);
  });
}

// The sign and the logarithm of a determinant: a sum of logarithms of the pivots.
template <class N>
std::pair<N, N> sign_and_logarithm(const KnownNumber& det, const KnownLu& known,
                                   const ErrorRule& rule, DType dtype) {
  const bool is_zero = det.value == 0 && det.radius == 0;
  const bool is_sure =
      is_zero || std::fabs(det.value) > rule.decision() * det.radius || !rule.tracks();
  long double sign = 0;
  if (det.value > 0) sign = 1;
  if (det.value < 0) sign = -1;
  if (std::isnan(det.value)) sign = det.value;
  long double sizes = 0;
  for (std::int64_t k = 0; k < known.factors.lu.rows; ++k) {
    sizes += std::fabs(std::log(std::fabs(known.factors.lu(k, k))));
  }
  const auto terms = static_cast<long double>(known.factors.lu.rows);
  const long double relative = det.radius / std::fabs(det.value);
  long double radius = rule.joined(relative < 0.5L ? relative / (1 - relative) : kOpenRadius,
                                   rule.roundings(terms + 4) * sizes);
  if (is_zero) radius = 0;
  return {known_number<N>(sign, is_sure ? 0 : kOpenRadius, dtype),
          known_number<N>(std::log(std::fabs(det.value)), is_sure ? radius : kOpenRadius, dtype)};
}

void slogdet_factors(Call& call) {
  const Tensor& a = matrix_argument(call);
  require_square(a, "linalg.slogdet");
  with_real(call.mode(), [&]<class N>() {
    Array<N> signs(batch_sizes(a));
    Array<N> logarithms(batch_sizes(a));
    const LuBatch<N> out = factor_batch<N>(
        a, is_contiguous(a),
        [&](std::int64_t b, const KnownMatrix& matrix, const KnownLu& known,
            const ErrorRule& rule) {
          const KnownNumber det = known_determinant(matrix, known, rule);
          std::tie(signs[b], logarithms[b]) = sign_and_logarithm<N>(det, known, rule, a.dtype);
        });
    call.emit(signs, a.dtype);
    call.emit(logarithms, a.dtype);
    if (call.row().schema.returns.size() == 2) return;  // slogdet
    call.emit(out.lu, a.dtype, column_major_strides(a.sizes));
    call.emit(out.pivots, DType::kInt32);
  });
}

// ---- QR ---------------------------------------------------------------------------------------

void qr(Call& call) {
  const Tensor& a = *call.tensor("A");
  require_matrices(a, "linalg.qr");
  const std::string_view mode = call.text("mode");
  if (mode != "reduced" && mode != "complete" && mode != "r") {
    throw OpError("qr received unrecognized mode '" + std::string(mode) + "'");
  }
  const std::int64_t m = row_count(a);
  const std::int64_t n = column_count(a);
  const std::int64_t count = mode == "complete" ? m : std::min(m, n);
  const Sizes batches = batch_sizes(a);
  const Sizes q_sizes = mode == "r" ? Sizes{0} : with_inner(batches, {m, count});
  const Sizes r_sizes = with_inner(batches, {count, n});
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(a, a.dtype);
    Array<N> q(q_sizes);
    Array<N> r(r_sizes);
    for (std::int64_t b = 0; b < count_of(batches); ++b) {
      const KnownQr known = known_qr(matrix_at(in, b, m, n), count, error_rule<N>(a.dtype));
      if (mode != "r") put_matrix(q, b, known.q, a.dtype);
      put_matrix(r, b,
                 {part_of(known.r.value, 0, 0, count, n), part_of(known.r.radius, 0, 0, count, n)},
                 a.dtype);
    }
    call.emit(q, a.dtype, column_major_strides(q_sizes));
    call.emit(r, a.dtype, column_major_strides(r_sizes));
  });
}

void geqrf(Call& call) {
  const Tensor& a = *call.tensor("self");
  require_matrices(a, "torch.geqrf");
  const std::int64_t m = row_count(a);
  const std::int64_t n = column_count(a);
  const std::int64_t count = step_count(a);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(a, a.dtype);
    Array<N> packed(a.sizes);
    Array<N> tau(with_inner(batch_sizes(a), {count}));
    for (std::int64_t b = 0; b < count_of(batch_sizes(a)); ++b) {
      const KnownQr known = known_qr(matrix_at(in, b, m, n), count, error_rule<N>(a.dtype));
      put_matrix(packed, b, known.packed, a.dtype);
      for (std::int64_t k = 0; k < count; ++k) {
        const auto at = static_cast<std::size_t>(k);
        tau[b * count + k] =
            known_number<N>(known.reflections.tau[at], known.tau_radius[at], a.dtype);
      }
    }
    call.emit(packed, a.dtype, column_major_strides(a.sizes));
    call.emit(tau, a.dtype);
  });
}

// Reflections that are given: their vectors and factors.
void require_reflections(const Tensor& vectors, const Tensor& tau, std::string_view name) {
  require_matrices(vectors, name);
  require_same_dtype(vectors, tau, name);
  const bool fits = tau.rank() == vectors.rank() - 1 && batch_sizes(tau, 1) == batch_sizes(vectors);
  if (!fits || tau.sizes.back() > column_count(vectors)) {
    throw OpError(std::string(name) + ": sizes " + print_sizes(tau.sizes) +
                  " of tau do not fit vectors of sizes " + print_sizes(vectors.sizes));
  }
}

template <class N>
KnownMatrix factors_at(const Array<N>& tau, std::int64_t batch) {
  const std::int64_t count = tau.sizes.back();
  return matrix_at(tau, batch, count, 1);
}

// The first columns of the product of reflections.
void householder_product(Call& call) {
  const Tensor& input = *call.tensor("input");
  const Tensor& tau = *call.tensor("tau");
  require_reflections(input, tau, "torch.linalg.householder_product");
  const std::int64_t m = row_count(input);
  const std::int64_t n = column_count(input);
  if (m < n) throw OpError("torch.linalg.householder_product: more columns than rows");
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(input, input.dtype);
    const Array<N> factors = load<N>(tau, tau.dtype);
    Array<N> out(input.sizes);
    KnownMatrix first{WideMatrix(m, n), WideMatrix(m, n)};
    for (std::int64_t j = 0; j < n; ++j) first.value(j, j) = 1;
    for (std::int64_t b = 0; b < count_of(batch_sizes(input)); ++b) {
      put_matrix(out, b,
                 known_reflection(matrix_at(in, b, m, n), factors_at(factors, b), first, false,
                                  error_rule<N>(input.dtype)),
                 input.dtype);
    }
    call.emit(out, input.dtype, column_major_strides(input.sizes));
  });
}

// The product of reflections, or its transpose, times a matrix from the left or the right.
void ormqr(Call& call) {
  const Tensor& input = *call.tensor("self");
  const Tensor& tau = *call.tensor("input2");
  const Tensor& other = *call.tensor("input3");
  require_reflections(input, tau, "torch.ormqr");
  require_matrices(other, "torch.ormqr");
  require_same_dtype(input, other, "torch.ormqr");
  const bool left = call.boolean("left");
  const bool transposes = call.boolean("transpose");
  const std::int64_t m = row_count(input);
  const std::int64_t n = column_count(input);
  const std::int64_t side = left ? row_count(other) : column_count(other);
  if (side != m || tau.sizes.back() > m || batch_sizes(other) != batch_sizes(input)) {
    throw OpError("torch.ormqr: sizes " + print_sizes(other.sizes) +
                  " do not fit vectors of sizes " + print_sizes(input.sizes));
  }
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(input, input.dtype);
    const Array<N> factors = load<N>(tau, tau.dtype);
    const Array<N> with = load<N>(other, other.dtype);
    Array<N> out(other.sizes);
    for (std::int64_t b = 0; b < count_of(batch_sizes(input)); ++b) {
      const KnownMatrix c = matrix_at(with, b, row_count(other), column_count(other));
      // C Q = (Q^T C^T)^T.
      const KnownMatrix product =
          known_reflection(matrix_at(in, b, m, n), factors_at(factors, b), left ? c : flipped(c),
                           left == transposes, error_rule<N>(input.dtype));
      put_matrix(out, b, left ? product : flipped(product), other.dtype);
    }
    call.emit(out, other.dtype, column_major_strides(other.sizes));
  });
}

// ---- LDL^T ------------------------------------------------------------------------------------

// `hermitian` says nothing of real matrices.
void ldl_factor_ex(Call& call) {
  const Tensor& a = *call.tensor("self");
  require_square(a, "torch.linalg.ldl_factor_ex");
  const std::int64_t n = row_count(a);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(a, a.dtype);
    Array<N> out(a.sizes);
    Array<Whole> pivots(batch_sizes(a, 1));
    Array<Whole> infos(batch_sizes(a));
    for (std::int64_t b = 0; b < infos.count(); ++b) {
      const ErrorRule rule = error_rule<N>(a.dtype);
      const KnownLdl known = known_ldl(matrix_at(in, b, n, n), rule);
      put_matrix(out, b, known.packed, a.dtype);
      for (std::int64_t k = 0; k < n; ++k) {
        pivots[b * n + k] = Whole(known.pivots[static_cast<std::size_t>(k)], k >= known.open_from);
      }
      // cuSOLVER names another pivot than LAPACK does, and none of a matrix of one element.
      const bool by_cuda = declared_arithmetic().has_cuda_kernels && known.first_zero != 0;
      infos[b] = Whole(known.first_zero, known.info_is_open || by_cuda);
    }
    if (call.boolean("check_errors")) require_success(infos, "torch.linalg.ldl_factor_ex");
    call.emit(out, a.dtype, column_major_strides(a.sizes));
    call.emit(pivots, DType::kInt32);
    call.emit(infos, DType::kInt32);
  });
}

constexpr std::array kLinalgFactorOps = {
    OpBody{"aten._linalg_det", det_factors},
    OpBody{"aten._linalg_slogdet", slogdet_factors},
    OpBody{"aten.cholesky", cholesky},
    OpBody{"aten.det", det_factors},
    OpBody{"aten.geqrf", geqrf},
    OpBody{"aten.linalg_cholesky", cholesky},
    OpBody{"aten.linalg_cholesky_ex", cholesky_ex},
    OpBody{"aten.linalg_det", det_factors},
    OpBody{"aten.linalg_householder_product", householder_product},
    OpBody{"aten.linalg_ldl_factor_ex", ldl_factor_ex},
    OpBody{"aten.linalg_lu", lu},
    OpBody{"aten.linalg_lu_factor_ex", lu_factor_ex},
    OpBody{"aten.linalg_qr", qr},
    OpBody{"aten.linalg_slogdet", slogdet_factors},
    OpBody{"aten.lu_unpack", lu_unpack},
    OpBody{"aten.ormqr", ormqr},
    OpBody{"aten.slogdet", slogdet_factors},
};

}  // namespace

std::span<const OpBody> linalg_factor_ops() { return kLinalgFactorOps; }

}  // namespace graphgate::reference
