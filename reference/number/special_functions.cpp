#include "reference/number/special_functions.h"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/airy.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace graphgate::reference::exact {
namespace {

namespace policies = boost::math::policies;

// Infinities and NaN instead of exceptions.
using Quiet = policies::policy<policies::domain_error<policies::ignore_error>,
                               policies::pole_error<policies::ignore_error>,
                               policies::overflow_error<policies::ignore_error>,
                               policies::underflow_error<policies::ignore_error>,
                               policies::evaluation_error<policies::ignore_error>,
                               policies::rounding_error<policies::ignore_error>>;
const Quiet kQuiet;

constexpr long double kInfinite = std::numeric_limits<long double>::infinity();
constexpr long double kNoNumber = std::numeric_limits<long double>::quiet_NaN();
constexpr long double kPi = std::numbers::pi_v<long double>;
constexpr long double kSmallest = std::numeric_limits<long double>::epsilon() / 16;

bool is_whole(long double x) { return std::floor(x) == x; }

// Hankel's expansion of e^x K_nu(x) sqrt(2x/pi), or with signs that alternate of I_nu (DLMF
// 10.40.1 and 10.40.2), for large x.
long double hankel_sum(long double nu, long double x, bool alternates) {
  long double sum = 1;
  long double term = 1;
  for (int k = 1; k < 60 && std::fabs(term) > kSmallest; ++k) {
    const long double odd = 2 * k - 1;
    term *= (4 * nu * nu - odd * odd) / (8 * k * x);
    sum += alternates && k % 2 != 0 ? -term : term;
  }
  return sum;
}
// From here on it is as accurate as can be: its smallest term is about e^-2x.
constexpr long double kLargeArgument = 100;

long double scaled_i(int nu, long double x) {
  if (x == 0) return nu == 0 ? 1 : 0;
  if (x > kLargeArgument) return hankel_sum(nu, x, true) / std::sqrt(2 * kPi * x);
  return boost::math::cyl_bessel_i(nu, x, kQuiet) * std::exp(-x);
}
long double scaled_k(int nu, long double x) {
  if (std::isnan(x)) return x;
  if (x <= 0) return x == 0 ? kInfinite : kNoNumber;
  if (x > kLargeArgument) return hankel_sum(nu, x, false) * std::sqrt(kPi / (2 * x));
  return boost::math::cyl_bessel_k(nu, x, kQuiet) * std::exp(x);
}
long double product_with_exponential(long double scaled, long double exponent) {
  const long double power = std::exp(exponent);
  return std::isinf(power) ? power : scaled * power;
}

// PyTorch's Bessel functions of infinities are NaN.
template <class F>
long double of_finite(long double x, F f) {
  return std::isfinite(x) ? f(x) : kNoNumber;
}
template <class F>
long double of_positive(long double x, F f) {
  if (x == 0) return -kInfinite;
  return x < 0 || !std::isfinite(x) ? kNoNumber : f(x);
}

}  // namespace

long double lgamma(long double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x) || (x <= 0 && is_whole(x))) return kInfinite;
  return boost::math::lgamma(x, kQuiet);
}

long double digamma(long double x) {
  if (x == 0) return std::copysign(kInfinite, -x);
  if (std::isnan(x) || x == kInfinite) return x;
  if (x < 0 && is_whole(x)) return kNoNumber;
  return boost::math::digamma(x, kQuiet);
}

long double trigamma(long double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x > 0 ? 0 : kNoNumber;
  if (x <= 0 && is_whole(x)) return kInfinite;
  return boost::math::trigamma(x, kQuiet);
}

long double zeta(long double s, long double q) {
  if (s == 1) return kInfinite;
  if (s < 1) return kNoNumber;
  if (q <= 0 && is_whole(q)) return kInfinite;
  if (q <= 0 && !is_whole(s)) return kNoNumber;
  if (std::isnan(s) || std::isnan(q) || q == kInfinite) return kNoNumber;
  if (q < 0) {
    // The terms of negative bases are a difference of two such sums.
    const long double rest = -q - std::floor(-q);
    const long double sign = std::fmod(s, 2.0L) == 1 ? -1 : 1;
    if (std::isinf(zeta(s, rest))) return sign * kInfinite;
    return sign * (zeta(s, rest) - zeta(s, 1 - q)) + zeta(s, 1 - rest);
  }
  // Euler and Maclaurin's formula (DLMF 2.10.1) behind a sum of first terms.
  constexpr long double kFarEnough = 30;
  const long double far = std::max(kFarEnough, 2 * s);
  long double base = q;
  long double sum = 0;
  for (; base < far; base += 1) {
    const long double term = std::pow(base, -s);
    sum += term;
    if (base > 1 && std::fabs(term) <= kSmallest * std::fabs(sum)) return sum;
  }
  const long double power = std::pow(base, -s);
  sum += std::pow(base, 1 - s) / (s - 1) + power / 2;
  // B(2k) / (2k)!
  constexpr std::array<long double, 12> kBernoulli = {
      1.0L / 12,
      -1.0L / 720,
      1.0L / 30240,
      -1.0L / 1209600,
      1.0L / 47900160,
      -691.0L / 1307674368000.0L,
      1.0L / 74724249600.0L,
      -3617.0L / 10670622842880000.0L,
      43867.0L / 5109094217170944000.0L,
      -174611.0L / 802857662698291200000.0L,
      77683.0L / 14101100039391805440000.0L,
      -236364091.0L / 1693824136731743669452800000.0L,
  };
  long double rising = s * power / base;
  for (std::size_t k = 0; k < kBernoulli.size(); ++k) {
    const long double term = kBernoulli.at(k) * rising;
    sum += term;
    if (std::fabs(term) <= kSmallest * std::fabs(sum)) break;
    const auto step = static_cast<long double>(2 * k + 1);
    rising *= (s + step) / base * ((s + step + 1) / base);
  }
  return sum;
}

namespace {

// mu - log(1 + mu), about mu^2 / 2.
long double less_log1p(long double mu) {
  if (std::fabs(mu) > 0.01L) return mu - std::log1p(mu);
  long double sum = 0;
  for (int k = 12; k >= 2; --k) sum = 1.0L / k - mu * sum;
  return mu * mu * sum;
}

// Temme's uniform expansion for large a (DLMF 8.12.3 to 8.12.10), where x is so near to a that
// anything but 0 and 1 comes out: three terms are enough. Boost.Math's own has a limit of steps
// here.
constexpr long double kUniformOrder = 1e8L;
long double uniform_expansion(long double a, long double x, bool lower) {
  const long double mu = (x - a) / a;
  const long double half_square = less_log1p(mu);
  const long double eta = std::copysign(std::sqrt(2 * half_square), mu);
  const long double sign = lower ? -1 : 1;
  const long double normal = std::erfc(sign * eta * std::sqrt(a / 2)) / 2;
  const long double weight = std::exp(-a * half_square) / std::sqrt(2 * kPi * a);
  if (weight == 0) return normal;
  constexpr std::array<long double, 7> kFirst = {
      -1.0L / 3, 1.0L / 12, -2.0L / 135, 1.0L / 864, 1.0L / 2835, -139.0L / 777600, 1.0L / 25515};
  long double first = 0;
  for (std::size_t k = kFirst.size(); k-- > 0;) first = first * eta + kFirst.at(k);
  const long double second = -1.0L / 540 + eta * (-1.0L / 288 + eta / 378);
  return normal + sign * weight * (first + (second + 25.0L / 6048 / a) / a);
}

// What both say at the edges of their domain, in PyTorch's order; `lower` is P.
template <class F>
long double incomplete(long double a, long double x, bool lower, F f) {
  const long double none = lower ? 0 : 1;
  if (x < 0 || a < 0) return kNoNumber;
  if (a == 0) return x > 0 ? 1 - none : kNoNumber;
  if (x == 0) return none;
  if (std::isinf(a)) return std::isinf(x) ? kNoNumber : none;
  if (std::isinf(x)) return 1 - none;
  if (std::isnan(a) || std::isnan(x)) return kNoNumber;
  return f();
}
}  // namespace

long double igamma(long double a, long double x) {
  return incomplete(a, x, true, [&] {
    return a > kUniformOrder ? uniform_expansion(a, x, true) : boost::math::gamma_p(a, x, kQuiet);
  });
}
long double igammac(long double a, long double x) {
  return incomplete(a, x, false, [&] {
    return a > kUniformOrder ? uniform_expansion(a, x, false) : boost::math::gamma_q(a, x, kQuiet);
  });
}

long double erfinv(long double x) {
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? std::copysign(kInfinite, x) : kNoNumber;
  return x == 0 ? x : boost::math::erf_inv(x, kQuiet);
}

long double erfcx(long double x) {
  if (std::isnan(x)) return x;
  constexpr long double kNoMore = -120;  // e^(x^2) is beyond all
  if (x < kNoMore) return kInfinite;
  if (x > 12) {
    // DLMF 7.12.1; at 12 its smallest term is far below the last bit.
    const long double step = 1 / (2 * x * x);
    long double sum = 1;
    long double term = 1;
    for (int k = 1; k < 60 && std::fabs(term) > kSmallest; ++k) {
      term *= -(2 * k - 1) * step;
      sum += term;
    }
    return sum / (x * std::sqrt(kPi));
  }
  const long double square = x * x;
  const long double rest = std::fma(x, x, -square);
  return std::exp(square) * (1 + rest) * std::erfc(x);
}

long double log_ndtr(long double x) {
  const long double t = x * std::numbers::sqrt2_v<long double> / 2;
  if (x < -1) return std::log(erfcx(-t) / 2) - x * x / 2;
  return std::log1p(-std::erfc(t) / 2);
}

long double ndtri(long double p) {
  if (p == 0) return -kInfinite;
  if (p == 1) return kInfinite;
  if (!(p > 0 && p < 1)) return kNoNumber;
  return -std::numbers::sqrt2_v<long double> * boost::math::erfc_inv(2 * p, kQuiet);
}

long double i0(long double x) {
  return of_finite(x, [](long double v) {
    return product_with_exponential(scaled_i(0, std::fabs(v)), std::fabs(v));
  });
}
long double i0e(long double x) {
  if (std::isnan(x)) return x;
  return std::isinf(x) ? 0 : scaled_i(0, std::fabs(x));
}
// PyTorch's I_1 of -0 is 0.
long double i1(long double x) {
  return of_finite(x, [](long double v) {
    const long double size = product_with_exponential(scaled_i(1, std::fabs(v)), std::fabs(v));
    return v < 0 ? -size : size;
  });
}
long double i1e(long double x) {
  if (std::isnan(x)) return x;
  const long double size = std::isinf(x) ? 0 : scaled_i(1, std::fabs(x));
  return x < 0 ? -size : size;
}
long double k0e(long double x) { return x == kInfinite ? 0 : scaled_k(0, x); }
long double k1e(long double x) { return x == kInfinite ? 0 : scaled_k(1, x); }
long double k0(long double x) { return x == kInfinite ? 0 : k0e(x) * std::exp(-x); }
long double k1(long double x) { return x == kInfinite ? 0 : k1e(x) * std::exp(-x); }

long double bessel_j0(long double x) {
  return of_finite(
      x, [](long double v) { return boost::math::cyl_bessel_j(0, std::fabs(v), kQuiet); });
}
long double bessel_j1(long double x) {
  if (x == 0) return x;
  return of_finite(x, [](long double v) {
    return std::copysign(1.0L, v) * boost::math::cyl_bessel_j(1, std::fabs(v), kQuiet);
  });
}
long double bessel_y0(long double x) {
  return of_positive(x, [](long double v) { return boost::math::cyl_neumann(0, v, kQuiet); });
}
long double bessel_y1(long double x) {
  return of_positive(x, [](long double v) { return boost::math::cyl_neumann(1, v, kQuiet); });
}

long double airy_ai(long double x) {
  constexpr long double kLastPositive = 104.892L;  // PyTorch gives 0 from a little less on
  constexpr long double kUnknownAngle = -1e9L;     // nobody knows the angle of more to a digit
  if (!std::isfinite(x)) return kNoNumber;
  if (x > kLastPositive || x < kUnknownAngle) return 0;
  return boost::math::airy_ai(x, kQuiet);
}

long double spherical_bessel_j0(long double x) {
  if (std::isinf(x)) return 0;
  return x == 0 ? 1 : std::sin(x) / x;
}

}  // namespace graphgate::reference::exact

namespace graphgate::reference::detail {

double lost_by_float_zeta(long double s, long double q) {
  constexpr long double kUnit = 0x1p-24L;
  constexpr long double kPower = 8 * kUnit;
  constexpr long double kFurthest = -1e4L;  // as many terms
  if (!(q > kFurthest)) return kInfinity;
  const bool is_odd = std::fmod(s, 2.0L) == 1;
  long double base = q;
  long double moved = 0;
  long double sum = 0;
  long double lost = 0;
  for (int i = 0;; ++i) {
    const long double term = std::pow(std::fabs(base), -s);
    sum += base < 0 && is_odd ? -term : term;
    lost += term * (kPower + s * moved / std::fabs(base)) + kUnit * std::fabs(sum);
    if (i >= 9 && base > 9) break;
    base += 1;
    if (base > 0.5L) moved += kUnit * base;  // a sum nearer to 0 than the base before is exact
  }
  // The rest: an integral, half of the last term, and up to twelve terms that fall quickly.
  const long double last = std::pow(base, -s);
  const long double integral = last * base / (s - 1);
  lost += (integral + last) * (kPower + s * moved / base + 4 * kUnit);
  lost += 14 * kUnit * (std::fabs(sum) + integral);
  return std::isnan(lost) ? kInfinity : static_cast<double>(lost);
}

std::vector<double> lost_by_fraction(long double a, long double x, double unit) {
  constexpr int kMostSteps = 2000;
  const auto wide = static_cast<long double>(unit);
  struct Step {
    long double z;
    long double y;
  };
  std::vector<Step> steps;
  std::vector<long double> p = {1, x + 1};
  std::vector<long double> q = {x, (x + 2 - a) * x};
  const auto extend = [](std::vector<long double>& row, const Step& step) {
    row.push_back(step.z * row.back() - step.y * row[row.size() - 2]);
  };
  long double ratio = p.back() / q.back();
  long double before = 1;
  long double change = 1;
  for (int k = 1; k <= kMostSteps && change > wide; ++k) {
    const auto count = static_cast<long double>(k);
    steps.push_back({x + 2 - a + 2 * count, (1 - a + count) * count});
    extend(p, steps.back());
    extend(q, steps.back());
    const long double next = p.back() / q.back();
    before = change;
    change = std::fabs((ratio - next) / next);
    ratio = next;
  }
  std::vector<double> out;
  long double grown = 1;  // what an error behind this step becomes at the end, and behind the next
  long double grown_next = 0;
  for (std::size_t j = steps.size(); j-- > 0;) {
    for (const std::vector<long double>* row : {&p, &q}) {
      const long double rounded = std::fabs((*row)[j + 1] * steps[j].z) +
                                  2 * std::fabs((*row)[j] * steps[j].y) + std::fabs((*row)[j + 2]);
      out.push_back(static_cast<double>(wide * rounded * std::fabs(grown) / row->back()));
    }
    const long double next = j + 1 < steps.size() ? steps[j + 1].y * grown_next : 0;
    grown_next = std::exchange(grown, steps[j].z * grown - next);
  }
  const long double left = 1 - std::min(change / before, 0.99L);
  out.push_back(static_cast<double>(change / left));
  return out;
}

}  // namespace graphgate::reference::detail
