// How far the results of right executors may lie from exact decompositions and solutions: rounding
// errors as errors of the matrix (backward errors), carried to the result by perturbation theory.
// Used by the families linalg_factor, linalg_solve and linalg_spectral.
//
// Sources. Backward errors: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.:
// triangles ch. 8, LU ch. 9, Cholesky's factor ch. 10, LDL^T ch. 11, inverses ch. 14, Householder's
// QR ch. 19. Perturbations of factors: Sun, "Componentwise perturbation bounds for some matrix
// decompositions", BIT 32 (1992). An error E of the matrix moves a factor by what it moves it to
// first order, over 1 - rho. Here rho measures what E is beside the matrix. Where rho is one half
// or more the result is open. Numbers that underflow lose up to half the spacing of subnormal ones
// in each product and quotient (Demmel, "Underflow and the reliability of numerical software", SIAM
// J. Sci. Stat. Comput. 5 (1984)).
//
// Radii follow the two policies of tracked.h: a worst case adds them, standard deviations add in
// square.
#pragma once

#include <vector>

#include "reference/number/tracked.h"
#include "reference/ops/linalg_matrix.h"

namespace graphgate::reference {

// How errors add up, and what one rounding contributes.
class ErrorRule {
 public:
  // Eager: nothing has an error, and nobody asks for one.
  ErrorRule() = default;
  template <class P>
  static ErrorRule of(P /*policy*/, spec::DType dtype) {
    ErrorRule out;
    out.tracks_ = true;
    out.squares_ = P::kDecisionRadii != 1;
    out.decision_ = static_cast<long double>(P::kDecisionRadii);
    out.allowed_ = static_cast<long double>(P::kAllowedRadii);
    out.dtype_ = dtype;
    out.unit_ = static_cast<long double>(unit_roundoff(dtype));
    return out;
  }

  [[nodiscard]] bool tracks() const { return tracks_; }
  // How many radii from an edge a number must lie for its side to be certain.
  [[nodiscard]] long double decision() const { return decision_; }
  // How many radii a judge allows.
  [[nodiscard]] long double allowed() const { return allowed_; }
  // What `count` roundings make of a number, relative to the sum of the magnitudes that meet in it.
  // It has room for the errors of the wide numbers themselves.
  [[nodiscard]] long double roundings(long double count) const;
  // What `count` roundings come to beside that where numbers on the way are subnormal: a distance.
  [[nodiscard]] long double underflow(long double count) const;
  // Whether the dtype holds 1/x as a finite number.
  [[nodiscard]] bool has_reciprocal(long double x) const;
  [[nodiscard]] long double joined(long double a, long double b) const;
  [[nodiscard]] WideMatrix joined(WideMatrix a, const WideMatrix& b) const;
  // |a| times |b|, of which one holds radii.
  [[nodiscard]] WideMatrix carried(const WideMatrix& a, const WideMatrix& b) const;
  // Whether the dtype holds the number.
  [[nodiscard]] bool holds(long double x) const;
  // 1 / (1 - rho), for errors as large as a judge allows; infinite from one half on.
  [[nodiscard]] long double growth(long double rho) const;

 private:
  bool tracks_ = false;
  bool squares_ = false;
  long double decision_ = 1;
  long double allowed_ = 1;
  long double unit_ = 0;
  spec::DType dtype_ = spec::DType::kFloat64;
};

// A matrix, each element of which is known within a radius; infinite where it is open.
struct KnownMatrix {
  WideMatrix value;
  WideMatrix radius;
};
inline constexpr long double kOpenRadius = std::numeric_limits<long double>::infinity();

// Whether every element is a number, and none is open.
[[nodiscard]] bool is_finite(const KnownMatrix& a);
[[nodiscard]] KnownMatrix open_matrix(std::int64_t rows, std::int64_t columns);
[[nodiscard]] KnownMatrix flipped(const KnownMatrix& a);
// Scales every radius.
[[nodiscard]] WideMatrix times(WideMatrix radius, long double factor);

// The factors of PA = LU. From step `open_from` on (the number of steps: none) the pivots depend on
// rounding, and the radii of what depends on them are infinite.
struct KnownLu {
  LuFactors factors;
  WideMatrix radius;
  std::int64_t open_from = 0;
  bool info_is_open = false;  // whether a pivot may be zero or not
  WideMatrix error;           // of A: what the roundings come to, and its own radii
};
[[nodiscard]] KnownLu known_lu(const KnownMatrix& a, const ErrorRule& rule);

// X of A X = B, for an A of which `error` is known.
[[nodiscard]] KnownMatrix known_solution(const WideMatrix& a, const WideMatrix& error,
                                         const KnownMatrix& b, const ErrorRule& rule);

struct KnownNumber {
  long double value = 0;
  long double radius = 0;
};
// The determinant of A; its logarithm.
[[nodiscard]] KnownNumber known_determinant(const KnownMatrix& a, const KnownLu& lu,
                                            const ErrorRule& rule);

// Cholesky's factor of a matrix of which the lower triangle counts.
struct KnownCholesky {
  CholeskyFactor factor;
  WideMatrix radius;  // infinite in rows that nobody tells
  bool info_is_open = false;
};
[[nodiscard]] KnownCholesky known_cholesky(const KnownMatrix& a, const ErrorRule& rule);

// The first `columns` columns of Q (m x m), R (m x n), and the reflections of Householder's QR;
// min(m, n) to m columns.
struct KnownQr {
  Reflections reflections;
  KnownMatrix q;
  KnownMatrix r;
  KnownMatrix packed;
  std::vector<long double> tau_radius;
};
[[nodiscard]] KnownQr known_qr(const KnownMatrix& a, std::int64_t columns, const ErrorRule& rule);

// H_1 H_2 ... H_k applied to `c` from the left, or (transposed) H_k ... H_1: of vectors below the
// diagonal of `packed` and factors `tau` that anybody made.
[[nodiscard]] KnownMatrix known_reflection(const KnownMatrix& packed, const KnownMatrix& tau,
                                           const KnownMatrix& c, bool transposed,
                                           const ErrorRule& rule);

// A = P L D L^T P^T of the lower triangle of A, with diagonal blocks of one and two. This is Bunch
// and Kaufman's partial pivoting, LAPACK's sytrf with 'L'. It leaves the columns of L that are done
// as they are when rows are exchanged later. Radii are those of elimination.
struct KnownLdl {
  KnownMatrix packed;                // L below D
  std::vector<std::int64_t> pivots;  // counted from 1; negative and twice for blocks of two
  std::int64_t first_zero = 0;       // counted from 1; 0: none
  std::int64_t open_from = 0;        // from this step on pivots depend on rounding
  bool info_is_open = false;
};
[[nodiscard]] KnownLdl known_ldl(const KnownMatrix& a, const ErrorRule& rule);

// The product M and the blocks D of M D M^T, as packed by known_ldl().
struct LdlProduct {
  KnownMatrix m;
  KnownMatrix d;
};
[[nodiscard]] LdlProduct ldl_product(const KnownMatrix& packed,
                                     const std::vector<std::int64_t>& pivots);

}  // namespace graphgate::reference
