// Eigenvalues, singular values, and what is made of them: pseudoinverses, least squares, polar
// factors, square roots; and the exponential of a matrix.
//
// Algorithms for eigenvalues and singular values are backward stable: what they find belongs to
// A + E, |E| <= p(n) u |A| (Frobenius norms), p(n) "a modestly growing function" (LAPACK Users'
// Guide, 3rd ed., chapter 4). Here p(n) = 10 n is the declared accuracy, as the ULPs of functions.h
// are; PyTorch's own results (MKL) had 9 u |A| at most for n up to 200. From E follow
//   eigenvalues and singular values: each moves by |E| at most (Weyl; Horn and Johnson, Matrix
//     Analysis, theorems 4.3.1 and 7.3.5);
//   functions of a matrix: by divided differences of the function in the basis of the vectors
//     (Daleckii and Krein; Higham, Functions of Matrices, section 3.2; of singular values:
//     Noferini, "A formula for the Frechet derivative of a generalized matrix function", SIMAX 38,
//     2017);
//   vectors: by |E| over the gap to the other values (Stewart and Sun, Matrix Perturbation Theory).
// Nobody says which sign a vector has: as an oracle's number an element of it is 0, within its
// magnitude and what that may move by. Vectors of values that may be equal may be any in their
// span: then that is 1.
#include <algorithm>
#include <array>
#include <functional>

#include "reference/ops/linalg_frame.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// p(n), and how long the error of a matrix is that it and the matrix's radii come to.
long double spectral_roundings(const WideMatrix& a) {
  return 10 * static_cast<long double>(std::max<std::int64_t>({a.rows, a.columns, 1}));
}
long double error_length(const KnownMatrix& a, const ErrorRule& rule) {
  if (!rule.tracks()) return 0;
  return rule.joined(rule.roundings(spectral_roundings(a.value)) * frobenius_norm(a.value),
                     frobenius_norm(a.radius));
}

// Both halves of one triangle of a matrix.
KnownMatrix symmetric_of(const KnownMatrix& a, bool upper) {
  KnownMatrix out = a;
  for (std::int64_t i = 0; i < a.value.rows; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      const std::int64_t row = upper ? j : i;
      const std::int64_t column = upper ? i : j;
      out.value(i, j) = out.value(j, i) = a.value(row, column);
      out.radius(i, j) = out.radius(j, i) = a.radius(row, column);
    }
  }
  return out;
}

// Vectors as columns: known but for their signs.
KnownMatrix of_open_sign(const WideMatrix& vectors, const WideMatrix& moved,
                         const ErrorRule& rule) {
  if (!rule.tracks()) return {vectors, WideMatrix(vectors.rows, vectors.columns)};
  KnownMatrix out{WideMatrix(vectors.rows, vectors.columns),
                  WideMatrix(vectors.rows, vectors.columns)};
  const long double rounding = rule.roundings(spectral_roundings(vectors));
  for (std::size_t i = 0; i < vectors.data.size(); ++i) {
    const long double most = std::fabs(vectors.data[i]) + moved.data[i];
    out.radius.data[i] = (most < 1 ? most : 1) + rounding;
  }
  return out;
}

// How far the elements of vectors move, that have these values: by `error` over the gap, along the
// other vectors. `beside` is the value of directions that no column has, where there are any.
WideMatrix moved_vectors(const WideMatrix& vectors, const std::vector<long double>& values,
                         std::optional<long double> beside, long double error,
                         const ErrorRule& rule) {
  const std::int64_t n = vectors.rows;
  const auto count = static_cast<std::int64_t>(values.size());
  WideMatrix out(n, vectors.columns, kOpenRadius);
  for (std::int64_t i = 0; i < std::min(count, vectors.columns); ++i) {
    long double gap = kOpenRadius;
    for (std::int64_t j = 0; j < count; ++j) {
      if (j != i) gap = std::min(gap, std::fabs(values[nth(i)] - values[nth(j)]));
    }
    if (beside) gap = std::min(gap, std::fabs(values[nth(i)] - *beside));
    const long double growth = rule.growth(2 * error / gap);
    if (!(growth < kOpenRadius)) continue;
    for (std::int64_t a = 0; a < n; ++a) {
      long double squares = 0;
      long double rest = 1;  // of the row's length: along directions that no column has
      for (std::int64_t j = 0; j < count; ++j) {
        const long double x = vectors(a, j);
        rest -= x * x;
        if (j == i) continue;
        const long double part = x / (values[nth(i)] - values[nth(j)]);
        squares += part * part;
      }
      if (beside && rest > 0) {
        const long double apart = values[nth(i)] - *beside;
        squares += rest / (apart * apart);
      }
      out(a, i) = std::sqrt(2 * squares) * error * growth;
    }
  }
  return out;
}

// ---- eigenvalues ------------------------------------------------------------------------------

bool reads_upper(std::string_view uplo) {
  if (uplo == "U" || uplo == "u") return true;
  if (uplo == "L" || uplo == "l") return false;
  throw OpError("Expected UPLO argument to be 'L' or 'U', but got " + std::string(uplo));
}

// A vector of values within one radius.
KnownMatrix values_within(const std::vector<long double>& values, long double error,
                          const ErrorRule& rule) {
  const auto count = static_cast<std::int64_t>(values.size());
  KnownMatrix out{WideMatrix(count, 1), WideMatrix(count, 1)};
  out.value.data = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.radius.data[i] =
        rule.tracks() ? rule.joined(error, rule.roundings(1) * std::fabs(values[i])) : 0;
  }
  return out;
}

void eigh(Call& call) {
  const Tensor& a = *call.tensor("A");
  require_square(a, "linalg.eigh");
  const bool upper = reads_upper(call.text("UPLO"));
  const bool with_vectors = call.boolean("compute_v");
  const std::int64_t n = row_count(a);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(a, a.dtype);
    const ErrorRule rule = error_rule<N>(a.dtype);
    Array<N> values(batch_sizes(a, 1));
    Array<N> vectors(with_vectors ? a.sizes : Sizes{0});
    for (std::int64_t b = 0; b < count_of(batch_sizes(a)); ++b) {
      const KnownMatrix matrix = symmetric_of(matrix_at(in, b, n, n), upper);
      if (!is_finite(matrix)) {
        put_matrix(values, b, open_matrix(n, 1), a.dtype);
        if (with_vectors) put_matrix(vectors, b, open_matrix(n, n), a.dtype);
        continue;
      }
      const Eigen eigen = eigen_of(matrix.value);
      const long double error = error_length(matrix, rule);
      put_matrix(values, b, values_within(eigen.values, error, rule), a.dtype);
      if (!with_vectors) continue;
      const WideMatrix moved = moved_vectors(eigen.vectors, eigen.values, {}, error, rule);
      put_matrix(vectors, b, of_open_sign(eigen.vectors, moved, rule), a.dtype);
    }
    call.emit(values, a.dtype);
    call.emit(vectors, a.dtype, column_major_strides(vectors.sizes));
  });
}

// ---- singular values --------------------------------------------------------------------------

// `columns` orthonormal columns that begin with those of `u` that have values.
WideMatrix completed(const WideMatrix& u, const std::vector<long double>& values,
                     std::int64_t columns) {
  std::int64_t known = 0;
  while (known < u.columns && values[nth(known)] > 0) ++known;
  WideMatrix out(u.rows, columns);
  for (std::int64_t j = 0; j < columns; ++j) out(j, j) = 1;
  out = apply_reflections(reflections_of(part_of(u, 0, 0, u.rows, known)), std::move(out), false);
  for (std::int64_t j = 0; j < known; ++j) {
    for (std::int64_t i = 0; i < u.rows; ++i) out(i, j) = u(i, j);
  }
  return out;
}

// One side's vectors of an SVD.
KnownMatrix singular_vectors(const WideMatrix& u, const std::vector<long double>& values,
                             std::int64_t columns, long double error, const ErrorRule& rule) {
  const bool has_others = u.rows > u.columns;
  const WideMatrix whole = completed(u, values, columns);
  const WideMatrix moved = moved_vectors(
      whole, values, has_others ? std::optional<long double>(0) : std::nullopt, error, rule);
  return of_open_sign(whole, moved, rule);
}

void svd(Call& call) {
  const Tensor& a = *call.tensor("A");
  require_matrices(a, "linalg.svd");
  if (call.has("driver")) throw OpError("linalg.svd: a driver is for CUDA inputs alone");
  const bool with_vectors = call.boolean("compute_uv");
  const bool full = call.boolean("full_matrices");
  const std::int64_t m = row_count(a);
  const std::int64_t n = column_count(a);
  const std::int64_t count = std::min(m, n);
  const Sizes batches = batch_sizes(a);
  const Sizes u_sizes = with_vectors ? with_inner(batches, {m, full ? m : count}) : Sizes{0};
  const Sizes v_sizes = with_vectors ? with_inner(batches, {full ? n : count, n}) : Sizes{0};
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(a, a.dtype);
    const ErrorRule rule = error_rule<N>(a.dtype);
    Array<N> u(u_sizes);
    Array<N> s(with_inner(batches, {count}));
    Array<N> v(v_sizes);
    for (std::int64_t b = 0; b < count_of(batches); ++b) {
      const KnownMatrix matrix = matrix_at(in, b, m, n);
      if (!is_finite(matrix)) {
        put_matrix(s, b, open_matrix(count, 1), a.dtype);
        if (with_vectors) put_matrix(u, b, open_matrix(m, u_sizes.back()), a.dtype);
        if (with_vectors) put_matrix(v, b, open_matrix(v_sizes[v_sizes.size() - 2], n), a.dtype);
        continue;
      }
      const SingularValues found = singular_values_of(matrix.value);
      const long double error = error_length(matrix, rule);
      put_matrix(s, b, values_within(found.values, error, rule), a.dtype);
      if (!with_vectors) continue;
      put_matrix(u, b, singular_vectors(found.u, found.values, u_sizes.back(), error, rule),
                 a.dtype);
      put_matrix(v, b,
                 flipped(singular_vectors(found.v, found.values, v_sizes[v_sizes.size() - 2], error,
                                          rule)),
                 a.dtype);
    }
    call.emit(u, a.dtype, column_major_strides(u_sizes));
    call.emit(s, a.dtype);
    const bool by_rows = declared_arithmetic().has_cuda_kernels;  // cuSOLVER gives V
    call.emit(v, a.dtype, by_rows ? Sizes() : column_major_strides(v_sizes));
  });
}

// ---- functions of singular values -------------------------------------------------------------

// What each row of a matrix with orthonormal columns lacks to length 1: the squares.
std::vector<long double> rest_of_rows(const WideMatrix& vectors) {
  std::vector<long double> out(nth(vectors.rows), 1);
  for (std::int64_t i = 0; i < vectors.rows; ++i) {
    for (std::int64_t j = 0; j < vectors.columns; ++j) {
      out[nth(i)] -= vectors(i, j) * vectors(i, j);
    }
    out[nth(i)] = std::max(out[nth(i)], 0.0L);
  }
  return out;
}

// The radii of left f right^T, where an error of length `error` moves the matrix that the vectors
// belong to: element (a, b) by |error| times the length of left(a, i) slope(i, j) right(b, j) over
// all i and j. The last row and column of `slope` are those of directions that no vector has.
WideMatrix spectral_radius(const WideMatrix& left, const WideMatrix& right, const WideMatrix& slope,
                           long double error) {
  const std::vector<long double> left_rest = rest_of_rows(left);
  const std::vector<long double> right_rest = rest_of_rows(right);
  WideMatrix squares(left.rows, slope.columns);
  for (std::int64_t a = 0; a < left.rows; ++a) {
    for (std::int64_t i = 0; i < slope.rows; ++i) {
      const long double weight = i < left.columns ? left(a, i) * left(a, i) : left_rest[nth(a)];
      for (std::int64_t j = 0; weight != 0 && j < slope.columns; ++j) {
        squares(a, j) += weight * slope(i, j) * slope(i, j);
      }
    }
  }
  WideMatrix out(left.rows, right.rows);
  for (std::int64_t a = 0; a < left.rows; ++a) {
    for (std::int64_t b = 0; b < right.rows; ++b) {
      long double sum = 0;
      for (std::int64_t j = 0; j < slope.columns; ++j) {
        const long double weight =
            j < right.columns ? right(b, j) * right(b, j) : right_rest[nth(b)];
        if (weight != 0) sum += squares(a, j) * weight;
      }
      out(a, b) = std::sqrt(sum) * error;
    }
  }
  return out;
}

// left diag(f) right^T.
WideMatrix scaled_product(const WideMatrix& left, const std::vector<long double>& f,
                          const WideMatrix& right) {
  WideMatrix scaled = left;
  for (std::int64_t i = 0; i < left.rows; ++i) {
    for (std::int64_t j = 0; j < left.columns; ++j) scaled(i, j) *= f[nth(j)];
  }
  return scaled * flipped(right);
}

// Adds what the product's own roundings come to, and what computed vectors lack to orthonormal
// ones.
void add_formation(WideMatrix& radius, const std::vector<long double>& f, std::int64_t terms,
                   const ErrorRule& rule) {
  long double most = 0;
  for (const long double x : f) most = std::max(most, std::fabs(x));
  const long double formation =
      rule.roundings(static_cast<long double>(terms + 3) + 20 * static_cast<long double>(terms)) *
      most;
  for (long double& x : radius.data) x = rule.joined(x, formation);
}

// The first `count` singular values count, and the others are cut off. `is_open`: nobody tells.
struct Cut {
  std::int64_t count = 0;
  bool is_open = false;
};

// Values above `limit`, each of both within a radius.
Cut cut_at(const std::vector<long double>& values, long double limit, long double error,
           const ErrorRule& rule) {
  Cut out;
  for (const long double value : values) {
    out.count += value > limit ? 1 : 0;
    out.is_open =
        out.is_open || (error > 0 && !(std::fabs(value - limit) > rule.decision() * error));
  }
  return out;
}

// Divided differences of 1/s, cut off behind the first `count`: how fast the pseudoinverse moves.
struct PseudoinverseSlope {
  WideMatrix slope;
  long double growth = kOpenRadius;
};
PseudoinverseSlope pseudoinverse_slope(const std::vector<long double>& values, std::int64_t count,
                                       long double error, const ErrorRule& rule) {
  const auto all = static_cast<std::int64_t>(values.size());
  PseudoinverseSlope out{WideMatrix(all + 1, all + 1)};
  const auto value = [&](std::int64_t i) { return i < all ? values[nth(i)] : 0; };
  for (std::int64_t i = 0; i <= all; ++i) {
    for (std::int64_t j = 0; j <= all; ++j) {
      if (i >= count && j >= count) continue;
      if (i < count && j < count) {
        out.slope(i, j) = 1 / (value(i) * value(j));
      } else {
        const long double kept = value(std::min(i, j));
        out.slope(i, j) = 1 / (kept * (kept - value(std::max(i, j))));
      }
    }
  }
  if (count == 0) {
    out.growth = 1;
  } else {
    const long double gap = value(count - 1) - (count < all ? value(count) : 0);
    out.growth = rule.tracks() ? rule.growth(2 * error / gap) : 1;
  }
  return out;
}

std::vector<long double> reciprocals(const std::vector<long double>& values, std::int64_t count) {
  std::vector<long double> out(values.size());
  for (std::int64_t i = 0; i < count; ++i) out[nth(i)] = 1 / values[nth(i)];
  return out;
}

// The tolerance that a call gives under this name: a number, or a tensor of one for each batch.
template <class N>
std::optional<Array<N>> tolerance(const Call& call, std::string_view name, const Sizes& batches) {
  if (!call.has(name)) return std::nullopt;
  if (const auto* given = call.datum(name).as<TensorRef>()) {
    return broadcast_to(load<N>(**given, DType::kFloat64), batches);
  }
  return Array<N>(batches, number<N>(call.datum(name), DType::kFloat64));
}

// Values above both tolerances count: atol, and rtol (or rcond) times the largest. Without either,
// rtol is eps times the larger size; beside an atol above zero it is zero.
void pinv(Call& call) {
  const Tensor& a = *call.tensor("self");
  require_matrices(a, "linalg.pinv");
  const bool hermitian = call.boolean("hermitian");
  const std::int64_t m = row_count(a);
  const std::int64_t n = column_count(a);
  if (hermitian && m != n) require_square(a, "linalg.pinv");
  Sizes batches = batch_sizes(a);
  if (count_of(a.sizes) != 0) {
    for (const std::string_view name : {"atol", "rtol", "rcond"}) {
      if (!call.has(name)) continue;
      if (const auto* given = call.datum(name).as<TensorRef>()) {
        broadcast_with(batches, (*given)->sizes);
      }
    }
  }
  const long double eps = 2 * static_cast<long double>(unit_roundoff(a.dtype));
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = broadcast_to(load<N>(a, a.dtype), with_inner(batches, {m, n}));
    const ErrorRule rule = error_rule<N>(a.dtype);
    Array<N> out(with_inner(batches, {n, m}));
    std::optional<Array<N>> atol;
    std::optional<Array<N>> rtol;
    if (out.count() != 0) {
      atol = tolerance<N>(call, "atol", batches);
      rtol = tolerance<N>(call, call.has("rcond") ? "rcond" : "rtol", batches);
    }
    const std::int64_t matrices = out.count() == 0 ? 0 : count_of(batches);
    for (std::int64_t b = 0; b < matrices; ++b) {
      KnownMatrix matrix = matrix_at(in, b, m, n);
      if (hermitian) matrix = symmetric_of(matrix, false);
      if (!is_finite(matrix)) {
        put_matrix(out, b, open_matrix(n, m), a.dtype);
        continue;
      }
      const SingularValues found = singular_values_of(matrix.value);
      const long double error = error_length(matrix, rule);
      const long double absolute = atol ? wide_value((*atol)[b]) : 0;
      long double relative = eps * static_cast<long double>(std::max(m, n));
      if (absolute > 0) relative = 0;
      if (rtol) relative = wide_value((*rtol)[b]);
      const long double most = found.values.empty() ? 0 : found.values.front();
      const long double limit = std::max(absolute, relative * most);
      long double limit_error = relative * error + rule.roundings(2) * relative * most;
      if (atol) limit_error += wide_radius((*atol)[b]);
      if (rtol) limit_error += wide_radius((*rtol)[b]) * most;
      // The largest value is the limit itself where rtol is 1, whatever it is.
      const bool is_whole = relative == 1 && limit > absolute;
      const Cut cut = is_whole ? Cut{} : cut_at(found.values, limit, error + limit_error, rule);
      const std::vector<long double> f = reciprocals(found.values, cut.count);
      const PseudoinverseSlope moved = pseudoinverse_slope(found.values, cut.count, error, rule);
      KnownMatrix known{scaled_product(found.v, f, found.u), WideMatrix(n, m)};
      if (rule.tracks()) {
        known.radius = times(spectral_radius(found.v, found.u, moved.slope, error), moved.growth);
        add_formation(known.radius, f, std::max(m, n), rule);
        if (cut.is_open || !(moved.growth < kOpenRadius)) {
          known.radius = WideMatrix(n, m, kOpenRadius);
        }
      }
      put_matrix(out, b, known, a.dtype);
    }
    call.emit(out, a.dtype);
  });
}

// ---- least squares ----------------------------------------------------------------------------

struct LeastSquares {
  KnownMatrix solution;
  KnownMatrix squares;  // of what is left, by column
  KnownMatrix singular_values;
  Whole rank;
};

// The x of least length among those that make |A x - b| least. What MKL's gelsy calls the rank it
// finds from estimates of condition (LAPACK's laic1), which are right but for a factor of some n.
LeastSquares least_squares(const KnownMatrix& a, const KnownMatrix& b, long double rcond,
                           std::string_view driver, const ErrorRule& rule) {
  const std::int64_t m = a.value.rows;
  const std::int64_t n = a.value.columns;
  LeastSquares out;
  if (!is_finite(a) || !is_finite(b)) {
    out.solution = open_matrix(n, b.value.columns);
    out.squares = open_matrix(1, b.value.columns);
    out.singular_values = open_matrix(std::min(m, n), 1);
    out.rank = Whole(0, true);
    return out;
  }
  const SingularValues found = singular_values_of(a.value);
  const long double error = error_length(a, rule);
  out.singular_values = values_within(found.values, error, rule);
  const long double most = found.values.empty() ? 0 : found.values.front();
  Cut cut = cut_at(found.values, rcond * most, error * (1 + rcond), rule);
  if (driver == "gels") cut = {static_cast<std::int64_t>(found.values.size())};
  if (driver == "gelsy" && rule.tracks()) {
    const long double apart = 4 * static_cast<long double>(std::max(m, n));
    for (const long double value : found.values) {
      const bool is_near = value < apart * rcond * most && value > rcond * most / apart;
      cut.is_open = cut.is_open || is_near;
    }
  }
  out.rank = Whole(cut.count, cut.is_open);
  const std::vector<long double> f = reciprocals(found.values, cut.count);
  const WideMatrix in_basis = flipped(found.u) * b.value;
  out.solution.value = scaled_product(found.v, f, identity_matrix(found.v.columns)) * in_basis;
  const WideMatrix rest = b.value - a.value * out.solution.value;
  out.squares = {WideMatrix(1, rest.columns), WideMatrix(1, rest.columns)};
  out.solution.radius = WideMatrix(n, b.value.columns);
  for (std::int64_t c = 0; c < rest.columns; ++c) {
    long double squares = 0;
    for (std::int64_t i = 0; i < m; ++i) squares += rest(i, c) * rest(i, c);
    out.squares.value(0, c) = squares;
    if (!rule.tracks()) continue;
    long double length = 0;
    long double right_error = 0;
    long double solution_length = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      length = std::hypot(length, b.value(i, c));
      right_error = std::hypot(right_error, b.radius(i, c));
    }
    for (std::int64_t i = 0; i < n; ++i) {
      solution_length = std::hypot(solution_length, out.solution.value(i, c));
    }
    right_error = rule.joined(right_error, rule.roundings(spectral_roundings(a.value)) * length);
    // Elements of x: through the error of A, by the divided differences, and through that of b.
    const PseudoinverseSlope moved = pseudoinverse_slope(found.values, cut.count, error, rule);
    const long double growth = cut.is_open ? kOpenRadius : moved.growth;
    WideMatrix coordinates(1, found.u.columns);
    for (std::int64_t j = 0; j < found.u.columns; ++j) coordinates(0, j) = in_basis(j, c);
    const std::vector<long double> v_rest = rest_of_rows(found.v);
    for (std::int64_t i = 0; i < n; ++i) {
      long double sum = 0;
      long double row = 0;
      for (std::int64_t p = 0; p < moved.slope.rows; ++p) {
        const long double v = p < found.v.columns ? found.v(i, p) : std::sqrt(v_rest[nth(i)]);
        if (p < found.v.columns) row = std::hypot(row, v * f[nth(p)]);
        for (std::int64_t q = 0; q < moved.slope.columns; ++q) {
          const long double along = q < found.u.columns ? coordinates(0, q) : std::sqrt(squares);
          const long double part = v * moved.slope(p, q) * along;
          sum += part * part;
        }
      }
      const long double through = rule.joined(std::sqrt(sum) * error, row * right_error);
      out.solution.radius(i, c) = growth < kOpenRadius ? through * growth : kOpenRadius;
    }
    // The length of the rest moves by what A x and b move by.
    const long double shift = rule.joined(error * solution_length, right_error);
    out.squares.radius(0, c) = (2 * std::sqrt(squares) + shift) * shift +
                               rule.roundings(static_cast<long double>(m + 1)) * squares;
  }
  return out;
}

void lstsq(Call& call) {
  const Tensor& a = *call.tensor("self");
  const Tensor& given = *call.tensor("b");
  require_matrices(a, "torch.linalg.lstsq");
  require_same_dtype(a, given, "torch.linalg.lstsq");
  const std::string_view driver = call.has("driver") ? call.text("driver") : "gelsy";
  if (driver != "gels" && driver != "gelsy" && driver != "gelsd" && driver != "gelss") {
    throw OpError(
        "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, "
        "gelss)");
  }
  const std::int64_t m = row_count(a);
  const std::int64_t n = column_count(a);
  const bool vectors = given.rank() == a.rank() - 1 && given.sizes == batch_sizes(a, 1);
  TensorRef columns = call.tensor("b");
  if (vectors) {
    Sizes sizes = given.sizes;
    Sizes strides = given.strides;
    sizes.push_back(1);
    strides.push_back(1);
    columns = view_of(given, std::move(sizes), std::move(strides), given.offset);
  }
  const Tensor& b = *columns;
  if (b.rank() != a.rank() || row_count(b) != m) {
    throw OpError("torch.linalg.lstsq: sizes " + print_sizes(given.sizes) + " do not fit " +
                  print_sizes(a.sizes));
  }
  const std::int64_t right = column_count(b);
  const Sizes batches = broadcast_sizes({batch_sizes(a), batch_sizes(b)});
  // What is asked for: a number below zero stands for none.
  const double asked = call.optional_real("rcond").value_or(-1);
  const long double rcond = asked >= 0 ? static_cast<long double>(asked)
                                       : 2 * static_cast<long double>(unit_roundoff(a.dtype)) *
                                             static_cast<long double>(std::max(m, n));
  const bool has_rank = driver != "gels";
  const bool has_values = driver == "gelsd" || driver == "gelss";
  with_real(call.mode(), [&]<class N>() {
    const Array<N> matrices = broadcast_to(load<N>(a, a.dtype), with_inner(batches, {m, n}));
    const Array<N> rights = broadcast_to(load<N>(b, b.dtype), with_inner(batches, {m, right}));
    const ErrorRule rule = error_rule<N>(a.dtype);
    Array<N> solution(with_inner(batches, {n, right}));
    Array<N> squares(with_inner(batches, {right}));
    Array<Whole> ranks(has_rank ? batches : Sizes{0});
    Array<N> values(has_values ? with_inner(batches, {std::min(m, n)}) : Sizes{0});
    bool is_full = true;
    bool is_open = false;
    for (std::int64_t i = 0; i < count_of(batches); ++i) {
      const LeastSquares found = least_squares(matrix_at(matrices, i, m, n),
                                               matrix_at(rights, i, m, right), rcond, driver, rule);
      put_matrix(solution, i, found.solution, a.dtype);
      put_matrix(squares, i, found.squares, a.dtype);
      if (has_values) put_matrix(values, i, found.singular_values, a.dtype);
      if (has_rank) ranks[i] = found.rank;
      is_full = is_full && found.rank.value == n;
      is_open = is_open || found.rank.undecided;
    }
    const bool asks_rank = m > n && has_values;
    if (asks_rank && is_open)
      throw Undecidable("whether a matrix has full rank depends on rounding");
    const bool has_squares = m > n && driver != "gelsy" && (!has_values || is_full);
    // The solution is a part of what the right-hand side was overwritten with.
    const std::int64_t longest = std::max<std::int64_t>({m, n, 1});
    Sizes strides = column_major_strides(with_inner(batches, {std::max(m, n), right}));
    strides.back() = longest;
    if (vectors) {
      solution.sizes.pop_back();
      strides.pop_back();
    }
    call.emit(solution, a.dtype, strides);
    call.emit(has_squares ? squares : Array<N>(Sizes{0}), a.dtype);
    call.emit(ranks, DType::kInt64);
    call.emit(values, a.dtype);
  });
}

// ---- polar factors and square roots -----------------------------------------------------------

// A = U H: U = W V^T and H = V S V^T of A = W S V^T.
void polar_factors(Call& call) {
  const Tensor& a = *call.tensor("A");
  require_matrices(a, "linalg.polar");
  const std::int64_t m = row_count(a);
  const std::int64_t n = column_count(a);
  if (m < n) throw OpError("linalg.polar: input must have at least as many rows as columns");
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(a, a.dtype);
    const ErrorRule rule = error_rule<N>(a.dtype);
    Array<N> u(a.sizes);
    Array<N> h(with_inner(batch_sizes(a), {n, n}));
    for (std::int64_t b = 0; b < count_of(batch_sizes(a)); ++b) {
      const KnownMatrix matrix = matrix_at(in, b, m, n);
      if (!is_finite(matrix)) {
        put_matrix(u, b, open_matrix(m, n), a.dtype);
        put_matrix(h, b, open_matrix(n, n), a.dtype);
        continue;
      }
      const SingularValues found = singular_values_of(matrix.value);
      const long double error = error_length(matrix, rule);
      const std::vector<long double> ones(found.values.size(), 1);
      KnownMatrix unitary{scaled_product(completed(found.u, found.values, n), ones, found.v),
                          WideMatrix(m, n)};
      KnownMatrix symmetric{scaled_product(found.v, found.values, found.v), WideMatrix(n, n)};
      if (rule.tracks()) {
        WideMatrix slope(n + 1, n + 1);
        const auto value = [&](std::int64_t i) { return i < n ? found.values[nth(i)] : 0; };
        for (std::int64_t i = 0; i <= n; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            slope(i, j) = i < n ? 2 / (value(i) + value(j)) : 1 / value(j);
          }
        }
        const long double growth = n == 0 ? 1 : rule.growth(2 * error / found.values.back());
        if (growth < kOpenRadius) {
          unitary.radius = times(spectral_radius(found.u, found.v, slope, error), growth);
          add_formation(unitary.radius, ones, m, rule);
        } else {  // no element of it is larger than 1
          for (std::size_t i = 0; i < unitary.radius.data.size(); ++i) {
            unitary.radius.data[i] = std::fabs(unitary.value.data[i]) + 1 +
                                     rule.roundings(spectral_roundings(matrix.value));
          }
        }
        // |A| moves by no more than the root of two times what A moves by (Araki and Yamagami).
        for (long double& x : symmetric.radius.data) x = std::sqrt(2.0L) * error;
        add_formation(symmetric.radius, found.values, n, rule);
      }
      put_matrix(u, b, unitary, a.dtype);
      put_matrix(h, b, symmetric, a.dtype);
    }
    call.emit(u, a.dtype);
    call.emit(h, a.dtype);
  });
}

// The root of a symmetric matrix of which the lower triangle counts; negative eigenvalues count as
// zero. It moves by the divided differences of the root, and never by more than the root of what
// the matrix moves by (Bhatia, Matrix Analysis, theorem X.1.1).
void matrix_sqrth(Call& call) {
  const Tensor& a = *call.tensor("self");
  require_square(a, "linalg.matrix_sqrth");
  const std::int64_t n = row_count(a);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(a, a.dtype);
    const ErrorRule rule = error_rule<N>(a.dtype);
    Array<N> out(a.sizes);
    for (std::int64_t b = 0; b < count_of(batch_sizes(a)); ++b) {
      const KnownMatrix matrix = symmetric_of(matrix_at(in, b, n, n), false);
      if (!is_finite(matrix)) {
        put_matrix(out, b, open_matrix(n, n), a.dtype);
        continue;
      }
      const Eigen eigen = eigen_of(matrix.value);
      const long double error = error_length(matrix, rule);
      std::vector<long double> roots;
      long double nearest = kOpenRadius;
      for (const long double value : eigen.values) {
        roots.push_back(std::sqrt(std::max(value, 0.0L)));
        nearest = std::min(nearest, std::fabs(value));
      }
      KnownMatrix known{scaled_product(eigen.vectors, roots, eigen.vectors), WideMatrix(n, n)};
      const long double growth = rule.growth(2 * error / nearest);
      for (long double& x : known.radius.data) x = std::sqrt(error);
      if (rule.tracks() && growth < kOpenRadius) {
        WideMatrix slope(n, n);
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            const long double sum = roots[nth(i)] + roots[nth(j)];
            const bool are_apart = roots[nth(i)] == 0 || roots[nth(j)] == 0;
            const long double apart = std::fabs(eigen.values[nth(i)] - eigen.values[nth(j)]);
            if (sum > 0) slope(i, j) = are_apart ? sum / apart : 1 / sum;
          }
        }
        const WideMatrix moved =
            times(spectral_radius(eigen.vectors, eigen.vectors, slope, error), growth);
        for (std::size_t i = 0; i < moved.data.size(); ++i) {
          known.radius.data[i] = std::min(known.radius.data[i], moved.data[i]);
        }
      }
      if (rule.tracks()) add_formation(known.radius, roots, n, rule);
      put_matrix(out, b, known, a.dtype);
    }
    call.emit(out, a.dtype);
  });
}

// ---- exponential ------------------------------------------------------------------------------

// e^a by scaling, Taylor's series and squaring.
WideMatrix exponential_of(const WideMatrix& a) {
  const long double norm = row_norm(a);
  if (!std::isfinite(norm)) {
    return WideMatrix(a.rows, a.rows, std::numeric_limits<long double>::quiet_NaN());
  }
  int squarings = 0;
  while (std::ldexp(norm, -squarings) > 0.5L) ++squarings;
  constexpr int kTerms = 20;  // 2^-20 / 20! is far below a wide rounding
  const WideMatrix scaled = times(a, std::ldexp(1.0L, -squarings));
  WideMatrix out = identity_matrix(a.rows);
  for (int k = kTerms; k > 0; --k) {
    out = times(scaled * out, 1.0L / k);
    for (std::int64_t i = 0; i < a.rows; ++i) out(i, i) += 1;
  }
  for (; squarings > 0; --squarings) out = out * out;
  return out;
}

// The exponential of a matrix and its radii. Executors halve a matrix until its norm is 3 at most
// and take a Taylor polynomial of degree 18 at most in five products, or of less (Bader, Blanes and
// Casas, "Computing the matrix exponential with an optimized Taylor polynomial approximation",
// Mathematics 7, 2019: the rest is below a rounding). An algorithm that halves it three times more
// has eight times the roundings there. From there on each squaring carries what its factor lies
// away. A product of which a term or a partial sum passes `most_finite` leaves all open: infinities
// of both signs may meet there, or one of them a zero.
KnownMatrix known_exponential(const KnownMatrix& a, const ErrorRule& rule,
                              long double most_finite) {
  const std::int64_t n = a.value.rows;
  constexpr long double kMostNorm = 4;
  constexpr long double kMore = 8;
  const long double norm = std::max(row_norm(a.value), row_norm(flipped(a.value)));
  int squarings = 0;
  while (std::ldexp(norm, -squarings) > kMostNorm) ++squarings;
  const long double scale = std::ldexp(1.0L, -squarings);
  const WideMatrix scaled = times(a.value, scale);
  const WideMatrix sizes = exponential_of(magnitudes(scaled));
  // |e^(A + D) - e^A| is at most e^(|A| + |D|) - e^|A|, of errors as large as a judge allows.
  WideMatrix further = magnitudes(scaled);
  for (std::size_t i = 0; i < further.data.size(); ++i) {
    further.data[i] += rule.allowed() * scale * a.radius.data[i];
  }
  KnownMatrix out{exponential_of(scaled),
                  times(exponential_of(further) - sizes, 1 / rule.allowed())};
  const long double most =
      sizes.data.empty() ? 0 : *std::max_element(sizes.data.begin(), sizes.data.end());
  const long double roundings = rule.roundings(kMore * (6 * static_cast<long double>(n + 1) + 20));
  for (std::size_t i = 0; i < sizes.data.size(); ++i) {
    out.radius.data[i] =
        rule.joined(out.radius.data[i], roundings * sizes.data[i] + rule.roundings(kMore) * most);
  }
  for (; squarings > 0; --squarings) {
    const WideMatrix once =
        rule.joined(rule.carried(out.value, out.radius), rule.carried(out.radius, out.value));
    const WideMatrix twice = times(rule.carried(out.radius, out.radius), rule.allowed());
    const WideMatrix terms = magnitudes(out.value) * magnitudes(out.value);
    if (std::ranges::any_of(terms.data, [&](long double sum) { return !(sum <= most_finite); })) {
      return open_matrix(n, n);
    }
    const WideMatrix rounded = times(terms, rule.roundings(static_cast<long double>(n + 1)));
    out.radius = rule.joined(rule.joined(once, twice), rounded);
    out.value = out.value * out.value;
  }
  return out;
}

void matrix_exp(Call& call) {
  const Tensor& a = *call.tensor("self");
  if (a.rank() < 2 || row_count(a) != column_count(a) || !spec::is_floating_point(a.dtype)) {
    throw OpError("linalg.matrix_exp takes batches of square floating matrices");
  }
  const std::int64_t n = row_count(a);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(a, a.dtype);
    const ErrorRule rule = error_rule<N>(a.dtype);
    const bool is_narrow = compute_dtype(a.dtype) != a.dtype;
    Array<N> out(a.sizes);
    for (std::int64_t b = 0; b < count_of(batch_sizes(a)); ++b) {
      const KnownMatrix matrix = matrix_at(in, b, n, n);
      KnownMatrix known{exponential_of(matrix.value), WideMatrix(n, n)};
      if (rule.tracks()) {
        const auto most_finite = static_cast<long double>(max_finite(a.dtype));
        if (is_finite(matrix)) known = known_exponential(matrix, rule, most_finite);
        // In 16 bits PyTorch's thresholds are none, and its results are no numbers.
        const bool is_known = is_finite(matrix) && is_finite(known);
        if (is_narrow || !is_known) {
          known.radius = WideMatrix(n, n, kOpenRadius);
        }
      }
      put_matrix(out, b, known, a.dtype);
    }
    call.emit(out, a.dtype);
  });
}

constexpr std::array kLinalgSpectralOps = {
    OpBody{"aten._linalg_eigh", eigh},
    OpBody{"aten._linalg_svd", svd},
    OpBody{"aten.linalg_lstsq", lstsq},
    OpBody{"aten.linalg_matrix_exp", matrix_exp},
    OpBody{"aten.linalg_matrix_sqrth", matrix_sqrth},
    OpBody{"aten.linalg_pinv", pinv},
    OpBody{"aten.linalg_polar", polar_factors},
};

}  // namespace

std::span<const OpBody> linalg_spectral_ops() { return kLinalgSpectralOps; }

}  // namespace graphgate::reference
