// Eigenvalues, singular values, and what is made of them: pseudoinverses, least squares, polar
// factors, square roots; and the exponential of a matrix.
//
// Eigenvalues come from a tridiagonal matrix by QL steps with implicit shifts (EISPACK's tred2 and
// tql2), singular values from the triangle of a QR factorization by one-sided rotations.
#include <array>
#include <limits>
#include <numeric>

#include "optimized/kernels/families.h"
#include "optimized/kernels/linalg_reflections.h"

namespace graphgate::optimized {
namespace {

using spec::DType;
using Values = std::vector<double>;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Whether every element is a number that algorithms come to an end with.
bool is_numeric(const DenseMatrix& a) {
  return std::all_of(a.data.begin(), a.data.end(), [](double x) { return std::isfinite(x); });
}

DenseMatrix nothing_of(std::int64_t rows, std::int64_t columns) {
  DenseMatrix out(rows, columns);
  std::fill(out.data.begin(), out.data.end(), kNoNumber);
  return out;
}

// The columns in another order.
DenseMatrix reordered(const DenseMatrix& a, const std::vector<std::int64_t>& order) {
  DenseMatrix out(a.rows, static_cast<std::int64_t>(order.size()));
  for (std::int64_t j = 0; j < out.columns; ++j) {
    std::copy_n(a.column(order[at(j)]), a.rows, out.column(j));
  }
  return out;
}

// ---- eigenvalues

struct Spectrum {
  Values values;  // ascending
  DenseMatrix vectors;
};

// A symmetric matrix that becomes tridiagonal, and then diagonal. `vectors` gathers the turns.
class SymmetricSolver {
 public:
  explicit SymmetricSolver(const DenseMatrix& a)
      : n_(a.rows), a_(a), vectors_(unit_matrix(a.rows, a.rows)), off_(at(a.rows)) {}

  Spectrum solve() {
    make_tridiagonal();
    for (std::int64_t i = 0; i < n_; ++i) diagonal_.push_back(a_(i, i));
    for (std::int64_t l = 0; l < n_; ++l) settle(l);
    std::vector<std::int64_t> order(at(n_));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [this](std::int64_t i, std::int64_t j) {
      return diagonal_[at(i)] < diagonal_[at(j)];
    });
    Spectrum out;
    for (const std::int64_t i : order) out.values.push_back(diagonal_[at(i)]);
    out.vectors = reordered(vectors_, order);
    return out;
  }

 private:
  // Reflections from both sides, each of what lies below the subdiagonal of a column.
  void make_tridiagonal() {
    for (std::int64_t k = 0; k + 2 < n_; ++k) {
      Values v(a_.column(k), a_.column(k) + n_);
      const double tau = make_reflection(v.data(), k + 1, n_);
      if (tau == 0) continue;
      for (std::int64_t j = 0; j < n_; ++j) reflect(v.data(), tau, k + 1, n_, a_.column(j));
      reflect_rows(v, tau, k + 1, a_);
      reflect_rows(v, tau, k + 1, vectors_);
    }
    for (std::int64_t i = 0; i + 1 < n_; ++i) off_[at(i)] = a_(i + 1, i);
  }

  // The same from the right.
  static void reflect_rows(const Values& v, double tau, std::int64_t k, DenseMatrix& a) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double inner = a(i, k);
      for (std::int64_t j = k + 1; j < a.columns; ++j) inner += a(i, j) * v[at(j)];
      inner *= tau;
      a(i, k) -= inner;
      for (std::int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= inner * v[at(j)];
    }
  }

  // Steps until value l stands alone.
  void settle(std::int64_t l) {
    constexpr int kMostSteps = 60;  // two or three are usual
    for (int step = 0; step < kMostSteps; ++step) {
      std::int64_t m = l;
      for (; m + 1 < n_; ++m) {
        const double size = std::abs(diagonal_[at(m)]) + std::abs(diagonal_[at(m + 1)]);
        if (std::abs(off_[at(m)]) <= kEpsilon / 2 * size) break;
      }
      if (m == l) return;
      turn(l, m);
    }
    throw OpError("eigenvalues did not converge");
  }

  // One step on the block from l to m, from its end to its beginning.
  void turn(std::int64_t l, std::int64_t m) {
    double g = (diagonal_[at(l + 1)] - diagonal_[at(l)]) / (2 * off_[at(l)]);
    double r = std::hypot(g, 1.0);
    g = diagonal_[at(m)] - diagonal_[at(l)] + off_[at(l)] / (g + std::copysign(r, g));
    double sine = 1;
    double cosine = 1;
    double p = 0;
    for (std::int64_t i = m - 1; i >= l; --i) {
      const double f = sine * off_[at(i)];
      const double b = cosine * off_[at(i)];
      r = std::hypot(f, g);
      off_[at(i + 1)] = r;
      if (r == 0) {
        diagonal_[at(i + 1)] -= p;
        off_[at(m)] = 0;
        return;
      }
      sine = f / r;
      cosine = g / r;
      g = diagonal_[at(i + 1)] - p;
      r = (diagonal_[at(i)] - g) * sine + 2 * cosine * b;
      p = sine * r;
      diagonal_[at(i + 1)] = g + p;
      g = cosine * r - b;
      double* first = vectors_.column(i);
      double* second = vectors_.column(i + 1);
      for (std::int64_t k = 0; k < n_; ++k) {
        const double old = second[k];
        second[k] = sine * first[k] + cosine * old;
        first[k] = cosine * first[k] - sine * old;
      }
    }
    diagonal_[at(l)] -= p;
    off_[at(l)] = g;
    off_[at(m)] = 0;
  }

  std::int64_t n_;
  DenseMatrix a_;
  DenseMatrix vectors_;
  Values diagonal_;
  Values off_;  // off_[i] stands beside diagonal i and i + 1
};

// Both halves of one triangle.
DenseMatrix mirrored(const DenseMatrix& a, bool upper) {
  DenseMatrix out = a;
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = j + 1; i < a.rows; ++i) {
      const double x = upper ? a(j, i) : a(i, j);
      out(i, j) = out(j, i) = x;
    }
  }
  return out;
}

// There are no numbers of what is not finite.
Spectrum spectrum_of(const DenseMatrix& symmetric) {
  if (is_numeric(symmetric)) return SymmetricSolver(symmetric).solve();
  return {Values(at(symmetric.rows), kNoNumber), nothing_of(symmetric.rows, symmetric.rows)};
}

bool takes_upper(const KernelCall& call) {
  const std::string_view uplo = call.has("UPLO") ? call.text("UPLO") : "L";
  if (uplo != "L" && uplo != "l" && uplo != "U" && uplo != "u") {
    throw OpError("UPLO is '" + std::string(uplo) + "'");
  }
  return uplo == "U" || uplo == "u";
}

void infer_eigh(Inference& call) {
  const Tensor& a = call.tensor("A");
  expect_square(a);
  (void)takes_upper(call);
  call.make(a.dtype, leading_of(a, 1));
  const Sizes vectors = call.boolean_or("compute_v", true) ? a.sizes : Sizes{0};
  call.make(a.dtype, vectors, by_columns(vectors));
}

Launch bind_eigh(const Binding& call) {
  std::optional<MatrixBatch> vectors;
  if (call.boolean_or("compute_v", true)) vectors.emplace(call.result(1));
  return [a = MatrixBatch(call.tensor("A")), values = VectorBatch(call.result(0)), vectors,
          upper = takes_upper(call)] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      const DenseMatrix matrix = mirrored(a.load(b), upper);
      const Spectrum found = spectrum_of(matrix);
      values.store(b, found.values);
      if (vectors) vectors->store(b, found.vectors);
    }
  };
}

// ---- singular values

struct Svd {
  DenseMatrix u;  // m x k
  Values values;  // descending
  DenseMatrix v;  // n x k
};

// Turns the columns of w until they are orthogonal, and those of v alike.
void make_orthogonal(DenseMatrix& w, DenseMatrix& v) {
  constexpr int kMostSweeps = 60;
  bool is_done = false;
  for (int sweep = 0; !is_done && sweep < kMostSweeps; ++sweep) {
    is_done = true;
    for (std::int64_t q = 1; q < w.columns; ++q) {
      for (std::int64_t p = 0; p < q; ++p) {
        double* x = w.column(p);
        double* y = w.column(q);
        const double xx = std::inner_product(x, x + w.rows, x, 0.0);
        const double yy = std::inner_product(y, y + w.rows, y, 0.0);
        const double xy = std::inner_product(x, x + w.rows, y, 0.0);
        const double most = kEpsilon * std::sqrt(xx * yy) * static_cast<double>(w.rows + 2);
        if (!(std::abs(xy) > most)) continue;
        is_done = false;
        const double half = (yy - xx) / 2;
        const double t = xy / (half + std::copysign(std::hypot(half, xy), half));
        const double c = 1 / std::sqrt(1 + t * t);
        const double s = t * c;
        for (DenseMatrix* m : {&w, &v}) {
          double* left = m->column(p);
          double* right = m->column(q);
          for (std::int64_t i = 0; i < m->rows; ++i) {
            const double old = left[i];
            left[i] = c * old - s * right[i];
            right[i] = s * old + c * right[i];
          }
        }
      }
    }
  }
}

// A = Q R, R = U S V^T. Where a value is zero its column of U is filled up. There are no numbers of
// what is not finite.
Svd svd_of(const DenseMatrix& a) {
  if (!is_numeric(a)) {
    const std::int64_t steps = std::min(a.rows, a.columns);
    return {nothing_of(a.rows, steps), Values(at(steps), kNoNumber), nothing_of(a.columns, steps)};
  }
  if (a.rows < a.columns) {
    Svd turned = svd_of(transpose_of(a));
    std::swap(turned.u, turned.v);
    return turned;
  }
  const std::int64_t n = a.columns;
  double scale = 0;
  for (const double x : a.data) scale = std::max(scale, std::abs(x));
  DenseMatrix packed = a;
  for (double& x : packed.data) x /= scale == 0 ? 1 : scale;
  const Values tau = make_triangular(packed);
  DenseMatrix w(n, n);
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(packed.column(j), j + 1, w.column(j));
  DenseMatrix v = unit_matrix(n, n);
  make_orthogonal(w, v);
  Values lengths;
  for (std::int64_t j = 0; j < n; ++j) {
    lengths.push_back(
        std::sqrt(std::inner_product(w.column(j), w.column(j) + n, w.column(j), 0.0)));
  }
  std::vector<std::int64_t> order(at(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t i, std::int64_t j) { return lengths[at(i)] > lengths[at(j)]; });
  Svd out;
  w = reordered(w, order);
  out.v = reordered(v, order);
  std::int64_t rank = 0;
  for (const std::int64_t j : order) {
    const double length = lengths[at(j)];
    out.values.push_back(length * scale);
    if (length == 0) continue;
    for (std::int64_t i = 0; i < n; ++i) w(i, rank) /= length;
    ++rank;
  }
  if (rank < n) {
    DenseMatrix known(n, rank);
    std::copy_n(w.data.begin(), n * rank, known.data.begin());
    const Values turns = make_triangular(known);
    DenseMatrix all = unit_matrix(n, n);
    reflect_all(known, turns, false, all);
    std::copy(all.data.begin() + n * rank, all.data.end(), w.data.begin() + n * rank);
  }
  out.u = DenseMatrix(a.rows, n);
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(w.column(j), n, out.u.column(j));
  reflect_all(packed, tau, false, out.u);
  return out;
}

// `columns` orthonormal columns that begin with these.
DenseMatrix filled_up(const DenseMatrix& u, std::int64_t columns) {
  if (columns == u.columns) return u;
  if (!is_numeric(u)) return nothing_of(u.rows, columns);
  DenseMatrix packed = u;
  const Values tau = make_triangular(packed);
  DenseMatrix out = unit_matrix(u.rows, columns);
  reflect_all(packed, tau, false, out);
  std::copy(u.data.begin(), u.data.end(), out.data.begin());
  return out;
}

void infer_svd(Inference& call) {
  const Tensor& a = call.tensor("A");
  expect_matrices(a);
  if (call.has("driver")) throw OpError("a driver is for CUDA alone");
  const std::int64_t m = a.size(-2);
  const std::int64_t n = a.size(-1);
  const std::int64_t steps = std::min(m, n);
  const bool full = call.boolean_or("full_matrices", false);
  const Sizes leading = leading_of(a);
  Sizes u = {0};
  Sizes v = {0};
  if (call.boolean_or("compute_uv", true)) {
    u = extended(leading, {m, full ? m : steps});
    v = extended(leading, {full ? n : steps, n});
  }
  call.make(a.dtype, u, by_columns(u));
  call.make(a.dtype, extended(leading, {steps}));
  call.make(a.dtype, v, by_columns(v));
}

Launch bind_svd(const Binding& call) {
  std::optional<MatrixBatch> u;
  std::optional<MatrixBatch> v;
  std::int64_t u_columns = 0;
  std::int64_t v_columns = 0;
  if (call.boolean_or("compute_uv", true)) {
    u.emplace(call.result(0));
    v.emplace(call.result(2));
    u_columns = call.result(0).size(-1);
    v_columns = call.result(2).size(-2);
  }
  return [a = MatrixBatch(call.tensor("A")), u, v, values = VectorBatch(call.result(1)), u_columns,
          v_columns] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      const DenseMatrix matrix = a.load(b);
      const Svd found = svd_of(matrix);
      values.store(b, found.values);
      if (!u) continue;
      u->store(b, filled_up(found.u, u_columns));
      v->store(b, transpose_of(filled_up(found.v, v_columns)));
    }
  };
}

// left diag(factors) right^T.
DenseMatrix composed(DenseMatrix left, const Values& factors, const DenseMatrix& right) {
  for (std::int64_t j = 0; j < left.columns; ++j) {
    for (std::int64_t i = 0; i < left.rows; ++i) left(i, j) *= factors[at(j)];
  }
  return product_of(left, transpose_of(right));
}

// ---- pseudoinverses

// A tolerance: a number, or one for each batch.
class Tolerance {
 public:
  Tolerance(const KernelCall& call, std::string_view name, const Sizes& leading) {
    if (!call.has(name)) return;
    if (call.is_tensor(name)) {
      all_.emplace(broadcast_to(call.tensor(name), leading), std::vector<std::int64_t>{});
    } else {
      number_ = call.real(name);
    }
  }
  [[nodiscard]] std::optional<double> load(std::int64_t batch) const {
    if (!all_) return number_;
    double out = 0;
    all_->load<double>(batch, &out);
    return out;
  }

 private:
  std::optional<Rows> all_;
  std::optional<double> number_;
};

Sizes leading_of_pinv(const KernelCall& call) {
  const Tensor& a = call.tensor("self");
  Sizes leading = leading_of(a);
  for (const char* name : {"atol", "rtol", "rcond"}) {
    if (a.count() == 0 || !call.has(name) || !call.is_tensor(name)) continue;
    leading = broadcast_sizes(leading, call.tensor(name).sizes);
  }
  return leading;
}

void infer_pinv(Inference& call) {
  const Tensor& a = call.tensor("self");
  expect_matrices(a);
  if (call.boolean_or("hermitian", false)) expect_square(a);
  call.make(a.dtype, extended(leading_of_pinv(call), {a.size(-1), a.size(-2)}));
}

Launch bind_pinv(const Binding& call) {
  const Tensor& a = call.tensor("self");
  if (a.count() == 0) return {};
  const Sizes leading = leading_of_pinv(call);
  const double eps =
      a.dtype == DType::kFloat64 ? kEpsilon : double{std::numeric_limits<float>::epsilon()};
  return [a = MatrixBatch(broadcast_to(a, extended(leading, {a.size(-2), a.size(-1)}))),
          out = MatrixBatch(call.result()), hermitian = call.boolean_or("hermitian", false),
          atol = Tolerance(call, "atol", leading),
          rtol = Tolerance(call, call.has("rcond") ? "rcond" : "rtol", leading),
          standard = eps * static_cast<double>(std::max(a.size(-2), a.size(-1)))] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      const DenseMatrix matrix = a.load(b);
      Svd found;
      if (hermitian) {
        Spectrum spectrum = spectrum_of(mirrored(matrix, false));
        found = {spectrum.vectors, std::move(spectrum.values), spectrum.vectors};
      } else {
        found = svd_of(matrix);
      }
      double most = 0;
      for (const double x : found.values) most = std::max(most, std::abs(x));
      const double absolute = atol.load(b).value_or(0);
      const double relative = rtol.load(b).value_or(absolute > 0 ? 0 : standard);
      const double limit = std::max(absolute, relative * most);
      Values factors;
      for (const double x : found.values) factors.push_back(std::abs(x) > limit ? 1 / x : 0);
      out.store(b, composed(found.v, factors, found.u));
    }
  };
}

// ---- least squares

struct LstsqCall {
  bool vectors = false;
  bool has_rank = true;
  bool has_values = false;
  bool is_plain = false;  // no rank is looked for
  double rcond = 0;
  Tensor a, b;
  Sizes leading;
  std::int64_t m, n, right;

  explicit LstsqCall(const KernelCall& call) {
    const Tensor& given = call.tensor("b");
    const Tensor& self = call.tensor("self");
    expect_matrices(self);
    const std::string_view driver = call.has("driver") ? call.text("driver") : "gelsy";
    if (driver != "gels" && driver != "gelsy" && driver != "gelsd" && driver != "gelss") {
      throw OpError("the driver is '" + std::string(driver) + "'");
    }
    is_plain = driver == "gels";
    has_rank = !is_plain;
    has_values = driver == "gelsd" || driver == "gelss";
    vectors = given.rank() + 1 == self.rank() && given.sizes == leading_of(self, 1);
    Tensor columns = given;
    if (vectors) {
      columns.sizes.push_back(1);
      columns.strides.push_back(1);
    }
    m = self.size(-2);
    n = self.size(-1);
    if (columns.rank() != self.rank() || columns.size(-2) != m || columns.dtype != self.dtype) {
      throw OpError("least squares of sizes " + print_sizes(self.sizes) + " do not fit " +
                    print_sizes(given.sizes));
    }
    right = columns.size(-1);
    leading = broadcast_sizes(leading_of(self), leading_of(columns));
    a = broadcast_to(self, extended(leading, {m, n}));
    b = broadcast_to(columns, extended(leading, {m, right}));
    const double eps =
        self.dtype == DType::kFloat64 ? kEpsilon : double{std::numeric_limits<float>::epsilon()};
    const double asked = call.optional_real("rcond").value_or(-1);
    rcond = asked >= 0 ? asked : eps * static_cast<double>(std::max(m, n));
  }

  // Values that count.
  [[nodiscard]] std::int64_t rank_of(const Values& values) const {
    if (is_plain) return static_cast<std::int64_t>(values.size());
    const double most = values.empty() ? 0 : values.front();
    return std::count_if(values.begin(), values.end(), [&](double x) { return x > rcond * most; });
  }
  // Whether what is left is told; of drivers that find ranks, where all are full.
  [[nodiscard]] bool asks_for_ranks() const { return m > n && has_values; }
  [[nodiscard]] bool all_full() const {
    const MatrixBatch matrices(a);
    for (std::int64_t i = 0; i < matrices.count(); ++i) {
      if (rank_of(svd_of(matrices.load(i)).values) != n) return false;
    }
    return true;
  }
};

void infer_lstsq(Inference& call) {
  const LstsqCall of(call);
  bool has_squares = of.m > of.n && of.is_plain;
  if (of.asks_for_ranks()) {
    if (!call.has_data()) Inference::needs_data();
    has_squares = of.all_full();
  }
  Sizes solution = extended(of.leading, {of.n, of.right});
  Sizes strides = by_columns(extended(of.leading, {std::max(of.m, of.n), of.right}));
  if (of.vectors) {
    solution.pop_back();
    strides.pop_back();
  }
  call.make(of.a.dtype, solution, strides);
  call.make(of.a.dtype, has_squares ? extended(of.leading, {of.right}) : Sizes{0});
  call.make(DType::kInt64, of.has_rank ? of.leading : Sizes{0});
  call.make(of.a.dtype, of.has_values ? extended(of.leading, {std::min(of.m, of.n)}) : Sizes{0});
}

Launch bind_lstsq(const Binding& call) {
  const LstsqCall of(call);
  Tensor solution = call.result(0);
  if (of.vectors) {
    solution.sizes.push_back(1);
    solution.strides.push_back(1);
  }
  std::optional<VectorBatch> squares;
  std::optional<Rows> ranks;
  std::optional<VectorBatch> values;
  if (call.result(1).rank() == static_cast<std::int64_t>(of.leading.size()) + 1 && of.m > of.n &&
      (of.is_plain || of.has_values)) {
    squares.emplace(call.result(1));
    if (squares->length() != of.right) squares.reset();
  }
  if (of.has_rank) ranks.emplace(call.result(2), std::vector<std::int64_t>{});
  if (of.has_values) values.emplace(call.result(3));
  return [of, out = MatrixBatch(solution), squares, ranks, values] {
    const MatrixBatch matrices(of.a);
    const MatrixBatch rights(of.b);
    for (std::int64_t i = 0; i < matrices.count(); ++i) {
      const DenseMatrix a = matrices.load(i);
      const DenseMatrix b = rights.load(i);
      const Svd found = svd_of(a);
      const std::int64_t rank = of.rank_of(found.values);
      DenseMatrix along = product_of(transpose_of(found.u), b);
      for (std::int64_t j = 0; j < along.columns; ++j) {
        for (std::int64_t k = 0; k < along.rows; ++k) {
          along(k, j) = k < rank ? along(k, j) / found.values[at(k)] : 0;
        }
      }
      const DenseMatrix x = product_of(found.v, along);
      out.store(i, x);
      if (ranks) ranks->store_one<std::int64_t>(i, rank);
      if (values) values->store(i, found.values);
      if (!squares) continue;
      const DenseMatrix reached = product_of(a, x);
      Values sums(at(of.right));
      for (std::int64_t j = 0; j < of.right; ++j) {
        for (std::int64_t k = 0; k < of.m; ++k) {
          const double rest = b(k, j) - reached(k, j);
          sums[at(j)] += rest * rest;
        }
      }
      squares->store(i, sums);
    }
  };
}

// ---- polar factors and square roots

void infer_polar(Inference& call) {
  const Tensor& a = call.tensor("A");
  expect_matrices(a);
  if (a.size(-2) < a.size(-1)) throw OpError("a polar factor has as many rows as columns");
  call.make(a.dtype, a.sizes);
  call.make(a.dtype, extended(leading_of(a), {a.size(-1), a.size(-1)}));
}

Launch bind_polar(const Binding& call) {
  return [a = MatrixBatch(call.tensor("A")), u = MatrixBatch(call.result(0)),
          h = MatrixBatch(call.result(1))] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      const DenseMatrix matrix = a.load(b);
      const Svd found = svd_of(matrix);
      u.store(b, product_of(found.u, transpose_of(found.v)));
      h.store(b, composed(found.v, found.values, found.v));
    }
  };
}

void infer_like_square(Inference& call) {
  const Tensor& a = call.tensor("self");
  expect_square(a);
  call.make(a.dtype, a.sizes);
}

Launch bind_matrix_sqrth(const Binding& call) {
  return [a = MatrixBatch(call.tensor("self")), out = MatrixBatch(call.result())] {
    for (std::int64_t b = 0; b < a.count(); ++b) {
      const DenseMatrix matrix = mirrored(a.load(b), false);
      Spectrum found = spectrum_of(matrix);
      for (double& x : found.values) x = x > 0 ? std::sqrt(x) : 0;
      out.store(b, composed(found.vectors, found.values, found.vectors));
    }
  };
}

// ---- exponential

void infer_matrix_exp(Inference& call) {
  const Tensor& a = call.tensor("self");
  if (a.rank() < 2 || a.size(-1) != a.size(-2) || !spec::is_floating_point(a.dtype)) {
    throw OpError("an exponential is one of square floating matrices");
  }
  call.make(a.dtype, a.sizes);
}

void add_scaled(DenseMatrix& to, double factor, const DenseMatrix& a) {
  for (std::size_t i = 0; i < to.data.size(); ++i) to.data[i] += factor * a.data[i];
}

// Taylor's polynomial of degree 18 of a matrix whose norm is at most 1, in powers up to the fourth
// (Paterson and Stockmeyer), squared as often as it was halved.
DenseMatrix exponential_of(DenseMatrix a) {
  if (!is_numeric(a)) return nothing_of(a.rows, a.rows);
  double norm = 0;
  for (std::int64_t j = 0; j < a.columns; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  int halvings = 0;
  std::frexp(norm, &halvings);
  halvings = std::max(halvings, 0);
  for (double& x : a.data) x = std::ldexp(x, -halvings);
  constexpr int kDegree = 18;
  constexpr int kStep = 4;
  std::array<double, kDegree + 1> coefficients{1};
  for (int k = 1; k <= kDegree; ++k) coefficients[at(k)] = coefficients[at(k - 1)] / k;
  std::vector<DenseMatrix> powers = {unit_matrix(a.rows, a.rows), a};
  for (int k = 2; k <= kStep; ++k) powers.push_back(product_of(powers.back(), a));
  DenseMatrix out(a.rows, a.rows);
  for (int block = kDegree / kStep; block >= 0; --block) {
    out = product_of(out, powers[kStep]);
    for (int k = std::min(kStep - 1, kDegree - block * kStep); k >= 0; --k) {
      add_scaled(out, coefficients[at(block * kStep + k)], powers[at(k)]);
    }
  }
  for (; halvings > 0; --halvings) out = product_of(out, out);
  return out;
}

Launch bind_matrix_exp(const Binding& call) {
  return [a = MatrixBatch(call.tensor("self")), out = MatrixBatch(call.result())] {
    for (std::int64_t b = 0; b < a.count(); ++b) out.store(b, exponential_of(a.load(b)));
  };
}

}  // namespace

std::span<const Kernel> linalg_spectral_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten._linalg_eigh", infer_eigh, bind_eigh},
      {"aten._linalg_svd", infer_svd, bind_svd},
      {"aten.linalg_lstsq", infer_lstsq, bind_lstsq},
      {"aten.linalg_matrix_exp", infer_matrix_exp, bind_matrix_exp},
      {"aten.linalg_matrix_sqrth", infer_like_square, bind_matrix_sqrth},
      {"aten.linalg_pinv", infer_pinv, bind_pinv},
      {"aten.linalg_polar", infer_polar, bind_polar},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
