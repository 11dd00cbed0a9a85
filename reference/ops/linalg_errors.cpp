#include "reference/ops/linalg_errors.h"

#include <algorithm>

namespace graphgate::reference {
namespace {

// Room for the errors of the wide numbers themselves: n u_wide beside n u is 2^-11 at most.
constexpr long double kRoom = 1 + 0x1p-6L;

WideMatrix filled(const WideMatrix& like, long double fill) {
  return WideMatrix(like.rows, like.columns, fill);
}

long double column_norm(const WideMatrix& a, std::int64_t j) {
  long double norm = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) norm = std::hypot(norm, a(i, j));
  return norm;
}

// Takes the smaller radius: each is a bound. A NaN is none.
void take_lesser(WideMatrix& radius, const WideMatrix& other) {
  for (std::size_t i = 0; i < radius.data.size(); ++i) {
    if (other.data[i] < radius.data[i] || std::isnan(radius.data[i])) {
      radius.data[i] = std::isnan(other.data[i]) ? kOpenRadius : other.data[i];
    }
  }
}

WideMatrix strictly_below(WideMatrix a) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = i; j < a.columns; ++j) a(i, j) = 0;
  }
  return a;
}

// L (m x k) with its unit diagonal, and U (k x n).
WideMatrix lower_factor(const WideMatrix& lu) {
  const std::int64_t count = std::min(lu.rows, lu.columns);
  return triangle_of(part_of(lu, 0, 0, lu.rows, count), false, true);
}
WideMatrix upper_factor(const WideMatrix& lu) {
  const std::int64_t count = std::min(lu.rows, lu.columns);
  return triangle_of(part_of(lu, 0, 0, count, lu.columns), true);
}

void copy_into(WideMatrix& to, const WideMatrix& from, std::int64_t i, std::int64_t j) {
  for (std::int64_t r = 0; r < from.rows; ++r) {
    for (std::int64_t c = 0; c < from.columns; ++c) to(i + r, j + c) = from(r, c);
  }
}

// The radii of L and U where `error` moves the matrix that they are the factors of, and no pivot
// changes. Open where U is too near to a singular matrix.
WideMatrix radius_of_factors(const WideMatrix& lu, const WideMatrix& error, const ErrorRule& rule) {
  const std::int64_t m = lu.rows;
  const std::int64_t n = lu.columns;
  const std::int64_t count = std::min(m, n);
  const WideMatrix lower = lower_factor(lu);
  const WideMatrix upper = upper_factor(lu);
  const WideMatrix top = part_of(lower, 0, 0, count, count);
  const WideMatrix bottom = part_of(lower, count, 0, m - count, count);
  const WideMatrix square = part_of(upper, 0, 0, count, count);
  const WideMatrix top_inverse = inverse_of_triangle(top, false);
  const WideMatrix square_inverse = inverse_of_triangle(square, true);
  const WideMatrix error_top = part_of(error, 0, 0, count, n);
  const WideMatrix left = rule.carried(top_inverse, error_top);
  const WideMatrix relative = rule.carried(part_of(left, 0, 0, count, count), square_inverse);
  const long double growth = rule.growth(row_norm(relative));
  if (!(growth < kOpenRadius)) return filled(lu, kOpenRadius);
  const WideMatrix below = strictly_below(relative);
  const WideMatrix of_top = rule.carried(top, below);
  const WideMatrix of_square = rule.carried(triangle_of(relative, true), square);
  WideMatrix out(m, n);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < count; ++j) out(i, j) = i > j ? of_top(i, j) : of_square(i, j);
  }
  if (m > count) {
    const WideMatrix rows =
        rule.joined(rule.carried(bottom * top_inverse, part_of(error, 0, 0, count, count)),
                    part_of(error, count, 0, m - count, count));
    copy_into(out, rule.joined(rule.carried(bottom, below), rule.carried(rows, square_inverse)),
              count, 0);
  }
  if (n > count) {
    const WideMatrix right =
        rule.joined(part_of(left, 0, count, count, n - count),
                    rule.carried(below, part_of(upper, 0, count, count, n - count)));
    copy_into(out, right, 0, count);
  }
  return times(std::move(out), growth);
}

// Radii of the factors by elimination: every element with what its operands' radii and its own
// roundings come to. Exact where every number on the way is held by the dtype.
struct Elimination {
  WideMatrix radius;     // of L and U
  WideMatrix candidate;  // the element below the diagonal before it is divided, and its radius
  WideMatrix candidate_radius;
};

Elimination eliminate(const KnownMatrix& permuted, const WideMatrix& lu, const ErrorRule& rule) {
  const std::int64_t m = lu.rows;
  const std::int64_t n = lu.columns;
  WideMatrix value = permuted.value;
  WideMatrix carried = permuted.radius;
  WideMatrix met = magnitudes(permuted.value);  // the magnitudes that meet in an element
  std::vector<char> is_exact(value.data.size());
  for (std::size_t i = 0; i < is_exact.size(); ++i) is_exact[i] = carried.data[i] == 0 ? 1 : 0;
  const auto exact = [&](std::int64_t i, std::int64_t j) -> char& {
    return is_exact[static_cast<std::size_t>(i * n + j)];
  };
  Elimination out{carried, value, carried};
  const auto radius_at = [&](std::int64_t i, std::int64_t j, std::int64_t steps) -> long double {
    if (exact(i, j) != 0) return 0;
    const auto count = static_cast<long double>(steps + 1);
    return rule.joined(rule.joined(carried(i, j), rule.roundings(count) * met(i, j)),
                       rule.underflow(count));
  };
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    for (std::int64_t j = k; j < n; ++j) out.radius(k, j) = radius_at(k, j, k);
    const long double pivot = value(k, k);
    const long double pivot_radius = out.radius(k, k);
    int exponent = 0;
    const bool divides_exactly =
        pivot_radius == 0 && std::fabs(std::frexp(pivot, &exponent)) == 0.5L;
    for (std::int64_t i = k + 1; i < m; ++i) {
      const long double radius = radius_at(i, k, k);
      out.candidate(i, k) = value(i, k);
      out.candidate_radius(i, k) = radius;
      if (pivot == 0 && pivot_radius == 0) {  // nothing is divided, nothing is left
        out.radius(i, k) = radius;
        continue;
      }
      const long double l = lu(i, k);
      const long double room = std::fabs(pivot) - rule.decision() * pivot_radius;
      const bool is_held = radius == 0 && (l == 0 || (divides_exactly && rule.holds(l)));
      long double l_radius = kOpenRadius;
      if (is_held) l_radius = 0;
      if (!is_held && room > 0) {
        // A reciprocal may be multiplied with: two roundings.
        l_radius = rule.joined(rule.joined(radius, std::fabs(l) * pivot_radius) / room,
                               rule.joined(rule.roundings(2) * std::fabs(l),
                                           rule.underflow(1) * (1 + std::fabs(value(i, k)))));
      }
      out.radius(i, k) = l_radius;
      for (std::int64_t j = k + 1; j < n; ++j) {
        const long double u = value(k, j);
        const long double u_radius = out.radius(k, j);
        const long double product = l * u;
        const bool is_sure = (l_radius == 0 && u_radius == 0) || (l == 0 && l_radius == 0) ||
                             (u == 0 && u_radius == 0);
        if (!is_sure) {
          const long double both =
              rule.joined(std::fabs(u) * l_radius, (std::fabs(l) + l_radius) * u_radius);
          carried(i, j) = rule.joined(carried(i, j), std::isnan(both) ? kOpenRadius : both);
        }
        met(i, j) += std::fabs(product);
        value(i, j) -= product;
        if (!is_sure || !rule.holds(product) || !rule.holds(value(i, j))) exact(i, j) = 0;
      }
    }
  }
  return out;
}

}  // namespace

long double ErrorRule::roundings(long double count) const {
  if (!tracks_ || count <= 0) return 0;
  constexpr long double kDeviation = 0.57735026918962576L;  // of a rounding, spread evenly
  if (squares_) return std::sqrt(count) * kDeviation * unit_ * kRoom;
  const long double n = count * unit_ * kRoom;
  return n < 1 ? n / (1 - n) : kOpenRadius;
}

long double ErrorRule::underflow(long double count) const {
  if (!tracks_ || count <= 0) return 0;
  constexpr long double kDeviation = 0.57735026918962576L;
  const auto most = static_cast<long double>(half_ulp(0, dtype_));
  return squares_ ? std::sqrt(count) * kDeviation * most : count * most;
}

bool ErrorRule::has_reciprocal(long double x) const {
  return !(1 / std::fabs(x) > static_cast<long double>(max_finite(dtype_)));
}

long double ErrorRule::joined(long double a, long double b) const {
  return squares_ ? std::hypot(a, b) : a + b;
}

WideMatrix ErrorRule::joined(WideMatrix a, const WideMatrix& b) const {
  for (std::size_t i = 0; i < a.data.size(); ++i) a.data[i] = joined(a.data[i], b.data[i]);
  return a;
}

WideMatrix ErrorRule::carried(const WideMatrix& a, const WideMatrix& b) const {
  WideMatrix out(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < a.columns; ++k) {
      const long double factor = std::fabs(a(i, k));
      if (factor == 0) continue;
      for (std::int64_t j = 0; j < b.columns; ++j) {
        const long double term = factor * std::fabs(b(k, j));
        out(i, j) += squares_ ? term * term : term;
      }
    }
  }
  if (squares_) {
    for (long double& x : out.data) x = std::sqrt(x);
  }
  return out;
}

bool ErrorRule::holds(long double x) const {
  return static_cast<long double>(round_to_dtype(x, dtype_)) == x;
}

long double ErrorRule::growth(long double rho) const {
  const long double most = squares_ ? decision_ * rho : rho;
  return most < 0.5L ? 1 / (1 - most) : kOpenRadius;
}

bool is_finite(const KnownMatrix& a) {
  const auto finite = [](long double x) { return std::isfinite(x); };
  return std::all_of(a.value.data.begin(), a.value.data.end(), finite) &&
         std::all_of(a.radius.data.begin(), a.radius.data.end(), finite);
}

KnownMatrix open_matrix(std::int64_t rows, std::int64_t columns) {
  const long double nothing = std::numeric_limits<long double>::quiet_NaN();
  return {WideMatrix(rows, columns, nothing), WideMatrix(rows, columns, kOpenRadius)};
}

KnownMatrix flipped(const KnownMatrix& a) { return {flipped(a.value), flipped(a.radius)}; }

WideMatrix times(WideMatrix radius, long double factor) {
  for (long double& x : radius.data) {
    if (x != 0) x *= factor;
  }
  return radius;
}

// ---- LU ---------------------------------------------------------------------------------------

namespace {

// The first step whose pivot depends on rounding: where another candidate may be as large.
// Elimination and perturbations each may know that it is not.
std::int64_t first_open_pivot(const WideMatrix& factors, const WideMatrix& radius,
                              const Elimination& by_steps, const ErrorRule& rule) {
  const std::int64_t count = std::min(factors.rows, factors.columns);
  for (std::int64_t k = 0; k < count; ++k) {
    const long double pivot = std::fabs(factors(k, k));
    const long double pivot_radius = by_steps.radius(k, k);
    for (std::int64_t i = k + 1; i < factors.rows; ++i) {
      const long double size = std::fabs(by_steps.candidate(i, k));
      const long double reach =
          rule.decision() * rule.joined(pivot_radius, by_steps.candidate_radius(i, k));
      const bool is_tie = reach == 0 && size == pivot && pivot != 0;
      const bool hangs =
          reach == 0 ? is_tie && declared_arithmetic().opens_ties() : !(pivot - size > reach);
      if (!hangs) continue;
      const long double ratio = std::fabs(factors(i, k));  // of a pivot that is not zero
      const bool is_known = reach > 0 && pivot > 0 && ratio + rule.decision() * radius(i, k) < 1;
      if (!is_known) return k;
    }
  }
  return count;
}

// Whether the reciprocal of a pivot is finite, or nothing is divided by it. One that may be zero is
// open for its radius already.
bool may_divide_by(long double pivot, long double radius, const ErrorRule& rule) {
  const long double size = std::fabs(pivot);
  const long double reach = rule.decision() * radius;
  return size == 0 || rule.has_reciprocal(size > reach ? size - reach : size);
}

// What underflows on the way to element (i, j) of L or U, as an error of the matrix: products, and
// the quotient or the product with a reciprocal that L is made by.
long double underflow_of_factors(const WideMatrix& lu, std::int64_t i, std::int64_t j,
                                 const ErrorRule& rule) {
  const long double of_products = rule.underflow(static_cast<long double>(std::min(i, j)));
  if (i <= j) return of_products;
  const long double pivot = std::fabs(lu(j, j));
  return rule.joined(of_products, rule.underflow(1) * (1 + std::fabs(lu(i, j)) * pivot) * pivot);
}

}  // namespace

KnownLu known_lu(const KnownMatrix& a, const ErrorRule& rule) {
  KnownLu out;
  const std::int64_t m = a.value.rows;
  const std::int64_t n = a.value.columns;
  const std::int64_t count = std::min(m, n);
  out.factors = lu_of(a.value);
  out.open_from = count;
  out.radius = out.error = WideMatrix(m, n);
  if (!rule.tracks()) return out;
  if (!is_finite(a)) {
    out.radius = out.error = WideMatrix(m, n, kOpenRadius);
    out.open_from = 0;
    out.info_is_open = count > 0;
    return out;
  }
  const WideMatrix& lu = out.factors.lu;
  const WideMatrix sizes = magnitudes(lower_factor(lu)) * magnitudes(upper_factor(lu));
  const KnownMatrix permuted = {with_rows(a.value, out.factors.order),
                                with_rows(a.radius, out.factors.order)};
  WideMatrix error = permuted.radius;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t roundings = std::min(i, j) + (i > j ? 2 : 0);
      error(i, j) = rule.joined(error(i, j),
                                rule.roundings(static_cast<long double>(roundings)) * sizes(i, j));
      error(i, j) = rule.joined(error(i, j), underflow_of_factors(lu, i, j, rule));
    }
  }
  const Elimination by_steps = eliminate(permuted, lu, rule);
  out.radius = radius_of_factors(lu, error, rule);
  // LAPACK's kernels multiply with a reciprocal that may be infinite.
  std::int64_t divided = 0;
  while (divided < count &&
         may_divide_by(lu(divided, divided), by_steps.radius(divided, divided), rule)) {
    ++divided;
  }
  out.open_from = std::min(first_open_pivot(lu, out.radius, by_steps, rule), divided + 1);
  out.open_from = std::min(out.open_from, count);
  out.info_is_open = out.factors.first_zero > divided + 1;
  take_lesser(out.radius, by_steps.radius);
  for (std::int64_t k = 0; k < count; ++k) {
    const long double reach = rule.decision() * out.radius(k, k);
    const bool may_be_zero = reach > 0 && std::fabs(lu(k, k)) <= reach;
    const bool is_zero = lu(k, k) == 0 && reach == 0;
    const bool hangs_on_pivot = k == out.open_from || (k > out.open_from && !is_zero);
    if (may_be_zero || (hangs_on_pivot && out.factors.first_zero != 0)) out.info_is_open = true;
    if (is_zero || out.info_is_open) break;
  }
  for (std::int64_t i = out.open_from; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) out.radius(i, j) = kOpenRadius;
  }
  // Of whatever rows may be exchanged: no element of L is larger than 1.
  if (out.open_from < count) {
    long double most = 0;
    for (const long double x : upper_factor(lu).data) most = std::max(most, std::fabs(x));
    const auto terms = static_cast<long double>(count);
    const long double rounding = rule.joined(rule.roundings(terms + 2) * terms * most,
                                             rule.underflow(terms + 2) * (1 + most) * (1 + most));
    for (std::size_t i = 0; i < error.data.size(); ++i) {
      error.data[i] = rule.joined(permuted.radius.data[i], rounding);
    }
  }
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      out.error(out.factors.order[static_cast<std::size_t>(i)], j) = error(i, j);
    }
  }
  return out;
}

namespace {

// The inverse, and the factor by which errors of the second order make a bound grow.
struct KnownInverse {
  WideMatrix inverse;
  long double growth = kOpenRadius;
};

KnownInverse known_inverse(const WideMatrix& a, const WideMatrix& error, const ErrorRule& rule) {
  const LuFactors factors = lu_of(a);
  if (factors.first_zero != 0) return {};
  const WideMatrix lower = inverse_of_triangle(triangle_of(factors.lu, false, true), false);
  const WideMatrix upper = inverse_of_triangle(triangle_of(factors.lu, true), true);
  const WideMatrix product = upper * lower;
  KnownInverse out;
  out.inverse = WideMatrix(a.rows, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.rows; ++j) {
      out.inverse(i, factors.order[static_cast<std::size_t>(j)]) = product(i, j);
    }
  }
  out.growth = rule.tracks() ? rule.growth(row_norm(rule.carried(out.inverse, error))) : 1;
  return out;
}

}  // namespace

KnownMatrix known_solution(const WideMatrix& a, const WideMatrix& error, const KnownMatrix& b,
                           const ErrorRule& rule) {
  const KnownInverse inverse = known_inverse(a, error, rule);
  if (inverse.inverse.rows != a.rows) return open_matrix(b.value.rows, b.value.columns);
  KnownMatrix out;
  out.value = inverse.inverse * b.value;
  // One step of refinement.
  const WideMatrix rest = inverse.inverse * (b.value - a * out.value);
  for (std::size_t i = 0; i < rest.data.size(); ++i) out.value.data[i] += rest.data[i];
  out.radius = WideMatrix(b.value.rows, b.value.columns);
  if (!rule.tracks()) return out;
  if (!(inverse.growth < kOpenRadius) || !is_finite(b)) {
    out.radius = filled(out.radius, kOpenRadius);
    return out;
  }
  out.radius =
      times(rule.carried(inverse.inverse, rule.joined(rule.carried(error, out.value), b.radius)),
            inverse.growth);
  return out;
}

KnownNumber known_determinant(const KnownMatrix& a, const KnownLu& lu, const ErrorRule& rule) {
  const std::int64_t n = a.value.rows;
  KnownNumber out{1, 0};
  long double reach = 1;  // the product of the largest that the pivots may be
  bool is_sure = rule.tracks();
  for (std::int64_t k = 0; k < n; ++k) {
    const long double pivot = lu.factors.lu(k, k);
    out.value *= lu.factors.pivots[static_cast<std::size_t>(k)] == k ? pivot : -pivot;
    reach *= std::fabs(pivot) + lu.radius(k, k);
    is_sure = is_sure && lu.radius(k, k) == 0;
  }
  if (!rule.tracks()) return out;
  if (!is_finite(a)) return {out.value, kOpenRadius};
  const auto roundings = static_cast<long double>(n);
  out.radius = reach - std::fabs(out.value);  // of one pivot after the other
  if (std::isnan(out.radius)) out.radius = kOpenRadius;
  if (out.value == 0 && is_sure) return out;
  const KnownInverse inverse = known_inverse(a.value, lu.error, rule);
  if (inverse.growth < kOpenRadius) {
    long double relative = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        relative = rule.joined(relative, std::fabs(inverse.inverse(j, i)) * lu.error(i, j));
      }
    }
    // (1 + x / n)^n of n factors, each moved by its part: e^x bounds it.
    const long double moved = std::expm1(relative * inverse.growth) * std::fabs(out.value);
    out.radius = std::min(out.radius, moved);
  }
  out.radius = rule.joined(out.radius, rule.roundings(roundings) * std::fabs(out.value));
  return out;
}

// ---- Cholesky ---------------------------------------------------------------------------------

namespace {

// What underflows on the way to element (i, j) of Cholesky's factor of `a`, as an error of `a`:
// products, and the quotient below the diagonal. Nothing where nothing is multiplied or divided.
long double underflow_of_cholesky(const WideMatrix& a, std::int64_t i, std::int64_t j,
                                  const ErrorRule& rule) {
  const std::int64_t column = std::min(i, j);
  const auto products = static_cast<long double>(column);
  if (i == j) return rule.underflow(products);
  // The factor's diagonal is no larger than the root of the matrix's; the reciprocal may be taken.
  const long double pivot = std::sqrt(std::fabs(a(column, column)));
  return rule.underflow(products + 1) * (1 + pivot) * (1 + std::fabs(a(i, j)));
}

}  // namespace

KnownCholesky known_cholesky(const KnownMatrix& given, const ErrorRule& rule) {
  KnownMatrix a = given;  // the lower triangle, on both sides
  const std::int64_t n = a.value.rows;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i + 1; j < n; ++j) {
      a.value(i, j) = a.value(j, i);
      a.radius(i, j) = a.radius(j, i);
    }
  }
  KnownCholesky out;
  out.factor = cholesky_of(a.value);
  out.radius = WideMatrix(n, n);
  if (!rule.tracks()) return out;
  if (!is_finite(a)) {
    out.radius = filled(out.radius, kOpenRadius);
    out.info_is_open = n > 0;
    return out;
  }
  // The leading block that has a factor.
  const std::int64_t count = out.factor.failed == 0 ? n : out.factor.failed - 1;
  const WideMatrix lower = part_of(out.factor.lower, 0, 0, count, count);
  const WideMatrix sizes = magnitudes(lower) * flipped(magnitudes(lower));
  WideMatrix error(count, count);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      const auto roundings = static_cast<long double>(std::min(i, j) + 2);
      const long double of_roundings = rule.joined(rule.roundings(roundings) * sizes(i, j),
                                                   underflow_of_cholesky(a.value, i, j, rule));
      // Both halves have one error: as deviations they count as such.
      error(i, j) =
          1.5L * rule.joined(a.radius(i, j), of_roundings) / (rule.decision() == 1 ? 1.5L : 1);
    }
  }
  const WideMatrix inverse = inverse_of_triangle(lower, false);
  WideMatrix relative = rule.carried(rule.carried(inverse, error), flipped(inverse));
  const long double growth = rule.growth(row_norm(relative));
  for (std::int64_t i = 0; i < count; ++i) {
    relative(i, i) /= 2;
    for (std::int64_t j = i + 1; j < count; ++j) relative(i, j) = 0;
  }
  const WideMatrix radius = rule.carried(lower, relative);
  const bool is_open = !(growth < kOpenRadius);
  out.info_is_open = is_open;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      out.radius(i, j) = is_open || i >= count ? kOpenRadius : radius(i, j) * growth;
    }
  }
  if (count == n || is_open) return out;
  // Whether the pivot after it is certainly not positive: it is w^T A w, w = (-A11^-1 a, 1).
  WideMatrix w(count + 1, 1, 1);
  WideMatrix column(count, 1);
  for (std::int64_t i = 0; i < count; ++i) column(i, 0) = a.value(i, count);
  const WideMatrix solved = flipped(inverse) * (inverse * column);
  for (std::int64_t i = 0; i < count; ++i) w(i, 0) = -solved(i, 0);
  long double moved = 0;
  for (std::int64_t i = 0; i <= count; ++i) {
    for (std::int64_t j = 0; j <= count; ++j) {
      const long double size = i < count && j < count
                                   ? sizes(i, j)
                                   : std::sqrt(std::fabs(a.value(i, i) * a.value(j, j)));
      const auto roundings = static_cast<long double>(std::min(i, j) + 2);
      const long double of_roundings = rule.joined(rule.roundings(roundings) * 2 * size,
                                                   underflow_of_cholesky(a.value, i, j, rule));
      const long double e = rule.joined(a.radius(i, j), of_roundings);
      moved = rule.joined(moved, std::fabs(w(i, 0) * w(j, 0)) * e);
    }
  }
  const bool is_first = count == 0 && a.radius(0, 0) == 0;  // nothing is computed
  out.info_is_open = !is_first && !(out.factor.failed_pivot < -rule.decision() * moved * growth);
  return out;
}

// ---- Householder's QR -------------------------------------------------------------------------

namespace {

// The roundings of one reflection of a column, relative to its length: 3 L + 12 of tau |v| |v|^T
// |b|, which is at most twice as long as b, and of the difference (Higham, lemmas 19.1 and 19.2,
// with their constants).
long double roundings_of_reflection(std::int64_t length) {
  return 6 * static_cast<long double>(length) + 25;
}

// The unit lower trapeze of reflection vectors: the first `count` of them.
WideMatrix vectors_of(const WideMatrix& packed, std::int64_t count) {
  return triangle_of(part_of(packed, 0, 0, packed.rows, count), false, true);
}

// How far the leading columns of Q and R move.
struct QrErrors {
  std::vector<long double> column;    // of A: how long its error is
  std::vector<long double> relative;  // the same of A R^-1
  long double formation = 0;          // of a column of Q, beside that
  std::int64_t good = 0;              // so many columns are certain
  long double growth = 1;
};

QrErrors qr_errors(const KnownMatrix& a, const WideMatrix& r, std::int64_t count,
                   const ErrorRule& rule) {
  QrErrors out;
  long double roundings = 0;
  for (std::int64_t j = 0; j < a.value.columns; ++j) {
    if (j < count) roundings += roundings_of_reflection(a.value.rows - j);
    const long double length = column_norm(a.value, j);
    const long double underflow = length > 0 ? rule.underflow(roundings) : 0;
    out.column.push_back(rule.joined(rule.joined(rule.roundings(roundings) * length, underflow),
                                     column_norm(a.radius, j)));
  }
  out.formation = rule.roundings(roundings);
  std::int64_t full = 0;
  while (full < count && r(full, full) != 0) ++full;
  WideMatrix errors(1, full);
  for (std::int64_t j = 0; j < full; ++j) errors(0, j) = out.column[static_cast<std::size_t>(j)];
  const WideMatrix relative =
      rule.carried(errors, inverse_of_triangle(part_of(r, 0, 0, full, full), true));
  long double rho = 0;
  for (std::int64_t j = 0; j < full; ++j) {
    rho = std::hypot(rho, relative(0, j));
    const long double growth = rule.growth(rho);
    if (!(growth < kOpenRadius)) break;
    out.growth = growth;
    out.relative.push_back(relative(0, j));
    ++out.good;
  }
  return out;
}

// The radii of the first `good` columns of Q.
WideMatrix radius_of_q(const WideMatrix& q, const QrErrors& errors, std::int64_t good,
                       const ErrorRule& rule) {
  WideMatrix turn(good, good);  // how the columns turn among themselves
  for (std::int64_t l = 0; l < good; ++l) {
    for (std::int64_t j = 0; j < good; ++j) {
      if (l != j) turn(l, j) = errors.relative[static_cast<std::size_t>(std::min(l, j))];
    }
  }
  WideMatrix out = rule.carried(part_of(q, 0, 0, q.rows, good), turn);
  for (std::int64_t i = 0; i < q.rows; ++i) {
    for (std::int64_t j = 0; j < good; ++j) {
      const long double away =
          good < q.rows ? errors.relative[static_cast<std::size_t>(j)] : 0;  // out of their span
      out(i, j) = rule.joined(rule.joined(out(i, j), away) * errors.growth, errors.formation);
    }
  }
  return out;
}

}  // namespace

KnownQr known_qr(const KnownMatrix& a, std::int64_t columns, const ErrorRule& rule) {
  KnownQr out;
  const std::int64_t m = a.value.rows;
  const std::int64_t n = a.value.columns;
  const std::int64_t count = std::min(m, n);
  out.reflections = reflections_of(a.value);
  const WideMatrix& packed = out.packed.value = out.reflections.packed;
  WideMatrix first(m, columns);
  for (std::int64_t j = 0; j < columns; ++j) first(j, j) = 1;
  out.q.value = apply_reflections(out.reflections, std::move(first), false);
  out.r.value = triangle_of(packed, true);
  out.q.radius = WideMatrix(m, columns);
  out.packed.radius = out.r.radius = WideMatrix(m, n);
  out.tau_radius.assign(static_cast<std::size_t>(count), 0);
  if (!rule.tracks() || count == 0) return out;
  std::int64_t turned = 0;  // reflections before the first that does nothing
  while (turned < count && out.reflections.tau[static_cast<std::size_t>(turned)] != 0) ++turned;
  const bool is_triangle = std::all_of(out.reflections.tau.begin(), out.reflections.tau.end(),
                                       [](long double tau) { return tau == 0; });
  if (is_triangle && is_finite(a) && frobenius_norm(a.radius) == 0) return out;  // nothing is done
  const std::int64_t all = std::min(count, m - 1);
  std::int64_t good = 0;
  if (is_finite(a)) {
    const QrErrors errors = qr_errors(a, out.r.value, turned, rule);
    good = errors.good;
    const WideMatrix of_q = radius_of_q(out.q.value, errors, good, rule);
    // The vectors and their factors are those of I - Q = V (T V^T) without pivoting.
    const WideMatrix vectors = vectors_of(packed, good);
    WideMatrix rest(m, good);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < good; ++j) {
        rest(i, j) = (i == j ? 1 : 0) - out.q.value(i, j);
      }
    }
    const WideMatrix square = part_of(vectors, 0, 0, good, good);
    const WideMatrix upper = inverse_of_triangle(square, false) * part_of(rest, 0, 0, good, good);
    WideMatrix factors = vectors;
    for (std::int64_t i = 0; i < good; ++i) {
      for (std::int64_t j = i; j < good; ++j) factors(i, j) = upper(i, j);
    }
    const WideMatrix of_factors = radius_of_factors(factors, of_q, rule);
    // A reflection is certain where the sign of its first element is, and where what lies below
    // it is not lost in errors.
    std::int64_t certain = 0;
    for (; certain < good; ++certain) {
      const long double tau = out.reflections.tau[static_cast<std::size_t>(certain)];
      const long double radius = of_factors(certain, certain);
      const long double away = column_norm(of_q, certain) * rule.decision();
      const bool has_sign = std::fabs(1 - tau) > rule.decision() * radius;
      if (!has_sign || !(std::sqrt(std::max(0.0L, tau * (2 - tau))) > away)) break;
    }
    good = certain;
    for (std::int64_t j = 0; j < good; ++j) {
      out.tau_radius[static_cast<std::size_t>(j)] = rule.joined(
          of_factors(j, j), rule.roundings(2) * out.reflections.tau[static_cast<std::size_t>(j)]);
      for (std::int64_t i = 0; i < m; ++i) {
        out.q.radius(i, j) = of_q(i, j);
        if (i > j) {
          out.packed.radius(i, j) =
              rule.joined(of_factors(i, j), rule.roundings(2) * std::fabs(vectors(i, j)));
        }
      }
    }
    // The columns of Q that no column of A has: E2 - (E1 - Q1) Z, Z = V1^-T V2^T.
    if (good == turned && turned == all && columns > good) {
      const WideMatrix of_vectors = strictly_below(part_of(of_factors, 0, 0, m, good));
      const WideMatrix back = inverse_of_triangle(flipped(square), true);
      const WideMatrix z = back * flipped(part_of(vectors, good, 0, columns - good, good));
      const WideMatrix of_z = rule.carried(
          back, rule.joined(flipped(part_of(of_vectors, good, 0, columns - good, good)),
                            rule.carried(flipped(part_of(of_vectors, 0, 0, good, good)), z)));
      WideMatrix others =
          rule.joined(rule.carried(part_of(of_q, 0, 0, m, good), z), rule.carried(rest, of_z));
      for (long double& x : others.data) x = rule.joined(x, errors.formation);
      copy_into(out.q.radius, others, 0, good);
    }
    // R: among certain columns by its perturbation, else as products of columns of Q and A.
    WideMatrix relative(good, good);
    for (std::int64_t i = 0; i < good; ++i) {
      for (std::int64_t l = i; l < good; ++l) {
        relative(i, l) = errors.relative[static_cast<std::size_t>(l)];
        if (i < l) {
          relative(i, l) =
              rule.joined(relative(i, l), errors.relative[static_cast<std::size_t>(i)]);
        }
      }
    }
    const WideMatrix of_r =
        times(rule.carried(relative, part_of(out.r.value, 0, 0, good, good)), errors.growth);
    const std::int64_t known_rows = good == turned && turned == all ? count : good;
    for (std::int64_t i = 0; i < known_rows; ++i) {
      for (std::int64_t j = i; j < n; ++j) {
        out.r.radius(i, j) =
            i < good && j < good
                ? of_r(i, j)
                : rule.joined(column_norm(out.q.radius, i) * column_norm(a.value, j),
                              errors.column[static_cast<std::size_t>(j)]);
      }
    }
    if (good == turned && turned == all) good = std::max(m, n);
  }
  for (std::int64_t j = good; j < columns; ++j) {
    for (std::int64_t i = 0; i < m; ++i) out.q.radius(i, j) = kOpenRadius;
  }
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (j >= i && i >= good && i < count) out.r.radius(i, j) = kOpenRadius;
      if (i > j && j >= good) out.packed.radius(i, j) = kOpenRadius;
      if (j >= i) out.packed.radius(i, j) = out.r.radius(i, j);
    }
  }
  for (std::int64_t j = good; j < count; ++j) {
    out.tau_radius[static_cast<std::size_t>(j)] = kOpenRadius;
  }
  return out;
}

KnownMatrix known_reflection(const KnownMatrix& packed, const KnownMatrix& tau,
                             const KnownMatrix& c, bool transposed, const ErrorRule& rule) {
  const auto count = static_cast<std::int64_t>(tau.value.data.size());
  const std::int64_t m = c.value.rows;
  const Reflections reflections{packed.value, tau.value.data};
  KnownMatrix out{apply_reflections(reflections, c.value, transposed),
                  WideMatrix(m, c.value.columns)};
  if (!rule.tracks()) return out;
  if (!is_finite(packed) || !is_finite(tau) || !is_finite(c)) {
    out.radius = filled(out.radius, kOpenRadius);
    return out;
  }
  // What each step adds, and what the steps behind it make of that.
  std::vector<WideMatrix> added = {c.radius};
  WideMatrix now = c.value;
  const auto at_step = [&](std::int64_t step) { return transposed ? step : count - 1 - step; };
  const auto one = [&](std::int64_t k) {
    WideMatrix v(m, 1);
    v(k, 0) = 1;
    for (std::int64_t i = k + 1; i < m; ++i) v(i, 0) = packed.value(i, k);
    return v;
  };
  for (std::int64_t step = 0; step < count; ++step) {
    const std::int64_t k = at_step(step);
    const WideMatrix v = one(k);
    WideMatrix v_radius(m, 1);
    for (std::int64_t i = k + 1; i < m; ++i) v_radius(i, 0) = packed.radius(i, k);
    const long double factor = tau.value.data[static_cast<std::size_t>(k)];
    const long double factor_radius = tau.radius.data[static_cast<std::size_t>(k)];
    const WideMatrix product = flipped(v) * now;
    const WideMatrix product_size = flipped(magnitudes(v)) * magnitudes(now);
    const WideMatrix product_radius = rule.carried(flipped(v_radius), now);
    const long double roundings = rule.roundings(static_cast<long double>(m - k) + 4);
    WideMatrix more(m, now.columns);
    for (std::int64_t i = k; i < m; ++i) {
      for (std::int64_t j = 0; j < now.columns; ++j) {
        const long double inner = rule.joined(
            std::fabs(factor * v(i, 0)) * product_radius(0, j),
            rule.joined(std::fabs(factor) * v_radius(i, 0), std::fabs(v(i, 0)) * factor_radius) *
                std::fabs(product(0, j)));
        now(i, j) -= factor * product(0, j) * v(i, 0);
        if (factor == 0 && factor_radius == 0) continue;
        more(i, j) = rule.joined(
            inner, rule.joined(roundings * std::fabs(factor * v(i, 0)) * product_size(0, j),
                               rule.roundings(2) * std::fabs(now(i, j))));
      }
    }
    added.push_back(std::move(more));
  }
  WideMatrix behind = identity_matrix(m);
  for (std::int64_t step = count; step-- >= 0;) {
    const std::int64_t done = step + 1;  // what was added after so many steps
    out.radius =
        rule.joined(out.radius, rule.carried(behind, added[static_cast<std::size_t>(done)]));
    if (done == 0) break;
    const std::int64_t k = at_step(done - 1);
    const WideMatrix v = one(k);
    const WideMatrix along = behind * v;
    const long double factor = tau.value.data[static_cast<std::size_t>(k)];
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < m; ++j) behind(i, j) -= factor * along(i, 0) * v(j, 0);
    }
  }
  return out;
}

// ---- LDL^T ------------------------------------------------------------------------------------

namespace {

// What is left to be factored, with radii: the lower triangle counts.
class LdlElimination {
 public:
  LdlElimination(const KnownMatrix& a, const ErrorRule& rule)
      : rule_(rule), n_(a.value.rows), value_(a.value), radius_(a.radius) {
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t j = i + 1; j < n_; ++j) {
        value_(i, j) = value_(j, i);
        radius_(i, j) = radius_(j, i);
      }
    }
  }

  KnownLdl run() {
    KnownLdl out;
    out.packed = {WideMatrix(n_, n_), WideMatrix(n_, n_)};
    out.open_from = n_;
    for (std::int64_t k = 0; k < n_;) {
      is_open_ = false;
      const Choice choice = choose(k);
      if (is_open_) out.open_from = std::min(out.open_from, k);
      const std::int64_t last = k + choice.size - 1;
      exchange(last, choice.pivot);
      for (std::int64_t i = 0; i < choice.size; ++i) {
        out.pivots.push_back(choice.size == 1 ? choice.pivot + 1 : -(choice.pivot + 1));
      }
      const bool is_known = out.first_zero != 0 || out.info_is_open;
      if (!is_known && choice.may_be_zero) out.info_is_open = true;
      if (!is_known && choice.is_zero && !choice.may_be_zero) out.first_zero = k + 1;
      const bool is_lost = !keep(out.packed, k, choice);
      out.info_is_open = out.info_is_open || (is_lost && out.first_zero == 0);
      k += choice.size;
    }
    if (out.open_from < n_ && rule_.tracks()) {
      for (std::int64_t i = out.open_from; i < n_; ++i) {
        for (std::int64_t j = out.open_from; j <= i; ++j) out.packed.radius(i, j) = kOpenRadius;
      }
      out.info_is_open = out.info_is_open || out.first_zero > out.open_from;
    }
    return out;
  }

 private:
  struct Choice {
    std::int64_t pivot = 0;
    std::int64_t size = 1;
    bool is_zero = false;
    bool may_be_zero = false;
  };

  // Whether x >= y, each within a radius.
  bool reaches(long double x, long double x_radius, long double y, long double y_radius) {
    const long double reach = rule_.decision() * rule_.joined(x_radius, y_radius);
    is_open_ = is_open_ || (reach > 0 && !(std::fabs(x - y) > reach));
    return x >= y;
  }

  Choice choose(std::int64_t k) {
    const long double alpha = (1 + std::sqrt(17.0L)) / 8;
    Choice out{k};
    const long double diagonal = std::fabs(value_(k, k));
    const long double diagonal_radius = radius_(k, k);
    std::int64_t most = k;
    long double column = 0;
    long double column_radius = 0;
    for (std::int64_t i = k + 1; i < n_; ++i) {
      if (std::fabs(value_(i, k)) > column) {
        column = std::fabs(value_(i, k));
        most = i;
      }
      column_radius = std::max(column_radius, radius_(i, k));
    }
    const long double size = std::max(diagonal, column);
    const long double size_radius = std::max(diagonal_radius, column_radius);
    out.is_zero = size == 0;
    out.may_be_zero = size_radius > 0 && !(size > rule_.decision() * size_radius);
    is_open_ = is_open_ || out.may_be_zero || !std::isfinite(diagonal + column);
    if (out.is_zero || !std::isfinite(diagonal + column)) return out;
    // Of the roundings of alpha and of the products that are compared.
    const long double slack = rule_.roundings(6);
    const long double underflow = column > 0 ? rule_.underflow(1) : 0;
    if (reaches(diagonal, diagonal_radius, alpha * column,
                rule_.joined(rule_.joined(column_radius, slack * column), underflow))) {
      return out;
    }
    for (std::int64_t i = k + 1; i < n_; ++i) {
      if (i != most)
        (void)reaches(column, radius_(most, k), std::fabs(value_(i, k)), radius_(i, k));
    }
    long double row = 0;
    long double row_radius = 0;
    for (std::int64_t j = k; j < n_; ++j) {
      if (j == most) continue;
      row = std::max(row, std::fabs(value_(most, j)));
      row_radius = std::max(row_radius, radius_(most, j));
    }
    const long double ratio = column / row;
    const long double square_radius = rule_.joined(
        rule_.joined(rule_.joined(2 * ratio * column_radius, ratio * ratio * row_radius),
                     slack * column * ratio),
        rule_.underflow(2) * (1 + column));
    const bool takes_diagonal =
        reaches(diagonal, diagonal_radius, alpha * column * ratio, square_radius);
    // Of products that underflow a diagonal of 0 is no smaller, and divides.
    const bool may_divide_by_zero = !(diagonal > rule_.decision() * diagonal_radius);
    out.may_be_zero = out.may_be_zero || (is_open_ && may_divide_by_zero);
    if (takes_diagonal) return out;
    out.pivot = most;
    const bool takes_one = reaches(std::fabs(value_(most, most)), radius_(most, most), alpha * row,
                                   rule_.joined(rule_.joined(row_radius, slack * row), underflow));
    if (!takes_one) out.size = 2;
    return out;
  }

  // The sum of the magnitudes of a row, and the largest magnitude.
  static long double row_size(const WideMatrix& a, std::int64_t i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < a.columns; ++j) sum += std::fabs(a(i, j));
    return sum;
  }
  static long double largest_of(const WideMatrix& a) {
    long double most = 0;
    for (const long double x : a.data) most = std::max(most, std::fabs(x));
    return most;
  }

  void exchange(std::int64_t i, std::int64_t j) {
    for (std::int64_t c = 0; i != j && c < n_; ++c) {
      std::swap(value_(i, c), value_(j, c));
      std::swap(radius_(i, c), radius_(j, c));
    }
    for (std::int64_t r = 0; i != j && r < n_; ++r) {
      std::swap(value_(r, i), value_(r, j));
      std::swap(radius_(r, i), radius_(r, j));
    }
  }

  // Keeps the columns of the block at k, and takes its part off what is left. False where executors
  // may find a reciprocal infinite, and no numbers behind it.
  bool keep(KnownMatrix& packed, std::int64_t k, const Choice& choice) {
    const std::int64_t size = choice.size;
    const std::int64_t next = k + size;
    for (std::int64_t i = k; i < next; ++i) {
      for (std::int64_t j = k; j <= i; ++j) {
        packed.value(i, j) = value_(i, j);
        packed.radius(i, j) = radius_(i, j);
      }
    }
    if (choice.is_zero || next == n_) return true;
    const WideMatrix block = part_of(value_, k, k, size, size);
    const WideMatrix block_radius = part_of(radius_, k, k, size, size);
    WideMatrix inverse(size, size);
    if (size == 1) {
      inverse(0, 0) = 1 / block(0, 0);
    } else {
      const long double determinant = block(0, 0) * block(1, 1) - block(0, 1) * block(1, 0);
      inverse(0, 0) = block(1, 1) / determinant;
      inverse(1, 1) = block(0, 0) / determinant;
      inverse(0, 1) = inverse(1, 0) = -block(0, 1) / determinant;
    }
    const std::int64_t rest = n_ - next;
    const WideMatrix columns = part_of(value_, next, k, rest, size);
    const WideMatrix columns_radius = part_of(radius_, next, k, rest, size);
    const WideMatrix l = columns * inverse;
    const WideMatrix l_size = magnitudes(columns) * magnitudes(inverse);
    const long double growth =
        rule_.tracks() ? rule_.growth(row_norm(rule_.carried(inverse, block_radius))) : 1;
    WideMatrix l_radius = rule_.joined(rule_.carried(columns_radius, inverse),
                                       rule_.carried(rule_.carried(l, block_radius), inverse));
    // Executors multiply with a reciprocal, of a block of two with that of its lower element.
    const long double divisor = block(size - 1, 0);
    const bool is_open = rule_.tracks() && !rule_.has_reciprocal(divisor);
    const long double reciprocal = size == 1 ? 0 : largest_of(inverse);
    for (std::int64_t i = 0; i < rest; ++i) {
      const long double met = row_size(columns, i) + row_size(columns_radius, i);
      const long double underflow =
          met == 0 ? 0 : rule_.underflow(8) * (1 + (1 + met) * (1 + reciprocal));
      for (std::int64_t j = 0; j < size; ++j) {
        const long double radius =
            rule_.joined(rule_.joined(l_radius(i, j), rule_.roundings(8) * l_size(i, j)),
                         underflow) *
            growth;
        l_radius(i, j) = std::isnan(radius) || is_open ? kOpenRadius : radius;
      }
    }
    copy_into(packed.value, l, next, k);
    copy_into(packed.radius, l_radius, next, k);
    const WideMatrix part = l * flipped(columns);
    const WideMatrix part_size = l_size * flipped(magnitudes(columns));
    const WideMatrix part_radius =
        rule_.joined(rule_.joined(rule_.carried(l_radius, flipped(columns)),
                                  rule_.carried(l_radius, flipped(columns_radius))),
                     rule_.carried(l, flipped(columns_radius)));
    for (std::int64_t i = 0; i < rest; ++i) {
      for (std::int64_t j = 0; j < rest; ++j) {
        long double& x = value_(next + i, next + j);
        const long double met = std::fabs(x) + part_size(i, j);
        x -= part(i, j);
        const long double of_i = row_size(columns, i) + row_size(columns_radius, i);
        const long double of_j = row_size(columns, j) + row_size(columns_radius, j);
        const long double underflow =
            of_i == 0 || of_j == 0 ? 0 : rule_.underflow(4) * (1 + of_i + of_j);
        long double& radius = radius_(next + i, next + j);
        radius = rule_.joined(rule_.joined(radius, part_radius(i, j)), rule_.roundings(2) * met);
        radius = rule_.joined(radius, underflow);
        if (std::isnan(radius)) radius = kOpenRadius;
      }
    }
    return !is_open;
  }

  const ErrorRule& rule_;
  std::int64_t n_;
  WideMatrix value_;
  WideMatrix radius_;
  bool is_open_ = false;
};

}  // namespace

KnownLdl known_ldl(const KnownMatrix& a, const ErrorRule& rule) {
  const std::int64_t n = a.value.rows;
  KnownMatrix lower{triangle_of(a.value, false), triangle_of(a.radius, false)};
  if (!is_finite(lower)) {
    KnownLdl out;
    out.packed = open_matrix(n, n);
    out.pivots.assign(static_cast<std::size_t>(n), 1);
    out.info_is_open = true;
    return out;
  }
  return LdlElimination(lower, rule).run();
}

LdlProduct ldl_product(const KnownMatrix& packed, const std::vector<std::int64_t>& pivots) {
  const std::int64_t n = packed.value.rows;
  LdlProduct out;
  out.m = {identity_matrix(n), WideMatrix(n, n)};
  out.d = {WideMatrix(n, n), WideMatrix(n, n)};
  std::vector<std::int64_t> starts;
  for (std::int64_t k = 0; k < n;) {
    starts.push_back(k);
    const bool is_pair = pivots[static_cast<std::size_t>(k)] < 0 && k + 1 < n;
    const std::int64_t size = is_pair ? 2 : 1;
    for (std::int64_t i = k; i < k + size; ++i) {
      for (std::int64_t j = k; j <= i; ++j) {
        out.d.value(i, j) = out.d.value(j, i) = packed.value(i, j);
        out.d.radius(i, j) = out.d.radius(j, i) = packed.radius(i, j);
      }
    }
    for (std::int64_t i = k + size; i < n; ++i) {
      for (std::int64_t j = k; j < k + size; ++j) {
        out.m.value(i, j) = packed.value(i, j);
        out.m.radius(i, j) = packed.radius(i, j);
      }
    }
    k += size;
  }
  // P_1 L_1 P_2 L_2 ...: what is exchanged at a step exchanges rows of the columns from it on.
  for (std::size_t s = starts.size(); s-- > 0;) {
    const std::int64_t k = starts[s];
    const std::int64_t pivot = pivots[static_cast<std::size_t>(k)];
    const std::int64_t row = pivot < 0 && k + 1 < n ? k + 1 : k;
    const std::int64_t other = std::abs(pivot) - 1;
    for (std::int64_t j = k; j < n && other != row; ++j) {
      std::swap(out.m.value(row, j), out.m.value(other, j));
      std::swap(out.m.radius(row, j), out.m.radius(other, j));
    }
  }
  return out;
}

}  // namespace graphgate::reference
