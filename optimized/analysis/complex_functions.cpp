// Elementary functions of complex tensors.
//
// complex64 takes its parts in float64 and is rounded once; complex128 has nothing wider. Inverse
// functions follow W. Kahan, "Branch Cuts for Complex Elementary Functions" (1987), so that signed
// zeros tell the sides of a cut.
#include <cmath>
#include <numbers>

#include "optimized/analysis/complex.h"
#include "optimized/complex_numbers.h"
#include "optimized/promotion.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::DType;
using Values = std::vector<Argument>;
using Function = Components (*)(ComplexParts& c, const Components& z);

constexpr std::string_view kAbs = "aten.abs.default";
constexpr std::string_view kAsinh = "aten.asinh.default";
constexpr std::string_view kAtan = "aten.atan.default";
constexpr std::string_view kAtan2 = "aten.atan2.default";
constexpr std::string_view kCopysign = "aten.copysign.Tensor";
constexpr std::string_view kCos = "aten.cos.default";
constexpr std::string_view kCosh = "aten.cosh.default";
constexpr std::string_view kExp = "aten.exp.default";
constexpr std::string_view kExpm1 = "aten.expm1.default";
constexpr std::string_view kLog = "aten.log.default";
constexpr std::string_view kLog1p = "aten.log1p.default";
constexpr std::string_view kSin = "aten.sin.default";
constexpr std::string_view kSinh = "aten.sinh.default";
constexpr std::string_view kSqrt = "aten.sqrt.default";
constexpr std::string_view kTan = "aten.tan.default";

Components number(double re, double im = 0) { return {{re}, {im}}; }

Components scaled(ComplexParts& c, const Components& z, double by) {
  return {c.mul(z.re, {by}), c.mul(z.im, {by})};
}

Components one_minus(ComplexParts& c, const Components& z) {
  return {c.sub({1.0}, z.re), c.negated(z.im)};
}
Components one_plus(ComplexParts& c, const Components& z) { return {c.add(z.re, {1.0}), z.im}; }
Components minus_one(ComplexParts& c, const Components& z) { return {c.sub(z.re, {1.0}), z.im}; }

// --- Exponentials

Components exponential(ComplexParts& c, const Components& z) { return complex_exp(c, z); }
Components exponential_of_two(ComplexParts& c, const Components& z) {
  return complex_exp(c, scaled(c, z, std::numbers::ln2));
}
// e^x cos y - 1 is expm1(x) cos y - 2 sin(y / 2)^2.
Components exponential_minus_one(ComplexParts& c, const Components& z) {
  const Argument grown = c.mul(c.call(kExpm1, z.re), c.call(kCos, z.im));
  const Argument half = c.call(kSin, c.mul(z.im, {0.5}));
  const Argument re = c.sub(grown, c.mul(c.mul(half, half), {2.0}));
  return {re, complex_exp(c, z).im};
}
Components sigmoid(ComplexParts& c, const Components& z) {
  return c.div(number(1), one_plus(c, complex_exp(c, c.negated(z))));
}
Components silu(ComplexParts& c, const Components& z) {
  return c.div(z, one_plus(c, complex_exp(c, c.negated(z))));
}

// --- Logarithms

Components logarithm(ComplexParts& c, const Components& z) { return complex_log(c, z); }
Components logarithm_to_two(ComplexParts& c, const Components& z) {
  return scaled(c, complex_log(c, z), 1 / std::numbers::ln2);
}
Components logarithm_to_ten(ComplexParts& c, const Components& z) {
  return scaled(c, complex_log(c, z), 1 / std::numbers::ln10);
}
// Near 0 the square of |1 + z| is 1 + x (2 + x) + y^2.
Components logarithm_of_one_plus(ComplexParts& c, const Components& z) {
  const Argument moved = c.add(z.re, {1.0});
  const Argument rest = c.mul(z.re, c.add(z.re, {2.0}));
  const Argument more = c.add(rest, c.mul(z.im, z.im));
  const Argument near = c.mul(c.call(kLog1p, more), {0.5});
  const Argument far = c.call(kLog, c.absolute({moved, z.im}));
  const Argument is_near = c.compared("lt", c.absolute(z), 0.5);
  return {c.chosen(is_near, near, far), c.call(kAtan2, z.im, moved)};
}

// --- Roots

Components root(ComplexParts& c, const Components& z) { return complex_sqrt(c, z); }
Components reciprocal_root(ComplexParts& c, const Components& z) {
  return c.div(number(1), complex_sqrt(c, z));
}

// --- Circles and hyperbolas

Components hyperbolic_sine(ComplexParts& c, const Components& z) {
  const Argument re = c.mul(c.call(kSinh, z.re), c.call(kCos, z.im));
  return {re, c.mul(c.call(kCosh, z.re), c.call(kSin, z.im))};
}
Components hyperbolic_cosine(ComplexParts& c, const Components& z) {
  const Argument re = c.mul(c.call(kCosh, z.re), c.call(kCos, z.im));
  return {re, c.mul(c.call(kSinh, z.re), c.call(kSin, z.im))};
}

// With t = tan y, s = sinh x: (t^2 + 1) s sqrt(s^2 + 1) + i t over 1 + (t^2 + 1) s^2. Where e^-2|x|
// is nothing beside 1: +-1 + i 4 sin y cos y e^-2|x|.
Components hyperbolic_tangent(ComplexParts& c, const Components& z) {
  const Argument t = c.call(kTan, z.im);
  const Argument s = c.call(kSinh, z.re);
  const Argument beta = c.add(c.mul(t, t), {1.0});
  const Argument square = c.mul(s, s);
  const Argument rho = c.call(kSqrt, c.add(square, {1.0}));
  const Argument below = c.add(c.mul(beta, square), {1.0});
  const Argument re = c.div(c.mul(c.mul(beta, rho), s), below);
  const Components inner = {re, c.div(t, below)};
  const Argument size = c.call(kAbs, z.re);
  const Argument decay = c.call(kExp, c.mul(size, {-2.0}));
  const Argument turn = c.mul(c.call(kSin, z.im), c.call(kCos, z.im));
  const Argument one = c.call(kCopysign, {1.0}, z.re);
  const Components outer = {one, c.mul(c.mul(turn, {4.0}), decay)};
  return c.chosen(c.compared("gt", size, 20), outer, inner);
}

// f(i z) / i, for sine and tangent and their inverses.
template <Function hyperbolic>
Components turned(ComplexParts& c, const Components& z) {
  return c.over_i(hyperbolic(c, c.times_i(z)));
}
Components cosine(ComplexParts& c, const Components& z) {
  return hyperbolic_cosine(c, c.times_i(z));
}

Components arc_sine(ComplexParts& c, const Components& z) {
  const Components below = complex_sqrt(c, one_minus(c, z));
  const Components above = complex_sqrt(c, one_plus(c, z));
  const Argument re = c.call(kAtan2, z.re, c.mul(below, above).re);
  return {re, c.call(kAsinh, c.mul(c.conjugate(below), above).im)};
}
Components arc_cosine(ComplexParts& c, const Components& z) {
  const Components below = complex_sqrt(c, one_minus(c, z));
  const Components above = complex_sqrt(c, one_plus(c, z));
  const Argument re = c.mul(c.call(kAtan2, below.re, above.re), {2.0});
  return {re, c.call(kAsinh, c.mul(c.conjugate(above), below).im)};
}
Components area_cosine(ComplexParts& c, const Components& z) {
  const Components below = complex_sqrt(c, minus_one(c, z));
  const Components above = complex_sqrt(c, one_plus(c, z));
  const Argument re = c.call(kAsinh, c.mul(c.conjugate(below), above).re);
  return {re, c.mul(c.call(kAtan2, below.im, above.re), {2.0})};
}
Components area_sine(ComplexParts& c, const Components& z) {
  return c.over_i(arc_sine(c, c.times_i(z)));
}

// With x for its size, and the sign again: log1p(4 x / ((1 - x)^2 + y^2)) / 4;
// atan2(2 y, (1 - x) (1 + x) - y^2) / 2.
Components area_tangent(ComplexParts& c, const Components& z) {
  const Argument size = c.call(kAbs, z.re);
  const Argument left = c.sub({1.0}, size);
  const Argument right = c.add(size, {1.0});
  const Argument square = c.mul(z.im, z.im);
  const Argument distance = c.add(c.mul(left, left), square);
  const Argument ratio = c.div(c.mul(size, {4.0}), distance);
  const Argument re = c.call(kCopysign, c.mul(c.call(kLog1p, ratio), {0.25}), z.re);
  const Argument across = c.sub(c.mul(left, right), square);
  return {re, c.mul(c.call(kAtan2, c.mul(z.im, {2.0}), across), {0.5})};
}

// sin(pi z) / (pi z), 1 at 0.
Components cardinal_sine(ComplexParts& c, const Components& z) {
  const Components turns = scaled(c, z, std::numbers::pi);
  const Components ratio = c.div(turned<hyperbolic_sine>(c, turns), turns);
  return c.chosen(c.is_zero(z), number(1), ratio);
}

// --- Powers

// e^(w log z); a power of 0 is 0, or 1 where the exponent is 0.
Components power(ComplexParts& c, const Components& z, const Components& w) {
  const Components plain = complex_exp(c, c.mul(w, complex_log(c, z)));
  const Argument is_zero = c.is_zero(z);
  const Argument has_none = c.is_zero(w);
  const Argument is_positive = c.compared("gt", w.re, 0);
  const Argument vanishes = c.call("aten.logical_and.default", is_zero, is_positive);
  return c.chosen(has_none, number(1), c.chosen(vanishes, number(0), plain));
}

// Small exponents have products of their own, as in ATen.
Components power_of_number(ComplexParts& c, const Components& z, double exponent) {
  if (exponent == 0) return number(1);
  if (exponent == 1) return z;
  if (exponent == 2) return c.mul(z, z);
  if (exponent == 3) return c.mul(c.mul(z, z), z);
  if (exponent == -1) return c.div(number(1), z);
  if (exponent == -2) return c.div(number(1), c.mul(z, z));
  if (exponent == 0.5) return complex_sqrt(c, z);
  if (exponent == -0.5) return reciprocal_root(c, z);
  return power(c, z, number(exponent));
}

Argument raised(Parts& parts, DType dtype) {
  ComplexParts c(parts, DType::kFloat64);
  const Components base = c.pair("self");
  const Components exponent = c.pair("exponent");
  const auto* re = exponent.re.as<double>();
  const bool is_real_number = re != nullptr && exponent.im == Argument{0.0};
  const Components value =
      is_real_number ? power_of_number(c, base, *re) : power(c, base, exponent);
  return make_pointwise_complex(parts, value, dtype, {"self", "exponent"});
}

Values raised_to(Parts& parts) {
  return {raised(parts, complex_result(parts, {"self", "exponent"}))};
}
// In complex128 whatever the operands are.
Values raised_widely(Parts& parts) { return {raised(parts, DType::kComplex128)}; }

// --- Sums of exponentials, with the greatest real part taken out

// m + log(1 + e^(n - m))
Values sum_of_two_exponentials(Parts& parts) {
  const DType dtype = complex_result(parts, {"self", "other"});
  ComplexParts c(parts, DType::kFloat64);
  const Components a = c.pair("self");
  const Components b = c.pair("other");
  const Argument is_first = c.call("aten.ge.Tensor", a.re, b.re);
  const Components greater = c.chosen(is_first, a, b);
  const Components less = c.chosen(is_first, b, a);
  const Components rest = logarithm_of_one_plus(c, complex_exp(c, c.sub(less, greater)));
  return {make_pointwise_complex(parts, c.add(greater, rest), dtype, {"self", "other"})};
}

Values sum_of_exponentials(Parts& parts) {
  const DType dtype = parts.tensor("self").dtype;
  ComplexParts c(parts, DType::kFloat64);
  const Components z = c.pair("self");
  const Argument dim = parts["dim"];
  const auto sum = [&](const Argument& value, bool keeps) {
    return parts.run("aten.sum.dim_IntList", {value, dim, {keeps}});
  };
  const Argument most = parts.run("aten.amax.default", {z.re, dim, {true}});
  const Argument is_finite = parts.run("aten.isfinite.default", {most});
  const Argument taken_out = c.chosen(is_finite, most, {0.0});
  const Components grown = complex_exp(c, {c.sub(z.re, taken_out), z.im});
  const bool keeps = parts.boolean("keepdim");
  const Argument re = sum(grown.re, keeps);
  const Components logs = complex_log(c, {re, sum(grown.im, keeps)});
  const Argument back = keeps ? taken_out : sum(taken_out, false);
  const Components value = {c.add(logs.re, back), logs.im};
  const Sizes sizes = parts.of(value.re).sizes;
  return {make_complex(parts, value, dtype, sizes, row_major_strides(sizes))};
}

// --- Each as an op

template <Function function>
Values of_one(Parts& parts) {
  ComplexParts c(parts, DType::kFloat64);
  const DType dtype = parts.tensor("self").dtype;
  const Components z = c.pair("self");
  return {make_pointwise_complex(parts, function(c, z), dtype, {"self"})};
}

constexpr CompositeOp kComplexFunctions[] = {
    {"aten.acos", of_one<arc_cosine>},
    {"aten.acosh", of_one<area_cosine>},
    {"aten.asin", of_one<arc_sine>},
    {"aten.asinh", of_one<area_sine>},
    {"aten.atan", of_one<turned<area_tangent>>},
    {"aten.atanh", of_one<area_tangent>},
    {"aten.cos", of_one<cosine>},
    {"aten.cosh", of_one<hyperbolic_cosine>},
    {"aten.exp", of_one<exponential>},
    {"aten.exp2", of_one<exponential_of_two>},
    {"aten.expm1", of_one<exponential_minus_one>},
    {"aten.float_power", raised_widely},
    {"aten.log", of_one<logarithm>},
    {"aten.log10", of_one<logarithm_to_ten>},
    {"aten.log1p", of_one<logarithm_of_one_plus>},
    {"aten.log2", of_one<logarithm_to_two>},
    {"aten.logaddexp", sum_of_two_exponentials},
    {"aten.logsumexp", sum_of_exponentials},
    {"aten.pow", raised_to},
    {"aten.rsqrt", of_one<reciprocal_root>},
    {"aten.sigmoid", of_one<sigmoid>},
    {"aten.silu", of_one<silu>},
    {"aten.sin", of_one<turned<hyperbolic_sine>>},
    {"aten.sinc", of_one<cardinal_sine>},
    {"aten.sinh", of_one<hyperbolic_sine>},
    {"aten.sqrt", of_one<root>},
    {"aten.tan", of_one<turned<hyperbolic_tangent>>},
    {"aten.tanh", of_one<hyperbolic_tangent>},
};

}  // namespace

// An imaginary part of 0 stays one, also where e^x is infinite.
Components complex_exp(ComplexParts& c, const Components& z) {
  const Argument grown = c.call(kExp, z.re);
  const Argument re = c.mul(grown, c.call(kCos, z.im));
  const Argument im = c.mul(grown, c.call(kSin, z.im));
  return {re, c.chosen(c.compared("eq", z.im, 0), z.im, im)};
}

// |z| near 1 is looked at from there: log |z|^2 = log1p((m - 1) (m + 1) + n^2), where m and n are
// the larger and the smaller component.
Components complex_log(ComplexParts& c, const Components& z) {
  const Argument size_re = c.call(kAbs, z.re);
  const Argument size_im = c.call(kAbs, z.im);
  const Argument larger = c.call("aten.maximum.default", size_re, size_im);
  const Argument smaller = c.call("aten.minimum.default", size_re, size_im);
  const Argument beyond = c.mul(c.sub(larger, {1.0}), c.add(larger, {1.0}));
  const Argument more = c.add(beyond, c.mul(smaller, smaller));
  const Argument near = c.mul(c.call(kLog1p, more), {0.5});
  const Argument far = c.call(kLog, c.absolute(z));
  const Argument is_near = c.compared("lt", c.call(kAbs, more), 0.5);
  return {c.chosen(is_near, near, far), c.angle(z)};
}

// With t = sqrt((|x| + |z|) / 2): t and y / 2t are the components, the first that of the larger
// size.
Components complex_sqrt(ComplexParts& c, const Components& z) {
  const Argument halves = c.add(c.mul(c.call(kAbs, z.re), {0.5}), c.mul(c.absolute(z), {0.5}));
  const Argument t = c.call(kSqrt, halves);
  const Argument rest = c.div(z.im, c.mul(t, {2.0}));
  const Argument u = c.chosen(c.compared("eq", t, 0), z.im, rest);
  const Components left = {c.call(kAbs, u), c.call(kCopysign, t, z.im)};
  return c.chosen(c.compared("lt", z.re, 0), left, {t, u});
}

std::span<const CompositeOp> complex_functions() { return kComplexFunctions; }

}  // namespace graphgate::optimized
