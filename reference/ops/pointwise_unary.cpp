// Pointwise functions of one tensor and nothing else.
#include <array>
#include <numbers>

#include "reference/number/left_open.h"
#include "reference/ops/root.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// The body of a function of real numbers: integers are taken as float32.
template <class F>
constexpr Body real(F /*f*/) {
  return [](Call& call) { pointwise_real(call, {"self"}, F()); };
}

// The body of a function of any number but bool.
template <class F>
constexpr Body any(F /*f*/) {
  return [](Call& call) {
    refuse_bool(call, call.tensor("self")->dtype);
    pointwise(call, {"self"}, F());
  };
}

// The body of a function of floating dtypes only.
template <class F>
constexpr Body floating(F /*f*/) {
  return [](Call& call) {
    require_floating(call, call.tensor("self")->dtype);
    pointwise_real(call, {"self"}, F());
  };
}

// 16-bit dtypes take the approximation that ATen's vectors have for float32.
void erf_of(Call& call) {
  const DType dtype = to_floating(call.tensor("self")->dtype);
  const bool is_short = compute_dtype(dtype) != dtype;
  pointwise_real(call, {"self"}, [is_short](auto x) { return is_short ? short_erf(x) : erf(x); });
}

// 16-bit dtypes may hold the root in the dtype before dividing (ATen's kernel does for the last
// elements of a row that does not fill a vector).
void rsqrt_of(Call& call) {
  const DType dtype = to_floating(call.tensor("self")->dtype);
  pointwise_real(call, {"self"}, [dtype](auto x) { return reciprocal_root(x, dtype); });
}

// The sum and the exponential are held in the compute dtype: exp overflows there.
void sigmoid(Call& call) {
  const DType compute = compute_dtype(to_floating(call.tensor("self")->dtype));
  pointwise_real(call, {"self"},
                 [compute]<class N>(const N& x) { return divide_by_logistic(N(1), x, compute); });
}

// -1, 0 or 1; 0 for NaN.
void sign(Call& call) {
  pointwise(call, {"self"}, []<class N>(const N& x) {
    return select(less(x, N(0)), N(-1), select(less(N(0), x), N(1), N(0)));
  });
}

// A bool's complement is its negation.
void bitwise_not(Call& call) {
  const bool is_bool = call.tensor("self")->dtype == DType::kBool;
  require_integral(call, call.tensor("self")->dtype);
  const Operands operands = gather_operands(call, {"self"});
  emit_formula<Whole>(call, operands, operands.common, operands.common,
                      [is_bool](Whole x) { return is_bool ? logical_not(x) : ~x; });
}

// ATen holds the power of ten in the compute dtype, and rounds each of the three steps there.
void round(Call& call) {
  const DType dtype = call.tensor("self")->dtype;
  const std::int64_t decimals = call.has("decimals") ? call.integer("decimals") : 0;
  if (decimals == 0) return any([](auto x) { return nearbyint(x); })(call);
  require_floating(call, dtype);
  const DType compute = compute_dtype(dtype);
  const double power = round_to_dtype(std::pow(10.0, std::abs(decimals)), compute);
  pointwise_real(call, {"self"}, [=]<class N>(const N& x) {
    const N ten(power);
    if (decimals < 0) return nearbyint(held_in(x / ten, compute)) * ten;
    return nearbyint(held_in(x * ten, compute)) / ten;
  });
}

// x times a constant that the kernel holds in the compute dtype.
void scale(Call& call, double factor) {
  const DType dtype = to_floating(call.tensor("self")->dtype);
  const double held = round_to_dtype(factor, compute_dtype(dtype));
  pointwise_real(
      call, {"self"}, [held]<class N>(const N& x) { return x * N(held); }, /*like_self=*/true);
}
void deg2rad(Call& call) { scale(call, std::numbers::pi / 180); }
void rad2deg(Call& call) { scale(call, 180 / std::numbers::pi); }

// log(x / (1 - x)), x clamped into [eps, 1 - eps] first. Each step is held in the dtype itself.
void logit(Call& call) {
  const DType dtype = to_floating(call.tensor("self")->dtype);
  const auto eps = call.optional_real("eps");
  const double low = round_to_dtype(eps.value_or(0), dtype);
  const double high = round_to_dtype(1 - low, dtype);
  const bool clamps = eps && *eps >= 0;
  pointwise_real(call, {"self"}, [=]<class N>(N x) {
    if (clamps) x = select(less(x, N(low)), N(low), select(less(N(high), x), N(high), x));
    return log(held_in(x / held_in(1.0 - x, dtype), dtype));
  });
}

// 0, pi for what is negative.
void angle_of(Call& call) {
  const double pi = round_to_dtype(std::numbers::pi, to_floating(call.tensor("self")->dtype));
  pointwise_real(call, {"self"}, [pi]<class N>(const N& x) {
    return select(is_nan(x), x, select(less(x, N(0)), N(pi), N(0)));
  });
}

// sin(pi x) / (pi x), 1 at 0; the angle is held in the compute dtype, as pi is.
void sinc(Call& call) {
  const DType compute = compute_dtype(to_floating(call.tensor("self")->dtype));
  const double pi = round_to_dtype(std::numbers::pi, compute);
  pointwise_real(call, {"self"}, [=]<class N>(const N& x) {
    const N turned = held_in(x * N(pi), compute);
    return select(is_zero(x), N(1), sin(turned) / turned);
  });
}

// Bools are int64 then: a power of 2 is taken.
void square_of(Call& call) {
  Operands operands = gather_operands(call, {"self"});
  if (operands.common == DType::kBool) operands.common = DType::kInt64;
  const DType dtype = operands.common;
  refuse_float8(call, dtype);
  with_number(call.mode(), dtype, [&]<class N>() {
    emit_formula<N>(call, operands, dtype, dtype, [](const N& x) { return x * x; });
  });
}

// A real number is its own conjugate; the functional form gives self itself.
void conj_physical(Call& call) {
  if (!call.next_is_written()) return call.emit_datum({call.tensor("self")});
  pointwise(call, {"self"}, [](auto x) { return x; });
}

// x = mantissa * 2^exponent, 0.5 <= |mantissa| < 1; zeros, infinities and NaN with exponent 0.
Whole exponent_of_two(double x) {
  int exponent = 0;
  if (std::isfinite(x)) std::frexp(x, &exponent);
  return exponent;
}
// A radius that holds 0 leaves the exponent open, whatever it is at the ends: 0 has that of a half.
template <class P>
Whole exponent_of_two(const Tracked<P>& x) {
  const auto of = [](long double v) {
    int exponent = 0;
    if (std::isfinite(v)) std::frexp(v, &exponent);
    return exponent;
  };
  const auto reach = static_cast<long double>(P::kDecisionRadii * detail::error_of(x));
  const int exponent = of(x.value);
  const bool is_open =
      reach > 0 && (!(std::isfinite(reach)) || std::fabs(x.value) <= reach ||
                    of(x.value - reach) != exponent || of(x.value + reach) != exponent);
  return {exponent, is_open};
}
double scaled_by_two(double x, std::int64_t exponent) {
  return std::ldexp(x, static_cast<int>(exponent));
}
template <class P>
Tracked<P> scaled_by_two(const Tracked<P>& x, std::int64_t exponent) {
  const auto power = static_cast<int>(exponent);
  return {std::ldexp(x.value, power), std::ldexp(x.radius, power), x.arithmetic};
}

void frexp_of(Call& call) {
  const TensorRef& self = call.tensor("self");
  require_floating(call, self->dtype);
  refuse_float8(call, self->dtype);
  const Sizes strides = strides_like(*self, spec::MemoryFormat::kPreserve);
  with_real(call.mode(), [&]<class N>() {
    Array<N> mantissas = load<N>(*self, self->dtype);
    Array<Whole> exponents(mantissas.sizes);
    for (std::int64_t i = 0; i < mantissas.count(); ++i) {
      N& x = mantissas[i];
      exponents[i] = exponent_of_two(x);
      x = scaled_by_two(x, -exponents[i].value);
      if (exponents[i].undecided) x = left_open(x);
    }
    call.emit(mantissas, self->dtype, strides);
    call.emit(exponents, DType::kInt32, strides);
  });
}

constexpr std::array kPointwiseUnaryOps = {
    OpBody{"aten.abs", any([](auto x) { return abs(x); })},
    OpBody{"aten.acos", real([](auto x) { return acos(x); })},
    OpBody{"aten.acosh", real([](auto x) { return acosh(x); })},
    OpBody{"aten.angle", angle_of},
    OpBody{"aten.asin", real([](auto x) { return asin(x); })},
    OpBody{"aten.asinh", real([](auto x) { return asinh(x); })},
    OpBody{"aten.atan", real([](auto x) { return atan(x); })},
    OpBody{"aten.atanh", real([](auto x) { return atanh(x); })},
    OpBody{"aten.bitwise_not", bitwise_not},
    OpBody{"aten.ceil", any([](auto x) { return ceil(x); })},
    OpBody{"aten.conj_physical", conj_physical}.moves("self"),
    OpBody{"aten.cos", real([](auto x) { return cos(x); })},
    OpBody{"aten.cosh", real([](auto x) { return cosh(x); })},
    OpBody{"aten.deg2rad", deg2rad},
    OpBody{"aten.erf", erf_of},
    OpBody{"aten.erfc", real([](auto x) { return erfc(x); })},
    OpBody{"aten.exp", real([](auto x) { return exp(x); })},
    OpBody{"aten.exp2", real([](auto x) { return exp2(x); })},
    OpBody{"aten.expm1", real([](auto x) { return expm1(x); })},
    OpBody{"aten.floor", any([](auto x) { return floor(x); })},
    OpBody{"aten.frac", floating([](auto x) { return x - trunc(x); })},
    OpBody{"aten.frexp", frexp_of},
    OpBody{"aten.log", real([](auto x) { return log(x); })},
    OpBody{"aten.log10", real([](auto x) { return log10(x); })},
    OpBody{"aten.log1p", real([](auto x) { return log1p(x); })},
    OpBody{"aten.log2", real([](auto x) { return log2(x); })},
    OpBody{"aten.logit", logit},
    OpBody{"aten.neg", any([](auto x) { return -x; })},
    OpBody{"aten.rad2deg", rad2deg},
    OpBody{"aten.reciprocal", real([](auto x) { return 1.0 / x; })},
    OpBody{"aten.round", round},
    OpBody{"aten.rsqrt", rsqrt_of},
    OpBody{"aten.sgn", sign},
    OpBody{"aten.sigmoid", sigmoid},
    OpBody{"aten.sign", sign},
    OpBody{"aten.sin", real([](auto x) { return sin(x); })},
    OpBody{"aten.sinc", sinc},
    OpBody{"aten.sinh", real([](auto x) { return sinh(x); })},
    OpBody{"aten.sqrt", real([](auto x) { return sqrt(x); })},
    OpBody{"aten.square", square_of},
    OpBody{"aten.tan", real([](auto x) { return tan(x); })},
    OpBody{"aten.tanh", real([](auto x) { return tanh(x); })},
    OpBody{"aten.trunc", any([](auto x) { return trunc(x); })},
};

}  // namespace

std::span<const OpBody> pointwise_unary_ops() { return kPointwiseUnaryOps; }

}  // namespace graphgate::reference
