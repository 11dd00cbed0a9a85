// Orthogonal polynomials: Chebyshev's of four kinds, also shifted to [0, 1], Hermite's, Laguerre's
// and Legendre's. The degree is an operand as any other, cut to a whole number; a negative one
// gives 0.
//
// Each is computed as PyTorch defines it (aten/src/ATen/native/Math.h): by its recurrence in the
// dtype, or inside of (-1, 1) by angles where the degree is not small. So the errors of both are
// those of their steps. The recurrence goes on beyond an overflow to NaN, and so does PyTorch's.
#include <array>

#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// What decides between formulas, and is known.
long double branch_value(double x) { return static_cast<long double>(x); }
template <class P>
long double branch_value(const Tracked<P>& x) {
  return x.value;
}
bool has_no_error(double) { return true; }
template <class P>
bool has_no_error(const Tracked<P>& x) {
  return x.radius == 0;
}
double opened(double x) { return x; }
template <class P>
Tracked<P> opened(const Tracked<P>& x) {
  return {x.value, detail::kInfinity, x.arithmetic};
}

// A constant in the arithmetic of x.
template <class N>
N constant_like(const N& x, double value) {
  N out = x;
  if constexpr (std::is_same_v<N, double>) {
    out = value;
  } else {
    out = N(static_cast<long double>(value), 0, x.arithmetic);
  }
  return out;
}

// p(0), p(1), and p(k + 1) = next(p(k), p(k - 1), k), each held in the dtype, up to p(n).
template <class N, class Next>
N by_recurrence(const N& zeroth, const N& first, std::int64_t n, DType compute, Next next) {
  if (n == 0) return zeroth;
  N before = zeroth;
  N last = first;
  for (std::int64_t k = 1; k < n && !std::isnan(branch_value(last)); ++k) {
    const N after = held_in(next(last, before, static_cast<double>(k)), compute);
    before = last;
    last = after;
  }
  return last;
}

enum class Kind : std::uint8_t { kFirst, kSecond, kThird, kFourth };  // T, U, V, W

// The values at 1 and -1.
template <class N>
N at_end(Kind kind, const N& x, std::int64_t n, bool is_right) {
  const auto degree = static_cast<double>(n);
  const double sign = is_right || n % 2 == 0 ? 1 : -1;
  switch (kind) {
    case Kind::kSecond:
      return constant_like(x, sign * (degree + 1));
    case Kind::kThird:
      return constant_like(x, is_right ? 1 : sign * (2 * degree + 1));
    case Kind::kFourth:
      return constant_like(x, is_right ? 2 * degree + 1 : sign);
    case Kind::kFirst:
      break;
  }
  return constant_like(x, sign);
}

// Of x = cos(angle).
template <class N>
N by_angle(Kind kind, const N& x, std::int64_t n) {
  const N angle = acos(x);
  const auto degree = static_cast<double>(n);
  const N half = angle / N(2);
  switch (kind) {
    case Kind::kSecond:
      return sin(constant_like(x, degree + 1) * angle) / sin(angle);
    case Kind::kThird:
      return cos(constant_like(x, degree + 0.5) * angle) / cos(half);
    case Kind::kFourth:
      return sin(constant_like(x, degree + 0.5) * angle) / sin(half);
    case Kind::kFirst:
      break;
  }
  return cos(constant_like(x, degree) * angle);
}

// Of the first kind by angles from degree 7 on; of the others from 9 on, or of shifted ones from 7
// and 5 on.
std::int64_t last_by_recurrence(Kind kind, bool is_shifted) {
  if (kind == Kind::kFirst) return 6;
  if (!is_shifted) return 8;
  return kind == Kind::kFourth ? 4 : 6;
}

// At `x`, which is twice the argument less 1 where the polynomial is shifted.
template <class N>
N chebyshev_at(Kind kind, const N& x, std::int64_t n, bool is_shifted, DType compute) {
  const long double size = std::fabs(branch_value(x));
  if (size == 1 && has_no_error(x)) return at_end(kind, x, n, branch_value(x) > 0);
  if (n > last_by_recurrence(kind, is_shifted) && size < 1) return by_angle(kind, x, n);
  const N twice = x + x;
  const N first = kind == Kind::kFirst    ? x
                  : kind == Kind::kSecond ? twice
                  : kind == Kind::kThird  ? twice - N(1)
                                          : twice + N(1);
  return by_recurrence(
      constant_like(x, 1), first, n, compute,
      [&](const N& last, const N& before, double) { return twice * last - before; });
}

// The body of f(x, n, compute dtype), n a whole number.
template <class F>
void of_degree(Call& call, F f) {
  const DType compute = compute_dtype(to_floating(gather_operands(call, {"x", "n"}).common));
  pointwise_real(call, {"x", "n"}, [=]<class N>(const N& x, const N& degree) {
    const Whole n = to_whole(degree);
    const N value = n.value < 0 ? constant_like(x, 0) : f(x, n.value, compute);
    return n.undecided ? opened(value) : value;
  });
}

template <Kind kind>
void chebyshev(Call& call) {
  of_degree(call, []<class N>(const N& x, std::int64_t n, DType compute) {
    return chebyshev_at(kind, x, n, false, compute);
  });
}
template <Kind kind>
void shifted_chebyshev(Call& call) {
  of_degree(call, []<class N>(const N& x, std::int64_t n, DType compute) {
    return chebyshev_at(kind, x + x - N(1), n, true, compute);
  });
}

// Degrees from which on PyTorch gives NaN.
std::int64_t last_hermite_degree(DType compute) { return compute == DType::kFloat64 ? 512 : 128; }

// Physicists' (H) with scale 2, probabilists' (He) with 1: p(k + 1) = scale (x p(k) - k p(k - 1)).
void hermite(Call& call, double scale) {
  of_degree(call, [scale]<class N>(const N& x, std::int64_t n, DType compute) {
    if (n > last_hermite_degree(compute))
      return constant_like(x, std::numeric_limits<double>::quiet_NaN());
    const N scaled = x * N(scale);
    N before = constant_like(x, 1);
    N last = n == 0 ? before : scaled;
    for (std::int64_t k = 1; k < n; ++k) {
      const N weight = constant_like(x, scale * static_cast<double>(k));
      const N after = held_in(scaled * last - held_in(weight * before, compute), compute);
      before = last;
      last = after;
    }
    return last;
  });
}
void hermite_h(Call& call) { hermite(call, 2); }
void hermite_he(Call& call) { hermite(call, 1); }

void laguerre(Call& call) {
  of_degree(call, []<class N>(const N& x, std::int64_t n, DType compute) {
    if (branch_value(x) == 0 && has_no_error(x)) return constant_like(x, 1);
    const N one = constant_like(x, 1);
    const N first = one - x;
    return by_recurrence(one, first, n, compute, [&](const N& last, const N& before, double k) {
      return ((first + N(2 * k)) * last - constant_like(x, k) * before) / constant_like(x, k + 1);
    });
  });
}

void legendre(Call& call) {
  of_degree(call, []<class N>(const N& x, std::int64_t n, DType compute) {
    if (std::fabs(branch_value(x)) == 1 && has_no_error(x))
      return at_end(Kind::kFirst, x, n, branch_value(x) > 0);
    return by_recurrence(
        constant_like(x, 1), x, n, compute, [&](const N& last, const N& before, double k) {
          return (constant_like(x, 2 * k + 1) * x * last - constant_like(x, k) * before) /
                 constant_like(x, k + 1);
        });
  });
}

constexpr std::array kOrthogonalPolynomialOps = {
    OpBody{"aten.special_chebyshev_polynomial_t", chebyshev<Kind::kFirst>},
    OpBody{"aten.special_chebyshev_polynomial_u", chebyshev<Kind::kSecond>},
    OpBody{"aten.special_chebyshev_polynomial_v", chebyshev<Kind::kThird>},
    OpBody{"aten.special_chebyshev_polynomial_w", chebyshev<Kind::kFourth>},
    OpBody{"aten.special_hermite_polynomial_h", hermite_h},
    OpBody{"aten.special_hermite_polynomial_he", hermite_he},
    OpBody{"aten.special_laguerre_polynomial_l", laguerre},
    OpBody{"aten.special_legendre_polynomial_p", legendre},
    OpBody{"aten.special_shifted_chebyshev_polynomial_t", shifted_chebyshev<Kind::kFirst>},
    OpBody{"aten.special_shifted_chebyshev_polynomial_u", shifted_chebyshev<Kind::kSecond>},
    OpBody{"aten.special_shifted_chebyshev_polynomial_v", shifted_chebyshev<Kind::kThird>},
    OpBody{"aten.special_shifted_chebyshev_polynomial_w", shifted_chebyshev<Kind::kFourth>},
};

}  // namespace

std::span<const OpBody> orthogonal_polynomial_ops() { return kOrthogonalPolynomialOps; }

}  // namespace graphgate::reference
