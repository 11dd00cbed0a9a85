#include "reference/ops/linalg_matrix.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/result.h"

namespace graphgate::reference {
namespace {

constexpr long double kWideUnit = std::numeric_limits<long double>::epsilon() / 2;
constexpr int kMostSweeps = 100;  // Jacobi's rotations converge quadratically after a few

}  // namespace

WideMatrix identity_matrix(std::int64_t n) {
  WideMatrix out(n, n);
  for (std::int64_t i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}

WideMatrix flipped(const WideMatrix& a) {
  WideMatrix out(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) out(j, i) = a(i, j);
  }
  return out;
}

WideMatrix operator*(const WideMatrix& a, const WideMatrix& b) {
  GRAPHGATE_CHECK(a.columns == b.rows);
  WideMatrix out(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < a.columns; ++k) {
      const long double factor = a(i, k);
      if (factor == 0) continue;
      for (std::int64_t j = 0; j < b.columns; ++j) out(i, j) += factor * b(k, j);
    }
  }
  return out;
}

WideMatrix operator-(const WideMatrix& a, const WideMatrix& b) {
  WideMatrix out = a;
  for (std::size_t i = 0; i < out.data.size(); ++i) out.data[i] -= b.data[i];
  return out;
}

WideMatrix magnitudes(WideMatrix a) {
  for (long double& x : a.data) x = std::fabs(x);
  return a;
}

WideMatrix part_of(const WideMatrix& a, std::int64_t i, std::int64_t j, std::int64_t rows,
                   std::int64_t columns) {
  WideMatrix out(rows, columns);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) out(r, c) = a(i + r, j + c);
  }
  return out;
}

WideMatrix with_rows(const WideMatrix& a, const std::vector<std::int64_t>& order) {
  WideMatrix out(a.rows, a.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) out(i, j) = a(order[nth(i)], j);
  }
  return out;
}

WideMatrix triangle_of(const WideMatrix& a, bool upper, bool is_unit) {
  WideMatrix out(a.rows, a.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      if (i == j) {
        out(i, j) = is_unit ? 1 : a(i, j);
      } else if (upper == (j > i)) {
        out(i, j) = a(i, j);
      }
    }
  }
  return out;
}

long double row_norm(const WideMatrix& a) {
  long double most = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < a.columns; ++j) sum += std::fabs(a(i, j));
    if (!(sum <= most)) most = sum;
  }
  return most;
}

long double frobenius_norm(const WideMatrix& a) {
  long double norm = 0;
  for (const long double x : a.data) norm = std::hypot(norm, x);
  return norm;
}

WideMatrix inverse_of_triangle(const WideMatrix& t, bool upper) {
  GRAPHGATE_CHECK(t.rows == t.columns);
  const std::int64_t n = t.rows;
  WideMatrix out = identity_matrix(n);
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = upper ? n - 1 - step : step;
    for (std::int64_t done = 0; done < step; ++done) {
      const std::int64_t k = upper ? n - 1 - done : done;
      if (t(i, k) == 0) continue;
      for (std::int64_t j = 0; j < n; ++j) out(i, j) -= t(i, k) * out(k, j);
    }
    for (std::int64_t j = 0; j < n; ++j) {
      if (out(i, j) != 0) out(i, j) /= t(i, i);
    }
  }
  return out;
}

std::vector<std::int64_t> order_of_rows(const std::vector<std::int64_t>& pivots,
                                        std::int64_t rows) {
  std::vector<std::int64_t> order(nth(rows));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t k = 0; k < pivots.size(); ++k) std::swap(order[k], order[nth(pivots[k])]);
  return order;
}

LuFactors lu_of(WideMatrix a) {
  LuFactors out;
  const std::int64_t count = std::min(a.rows, a.columns);
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < a.rows; ++i) {
      if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
    }
    out.pivots.push_back(pivot);
    for (std::int64_t j = 0; pivot != k && j < a.columns; ++j) std::swap(a(k, j), a(pivot, j));
    if (a(k, k) == 0) {
      if (out.first_zero == 0) out.first_zero = k + 1;
      continue;
    }
    for (std::int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      for (std::int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  out.order = order_of_rows(out.pivots, a.rows);
  out.lu = std::move(a);
  return out;
}

CholeskyFactor cholesky_of(const WideMatrix& a) {
  CholeskyFactor out;
  const std::int64_t n = a.rows;
  WideMatrix& l = out.lower = WideMatrix(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    long double pivot = a(j, j);
    for (std::int64_t k = 0; k < j; ++k) pivot -= l(j, k) * l(j, k);
    if (!(pivot > 0)) {
      out.failed = j + 1;
      out.failed_pivot = pivot;
      return out;
    }
    l(j, j) = std::sqrt(pivot);
    for (std::int64_t i = j + 1; i < n; ++i) {
      long double sum = a(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
      l(i, j) = sum / l(j, j);
    }
  }
  return out;
}

Reflections reflections_of(WideMatrix a) {
  Reflections out;
  const std::int64_t count = std::min(a.rows, a.columns);
  for (std::int64_t k = 0; k < count; ++k) {
    long double below = 0;
    for (std::int64_t i = k + 1; i < a.rows; ++i) below = std::hypot(below, a(i, k));
    if (below == 0) {
      out.tau.push_back(0);
      continue;
    }
    const long double alpha = a(k, k);
    const long double beta = -std::copysign(std::hypot(alpha, below), alpha);
    const long double tau = (beta - alpha) / beta;
    for (std::int64_t i = k + 1; i < a.rows; ++i) a(i, k) /= alpha - beta;
    a(k, k) = beta;
    for (std::int64_t j = k + 1; j < a.columns; ++j) {
      long double sum = a(k, j);
      for (std::int64_t i = k + 1; i < a.rows; ++i) sum += a(i, k) * a(i, j);
      a(k, j) -= tau * sum;
      for (std::int64_t i = k + 1; i < a.rows; ++i) a(i, j) -= tau * sum * a(i, k);
    }
    out.tau.push_back(tau);
  }
  out.packed = std::move(a);
  return out;
}

WideMatrix apply_reflections(const Reflections& h, WideMatrix c, bool transposed) {
  const auto count = static_cast<std::int64_t>(h.tau.size());
  for (std::int64_t step = 0; step < count; ++step) {
    const std::int64_t k = transposed ? step : count - 1 - step;
    const long double tau = h.tau[nth(k)];
    for (std::int64_t j = 0; tau != 0 && j < c.columns; ++j) {
      long double sum = c(k, j);
      for (std::int64_t i = k + 1; i < c.rows; ++i) sum += h.packed(i, k) * c(i, j);
      c(k, j) -= tau * sum;
      for (std::int64_t i = k + 1; i < c.rows; ++i) c(i, j) -= tau * sum * h.packed(i, k);
    }
  }
  return c;
}

namespace {

// The cosine and sine of the rotation that makes the product of two directions vanish, of which
// `a` and `b` are the squared lengths and `ab` the product.
struct Rotation {
  long double cosine = 1;
  long double sine = 0;

  Rotation(long double a, long double b, long double ab) {
    const long double zeta = (b - a) / (2 * ab);
    const long double tangent = std::copysign(1 / (std::fabs(zeta) + std::hypot(1.0L, zeta)), zeta);
    cosine = 1 / std::hypot(1.0L, tangent);
    sine = cosine * tangent;
  }
  void turn(long double& x, long double& y) const {
    const long double old = x;
    x = cosine * old - sine * y;
    y = sine * old + cosine * y;
  }
};

// The numbers 0, 1, ... in the order of `values`.
std::vector<std::int64_t> sorted_places(const std::vector<long double>& values, bool descending) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return descending ? values[nth(i)] > values[nth(j)] : values[nth(i)] < values[nth(j)];
  });
  return order;
}

WideMatrix with_columns(const WideMatrix& a, const std::vector<std::int64_t>& order) {
  WideMatrix out(a.rows, static_cast<std::int64_t>(order.size()));
  for (std::int64_t i = 0; i < out.rows; ++i) {
    for (std::int64_t j = 0; j < out.columns; ++j) out(i, j) = a(i, order[nth(j)]);
  }
  return out;
}

}  // namespace

Eigen eigen_of(WideMatrix a) {
  const std::int64_t n = a.rows;
  WideMatrix vectors = identity_matrix(n);
  const long double least = frobenius_norm(a) * kWideUnit / 4;
  bool turned = true;
  for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
    turned = false;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        if (!(std::fabs(a(p, q)) > least / static_cast<long double>(n))) continue;
        turned = true;
        const Rotation rotation(a(p, p), a(q, q), a(p, q));
        for (std::int64_t i = 0; i < n; ++i) rotation.turn(a(i, p), a(i, q));
        for (std::int64_t i = 0; i < n; ++i) rotation.turn(a(p, i), a(q, i));
        for (std::int64_t i = 0; i < n; ++i) rotation.turn(vectors(i, p), vectors(i, q));
      }
    }
  }
  std::vector<long double> values(nth(n));
  for (std::int64_t i = 0; i < n; ++i) values[nth(i)] = a(i, i);
  const std::vector<std::int64_t> order = sorted_places(values, false);
  Eigen out;
  for (const std::int64_t i : order) out.values.push_back(values[nth(i)]);
  out.vectors = with_columns(vectors, order);
  return out;
}

namespace {

// Makes the columns of `u`, whose values fall, orthonormal. A column that is nothing but what
// rotations rounded, as beside a value that is 0, and with it all behind it, becomes 0 with its
// value: nobody tells its direction.
void orthonormalize(WideMatrix& u, std::vector<long double>& values) {
  bool is_known = true;
  for (std::int64_t j = 0; j < u.columns; ++j) {
    long double length = 0;
    for (int turn = 0; is_known && turn < 2; ++turn) {
      for (std::int64_t k = 0; k < j; ++k) {
        long double along = 0;
        for (std::int64_t i = 0; i < u.rows; ++i) along += u(i, k) * u(i, j);
        for (std::int64_t i = 0; i < u.rows; ++i) u(i, j) -= along * u(i, k);
      }
      length = 0;
      for (std::int64_t i = 0; i < u.rows; ++i) length = std::hypot(length, u(i, j));
      is_known = length > 0.5L;
      for (std::int64_t i = 0; is_known && i < u.rows; ++i) u(i, j) /= length;
    }
    if (is_known) continue;
    values[nth(j)] = 0;
    for (std::int64_t i = 0; i < u.rows; ++i) u(i, j) = 0;
  }
}

}  // namespace

SingularValues singular_values_of(const WideMatrix& a) {
  if (a.rows < a.columns) {
    SingularValues turned = singular_values_of(flipped(a));
    std::swap(turned.u, turned.v);
    return turned;
  }
  WideMatrix w = a;
  const std::int64_t n = w.columns;
  WideMatrix v = identity_matrix(n);
  const long double nothing = frobenius_norm(a) * kWideUnit * kWideUnit;
  const long double least = kWideUnit * static_cast<long double>(w.rows + 4);
  bool turned = true;
  for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
    turned = false;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        long double pp = 0;
        long double qq = 0;
        long double pq = 0;
        for (std::int64_t i = 0; i < w.rows; ++i) {
          pp += w(i, p) * w(i, p);
          qq += w(i, q) * w(i, q);
          pq += w(i, p) * w(i, q);
        }
        const long double lengths = std::sqrt(pp) * std::sqrt(qq);
        if (!(std::fabs(pq) > lengths * least) || lengths <= nothing * nothing) continue;
        turned = true;
        const Rotation rotation(pp, qq, pq);
        for (std::int64_t i = 0; i < w.rows; ++i) rotation.turn(w(i, p), w(i, q));
        for (std::int64_t i = 0; i < n; ++i) rotation.turn(v(i, p), v(i, q));
      }
    }
  }
  std::vector<long double> values(nth(n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < w.rows; ++i) {
      values[nth(j)] = std::hypot(values[nth(j)], w(i, j));
    }
    for (std::int64_t i = 0; i < w.rows && values[nth(j)] > 0; ++i) w(i, j) /= values[nth(j)];
  }
  const std::vector<std::int64_t> order = sorted_places(values, true);
  SingularValues out;
  for (const std::int64_t j : order) out.values.push_back(values[nth(j)]);
  out.u = with_columns(w, order);
  out.v = with_columns(v, order);
  orthonormalize(out.u, out.values);
  return out;
}

}  // namespace graphgate::reference
